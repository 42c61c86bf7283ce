"""The part of a report that only io500 has: score, limits, suspicions, place among results."""

from __future__ import annotations

from venturi.model.comparison import MedianInterval
from venturi.model.record import Level, Record
from venturi.model.review import Io500Review, RankingPosition, ReviewedPhase, ReviewLimit
from venturi.report import quantity
from venturi.report.block import (
    Block,
    Column,
    Headline,
    Note,
    Notes,
    Paragraph,
    Section,
    TableBlock,
)
from venturi.report.figure import ranking_position

_LIMITS = {
    ReviewLimit.RANKS: "ranks",
    ReviewLimit.METADATA: "metadata",
    ReviewLimit.NETWORK: "network",
    ReviewLimit.DEVICE: "device",
    ReviewLimit.CACHE: "cache",
}
_NOT_IMPORTED = (
    "No published results are in the store, so the run has no place among them: "
    "venturi results import PATH brings some."
)


def headlines(review: Io500Review, record: Record) -> tuple[Headline, ...]:
    """Score, bandwidth and metadata with their intervals; none of an INVALID run."""
    if record.verdict.level is Level.INVALID:
        return ()
    beside = "from a cache in part" if review.suspicions else ""
    found = (
        ("score", review.score, "", "profile, not a submission"),
        ("bandwidth", review.bandwidth, "GiB/s", beside),
        ("metadata", review.metadata, "kIOPS", ""),
    )
    return tuple(
        Headline(name, f"{quantity.number(one.median)} {unit}".rstrip(), _interval(one), beside)
        for name, one, unit, beside in found
        if one is not None
    )


def sections(review: Io500Review) -> tuple[Section, ...]:
    """Phases with their limits, and the run's place among published results."""
    return (_phases(review), _place(review))


def _interval(value: MedianInterval) -> str:
    if value.n < 2:
        return "one repetition, no interval"
    low, high = quantity.number(value.low), quantity.number(value.high)
    return f"{low} to {high}, {quantity.percent(value.coverage)} sure, n\u00a0=\u00a0{value.n}"


def _phases(review: Io500Review) -> Section:
    blocks: list[Block] = []
    if review.missing:
        text = (
            f"Not finished: {', '.join(review.missing)}. The run has no score: none is made "
            "of the phases that are there."
        )
        blocks.append(Paragraph(text, "bad"))
    if review.suspicions:
        blocks.append(
            Notes(
                (
                    Note(
                        "cache",
                        "fair",
                        "Memory answered where storage was asked",
                        tuple(("Seen", f"{text}.") for text in review.suspicions),
                    ),
                )
            )
        )
    blocks += [_rates(review.phases), _limits(review.phases)]
    limited: dict[ReviewLimit, int] = {}
    for phase in review.phases:
        if phase.scored:
            limited[phase.limit] = limited.get(phase.limit, 0) + 1
    ordered = sorted(limited.items(), key=lambda one: -one[1])
    words = ", ".join(f"{_LIMITS[limit]} {count}" for limit, count in ordered)
    lead = (
        "Rates by the official formula of each phase. What limited the scored phases, as far as "
        f"the run itself shows: {words}."
    )
    return Section("phases", "Phase by phase, and what limited each", lead, tuple(blocks))


def _rates(phases: list[ReviewedPhase]) -> TableBlock:
    titles = ("Phase", "Rate", "Interval", "Time", "Operation", "Median", "99 %", "Longest")
    rows = tuple(
        (
            phase.name + ("" if phase.scored else " (not scored)"),
            f"{quantity.number(phase.rate.median)} {phase.unit}",
            "–"
            if phase.rate.n < 2
            else f"{quantity.number(phase.rate.low)} to {quantity.number(phase.rate.high)}",
            quantity.seconds(phase.time),
            phase.operation,
            *_latency(phase),
        )
        for phase in phases
    )
    columns = tuple(Column(title, title not in ("Phase", "Operation")) for title in titles)
    return TableBlock("Phases of the score: rates and latencies", columns, rows)


def _latency(phase: ReviewedPhase) -> tuple[str, str, str]:
    found = phase.latency_ns
    if found is None:
        return "–", "–", "–"
    median, late, longest = (quantity.nanoseconds(v) for v in (found.p50, found.p99, found.max))
    return median, late, longest


def _limits(phases: list[ReviewedPhase]) -> TableBlock:
    rows = tuple((phase.name, _LIMITS[phase.limit], phase.evidence) for phase in phases)
    columns = (Column("Phase"), Column("Limited by"), Column("Evidence"))
    return TableBlock("What each phase waited for", columns, rows)


def _place(review: Io500Review) -> Section:
    if not review.results:
        return Section("place", _TITLE, "", (Paragraph(_NOT_IMPORTED),))
    size = quantity.counted(review.processes, "rank")
    lead = (
        f"Beside {quantity.counted(review.results, 'imported result')} that may stand in a list. "
        f"Those are of full length and mostly of far larger systems, this run is of {size}: "
        "compare it for each client process, and take a cache's rates for what they are."
    )
    one = review.ranking_position
    words = f"Its score would take place {_rank(one)}." if one else "It has no score to place."
    blocks: list[Block] = [Paragraph(words)]
    drawn = ranking_position.figure(review.phases, _finding(review))
    if drawn is not None:
        blocks.append(drawn)
    blocks.append(_ranking_positions(review))
    return Section("place", _TITLE, lead, tuple(blocks))


_TITLE = "Its place among published results"


def _finding(review: Io500Review) -> str:
    parts = []
    if not review.strong and not review.weak:
        parts.append("For its number of processes no phase that storage limited stands out.")
    if review.strong:
        parts.append(f"Strong for its size: {', '.join(review.strong)}.")
    if review.weak:
        parts.append(f"Weak for its size: {', '.join(review.weak)}.")
    if review.from_memory:
        names = ", ".join(review.from_memory)
        parts.append(f"A cache answered, at least in part, so nothing is said of {names}.")
    return " ".join(parts)


def _rank(one: RankingPosition) -> str:
    return f"{one.of - one.beaten + 1} of {one.of + 1}"


def _ranking_positions(review: Io500Review) -> TableBlock:
    rows = []
    for phase in review.phases:
        by = {one.per: one for one in phase.ranking_positions}
        if not by:
            continue
        cells = [phase.name]
        each = by.get("process")
        middle = each.others[len(each.others) // 2] if each else 0.0
        cells.append(f"{quantity.number(phase.rate.median)} {phase.unit}")
        cells.append(f"{quantity.number(each.value)}" if each else "–")
        cells.append(quantity.number(middle) if each else "–")
        cells += [_rank(by[per]) if per in by else "–" for per in ("run", "process", "node")]
        rows.append(tuple(cells))
    titles = (
        "Phase",
        "Here",
        "Per process",
        "Their median",
        "Place",
        "Place per process",
        "Place per node",
    )
    columns = tuple(Column(title, index > 0) for index, title in enumerate(titles))
    return TableBlock("Place by place", columns, tuple(rows), folded=True)
