"""A run of io500 read closely: scores, limits, suspicions, and its place among results."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence

from venturi.compat.io500.limit import SUSPECT, PhaseContext, limit_of, phase_context_of
from venturi.compat.io500.own import (
    RANDOM,
    counted_kind,
    is_bandwidth,
    rate_of,
    result_of,
    rows_by_phase,
)
from venturi.compat.io500.ranking import SHARES, RankingFilter, value_of
from venturi.compat.io500.score import BANDWIDTH, SCORED, missing
from venturi.model.comparison import MedianInterval
from venturi.model.published import Io500Result
from venturi.model.record import MetricValue, PhaseRow, Record
from venturi.model.review import Io500Review, RankingPosition, ReviewedPhase, ReviewLimit
from venturi.model.statistic import median_interval
from venturi.report import quantity

FEW = 6
"""With fewer published results to stand among, no phase is called strong or weak."""
STRONG, WEAK = 2 / 3, 1 / 3


def review_of(record: Record, results: Iterable[Io500Result]) -> Io500Review:
    """The review of a run beside those published results that may stand in a list.

    UserError where the run is of another workload.
    """
    own = result_of(record)
    beside = [result for result in results if result.ranked]
    here = phase_context_of(record)
    rows = rows_by_phase(record)
    phases = [_phase(name, found, here, own, beside) for name, found in rows.items()]
    lacking = missing(own.phases)
    scored = [phase for phase in phases if phase.scored]
    cached = {
        phase.name
        for phase in scored
        if phase.limit is ReviewLimit.CACHE or _cached_share(rows[phase.name]) >= SUSPECT
    }
    stored = [phase for phase in scored if phase.name not in cached]
    return Io500Review(
        run=record.id,
        processes=record.ranks,
        nodes=len(record.environment.hosts),
        score=None if lacking else _metric(record, "score"),
        bandwidth=_metric(record, "bandwidth"),
        metadata=_metric(record, "metadata"),
        phases=phases,
        missing=lacking,
        suspicions=_suspicions(record, rows),
        results=len(beside),
        ranking_position=next(iter(_ranking_positions("score", own, beside)), None),
        strong=_named(stored, lambda share: share >= STRONG),
        from_memory=[phase.name for phase in scored if phase.name in cached],
        weak=_named(stored, lambda share: share <= WEAK),
    )


def _phase(
    name: str,
    rows: Sequence[PhaseRow],
    here: PhaseContext,
    own: Io500Result,
    beside: Sequence[Io500Result],
) -> ReviewedPhase:
    rates = [rate_of(row) for row in rows]
    order = sorted(range(len(rows)), key=lambda index: rates[index])
    middle = rows[order[(len(order) - 1) // 2]]
    kind = counted_kind(name)
    done = middle.by_operation.get(kind)
    found = limit_of(middle, here)
    return ReviewedPhase(
        name=name,
        unit="GiB/s" if is_bandwidth(name) else "kIOPS",
        scored=name in SCORED,
        rate=_spread(rates),
        time=middle.seconds.total,
        operation=kind,
        latency_ns=done.latency_ns if done else None,
        limit=found.limit,
        evidence=found.evidence,
        ranking_positions=_ranking_positions(name, own, beside) if name in SCORED else [],
    )


def _spread(values: Sequence[float]) -> MedianInterval:
    found = median_interval(values)
    return MedianInterval(
        median=found.median, low=found.low, high=found.high, coverage=found.coverage, n=len(values)
    )


def _metric(record: Record, name: str) -> MedianInterval | None:
    found: MetricValue | None = record.metrics.get(name)
    if found is None:
        return None
    return MedianInterval(
        median=found.median, low=found.low, high=found.high, coverage=found.coverage, n=found.n
    )


def _ranking_positions(
    by: str, own: Io500Result, beside: Sequence[Io500Result]
) -> list[RankingPosition]:
    ranking_positions = []
    for per in SHARES:
        choice = RankingFilter(by, per)
        value = value_of(own, choice)
        others = sorted(v for one in beside if (v := value_of(one, choice)) is not None)
        if value is not None and others:
            beaten = bisect_left(others, value)
            ranking_positions.append(
                RankingPosition(per=per, value=value, beaten=beaten, of=len(others), others=others)
            )
    return ranking_positions


def _named(phases: Sequence[ReviewedPhase], fits: Callable[[float], bool]) -> list[str]:
    """Phases by their share per process, the most telling first."""
    found = [
        (ranking_position.share, phase.name)
        for phase in phases
        for ranking_position in phase.ranking_positions
        if ranking_position.per == "process"
        and ranking_position.of >= FEW
        and fits(ranking_position.share)
    ]
    return [name for _, name in sorted(found, key=lambda one: -abs(one[0] - 0.5))]


def _cached_share(rows: Sequence[PhaseRow]) -> float:
    """The most of a phase's data that was counted in memory before it, in any repetition."""
    return max((row.cached_share or 0.0 for row in rows), default=0.0)


def _suspicions(record: Record, rows: dict[str, list[PhaseRow]]) -> list[str]:
    """What says that memory answered where storage was asked."""
    found = []
    best = {name: max(rate_of(row) for row in each) for name, each in rows.items()}
    random_rate, easy = best.get(RANDOM, 0.0), best.get("ior-easy-read", 0.0)
    if random_rate > easy > 0:
        found.append(
            f"random 4 KiB reads ({quantity.number(random_rate)} GiB/s) were faster than "
            f"sequential ones ({quantity.number(easy)} GiB/s): they came from a cache"
        )
    for name in BANDWIDTH:
        share = _cached_share(rows.get(name, []))
        if name.endswith("read") and share >= SUSPECT:
            part = quantity.percent(share)
            found.append(f"{name}: {part} of its data was in the clients' memory before it")
    memory = record.environment.memory_bytes * len(record.environment.hosts)
    for name in ("ior-easy-write", "ior-hard-write"):
        written = max((row.bytes for row in rows.get(name, [])), default=0)
        if 0 < written < memory:
            found.append(
                f"{name} wrote {quantity.size(written)}, which fits into the clients' memory "
                f"({quantity.size(memory)})"
            )
    found += [reason for reason in record.verdict.reasons if "above the known bound" in reason]
    return found
