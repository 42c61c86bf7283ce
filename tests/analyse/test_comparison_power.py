"""The promises of docs/compare.md at small scale: seeded draws, no time, no storage.

A promise of 5 % or 90 % is tested with the exact binomial tail: a share that is as promised fails
here in one of 10 000 draws at most, and the draws are always the same.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[2] / "bench"
sys.path.insert(0, str(BENCH))

from comparison_power import (  # noqa: E402
    COUNTS,
    DEPENDENT,
    SHAPES,
    Cell,
    detectable,
    false_alarms,
    held,
    power,
)

COUNT = 150
PROMISED = [shape for shape in SHAPES if shape != "autocorrelated, 0.5"]


def most(share: float, count: int) -> float:
    """The largest observed share that is no evidence against a true one of at most `share`."""
    tail, k = 1.0, 0
    while tail > 1e-4:
        tail -= math.comb(count, k) * share**k * (1 - share) ** (count - k)
        k += 1
    return k / count


@pytest.mark.parametrize("shape", PROMISED)
@pytest.mark.parametrize("sizes", COUNTS)
def test_false_alarms_are_as_rare_as_promised(shape: str, sizes: tuple[int, int]) -> None:
    for metrics, correlation in ((1, 0.0), (38, 0.0), (38, 0.8)):
        cell = Cell(shape, *sizes, metrics, correlation)
        assert false_alarms(cell, COUNT) <= most(0.05, COUNT), cell


def test_the_bound_of_the_tests_rejects_twice_as_many() -> None:
    assert 0.05 < most(0.05, COUNT) <= 0.14
    assert most(0.10, 40) < 0.4


@pytest.mark.parametrize("metrics", [1, 38, 200])
def test_a_factor_of_two_is_found_with_six_repetitions(metrics: int) -> None:
    cell = Cell(metrics=metrics, change=2.0)
    assert power(cell, COUNT) >= 1 - most(0.10, COUNT)
    assert power(Cell(metrics=metrics, change=0.5), COUNT) >= 1 - most(0.10, COUNT)


@pytest.mark.parametrize("spread", [0.03, 0.1, 0.3])
@pytest.mark.parametrize("sizes", [(4, 4), (3, 6), (6, 6), (10, 10)])
def test_what_is_said_to_be_detectable_is_found(spread: float, sizes: tuple[int, int]) -> None:
    for metrics in (1, 38):
        said = detectable(Cell("log-normal", *sizes, metrics, 0.0, spread), 30)
        cell = Cell("log-normal", *sizes, metrics, 0.0, spread, 1 + said)
        assert power(cell, COUNT) >= 1 - most(0.10, COUNT), cell


def test_what_is_said_to_be_detectable_is_not_far_too_much() -> None:
    """Half of it, as a logarithm, is missed in a good part of comparisons."""
    for metrics in (1, 38):
        said = detectable(Cell(metrics=metrics), 30)
        assert power(Cell(metrics=metrics, change=math.sqrt(1 + said)), COUNT) < 0.8


@pytest.mark.parametrize("metrics", [1, 38])
def test_all_intervals_hold_together(metrics: int) -> None:
    for sizes in COUNTS:
        cell = Cell("log-normal", *sizes, metrics, 0.0, 0.1, 1.5)
        assert 1 - held(cell, COUNT) <= most(0.05, COUNT)


def rows_of_the_page() -> list[list[str]]:
    """Return the cells of all rows in the page's tables."""
    page = (BENCH.parent / "docs/compare.md").read_text("utf-8")
    made = page.split("comparison_power: begin")[1].split("comparison_power: end")[0]
    return [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in made.splitlines()
        if line.startswith("|")
    ]


def test_the_pages_tables_keep_the_promises() -> None:
    rows = rows_of_the_page()
    alarms = [row for row in rows if row[0] in PROMISED]
    assert len(alarms) == len(PROMISED) * len(COUNTS)
    for row in alarms:
        assert all(float(cell.strip(" %")) <= 100 * most(0.05, 200) for cell in row[2:])
    orders = [row for row in rows if row[1] in DEPENDENT]
    assert len(orders) == 4 * len(DEPENDENT)
    for row in orders:
        shares = [float(cell.strip(" %")) for cell in row[2:]]
        if row[1] == "log-normal":
            assert max(shares) <= 100 * most(0.05, 200)
        elif row[0] != "4 and 4":
            assert shares[-1] >= 80
    [factor_of_two] = [row for row in rows if row[:3] == ["10 %", "2", "6 and 6"]]
    assert all(float(cell.strip(" %")) >= 90 for cell in factor_of_two[3:])
