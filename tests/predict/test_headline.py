"""A prediction in one sentence."""

from __future__ import annotations

import pytest

from venturi.predict.conclude import headline


@pytest.mark.parametrize(
    ("signed", "said"),
    [
        (0.0, "The proxy spends as much time in I/O as the application"),
        (-0.0004, "The proxy spends as much time in I/O as the application"),
        (0.0006, "The proxy spends 0.1 % more time in I/O than the application"),
        (-0.25, "The proxy spends 25.0 % less time in I/O than the application"),
    ],
)
def test_an_error_that_rounds_to_nothing_is_none(signed: float, said: str) -> None:
    assert headline(signed, 0.3, within=False) == f"{said}, whose own runs spread by 30.0 %."
    within = headline(signed, 0.3, within=True)
    assert within == f"{said}: within the 30.0 % by which the application's own runs spread."
