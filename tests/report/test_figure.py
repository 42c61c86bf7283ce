"""Figures: what is drawn adds up to what was measured."""

from __future__ import annotations

import json
import math
import re
from typing import Any

import pytest
from record_factory import SHAPES, Shape, phase_row, record, substituted

from venturi.model.event import TimeLine
from venturi.model.workload import REQUEST_EDGES_BYTES
from venturi.report.figure import balance, distribution, rate, request, split, svg, timeline
from venturi.report.palette import DARK, OPERATIONS, PAPER
from venturi.report.phase import phases
from venturi.report.quantity import Units


def _luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """Contrast ratio of the Web Content Accessibility Guidelines 2, section 1.4.3."""
    high, low = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("kind", OPERATIONS)
def test_operations_stand_out_on_light_and_dark(kind: str) -> None:
    colour = OPERATIONS[kind].colour
    assert contrast(colour, "#ffffff") >= 3
    assert contrast(DARK[colour], DARK[PAPER]) >= 3


def test_operations_are_told_apart_without_colour() -> None:
    looks = {(style.shape, style.dash) for style in OPERATIONS.values()}
    assert len(looks) == len(OPERATIONS)
    assert len({style.dash for style in OPERATIONS.values()}) == len(OPERATIONS)


def test_every_repetition_is_a_mark() -> None:
    figure = rate.figure(phases(record()), Units.IEC)
    assert figure is not None
    layers = [layer for panel in figure.spec["vconcat"] for layer in panel["layer"]]
    marks = [layer for layer in layers if layer["mark"]["type"] == "point"]
    assert sum(len(layer["data"]["values"]) for layer in marks) == 18
    assert len(figure.table.rows) == 18


@pytest.mark.parametrize("most", [160, 7])
def test_time_lines_keep_every_byte(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timeline, "_MOST_BINS", most)
    for phase in phases(record())[:2]:
        drawn = timeline.line(phase)
        assert drawn is not None
        [rates] = drawn.rates.values()
        assert len(rates) <= most
        sample = phase.median_sample
        last_s = sample.total_s - (len(rates) - 1) * drawn.bin_s
        moved = sum(rates[:-1]) * drawn.bin_s + rates[-1] * last_s
        assert moved == pytest.approx(sample.bytes, rel=1e-9)


