"""Requests at a rate: what was asked and achieved, and what waiting for a turn adds."""

from __future__ import annotations

from dataclasses import dataclass

from venturi.model.event import OpenLoop
from venturi.report import quantity
from venturi.report.block import Column, Figure, TableBlock
from venturi.report.figure import distribution
from venturi.report.latency import Latency, merge
from venturi.report.palette import TIMES
from venturi.report.phase import PhaseSummary

_KEPT = 0.99
"""A rate of which so much was achieved was kept."""


@dataclass(frozen=True)
class OpenLoopArrivals:
    """The open loops of one phase.

    Rates are those of the median repetition, of all instances together (of several iterations
    the fastest); the rest is of all repetitions.
    """

    phase: PhaseSummary
    wanted_per_s: float
    achieved_per_s: float
    requests: int
    late: int
    most_late_s: float
    service: Latency
    response: Latency

    @property
    def kept(self) -> bool:
        """Whether requests came as fast as was asked."""
        return self.achieved_per_s >= _KEPT * self.wanted_per_s

    @property
    def late_share(self) -> float:
        """Of the requests, those whose time came while those before them were in their way."""
        return self.late / max(self.requests, 1)


def arrivals_of(phase: PhaseSummary) -> OpenLoopArrivals | None:
    """The open loops of a phase; none where each request began when one before had ended."""
    loops = [row.open_loop for row in phase.rows if row.open_loop is not None]
    if not loops:
        return None
    wanted: dict[int, float] = {}
    achieved: dict[int, float] = {}
    for row in phase.median_sample.rows:
        if row.open_loop is not None:
            for rates, rate in (
                (wanted, row.open_loop.wanted_per_s),
                (achieved, row.open_loop.achieved_per_s),
            ):
                rates[row.instance] = max(rates.get(row.instance, 0.0), rate)
    return OpenLoopArrivals(
        phase=phase,
        wanted_per_s=sum(wanted.values()),
        achieved_per_s=sum(achieved.values()),
        requests=sum(loop.requests for loop in loops),
        late=sum(loop.late for loop in loops),
        most_late_s=max(loop.most_late_s for loop in loops),
        service=merge(loop.service for loop in loops),
        response=_response(phase, loops),
    )


def _response(phase: PhaseSummary, loops: list[OpenLoop]) -> Latency:
    """From the intended starts; the earliest records have them among the latencies only."""
    found = merge(loop.response for loop in loops)
    if found.operations:
        return found
    rows = [row for row in phase.rows if row.open_loop is not None]
    kinds = ("write", "read")
    return merge(
        row.by_operation[k].histogram for row in rows for k in kinds if k in row.by_operation
    )


def _times(latency: Latency) -> tuple[str, str, str]:
    if not latency.operations:
        return "–", "–", "–"
    values = (latency.quantile_ns(0.5), latency.quantile_ns(0.99), latency.max_ns)
    middle, most, last = (quantity.nanoseconds(value) for value in values)
    return middle, most, last


def _table(found: list[OpenLoopArrivals]) -> TableBlock:
    titles = (
        "Phase",
        "Asked",
        "Achieved",
        "Requests",
        "Late",
        "Latest start",
        "Service median",
        "Service 99 %",
        "Slowest service",
        "Response median",
        "Response 99 %",
        "Slowest response",
    )
    rows = tuple(
        (
            entry.phase.title,
            quantity.operation_rate(entry.wanted_per_s),
            quantity.operation_rate(entry.achieved_per_s),
            quantity.count(entry.requests),
            quantity.percent(entry.late_share),
            quantity.seconds(entry.most_late_s),
            *_times(entry.service),
            *_times(entry.response),
        )
        for entry in found
    )
    columns = tuple(Column(title, index > 0) for index, title in enumerate(titles))
    return TableBlock("Requests at a rate", columns, rows)


def _sentence(entry: OpenLoopArrivals) -> str:
    asked = quantity.operation_rate(entry.wanted_per_s)
    achieved = quantity.operation_rate(entry.achieved_per_s)
    if entry.kept:
        text = f"{entry.phase.title} kept its rate of {asked}"
    else:
        text = f"{entry.phase.title} was asked for {asked} and achieved {achieved}"
    late = quantity.percent(entry.late_share)
    text += f"; {late} of its requests began late" if entry.late else "; none of them began late"
    if entry.service.operations:
        service, response = (
            quantity.nanoseconds(latency.quantile_ns(0.99))
            for latency in (entry.service, entry.response)
        )
        text += (
            f". 99 % took at most {service} from their real start, and {response} from the "
            "intended one"
        )
    return f"{text}."


def figure(phases: list[PhaseSummary]) -> Figure | None:
    """Times from the real and from the intended start; none where no request follows a rate."""
    found = [entry for phase in phases if (entry := arrivals_of(phase)) is not None]
    if not any(entry.response.operations for entry in found):
        return None
    shown = [entry for entry in found if entry.response.operations][: distribution.MOST_PANELS]
    panels = [
        (entry.phase.title, {"service": entry.service, "response": entry.response})
        for entry in shown
    ]
    return Figure(
        name="arrivals",
        title="How requests fared that follow a rate",
        finding=" ".join(_sentence(entry) for entry in found),
        reading=(
            "The share of requests done within a time (logarithmic), all repetitions together: "
            "service counts from when a request really began, response from when it should have. "
            "What lies between is waiting behind the requests before it, as users of a service "
            "that is asked at this rate would. Marks: median and 99 %."
        ),
        spec=distribution.spec_of(panels, list(TIMES)),
        table=_table(found),
    )
