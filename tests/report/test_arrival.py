"""Requests at a rate in the report: what was asked and achieved, service and response."""

from __future__ import annotations

from typing import Any

from record_factory import SHAPES, histogram, record

from venturi.model.event import Histogram, OpenLoop
from venturi.model.record import PhaseRow, Record
from venturi.report.figure import arrival
from venturi.report.phase import phases
from venturi.report.render import render
from venturi.report.terminal import notes

MS = 1_000_000


def loop(achieved: float, late: int = 0, **changes: Any) -> OpenLoop:
    """A hundred requests of 2 ms each; late ones wait for 30 ms."""
    data: dict[str, Any] = {
        "requests": 100,
        "late": late,
        "most_late_s": 0.03 if late else 0.0,
        "wanted_per_s": 1000.0,
        "achieved_per_s": achieved,
        "response": histogram([32 * MS] * late + [2 * MS] * (100 - late)),
        "service": histogram([2 * MS] * 100),
    }
    return OpenLoop(**(data | changes))


def with_loops(*loops: OpenLoop) -> Record:
    """A record whose checkpoint followed a rate, with one row for each repetition."""
    whole = record(shapes=SHAPES[:2], repetitions=len(loops))
    rows: list[PhaseRow] = []
    for row in whole.phases:
        own = loops[row.repetition] if row.path == "checkpoint" else None
        rows.append(row.model_copy(update={"open_loop": own}))
    return whole.model_copy(update={"phases": rows})


def cells(made: Record) -> dict[str, str]:
    """The only row of the figure's table."""
    found = arrival.figure(phases(made))
    assert found is not None
    assert len(found.table.rows) == 1
    titles = [column.title for column in found.table.columns]
    assert len(set(titles)) == len(titles)
    return dict(zip(titles, found.table.rows[0], strict=True))


def test_without_a_rate_there_is_no_figure() -> None:
    assert arrival.figure(phases(record())) is None
    assert "follow a rate" not in render([record()], "md")


def test_a_rate_that_was_kept() -> None:
    made = with_loops(*[loop(999.0)] * 6)
    row = cells(made)
    assert (row["Asked"], row["Achieved"]) == ("1.00 kIOPS", "999 IOPS")
    assert row["Requests"] == "600"
    assert row["Service median"] == row["Response median"] == "2.00 ms"
    text = render([made], "md")
    assert "checkpoint kept its rate of 1.00 kIOPS; none of them began late" in text


def test_a_rate_that_was_not_kept_shows_what_waiting_adds() -> None:
    made = with_loops(*[loop(400.0, late=60)] * 6)
    row = cells(made)
    assert (row["Late"], row["Latest start"]) == ("60 %", "30.0 ms")
    assert (row["Service median"], row["Response median"]) == ("2.00 ms", "32.0 ms")
    assert (row["Slowest service"], row["Slowest response"]) == ("2.00 ms", "32.0 ms")
    found = arrival.figure(phases(made))
    assert found is not None
    assert "was asked for 1.00 kIOPS and achieved 400 IOPS" in found.finding
    assert "99 % took at most 2.00 ms from their real start, and 32.0 ms from the" in found.finding
    assert "asked for 1.00 kIOPS, achieved 400 IOPS" in notes(phases(made)[0])


def test_both_curves_are_drawn() -> None:
    found = arrival.figure(phases(with_loops(*[loop(400.0, late=60)] * 2)))
    assert found is not None
    panel = found.spec["concat"][0]
    points = panel["layer"][0]["data"]["values"]
    assert {point["kind"] for point in points} == {"service", "response"}
    last = {
        kind: max(p["x"] for p in points if p["kind"] == kind) for kind in ("service", "response")
    }
    assert last == {"service": 2 * MS, "response": 32 * MS}


def test_an_early_record_has_no_service_times() -> None:
    early = loop(400.0, late=60, response=Histogram(), service=Histogram())
    row = cells(with_loops(early, early))
    assert row["Service median"] == "–"
    assert row["Response median"] != "–"
