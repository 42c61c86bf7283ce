"""What others had of the processors, from counters that are told."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from venturi.profile import others


def told(*ticks: tuple[float, float, float] | None) -> Iterator[object]:
    return iter(ticks)


@pytest.mark.parametrize(
    ("after", "share"),
    [
        ((200.0, 150.0, 20.0), 0.3),
        ((200.0, 120.0, 40.0), 0.0),
        (None, None),
    ],
)
def test_what_is_neither_idle_nor_ours_is_of_others(
    monkeypatch: pytest.MonkeyPatch, after: tuple[float, float, float] | None, share: float | None
) -> None:
    ticks = told((100.0, 100.0, 0.0), (100.0, 100.0, 0.0), after)
    monkeypatch.setattr(others, "_ticks", lambda: next(ticks))
    counted = others.Others()
    counted.begin()
    counted.end()
    assert counted.share() == share


def test_this_system_tells() -> None:
    ticks = others._ticks()
    assert ticks is not None
    whole, busy, ours = ticks
    assert whole >= busy > 0
    assert ours > 0
