"""The page of a campaign: which point is best, and what is drawn."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from venturi.model.campaign import CampaignResult, CampaignRow, MetricSummary
from venturi.model.output import Better
from venturi.model.statistic import median_interval
from venturi.report import quantity
from venturi.report.block import Figure, Paragraph, TableBlock
from venturi.report.campaign import best_of, page_of
from venturi.report.campaign_text import print_result
from venturi.report.figure.scaling import number_of
from venturi.report.quantity import Units


def _row(point: str, values: list[float], better: Better, **parameters: int | str) -> CampaignRow:
    interval = median_interval(values)
    metric = MetricSummary(
        name="rate",
        unit="B/s",
        better=better,
        values=values,
        median=interval.median,
        low=interval.low,
        high=interval.high,
        coverage=interval.coverage,
    )
    return CampaignRow(
        step="run",
        point=point,
        parameters=dict(parameters),
        states={"done": len(values)},
        metrics=[metric],
    )


def _rows(better: Better) -> list[CampaignRow]:
    spread = (0.0, 1.0, 2.0, 3.0, 4.0, 5.0)
    return [
        _row(
            f"run-{n}{w}",
            [base + s for s in spread],
            better,
            tasks=n,
            way=w,
            number=int(w == "all"),
        )
        for n, w, base in ((1, "own", 10), (2, "own", 30), (1, "all", 20), (2, "all", 33))
    ]


@pytest.mark.parametrize(
    ("better", "best", "alike"),
    [(Better.HIGHER, "run-2all", ["run-2own"]), (Better.LOWER, "run-1own", [])],
)
def test_the_best_point_and_what_cannot_be_told_from_it(
    better: Better, best: str, alike: list[str]
) -> None:
    found = best_of(_rows(better), "rate")
    assert found is not None
    assert found[0].point == best
    assert [row.point for row in found[1]] == alike


@pytest.mark.parametrize("width", [55, 66, 80])
def test_a_table_that_is_too_wide_cuts_no_number(width: int) -> None:
    words = {"strategy": "a file for each of the tasks"}
    values = [1e6, 2e6, 3e6, 4e6, 5e6, 6e6]
    rows = [_row(f"run-{n:04d}", values, Better.HIGHER, tasks=n, **words) for n in (1, 2)]
    rows[1].parameters["strategy"] = "one file that all of them write"
    rows.append(_row("run-0003", values, Better.HIGHER, tasks=2, **words))
    result = CampaignResult(
        name="c", about="", machine="m", directory="/d", points=3, states={"done": 18}, rows=rows
    )
    console = Console(file=io.StringIO(), width=width)
    print_result(result, console, Units.IEC, "c.campaign")
    assert isinstance(console.file, io.StringIO)
    text = " ".join(console.file.getvalue().split())
    assert text.count("run-000") == (0 if width == 66 else 3)
    assert text.count("3.34 MiB/s ±71 %") == 3
    assert ("tasks=2" in text) == (width == 55)


def test_many_metrics_stand_below_each_other_beside_their_points() -> None:
    rows = [_row(f"run-{n:04d}", [n * 1e6] * 6, Better.HIGHER, tasks=n) for n in (1, 2)]
    names = [f"metric_{index}" for index in range(7)]
    rows = [
        row.model_copy(
            update={"metrics": [row.metrics[0].model_copy(update={"name": n}) for n in names]}
        )
        for row in rows
    ]
    result = CampaignResult(
        name="c", about="", machine="m", directory="/d", points=2, states={"done": 12}, rows=rows
    )
    console = Console(file=io.StringIO(), width=60)
    print_result(result, console, Units.IEC, "c.campaign")
    assert isinstance(console.file, io.StringIO)
    lines = [line.split() for line in console.file.getvalue().splitlines() if line.strip()]
    titles = [line[1:] for line in lines if line[0] == "TASKS"]
    assert len(titles) > 1
    assert [title for part in titles for title in part] == [
        "RUNS",
        *(name.upper() for name in names),
    ]
    for tasks, value in (("1", "977"), ("2", "1.91")):
        own = [line for line in lines if line[0] == tasks and line[1] != "points;"]
        assert len(own) == len(titles)
        assert sum(line.count(value) for line in own) == len(names)


@pytest.mark.parametrize(("other", "shown"), [(1.0, False), (2.0, True)])
def test_what_is_only_a_phase_s_rate_again_is_no_column(other: float, shown: bool) -> None:
    rows = [
        row.model_copy(
            update={
                "metrics": [
                    row.metrics[0].model_copy(update={"name": "write.rate"}),
                    row.metrics[0].model_copy(
                        update={"name": "write", "values": [v * other for v in own]}
                    ),
                ]
            }
        )
        for row in _rows(Better.HIGHER)
        for own in [row.metrics[0].values]
    ]
    result = CampaignResult(
        name="c", about="", machine="m", directory="/d", points=4, states={"done": 24}, rows=rows
    )
    (table,) = [
        b
        for s in page_of(result, Units.IEC).chapters[0].sections
        for b in s.blocks
        if isinstance(b, TableBlock)
    ]
    titles = [column.title for column in table.columns]
    assert "write.rate" in titles
    assert ("write" in titles) is shown


def test_without_a_direction_nothing_is_best() -> None:
    assert best_of(_rows(Better.NONE), "rate") is None


def _sentences(rows: list[CampaignRow]) -> list[str]:
    result = CampaignResult(
        name="c", about="", machine="m", directory="/d", points=2, states={"done": 2}, rows=rows
    )
    blocks = page_of(result, Units.IEC).chapters[0].sections[0].blocks
    return [b.finding if isinstance(b, Figure) else b.text for b in blocks
            if isinstance(b, Figure | Paragraph)]  # fmt: skip


def test_a_metric_without_a_direction_has_its_smallest_and_its_largest_value() -> None:
    rows = [
        _row(f"run-{n}", [1e6 * v] * 6, Better.NONE, tasks=n) for n, v in ((1, 3), (2, 1), (4, 2))
    ]
    assert _sentences(rows) == [
        "Smallest: 977 KiB/s with tasks 2; largest: 2.86 MiB/s with tasks 1."
    ]


def test_equal_values_and_one_value_have_no_smallest_and_largest() -> None:
    ways = [_row(f"run-{way}", [1e6] * 6, Better.NONE, way=way) for way in ("own", "all")]
    assert _sentences(ways) == ["rate: The same median at all 2 points: 977 KiB/s."]
    assert _sentences(ways[:1]) == ["rate: The only value: 977 KiB/s with run-own."]


def test_a_line_for_each_way_over_the_tasks() -> None:
    result = CampaignResult(
        name="scaling",
        about="",
        machine="local",
        directory="/data",
        points=4,
        states={"done": 24},
        rows=_rows(Better.HIGHER),
    )
    page = page_of(result, Units.IEC)
    (figure,) = (b for b in page.chapters[0].sections[0].blocks if isinstance(b, Figure))
    assert figure.title == "rate over tasks"
    points = figure.spec["data"]["values"]
    assert {(p["series"], p["x"]) for p in points} == {
        ("way own", 1.0),
        ("way own", 2.0),
        ("way all", 1.0),
        ("way all", 2.0),
    }
    assert "not told apart from tasks 2, way own" in figure.finding


@pytest.mark.parametrize(
    ("value", "number"), [("64 KiB", 65536.0), (3, 3.0), ("1.5", 1.5), ("own", None), ("4 x", None)]
)
def test_values_on_an_axis(value: int | str, number: float | None) -> None:
    assert number_of(value) == number


@pytest.mark.parametrize(
    ("unit", "of", "value", "axis"),
    [
        ("1/s", "stat", 4.0, "k stats/s"),
        ("1/s", "", 4.0, "kIOPS"),
        ("op/s", "", 4.0, "kIOPS"),
        ("B/s", "", 3.90625, "KiB/s"),
        ("GFLOP/s", "", 4000.0, "GFLOP/s"),
    ],
)
def test_an_axis_has_the_unit_of_the_words(unit: str, of: str, value: float, axis: str) -> None:
    factor, shown = quantity.axis_unit(4000.0, unit, of=of)
    assert (4000.0 / factor, shown) == (value, axis)
    assert quantity.with_unit(4000.0, unit, of=of).endswith(f" {axis}")
