"""Curves that a workload asks for, over what its phases stand for."""

from __future__ import annotations

from dataclasses import replace

import pytest
import record_factory

from venturi import library
from venturi.analyse.metric import check_metrics, metrics_of
from venturi.model.error import UserError
from venturi.model.record import Record
from venturi.model.workload import Workload
from venturi.model.yaml_text import parse_yaml
from venturi.report.figure.curve import figures
from venturi.report.quantity import Units

CURVE = {"over": "ranks that write", "at": ["np // 2", "np"], "lines": {"a file": ["half", "all"]}}


def measured(**changes: object) -> Record:
    """A run whose phases stand for half of the ranks and for all of them."""
    shape = replace(record_factory.SHAPES[0], path="half")
    faster = replace(shape, path="all", rate_bytes_per_s=3 * shape.rate_bytes_per_s)
    record = record_factory.record(shapes=(shape, faster))
    workload = {**record.workload, "curves": {"rate": CURVE | changes}}
    metrics = metrics_of(library.load("ior"), {}, record.phases)
    return record.model_copy(update={"workload": workload, "metrics": metrics})


def test_marks_stand_where_the_workload_says() -> None:
    record = measured()
    (figure,) = figures(record, Units.IEC)
    marks = figure.spec["data"]["values"]
    assert [mark["x"] for mark in marks] == [2, 4]
    assert marks[0]["low"] <= marks[0]["y"] <= marks[0]["high"] < marks[1]["y"]
    assert "a file: best with 4" in figure.finding
    assert [row[1] for row in figure.table.rows] == ["2", "4"]


def test_places_have_their_unit() -> None:
    (figure,) = figures(measured(unit="B", at=["np * 512", "np * 1 KiB"]), Units.IEC)
    assert [mark["label"] for mark in figure.spec["data"]["values"]] == ["2 KiB", "4 KiB"]
    assert "a file: best with 4 KiB" in figure.finding
    assert [row[1] for row in figure.table.rows] == ["2 KiB", "4 KiB"]


def test_what_was_not_measured_is_not_drawn() -> None:
    assert figures(measured(lines={"a file": ["half", "gone"]}), Units.IEC) == []
    assert figures(measured(at=["np // 2", "unknown"]), Units.IEC) == []


def test_a_curve_names_phases_and_one_for_each_place() -> None:
    text = library.text_of("saturation")
    check_metrics(library.load("saturation"), ())
    with pytest.raises(UserError, match=r"curves\.rate: 'shared_al' is no phase"):
        check_metrics(parse_yaml(text.replace("shared_all]", "shared_al]"), "w", Workload), ())
    with pytest.raises(UserError, match="4 phases for 5 places"):
        parse_yaml(text.replace(", shared_all]", "]"), "w", Workload)
