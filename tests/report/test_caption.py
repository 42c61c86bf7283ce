"""Captions say what is drawn: generated figures, each sentence held against the picture's data."""

from __future__ import annotations

import random
from typing import Any

import pytest
from record_factory import MIB, Shape, record
from test_comparison_page import row
from test_tuning import looked_at, trial

from venturi.model.comparison import MetricChange
from venturi.model.forecast import Range
from venturi.model.tuning import Effect
from venturi.report.block import Figure, TableBlock
from venturi.report.figure import gain, rate, ratio, scaling
from venturi.report.forecast import bars_reading, time_bars
from venturi.report.palette import OPERATIONS
from venturi.report.phase import phases
from venturi.report.quantity import Units

SEEDS = range(12)
NAMES = ("stat", "find", "link", "mknod", "unlink", "rename", "get_xattr", "mkdir")


def layers(spec: dict[str, Any], mark: str) -> list[dict[str, Any]]:
    panels = spec.get("vconcat", [spec])
    return [layer for panel in panels for layer in panel["layer"] if layer["mark"]["type"] == mark]


def rates(chance: random.Random) -> Figure:
    """The figure of a record with random phases and repetitions."""
    kinds = chance.sample(("write", "read", *NAMES), chance.randint(1, 4))
    shapes = tuple(
        Shape(f"phase{n}", kind, 4, MIB * (kind in ("write", "read")), 1e8, names=())
        for n, kind in enumerate(kinds)
    )
    made = record(shapes=shapes, repetitions=chance.choice((1, 1, 2, 6)))
    figure = rate.figure(phases(made), Units.IEC)
    assert figure is not None
    return figure


@pytest.mark.parametrize("seed", SEEDS)
def test_shapes_of_marks_are_told_as_they_are_drawn(seed: int) -> None:
    figure = rates(random.Random(seed))
    points = layers(figure.spec, "point")
    drawn = {mark["kind"] for layer in points for mark in layer["data"]["values"]}
    said = figure.reading.partition("(")[2].partition(")")[0]
    told: dict[str, set[str]] = {}
    for part in said.split(", "):
        shape, _, kinds = part.partition(": mostly ")
        told[shape] = set(kinds.split(" or "))
    assert set().union(*told.values()) == drawn
    assert all(OPERATIONS[kind].shape == shape for shape, kinds in told.items() for kind in kinds)


@pytest.mark.parametrize("seed", SEEDS)
def test_bands_and_the_order_of_repetitions_are_told_where_they_are_drawn(seed: int) -> None:
    figure = rates(random.Random(seed))
    bands = [band for layer in layers(figure.spec, "rect") for band in layer["data"]["values"]]
    assert ("Band" in figure.reading) == any(band["low"] < band["high"] for band in bands)
    rows = [
        row["n"]
        for layer in layers(figure.spec, "text")
        for row in layer["data"]["values"]
        if "n" in row
    ]
    assert ("first on top" in figure.reading) == (max(rows) > 1)


@pytest.mark.parametrize("seed", SEEDS)
def test_changes_are_told_to_be_measured_afresh_where_they_were(seed: int) -> None:
    chance = random.Random(seed)
    afresh, others = chance.choice(((0, 2), (2, 0), (1, 1), (3, 2)))
    trials = [trial(f"a={n}", 0.5 + n / 10, Effect.HELPS) for n in range(afresh)]
    trials += [looked_at(f"b={n}", 0.9) for n in range(others)]
    figure = gain.figure(trials, "")
    assert figure is not None
    assert ("measured afresh" in figure.reading) == (afresh > 0)
    assert ("thick lines intervals" in figure.reading) == (afresh > 0)
    assert ("looked at only" in figure.reading) == (others > 0)


@pytest.mark.parametrize("judged", [0, 1, 2])
def test_ratios_have_lines_where_an_interval_is_drawn(judged: int) -> None:
    rows = [row(f"m{n}", 0.5 + n / 4, MetricChange.LOWER) for n in range(3)]
    rows = [
        one if n < judged else one.model_copy(update={"low": None, "high": None})
        for n, one in enumerate(rows)
    ]
    figure = ratio.figure("ratio", rows, "", TableBlock("", (), ()))
    assert figure is not None
    assert ("lines their intervals" in figure.reading) == (judged > 0)


@pytest.mark.parametrize("seed", SEEDS)
def test_bars_are_told_where_they_are_longer_than_their_mark(seed: int) -> None:
    chance = random.Random(seed)
    middles = [chance.uniform(1, 9) for _ in range(chance.randint(1, 5))]
    widths = [chance.choice((0.0, 0.0, 0.5)) for _ in middles]
    pairs = list(zip(middles, widths, strict=True))
    points = [{"low": at - width, "high": at + width} for at, width in pairs]
    assert ("bars their intervals" in scaling.reading_of(points, "n below")) == (max(widths) > 0)
    times = [Range(low=at - width, median=at, high=at + width) for at, width in pairs]
    rows = time_bars((str(n), one) for n, one in enumerate(times))["data"]["values"]
    drawn = any(one["low"] < one["high"] for one in rows)
    assert ("Lines" in bars_reading(times)) == drawn == (max(widths) > 0)
