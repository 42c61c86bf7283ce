"""The verdict: whether numbers are valid, why not, and what they may be used for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from venturi.analyse.background import background_notes, background_suspicions
from venturi.analyse.detectable import FEWEST_IN_ORDER
from venturi.analyse.kernel import kernel_failures
from venturi.analyse.label import (
    CACHE_UNKNOWN,
    FAULTS,
    IN_MEMORY,
    NO_STORAGE,
)
from venturi.analyse.neighbour import ObservedLoad, suspicions_of
from venturi.analyse.threshold import Measured, judged
from venturi.model.background import Background
from venturi.model.event import CacheState, StoppedBy
from venturi.model.machine import Bound
from venturi.model.record import Level, MetricValue, PhaseRow, Verdict
from venturi.model.verdict import Suspicion, SuspicionCause, Threshold, Use, UseKind

ENOUGH_REPETITIONS = 6
"""Fewer values have no 95 % interval of the median without assuming a distribution."""
WIDEST_INTERVAL = 0.25
"""A median whose interval reaches further than this share of it is not known well enough."""
CLOCK_RESOLUTIONS = 100
CLOCK_OFFSET_SHARE = 0.01
VENTURI = "venturi"
_NOT_RANKED = (*NO_STORAGE, IN_MEMORY, CACHE_UNKNOWN, FAULTS)
"""Labels of numbers that say nothing of a storage's place among others."""


@dataclass(frozen=True)
class VerdictFacts:
    """What a verdict is made from."""

    phases: Sequence[PhaseRow]
    repetitions: int
    clock_resolution_ns: float
    metrics: Mapping[str, MetricValue] = field(default_factory=dict)
    labels: Mapping[str, list[str]] = field(default_factory=dict)
    """By the path of a phase."""
    run_labels: Sequence[str] = ()
    clock_offset_s: float = 0.0
    bounds: Sequence[Bound] = ()
    failure: str | None = None
    target_changed: str | None = None
    cold_wanted: frozenset[str] = frozenset()
    """Phases whose caches were to be dropped."""
    observed: ObservedLoad | None = None
    """What was seen of the host; None: nothing."""
    noticed: Sequence[Suspicion] = ()
    """What the engine noticed by itself."""
    unobserved: Sequence[str] = ()
    """In words, what was not looked at."""
    name: str = ""
    """Of the workload, whose own rules these are:"""
    rules: int = 0
    broken_rules: Sequence[str] = ()
    thresholds: Mapping[str, Threshold] = field(default_factory=dict)
    background: Sequence[Background] = ()
    """What probes felt on the file system meanwhile."""


def verdict_of(facts: VerdictFacts) -> Verdict:
    """INVALID if anything failed, INDICATIVE if another cause may explain it, else VALID.

    Labels do not lower it. One repetition is enough where the workload has rules of its own and
    all are kept, because such rules say what takes the place of repetitions.
    """
    wrong = _wrong(facts)
    suspicions = [] if wrong else _suspicions(facts)
    unsettled = [] if wrong else _unsettled(facts)
    reasons = wrong or [*unsettled, *(one.what for one in suspicions)]
    level = Level.INVALID if wrong else Level.INDICATIVE if reasons else Level.VALID
    doubt = "" if level is Level.VALID else f"the run is {level.value}: {reasons[0]}"
    measured = {
        name: Measured(metric.unit, metric.values) for name, metric in facts.metrics.items()
    }
    return Verdict(
        level=level,
        reasons=reasons or [_what_was_checked(facts)],
        suspicions=suspicions,
        notes=[
            *facts.unobserved,
            *background_notes(facts.background),
            *([] if wrong else _serial(facts)),
        ],
        use=_uses(facts, level),
        thresholds=judged(facts.thresholds, measured, doubt),
    )


def _what_was_checked(facts: VerdictFacts) -> str:
    done = "1 repetition" if facts.repetitions == 1 else f"{facts.repetitions} repetitions"
    widths = [w for path in facts.labels if (w := _half_width(facts, path)) is not None]
    within = f", intervals within ±{max(widths):.0%} of the medians" if widths else ""
    seen = facts.observed is not None and len(facts.observed.samples) > 1
    others = ", no other load on the host that would explain more" if seen else ""
    return f"{done}{within}, no errors{others}"


def _paths(facts: VerdictFacts) -> list[str]:
    return list(dict.fromkeys(row.path for row in facts.phases))


def _half_width(facts: VerdictFacts, path: str) -> float | None:
    metric = facts.metrics.get(path)
    return metric.half_width if metric else None


def _wrong(facts: VerdictFacts) -> list[str]:
    reasons = [facts.failure] if facts.failure else []
    told = facts.failure or ""
    if facts.target_changed:
        reasons.append(f"the target changed during the run: {facts.target_changed}")
    if not facts.phases and not facts.failure:
        reasons.append("no phase was finished")
    for path in _paths(facts):
        rows = [row for row in facts.phases if row.path == path]
        changes = {row.target_change for row in rows if row.target_change}
        reasons += [f"{path}: {change}" for change in sorted(changes) if change not in told]
        reasons += kernel_failures(rows)
        errors = sum(row.errors for row in rows)
        if errors:
            detail = next((d for row in rows for d in row.details), None)
            first = f"; the first: {detail.what}" if detail else ""
            count = "1 operation" if errors == 1 else f"{errors} operations"
            reasons.append(f"{path}: {count} failed{first}")
        shortest = min(row.seconds.total for row in rows)
        if shortest * 1e9 < CLOCK_RESOLUTIONS * facts.clock_resolution_ns:
            reasons.append(
                f"{path}: {shortest:.3g} s is under {CLOCK_RESOLUTIONS} resolutions of the clock"
            )
    return reasons


