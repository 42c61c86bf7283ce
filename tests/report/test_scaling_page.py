"""The page of a scaling study: the picture, the table, what follows, in every form."""

from __future__ import annotations

import io
import math
from typing import Any

import pytest
from rich.console import Console

from venturi.analyse.scaling import CurveRequest, SizedMetric, curve_of
from venturi.model.campaign import CampaignResult, CampaignRow, MetricSummary
from venturi.model.output import Better
from venturi.model.scaling import (
    Guideline,
    GuidelineState,
    Law,
    ScalingCurve,
    ScalingStudy,
    StudyKind,
)
from venturi.model.statistic import median_interval
from venturi.report.block import Figure, Notes, TableBlock
from venturi.report.campaign import page_of
from venturi.report.campaign_text import print_result
from venturi.report.quantity import Units
from venturi.report.render import render_document

SPREAD = (0.97, 0.99, 1.0, 1.01, 1.02, 1.04)


def metric(seconds: float) -> MetricSummary:
    values = [seconds * share for share in SPREAD]
    middle = median_interval(values)
    return MetricSummary(
        name="write.seconds",
        unit="s",
        better=Better.LOWER,
        values=values,
        median=middle.median,
        low=middle.low,
        high=middle.high,
        coverage=middle.coverage,
    )


def result(*ways: str, grows: float = 0.0) -> CampaignResult:
    """A study of 1 to 16 ranks with a tenth of the time serial; work grows by this share a rank."""
    sizes = (1, 2, 4, 8, 16)
    curves, rows = [], []
    for way in ways or ("",):
        parameters: dict[str, int | float | str] = {"way": way} if way else {}
        measured = []
        for n in sizes:
            own = metric(60 * (0.1 + 0.9 / n))
            point = f"run-{n}{way}"
            measured.append(SizedMetric(n, point, own, 100.0 * (1 + grows * n)))
            rows.append(
                CampaignRow(
                    step="run",
                    point=point,
                    parameters={"ranks": n, **parameters},
                    states={"done": 6},
                    metrics=[own],
                )
            )
        found = curve_of(CurveRequest(StudyKind.STRONG, "ranks", 1, "run", parameters), measured)
        assert isinstance(found, ScalingCurve)
        curves.append(found)
    study = ScalingStudy(
        kind=StudyKind.STRONG,
        over="ranks",
        base=1,
        curves=curves,
        without=["run, other: a value of 0 has no ratio"],
        guidelines=[
            Guideline(rule="wall-clock time", state=GuidelineState.MET, says="by our clock")
        ],
    )
    return CampaignResult(
        name="scaled",
        about="",
        machine="local",
        directory="/data",
        points=len(rows),
        states={"done": 6 * len(rows)},
        rows=rows,
        study=study,
    )


def blocks(of: CampaignResult) -> list[Any]:
    """The blocks of the study's section."""
    (section,) = (s for s in page_of(of, Units.IEC).chapters[0].sections if s.name == "scaling")
    return list(section.blocks)


def test_two_plots_with_ideal_lines_the_law_and_intervals() -> None:
    (figure,) = (block for block in blocks(result()) if isinstance(block, Figure))
    speedup, efficiency = figure.spec["hconcat"]
    ideal, law, bars, marks = speedup["layer"]
    assert [row["speedup"] for row in ideal["data"]["values"]] == [1, 2, 4, 8, 16]
    assert {row["efficiency"] for row in ideal["data"]["values"]} == {1.0}
    last = law["data"]["values"][-1]
    assert last["speedup"] == pytest.approx(1 / (0.1 + 0.9 / 16), rel=0.01)
    assert last["efficiency"] == pytest.approx(last["speedup"] / 16)
    assert bars["encoding"]["y2"] == {"field": "speedup_high"}
    assert efficiency["layer"][3]["encoding"]["y"]["field"] == "efficiency"
    assert marks["mark"]["type"] == "point"
    assert speedup["data"]["values"][4]["speedup"] == pytest.approx(6.4)
    assert "efficiency 40 % at ranks 16" in figure.finding


def test_every_curve_has_its_line_and_its_sentences() -> None:
    found = blocks(result("own", "all"))
    (figure,) = (block for block in found if isinstance(block, Figure))
    assert {row["series"] for row in figure.spec["hconcat"][0]["data"]["values"]} == {
        "way own",
        "way all",
    }
    assert len(figure.table.rows) == 10
    assert figure.table.columns[0].title == "way"
    (notes,) = (block for block in found if isinstance(block, Notes))
    assert [note.title for note in notes.items] == [
        "write.seconds, way own",
        "write.seconds, way all",
    ]
    assert all(name in ("Best", "Knee", "Law") for note in notes.items for name, _ in note.lines)


def test_a_metric_is_drawn_once() -> None:
    sections = page_of(result(), Units.IEC).chapters[0].sections
    assert [section.name for section in sections] == ["scaling", "all"]
    without = result().model_copy(update={"study": None})
    sections = page_of(without, Units.IEC).chapters[0].sections
    assert [section.name for section in sections] == ["run", "all"]


@pytest.mark.parametrize("form", ["html", "md", "json"])
def test_every_form_has_the_numbers_the_words_and_the_guidelines(form: str) -> None:
    text = render_document(result(), form)
    for said in ("wall-clock time", "agrees with the times", "a value of 0 has no ratio"):
        assert said in text
    if form != "json":
        assert "40 %" in text
    assert ("<svg" in text) is (form == "html")


def test_a_terminal_has_all_of_it_in_eighty_columns() -> None:
    console = Console(file=io.StringIO(), width=80)
    print_result(result("own", "all"), console, Units.IEC, "c.campaign")
    assert isinstance(console.file, io.StringIO)
    lines = console.file.getvalue().splitlines()
    text = " ".join(" ".join(lines).split())
    assert "Strong scaling over ranks, base 1" in text
    assert "way own: The largest speed-up, 6.4" in text
    assert "wall-clock time: by our clock" in text
    assert max(map(len, lines)) <= 80


def test_work_that_contradicts_the_study_is_said_first() -> None:
    of = result(grows=1.0)
    first = blocks(of)[0]
    assert "no strong scaling" in first.text
    assert first.tone == "bad"
    headline = page_of(of, Units.IEC).chapters[0].headlines[0]
    assert headline.beside == "another problem"


def test_few_repetitions_say_how_sure_their_intervals_are() -> None:
    of = result()
    study = of.study
    assert study is not None
    curve = study.curves[0]
    points = [
        point.model_copy(update={"speedup": point.speedup.model_copy(update={"coverage": 0.75})})
        for point in curve.points
    ]
    less = curve.model_copy(update={"points": points})
    table = next(
        block.table
        for block in blocks(
            of.model_copy(update={"study": study.model_copy(update={"curves": [less]})})
        )
        if isinstance(block, Figure)
    )
    assert isinstance(table, TableBlock)
    assert [column.title for column in table.columns].count("Interval") == 2
    assert table.rows[1][3].endswith("(75 %)")


@pytest.mark.parametrize(("law", "speedup"), [(Law.AMDAHL, 1 / 0.325), (Law.GUSTAFSON, 3.7)])
def test_the_laws_by_hand(law: Law, speedup: float) -> None:
    assert math.isclose(law.speedup(0.1, 4), speedup)