@pytest.mark.parametrize("bins", [0, 1, 2, 3])
def test_short_time_lines_are_drawn_or_left_out(bins: int) -> None:
    made = record(shapes=SHAPES[:1])
    rows = [
        row.model_copy(
            update={
                "time_line": TimeLine(
                    bin_s=row.seconds.total,
                    bytes_written=[row.bytes // 2] * bins,
                    bytes_read=[0] * bins,
                    operations=[1] * bins,
                )
            }
        )
        for row in made.phases
    ]
    figure = timeline.figure(phases(made.model_copy(update={"phases": rows})), Units.IEC)
    assert (figure is None) is (bins < 3)


@pytest.mark.parametrize(
    ("bins", "words"),
    [
        (4, "too short to say whether"),
        (5, "checkpoint runs steadily, at "),
        (6, "checkpoint runs steadily, at "),
    ],
)
def test_steadiness_needs_four_inner_bins(bins: int, words: str) -> None:
    made = record(shapes=SHAPES[:1])
    rows = [
        row.model_copy(
            update={
                "time_line": TimeLine(
                    bin_s=row.seconds.total / bins,
                    bytes_written=[1 << 30] * bins,
                    bytes_read=[0] * bins,
                    operations=[1] * bins,
                )
            }
        )
        for row in made.phases
    ]
    figure = timeline.figure(phases(made.model_copy(update={"phases": rows})), Units.IEC)
    assert figure is not None
    assert words in figure.finding


def test_one_long_phase_among_short_ones_does_not_speak_for_all() -> None:
    made = record(repetitions=1)
    short = made.phases[1].time_line.model_copy(
        update={"bytes_read": [1, 2, 3], "bytes_written": [0] * 3, "operations": [1] * 3}
    )
    rows = [made.phases[0], made.phases[1].model_copy(update={"time_line": short})]
    figure = timeline.figure(phases(made.model_copy(update={"phases": rows})), Units.IEC)
    assert figure is not None
    assert figure.finding.startswith("checkpoint ")


def test_shares_of_time_are_the_whole() -> None:
    for phase in phases(record()):
        values = split.shares(phase)
        assert sum(values.values()) == pytest.approx(1)
        assert min(values.values()) >= 0


def test_sync_and_names_are_told_from_transfer_and_waiting() -> None:
    found = phases(record(shapes=(*SHAPES[:1], Shape("gone", "unlink", 50, 0, 1.0, names=()))))
    dump, gone = (split.shares(phase) for phase in found)
    row = found[0].median_sample.rows[0]
    exact = row.by_operation["sync"].seconds / 4 / row.seconds.total
    assert dump["sync"] == pytest.approx(exact, rel=0.04)
    assert dump["names"] == 0
    assert gone["names"] > 0.5


def test_ranks_that_only_work_on_names_have_their_whole_time() -> None:
    row = phase_row(SHAPES[2], 0, 2, at_s=0.0)
    assert row.per_rank.transfer_s == [0.0, 0.0]
    [phase] = phases(record(repetitions=0).model_copy(update={"phases": [row]}))
    assert phase.samples[0].ranks().busy_s == row.per_rank.total_s


def test_the_slow_rank_is_found() -> None:
    at, excess = balance.slowest(phases(record())[0].median_sample.ranks())
    assert at == 2
    assert excess > 0.1


def test_requests_fall_into_the_class_that_ends_above_them() -> None:
    edges = REQUEST_EDGES_BYTES
    counts = request.of_proxy(substituted())
    assert sum(counts["write"]) == counts["write"][edges.index(100 * 1024)] == 1600 * 4
    assert sum(counts["read"]) == counts["read"][edges.index(10 * 1024)] == 256 * 4


def _numbers(data: Any) -> list[float]:
    if isinstance(data, dict):
        data = list(data.values())
    if isinstance(data, list):
        return [number for entry in data for number in _numbers(entry)]
    return [data] if isinstance(data, float) else []


@pytest.mark.parametrize("ranks", [1, 4, 300])
def test_specs_are_finite_json_and_svg_without_nan(ranks: int) -> None:
    found = phases(record(ranks=ranks, repetitions=2))
    figures = (
        rate.figure(found, Units.IEC),
        timeline.figure(found, Units.IEC),
        distribution.figure(found),
        split.figure(found),
        balance.figure(found, Units.SI),
        request.figure(record(), None, Units.IEC),
    )
    for figure in figures:
        assert figure is not None
        assert all(math.isfinite(number) for number in _numbers(figure.spec))
        json.dumps(figure.spec, allow_nan=False)
        drawn = svg.draw(figure.spec, "x", 'quote " and <tag>')
        assert drawn is not None
        assert "NaN" not in drawn
        assert "Infinity" not in drawn
        assert "<tag>" not in drawn
        assert drawn.startswith("<svg role=")
        ids = re.findall(r' id="([^"]+)"', drawn)
        assert all(name.startswith("x-") for name in ids)


def test_phases_that_did_nothing_have_no_figures() -> None:
    found = phases(record(shapes=()))
    assert rate.figure(found, Units.IEC) is None
    assert timeline.figure(found, Units.IEC) is None
    assert distribution.figure(found) is None
    assert split.figure(found) is None
    assert balance.figure(found, Units.IEC) is None


def test_a_single_repetition_is_said_to_be_one() -> None:
    figure = rate.figure(phases(record(shapes=SHAPES[:1], repetitions=1)), Units.IEC)
    assert figure is not None
    assert "ran once" in figure.finding