def _unsettled(facts: VerdictFacts) -> list[str]:
    """What is missing to know the numbers well enough."""
    reasons = _few_repetitions(facts)
    for path in _paths(facts):
        rows = [row for row in facts.phases if row.path == path]
        width = _half_width(facts, path)
        if width is not None and width > WIDEST_INTERVAL and any(row.operations for row in rows):
            reasons.append(
                f"{path}: the interval reaches ±{width:.0%} of the median; repeat it more often"
            )
        if any(row.stopped_by is StoppedBy.DEADLINE for row in rows):
            reasons.append(f"{path}: ended at its deadline before all ranks did the same count")
        shortest_s = min(max(0.0, row.seconds.total - row.seconds.compute) for row in rows)
        if facts.clock_offset_s > CLOCK_OFFSET_SHARE * shortest_s:
            reasons.append(f"{path}: clocks of the nodes are known to {facts.clock_offset_s:.3g} s")
    return reasons


def _serial(facts: VerdictFacts) -> list[str]:
    """Return a note if the order of repetitions shows that they depend on each other."""
    if facts.repetitions < FEWEST_IN_ORDER:
        return []
    from venturi.analyse.serial_dependence import serial_dependence  # brings numpy

    found = serial_dependence([{name: (one.values,) for name, one in facts.metrics.items()}])
    if found is None:
        return []
    return [
        f"repetitions depend on the ones before them: {found.text}; intervals of medians take "
        "them for independent, so they are narrower than they should be"
    ]


def _few_repetitions(facts: VerdictFacts) -> list[str]:
    has_own_rules = facts.rules > 0 and not facts.broken_rules
    if facts.repetitions >= ENOUGH_REPETITIONS or has_own_rules:
        return []
    done = "1 repetition" if facts.repetitions == 1 else f"{facts.repetitions} repetitions"
    return [f"{done}; {ENOUGH_REPETITIONS} give an interval"]


def _suspicions(facts: VerdictFacts) -> list[Suspicion]:
    """Other causes than the storage, all of them."""
    found = [*_of_caches(facts), *_of_bounds(facts), *facts.noticed]
    found += background_suspicions(facts.background)
    if facts.observed is not None:
        found += suspicions_of(facts.phases, facts.observed)
    return found


def _of_caches(facts: VerdictFacts) -> list[Suspicion]:
    """Caches in another state than was asked for, or in several."""
    found = []
    for path in _paths(facts):
        if IN_MEMORY in facts.labels.get(path, ()):
            continue
        rows = [row for row in facts.phases if row.path == path]
        states = {row.cache for row in rows} - {CacheState.NONE}
        what = ""
        if path in facts.cold_wanted and (warm := states - {CacheState.COLD}):
            said = " and ".join(sorted(state.value for state in warm))
            what = f"{path}: caches were to be dropped, but the state was {said}"
        elif CacheState.MIXED in states:
            what = f"{path}: {_of_parts(rows)}"
        elif len({frozenset(own) for own in _states_by_repetition(rows)}) > 1:
            said = " and ".join(sorted(state.value for state in states))
            what = f"{path}: the state of the caches changed between repetitions ({said})"
        if what:
            found.append(Suspicion(cause=SuspicionCause.CACHE, phase=path, what=what))
    return found


def _of_parts(rows: Sequence[PhaseRow]) -> str:
    """What is known of how much came from caches."""
    shares = [row.cached_share for row in rows if row.cached_share is not None]
    if len(shares) < len(rows):
        return "data came from caches and from storage, in unknown parts"
    least, most = f"{min(shares):.0%}", f"{max(shares):.0%}"
    part = least if least == most else f"{least} to {most}"
    return f"data came from caches and from storage: {part} of it was in memory before"


def _states_by_repetition(rows: Sequence[PhaseRow]) -> list[set[CacheState]]:
    return [
        {row.cache for row in rows if row.repetition == n}
        for n in dict.fromkeys(row.repetition for row in rows)
    ]


def _of_bounds(facts: VerdictFacts) -> list[Suspicion]:
    found = []
    for path in _paths(facts):
        rows = [row for row in facts.phases if row.path == path]
        for bound in facts.bounds:
            for row in rows:
                moved = row.by_operation.get(bound.operation)
                rate = moved.bytes / row.seconds.total if moved and row.seconds.total else 0.0
                if rate > bound.bytes_per_second:
                    what = (
                        f"{path}: {rate:.4g} B/s is above the known bound of "
                        f"{bound.bytes_per_second:.4g} B/s for {bound.operation}"
                    )
                    found.append(Suspicion(cause=SuspicionCause.BOUND, phase=path, what=what))
                    break
    return found


def _uses(facts: VerdictFacts, level: Level) -> list[Use]:
    """What the numbers may be used for, and by which rules."""
    invalid = ["the run is INVALID"] if level is Level.INVALID else []
    ranked = [*invalid]
    if level is Level.INDICATIVE:
        ranked.append("the run is INDICATIVE, not VALID")
    labels = [label for own in facts.labels.values() for label in own]
    labels = list(dict.fromkeys([*labels, *facts.run_labels]))
    ranked += [label for label in labels if _is_no_rank(label)]
    own = facts.name if facts.rules else VENTURI
    return [
        Use(what=UseKind.COMPARE, allowed=not invalid, rule_set=VENTURI, broken=invalid),
        Use(
            what=UseKind.RANK,
            allowed=not ranked and not facts.broken_rules,
            rule_set=own,
            broken=[*facts.broken_rules, *ranked],
        ),
        Use(what=UseKind.GATE, allowed=not invalid, rule_set=VENTURI, broken=invalid),
    ]


def _is_no_rank(label: str) -> bool:
    return label in _NOT_RANKED or label.endswith(" in part") or " in place of " in label
