"""The page of runs side by side: which ratio is drawn, what is told, what a set lacks."""

from __future__ import annotations

from pathlib import Path

import pytest

from venturi.api.document import open_document
from venturi.model.comparison import (
    ComparisonRow,
    ComparisonSet,
    Difference,
    MedianInterval,
    MetricChange,
    RunComparison,
    SerialDependence,
)
from venturi.report.block import Figure, Paragraph, TableBlock
from venturi.report.comparison import page_of
from venturi.report.html import html_of
from venturi.report.quantity import Units
from venturi.report.run_comparison import MOST_POINTS


def measured(median: float) -> MedianInterval:
    return MedianInterval(median=median, low=median * 0.9, high=median * 1.1, n=6, coverage=0.97)


def row(
    name: str, ratio: float | None, change: MetricChange, is_worse: bool = False
) -> ComparisonRow:
    return ComparisonRow(
        name=name,
        unit="B/s",
        first=measured(1e9),
        second=measured(1e9 * (ratio or 1)),
        ratio=ratio,
        low=ratio and ratio * 0.9,
        high=ratio and ratio * 1.1,
        p_adjusted=0.01,
        superiority=0.0,
        detectable=0.2,
        change=change,
        is_worse=is_worse,
    )


def runs(*rows: ComparisonRow, name: str = "ior") -> RunComparison:
    return RunComparison(
        first="one",
        second="other",
        name=name,
        ranks=2,
        rows=list(rows),
        differences=[Difference(what="kernel", first="6.1", second="6.2")],
        headline="It is slower.",
    )


SLOWER = row("write", 0.5, MetricChange.LOWER, is_worse=True)
SAME = row("read", 1.01, MetricChange.SAME)
NONE = row("wait", None, MetricChange.UNSURE)


def test_ratios_are_drawn_by_what_they_say() -> None:
    chapter = page_of(runs(SLOWER, SAME, NONE), Units.IEC).chapters[0]
    assert chapter.tone == "bad"
    (figure,) = chapter.sections[0].blocks
    assert isinstance(figure, Figure)
    marks = [layer["data"]["values"] for layer in figure.spec["layer"]]
    words = {mark["name"]: mark["word"] for own in marks for mark in own if "word" in mark}
    assert words == {"write": "worse", "read": "not significant"}
    assert [line[:2] for line in figure.table.rows[:3]] == [
        ("write", "first"),
        ("", "second"),
        ("", "ratio"),
    ]
    assert figure.table.rows[2][-1] == "significantly lower: WORSE"
    (around,) = chapter.sections[1].blocks
    assert isinstance(around, TableBlock)
    assert around.rows == (("kernel", "6.1", "6.2"),)


def test_dependence_is_told_and_the_rate_has_its_condition() -> None:
    said = page_of(judged := runs(SLOWER).model_copy(update={"judged": 2}), Units.IEC)
    [first, *_] = [p.text for p in said.chapters[0].remarks if "equal runs" in p.text]
    assert "if repetitions depend little on each other" in first
    assert not any("Here they depend" in p.text for p in said.chapters[0].remarks)
    serial = SerialDependence(excess=0.61, p=0.004, metric="write", metrics=2)
    dependent = page_of(judged.model_copy(update={"serial": serial}), Units.IEC)
    [second] = [p.text for p in dependent.chapters[0].remarks if "Here they depend" in p.text]
    assert "autocorrelation of write is 0.61 above that of shuffled orders (p 0.004)" in second
    assert "3 times as large" in second


def test_without_a_ratio_there_is_a_table() -> None:
    (block,) = page_of(runs(NONE), Units.IEC).chapters[0].sections[0].blocks
    assert isinstance(block, TableBlock)


@pytest.mark.parametrize("more", [0, 3])
def test_a_set_has_its_surest_points_first(more: int) -> None:
    points = [runs(SAME, name=f"p{n}") for n in range(MOST_POINTS - 1 + more)] + [runs(SLOWER)]
    found = ComparisonSet(
        first="a",
        second="b",
        differences=[],
        parts=points,
        only_first=["x on 1 rank"],
        only_second=[],
        headline="One is worse.",
    )
    page = page_of(found, Units.IEC)
    chapter = page.chapters[0]
    assert chapter.sections[0].title == "ior on 2 ranks"
    assert len(chapter.sections) == MOST_POINTS + 1
    *method, last = [p.text for p in chapter.remarks]
    assert (last.split()[0] == str(more)) == (more > 0)
    assert "their smallest to their largest value" in (method[-1] if more else last)
    (only,) = chapter.sections[-1].blocks
    assert only == Paragraph("Only in a: x on 1 rank.")


def test_figures_of_several_points_have_names_of_their_own() -> None:
    found = ComparisonSet(
        first="a",
        second="b",
        differences=[],
        parts=[runs(SAME), runs(SLOWER)],
        only_first=[],
        only_second=[],
        headline="",
    )
    text = html_of(page_of(found, Units.IEC))
    assert text.count('<figure id="comparison-ratio-0"') == 1
    assert text.count('<figure id="comparison-ratio-1"') == 1


def test_a_comparison_that_was_written_is_known_by_its_schema(tmp_path: Path) -> None:
    path = tmp_path / "both.json"
    path.write_text(runs(SAME).to_json(indent=1))
    assert open_document(str(path)) == ("both", runs(SAME))
