"""How much of what the machine can do a phase reached, and which ceiling comes next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from venturi.model.campaign import CampaignResult
from venturi.model.ceiling import Ceiling, CeilingLayer, CeilingSource
from venturi.model.record import Record
from venturi.report import quantity
from venturi.report.block import Block, Column, Paragraph, Section, TableBlock
from venturi.report.campaign_text import changing
from venturi.report.phase import phases
from venturi.report.quantity import Units

_MOVES = ("write", "read")
_FROM = {
    CeilingSource.MACHINE_FILE: "the machine file",
    CeilingSource.PROFILE: "the profile",
    CeilingSource.HEALTH: "venturi health",
}


@dataclass(frozen=True)
class PhaseEfficiency:
    """A phase's rate as a share of the peak, and the ceilings above and below it."""

    phase: str
    operation: str
    rate: float
    """B/s, the median."""
    peak: Ceiling
    """What is stated of the storage; else the lowest ceiling of the storage or its device."""
    above: tuple[Ceiling, ...]
    """Ceilings above the rate, the lowest first, without the peak."""
    exceeded: tuple[Ceiling, ...]
    """Ceilings that the rate is above: what was moved did not come through them."""

    @property
    def share(self) -> float:
        """Of the peak."""
        return self.rate / self.peak.bytes_per_second


def efficiencies(record: Record) -> list[PhaseEfficiency]:
    """One for each phase that writes or reads, where a ceiling of it is known."""
    found = []
    for phase in phases(record):
        operation = phase.main_kind
        if operation not in _MOVES or not phase.in_bytes or phase.idle:
            continue
        own = [one for one in record.ceilings if one.operation in (operation, "both")]
        if (efficiency := of_rate(phase.title, operation, phase.rate.median, own)) is not None:
            found.append(efficiency)
    return found


def of_rate(
    phase: str, operation: str, rate: float, own: Sequence[Ceiling]
) -> PhaseEfficiency | None:
    """A phase's rate beside the ceilings of its operation, the lowest first; None without any."""
    peak = _peak(own)
    if peak is None:
        return None
    others = [one for one in own if one is not peak]
    return PhaseEfficiency(
        phase=phase,
        operation=operation,
        rate=rate,
        peak=peak,
        above=tuple(one for one in others if one.bytes_per_second >= rate),
        exceeded=tuple(one for one in own if one.bytes_per_second < rate),
    )


def _peak(own: Sequence[Ceiling]) -> Ceiling | None:
    """What is stated of the storage, else its device, else the lowest of all."""
    stated = [one for one in own if one.layer is CeilingLayer.STORAGE]
    device = [one for one in own if one.layer is CeilingLayer.DEVICE]
    return min(stated or device or own, key=lambda one: one.bytes_per_second, default=None)


def sentence(one: PhaseEfficiency, units: Units) -> str:
    """`write: 8 % of 6 GB/s (...); the next ceiling is ...`."""
    text = f"{one.phase}: {quantity.percent(one.share)} of {_named(one.peak, units)}"
    if one.above:
        following = one.above[0]
        share = quantity.percent(one.rate / following.bytes_per_second)
        text += f"; the next ceiling is {_named(following, units)}, of which it is {share}"
    else:
        text += "; no other ceiling above it is known"
    if one.exceeded:
        text += (
            f". It is above {_named(one.exceeded[0], units)}: caches served part of it, or that "
            "ceiling is not one of this run"
        )
    return f"{text}."


def _named(ceiling: Ceiling, units: Units) -> str:
    rate = quantity.rate(ceiling.bytes_per_second, units)
    return f"{rate} ({ceiling.layer.value}: {ceiling.about}; from {_FROM[ceiling.source]})"


def campaign_sections(result: CampaignResult, units: Units) -> tuple[Section, ...]:
    """A table of the phases of a campaign's points; empty where no ceiling is known."""
    lines = []
    for row in result.rows:
        names = changing([other for other in result.rows if other.step == row.step])
        where = ", ".join(f"{name} {row.parameters[name]}" for name in names)
        rates = {metric.name: metric.median for metric in row.metrics}
        for phase, known in row.ceilings.items():
            rate = rates.get(f"{phase}.rate")
            if rate is None:
                continue
            found = of_rate(phase, known.operation, rate, known.ceilings)
            if found is None:
                continue
            beyond = _named(found.exceeded[0], units) if found.exceeded else "–"
            following, share = "none is known", "–"
            if found.above:
                following = _named(found.above[0], units)
                share = quantity.percent(rate / found.above[0].bytes_per_second)
            words = (row.step, where or row.point, phase, quantity.rate(rate, units))
            reached = (quantity.percent(found.share), _named(found.peak, units))
            lines.append((*words, *reached, share, following, beyond))
    if not lines:
        return ()
    titles = (
        "Step",
        "Point",
        "Phase",
        "Rate",
        "Reached",
        "Of",
        "Reached of the next",
        "Next ceiling",
        "Above",
    )
    right = ("Rate", "Reached", "Reached of the next")
    columns = tuple(Column(title, title in right) for title in titles)
    lead = (
        "Median rates as shares of what the machine can do at most. What is above a ceiling was "
        "served by caches in part, or that ceiling is not one of these runs."
    )
    table = TableBlock("Ceilings of each phase", columns, tuple(lines), stacked=True)
    return (Section("efficiency", "Efficiency", lead, (table,)),)


def section(record: Record, units: Units) -> Section | None:
    """Sentences and a table of all ceilings; None where no ceiling is known."""
    found = efficiencies(record)
    if not found:
        return None
    blocks: list[Block] = [Paragraph(sentence(one, units)) for one in found]
    rows = tuple(
        (
            one.phase,
            quantity.rate(ceiling.bytes_per_second, units),
            quantity.percent(one.rate / ceiling.bytes_per_second),
            ceiling.layer.value,
            ceiling.source.value,
            ceiling.about,
        )
        for one in found
        for ceiling in record.ceilings
        if ceiling.operation in (one.operation, "both")
    )
    titles = (
        "Phase",
        "Ceiling",
        "Reached",
        "Layer",
        "Source",
        "What was stated or measured",
    )
    columns = tuple(Column(title, title in ("Ceiling", "Reached")) for title in titles)
    blocks.append(TableBlock("All ceilings that are known", columns, rows))
    return Section(
        "efficiency",
        "Efficiency",
        "Median rates as shares of what the machine can do at most.",
        tuple(blocks),
    )
