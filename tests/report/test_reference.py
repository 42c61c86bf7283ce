"""Published values beside ours, and groups over time."""

from __future__ import annotations

import pytest

from report.record_factory import Shape, phase_row, record
from venturi.model.record import MetricValue, Record
from venturi.report.figure import group_timeline
from venturi.report.quantity import Units
from venturi.report.reference import published

MIB = 1024**2
WRITE = Shape("write", "write", 10, MIB, 1e9)


def metric(unit: str, *values: float) -> MetricValue:
    middle = sorted(values)[len(values) // 2]
    return MetricValue(
        value=middle,
        unit=unit,
        median=middle,
        low=middle,
        high=middle,
        n=len(values),
        coverage=0.5,
        values=list(values),
    )


def with_references(*references: dict[str, object]) -> Record:
    made = record()
    return made.model_copy(
        update={
            "parameters": {"pgen": 1},
            "metrics": {"rate": metric("B/s", MIB, 2 * MIB, 4 * MIB), "t": metric("s", 0.5)},
            "workload": {**made.workload, "references": list(references)},
        }
    )


def test_ours_stands_in_the_unit_of_theirs() -> None:
    found = published(
        with_references(
            {"metric": "rate", "value": 29484, "low": 22603, "high": 48068, "unit": "MiB/s"},
            {"metric": "t", "value": 5.7, "unit": "s"},
            {"metric": "other", "value": "within 10 %"},
        ),
        Units.IEC,
    )
    assert [each.rows for each in found] == [
        (
            ("rate", "29484 (22603..48068)", "2.00 (1.00..4.00)", "MiB/s"),
            ("t", "5.7", "0.500", "s"),
            ("other", "within 10 %", "–", ""),
        )
    ]


def test_only_the_case_that_was_run_has_ours() -> None:
    one = {"metric": "rate", "value": 1, "unit": "MB/s", "case": "on", "when": "pgen == 1"}
    two = {**one, "case": "off", "when": "pgen == 0"}
    three = {**one, "case": "?", "when": "nobody == 0"}
    (found,) = published(with_references(one, two, three), Units.IEC)
    assert [row[1:4] for row in found.rows] == [
        ("on", "1", "2.10 (1.05..4.19)"),
        ("off", "1", "–"),
        ("?", "1", "–"),
    ]


def test_each_source_and_machine_has_its_table() -> None:
    one = {"metric": "rate", "value": 1, "source": "table 6", "machine": "A", "caveat": "old"}
    found = published(with_references(one, {**one, "machine": "B", "caveat": ""}, one), Units.IEC)
    assert [(each.machine, len(each.rows), each.caveats) for each in found] == [
        ("A", 2, ("old",)),
        ("B", 1, ()),
    ]


def at(group: str, instance: int, start_s: float, total_s: float) -> object:
    row = phase_row(WRITE, 0, 2, start_s)
    seconds = row.seconds.model_copy(update={"total": total_s})
    return row.model_copy(
        update={"group": group, "instance": instance, "at_s": start_s, "seconds": seconds}
    )


def test_overlap_is_between_groups_not_inside_of_one() -> None:
    writers = [at("w", 0, 0.0, 4.0), at("w", 1, 1.0, 4.0)]
    readers = [at("r", 0, 3.0, 1.0), at("r", 0, 4.5, 2.0)]
    assert group_timeline.overlap_s(writers) == 0.0
    assert group_timeline.overlap_s([*writers, *readers]) == pytest.approx(1.0 + 0.5)


def test_a_lane_shows_steps_and_what_lies_between_bars() -> None:
    def in_step(step: int, group: str, start_s: float, total_s: float) -> object:
        return at(group, 0, start_s, total_s).model_copy(update={"iteration": {"step": step}})

    rows = [
        *(in_step(step, "w", 10.0 * step, 4.0) for step in (0, 1, 1, 2)),
        in_step(0, "r", 13.0, 3.0),
    ]
    figure = group_timeline.figure(record().model_copy(update={"phases": rows}))
    assert figure is not None
    layers = {
        layer["mark"]["type"]: [row.values() for row in layer["data"]["values"]]
        for layer in figure.spec["layer"][:-1]  # the last one has the lanes' names
    }
    assert [list(row) for row in layers["text"]] == [
        ["w", 0.0, "0"],
        ["w", 10.0, "1"],
        ["r", 13.0, "0"],
        ["w", 20.0, "2"],
    ]
    assert sorted(list(row) for row in layers["rule"]) == [
        ["r", 0.0, 13.0],
        ["w", 4.0, 10.0],
        ["w", 14.0, 20.0],
    ]
    assert [list(row) for row in layers["rect"]] == [[13.0, 14.0]]


def test_groups_have_lanes_and_one_group_has_no_figure() -> None:
    made = record()
    rows = [at("w", 0, 0.0, 4.0), at("r", 0, 3.0, 1.0), at("r", 1, 6.0, 1.0)]
    figure = group_timeline.figure(made.model_copy(update={"phases": rows}))
    assert figure is not None
    assert [row[0] for row in figure.table.rows] == ["w", "r 0", "r 1"]
    assert "1.00 s of 7.00 s" in figure.finding
    assert group_timeline.figure(made) is None
