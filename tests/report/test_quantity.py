"""Numbers as people read them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from venturi.report import quantity
from venturi.report.quantity import Units


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (1, "1.00"),
        (9.996, "10.0"),
        (99.96, "100"),
        (1234567, "1,230,000"),
        (0.0123456, "0.0123"),
        (1e-9, "1.00e-09"),
        (math.nan, "unknown"),
    ],
)
def test_three_significant_digits(value: float, text: str) -> None:
    assert quantity.number(value) == text


@pytest.mark.parametrize(
    ("value", "iec", "si"),
    [
        (0, "0 B", "0 B"),
        (1, "1 B", "1 B"),
        (65536, "64 KiB", "65.5 kB"),
        (1023, "1,023 B", "1.02 kB"),
        (1024, "1 KiB", "1.02 kB"),
        (47008, "45.9 KiB", "47.0 kB"),
        (1024**3 - 1, "1.00 GiB", "1.07 GB"),
        (10**9, "954 MiB", "1 GB"),
        (2**63 - 1, "8.00 EiB", "9.22 EB"),
    ],
)
def test_sizes(value: int, iec: str, si: str) -> None:
    assert quantity.size(value) == iec
    assert quantity.size(value, Units.SI) == si


@pytest.mark.parametrize(
    ("value", "text"),
    [(47008, "47,008 B"), (65536, "64 KiB"), (65537, "65,537 B"), (0, "0 B"), (1024**2, "1 MiB")],
)
def test_exact_sizes_are_never_rounded(value: int, text: str) -> None:
    assert quantity.exact_size(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0 s"),
        (1.5e-9, "1.50 ns"),
        (35.1e-6, "35.1 µs"),
        (0.412, "412 ms"),
        (0.99999, "1.00 s"),
        (59.94, "59.9 s"),
        (125, "2 min 05 s"),
        (3600 * 3 + 240, "3 h 04 min"),
    ],
)
def test_durations(value: float, text: str) -> None:
    assert quantity.seconds(value) == text


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (1, "ranks", "1 rank"),
        (2, "ranks", "2 ranks"),
        (1, "entries", "1 entry"),
        (1, "ms", "1 ms"),
        (1, "phases", "1 phase"),
        (1, "process", "1 process"),
        (1, "processes", "1 process"),
        (1, "GB/s", "1 GB/s"),
        (1.5, "ranks", "1.50 ranks"),
        (1, "", "1"),
    ],
)
def test_one_of_a_unit_is_no_plural(value: float, unit: str, text: str) -> None:
    assert quantity.with_unit(value, unit) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0 %"),
        (0.0001, "< 0.1 %"),
        (0.032, "3.2 %"),
        (0.5, "50 %"),
        (1, "100 %"),
        (0.9999, "99.99 %"),
        (0.99999999, "more than 99.99 %"),
    ],
)
def test_percent_never_claims_a_false_zero_or_hundred(value: float, text: str) -> None:
    assert quantity.percent(value) == text


def test_rates_of_operations() -> None:
    assert quantity.operation_rate(812) == "812 IOPS"
    assert quantity.operation_rate(12_345) == "12.3 kIOPS"
    assert quantity.operation_rate(12_345, "create") == "12.3 k creates/s"
    assert quantity.operation_rate(812, "create") == "812 creates/s"


def test_signs() -> None:
    assert quantity.signed_percent(0.0303) == "+3.0 %"
    assert quantity.signed_percent(-0.0303) == "−3.0 %"
    assert quantity.signed_percent(0) == "0 %"


@given(st.floats(min_value=1e-3, max_value=1e18))
def test_a_rate_read_back_is_within_half_a_percent(value: float) -> None:
    for units in Units:
        text, name = quantity.rate(value, units).split(" ")
        factor = units.base ** units.names.index(name.removesuffix("/s"))
        assert float(text.replace(",", "")) * factor == pytest.approx(value, rel=6e-3)
