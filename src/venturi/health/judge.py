"""Whether a machine does as it did: figures beside references, and numbers that must fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from venturi.model.health import (
    Consistency,
    Health,
    HealthPart,
    HealthReference,
    HealthRow,
    HealthState,
    NamedFault,
    worst,
)
from venturi.model.kernel_value import PointSamples, points_of
from venturi.model.output import Better
from venturi.model.record import MetricValue, Record
from venturi.model.result import direction_of
from venturi.model.statistic import median

FEWEST_SESSIONS = 5
"""With fewer before it, no session fails."""
MOST_SESSIONS = 20
_MADS = 4 * 1.4826
"""Of a normal distribution, so many standard deviations."""
_LEAST_BAND = 0.1
PARTS = {
    "memory": ("sweep", "core", "triad", "chase"),
    "compute": ("arithmetic", "core_arithmetic", "multiplication"),
    "solvers": ("equations", "gradients"),
    "messages": ("pairs", "collectives", "links"),
    "tcp": ("tcp",),
    "data": (
        "sorting",
        "words",
        "search",
        "digests",
        "sampling",
        "components",
        "fourier",
        "product",
    ),
}
"""The phases of each part of the suites."""


def part_of(phase: str) -> str:
    """The part that a phase belongs to; empty: none."""
    return next((part for part, phases in PARTS.items() if phase in phases), "")


def learned(values: Sequence[float], unit: str) -> HealthReference:
    """A reference from values of sessions: their median, and 4 robust standard deviations.

    The band is at least 10 %: closer, sessions differ by what else is in memory.
    """
    middle = median(list(values))
    spread = median([abs(value - middle) for value in values])
    band = max(_MADS * spread / abs(middle), _LEAST_BAND) if middle else _LEAST_BAND
    return HealthReference(value=middle, lower=-band, upper=band, unit=unit)


def rows_of(
    record: Record,
    before: Sequence[Health],
    references: Mapping[str, HealthReference],
    noise: str,
) -> list[HealthRow]:
    """A row for each figure of the run; `before` are comparable sessions, oldest first."""
    quiet = [session for session in before if not session.noise][-MOST_SESSIONS:]
    rows = []
    for name, metric in record.metrics.items():
        part = part_of(name.rpartition(": ")[0])
        if not part or (part == "data" and not metric.unit.endswith("/s")):
            continue  # the parts of a kernel's time are on the page; microseconds are no trend
        earlier = [row.value for session in quiet for row in session.rows if row.metric == name]
        rows.append(_row(name, part, metric, earlier, references.get(name), noise))
    return rows


def _row(
    name: str,
    part: str,
    metric: MetricValue,
    before: list[float],
    given: HealthReference | None,
    noise: str,
) -> HealthRow:
    reference = given
    if reference is None and len(before) >= FEWEST_SESSIONS:
        reference = learned(before, metric.unit)
    better = direction_of(metric.unit)
    better = Better.HIGHER if metric.unit.endswith("/s") else better
    state, says = _state(metric.median, better, reference, len(before), noise)
    return HealthRow(
        metric=name,
        part=part,
        unit=metric.unit,
        better=better,
        value=metric.median,
        values=metric.values,
        before=before,
        reference=reference,
        state=state,
        says=says,
    )


def _state(
    value: float, better: Better, reference: HealthReference | None, before: int, noise: str
) -> tuple[HealthState, str]:
    if noise:
        return HealthState.NOISY, "noisy: not comparable"
    if reference is None:
        return HealthState.NEW, f"no baseline: {before} of {FEWEST_SESSIONS} sessions before it"
    if better is Better.NONE or not reference.value:
        return HealthState.OK, "neither high nor low is better"
    off = value / reference.value - 1
    worse = -off if better is Better.HIGHER else off
    band = -reference.lower if better is Better.HIGHER else reference.upper
    said = f"{'+' if off >= 0 else '−'}{abs(off):.1%} to the baseline, allowed {band:.1%}"
    if worse > band:
        return HealthState.FAIL, f"{said}: worse than that"
    if worse > band / 2:
        return HealthState.WATCH, said
    return HealthState.OK, said


@dataclass(frozen=True)
class PartFaults:
    """What is known of parts beside their figures."""

    left_out: Mapping[str, str] = field(default_factory=dict)
    """Parts that were not run, and why."""
    failed: Sequence[str] = ()
    """`PHASE: KERNEL FAILED: WHY`."""
    slow: Sequence[NamedFault] = ()
    noise: str = ""


def parts_of(rows: Sequence[HealthRow], faults: PartFaults) -> list[HealthPart]:
    """The parts of the machine in one line each.

    A part of which something failed is FAILED whatever its other figures are. What is slow by name
    makes it FAIL; where others used the machine it is named all the same, and the part is NOISY.
    """
    found = []
    for part in PARTS:
        own = [row for row in rows if row.part == part]
        failed = [one for one in faults.failed if part_of(one.partition(": ")[0]) == part]
        slow = [f"{one.phase}: {one.says}" for one in faults.slow if one.part == part]
        if failed:
            state, says = HealthState.FAILED, "; ".join(failed)
        elif slow:
            state = HealthState.NOISY if faults.noise else HealthState.FAIL
            says = "; ".join(slow)
        elif own:
            state, says = _of_figures(own)
        else:
            state = HealthState.NOT_RUN
            says = faults.left_out.get(part, "nothing of it was measured")
        found.append(HealthPart(name=part, state=state, says=says))
    return found


def _of_figures(own: Sequence[HealthRow]) -> tuple[HealthState, str]:
    state = worst([row.state for row in own])
    first = next(row for row in own if row.state is state)
    if state is HealthState.OK:
        return state, f"{len(own)} figures within their bands"
    alike = sum(row.state is state for row in own)
    more = f" ({alike} of {len(own)} figures)" if alike > 1 else ""
    return state, f"{first.metric}: {first.says}{more}"


def consistency_of(record: Record) -> list[Consistency]:
    """Numbers of one session that must fit each other, whatever the machine is."""
    points = {
        phase: points_of(r for row in record.phases if row.path == phase for r in row.kernels)
        for phase in dict.fromkeys(row.path for row in record.phases)
    }
    return [*_core_and_node(record), *_work_and_peak(record), *_messages_and_copy(points)]


def _core_and_node(record: Record) -> list[Consistency]:
    """All cores together have no less than one core, as far as the rules of noise go."""
    pairs = (("triad: triad", "core: triad"), ("arithmetic: multiply-add",
             "core_arithmetic: multiply-add"))  # fmt: skip
    found = []
    for whole, one in pairs:
        if whole in record.metrics and one in record.metrics:
            node, core = record.metrics[whole].median, record.metrics[one].median
            found.append(
                Consistency(
                    what=f"{whole} of all ranks is no less than {one} of one",
                    holds=node >= 0.9 * core,
                    says=f"{node / core:.2f} times as much on {record.ranks} ranks",
                )
            )
    return found


def _work_and_peak(record: Record) -> list[Consistency]:
    """A solver is no quicker than multiplication alone, and that no quicker than the peak."""
    pairs = (("equations: solve", "multiplication: multiply"), ("multiplication: multiply",
             "arithmetic: multiply-add"))  # fmt: skip
    found = []
    for work, peak in pairs:
        if work in record.metrics and peak in record.metrics:
            share = record.metrics[work].median / record.metrics[peak].median
            found.append(
                Consistency(
                    what=f"{work} is no more than {peak}",
                    holds=share <= 1.1,
                    says=f"{share:.0%} of it",
                )
            )
    return found


def _messages_and_copy(points: Mapping[str, Sequence[PointSamples]]) -> list[Consistency]:
    """Within a node a message is copied at least once, so it is no quicker than COPY."""
    sizes = {p.at[0]: p.value for p in points.get("pairs", ()) if p.series.name == "bandwidth"}
    copies = {p.at[0]: p.value for p in points.get("sweep", ()) if p.series.name == "copy"}
    if not sizes or not copies:
        return []
    largest = max(sizes)
    near = min(copies, key=lambda size: abs(size - largest))
    share = sizes[largest] / copies[near]
    return [
        Consistency(
            what="messages of one pair move no more bytes a second than COPY of their size",
            holds=share <= 1.1,
            says=f"{share:.0%} of it",
        )
    ]
