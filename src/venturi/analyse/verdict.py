"""The verdict: one word on what a result is worth, with every reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from venturi.model.event import CacheState, StoppedBy
from venturi.model.machine import Bound
from venturi.model.record import Level, PhaseRow, Substitution, Verdict

ENOUGH_REPETITIONS = 6
"""Fewer values have no 95 % interval of the median without assuming a distribution."""
LONG_ENOUGH_S = 1.0
"""A shorter phase says more of start-up and scheduling than of storage."""
CLOCK_RESOLUTIONS = 100
CLOCK_OFFSET_SHARE = 0.01


@dataclass(frozen=True)
class VerdictFacts:
    """What a verdict is made from."""

    phases: Sequence[PhaseRow]
    repetitions: int
    substituted: Sequence[Substitution]
    interfaces: frozenset[str]
    clock_resolution_ns: float
    clock_offset_s: float = 0.0
    bounds: Sequence[Bound] = ()
    failure: str | None = None
    target_changed: str | None = None
    cold_wanted: frozenset[str] = frozenset()
    """Phases whose caches were to be dropped."""
    faults: int = 0
    cores: int = 0
    """Of one host; 0 where unknown."""
    ranks: int = 1
    hosts: int = 1
    load_average: float = 0.0
    rules: int = 0
    """How many the workload has, and in words those that were broken."""
    broken_rules: Sequence[str] = ()


def verdict_of(facts: VerdictFacts) -> Verdict:
    """INVALID if anything is wrong, INDICATIVE if anything is missing, else VALID.

    Where the workload has rules and all are kept, RULES-OK says so in the place of VALID: such
    rules ask for one repetition.
    """
    wrong = _wrong(facts)
    if wrong:
        return Verdict(level=Level.INVALID, reasons=wrong)
    missing = _missing(facts)
    if facts.rules and not facts.broken_rules and missing == _few_repetitions(facts):
        what = f"all {facts.rules} rules of the workload hold; this is no official submission"
        return Verdict(level=Level.RULES_OK, reasons=[what, *missing])
    if missing:
        return Verdict(level=Level.INDICATIVE, reasons=missing)
    reason = f"{facts.repetitions} repetitions, caches declared, no errors"
    return Verdict(level=Level.VALID, reasons=[reason])


def _wrong(facts: VerdictFacts) -> list[str]:
    reasons = [facts.failure] if facts.failure else []
    told = facts.failure or ""
    if facts.target_changed:
        reasons.append(f"the target changed during the run: {facts.target_changed}")
    if not facts.phases and not facts.failure:
        reasons.append("no phase was finished")
    for path in dict.fromkeys(row.path for row in facts.phases):
        rows = [row for row in facts.phases if row.path == path]
        changes = {row.target_change for row in rows if row.target_change}
        reasons += [f"{path}: {change}" for change in sorted(changes) if change not in told]
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
        reasons += _impossible(path, rows, facts.bounds)
    return reasons


def _impossible(path: str, rows: Sequence[PhaseRow], bounds: Sequence[Bound]) -> list[str]:
    reasons = []
    for bound in bounds:
        for row in rows:
            moved = row.by_operation.get(bound.operation)
            rate = moved.bytes / row.seconds.total if moved and row.seconds.total else 0.0
            if rate > bound.bytes_per_second:
                reasons.append(
                    f"{path}: {rate:.4g} B/s is above the known bound of "
                    f"{bound.bytes_per_second:.4g} B/s for {bound.operation}"
                )
                break
    return reasons


def _missing(facts: VerdictFacts) -> list[str]:
    reasons = [
        f"{name} does no storage I/O" for name in ("simulated", "null") if name in facts.interfaces
    ]
    for item in facts.substituted:
        reasons.append(f"{item.file}: {item.used} stood in for {item.wanted}")
    if facts.faults:
        reasons.append(f"the workload injects faults ({facts.faults})")
    reasons += _few_repetitions(facts)
    reasons += _crowded(facts)
    reasons += facts.broken_rules
    paths = list(dict.fromkeys(row.path for row in facts.phases))
    shortest = {path: min(_io_s(row) for row in facts.phases if row.path == path) for path in paths}
    for path in paths:
        rows = [row for row in facts.phases if row.path == path]
        unknown = [row for row in rows if row.cache is CacheState.UNKNOWN]
        if unknown:
            reasons.append(f"{path}: cache state unknown ({unknown[0].cache_reason})")
        if any("exec" in row.by_operation for row in rows):
            reasons.append(f"{path}: nothing is known of the caches and syncs of its command")
        warm = [row for row in rows if row.cache in (CacheState.WARM, CacheState.MIXED)]
        if warm and path in facts.cold_wanted:
            reasons.append(f"{path}: caches were to be dropped, but it was {warm[0].cache.value}")
        if any(row.stopped_by is StoppedBy.DEADLINE for row in rows):
            reasons.append(f"{path}: ended at its deadline before all ranks did the same count")
        if facts.clock_offset_s > CLOCK_OFFSET_SHARE * shortest[path]:
            reasons.append(f"{path}: clocks of the nodes are known to {facts.clock_offset_s:.3g} s")
    short = [f"{path} ({_time_text(s)})" for path, s in shortest.items() if s < LONG_ENOUGH_S]
    unsafe = [path for path in paths if _writes_to_memory(facts.phases, path)]
    if unsafe:
        reasons.append(f"written, but not made persistent in time: {', '.join(unsafe)}")
    if short:
        reasons.append(f"shorter than {LONG_ENOUGH_S:g} s: {', '.join(short)}")
    return reasons


def _few_repetitions(facts: VerdictFacts) -> list[str]:
    if facts.repetitions >= ENOUGH_REPETITIONS:
        return []
    done = "1 repetition" if facts.repetitions == 1 else f"{facts.repetitions} repetitions"
    return [f"{done}; {ENOUGH_REPETITIONS} give an interval"]


def _io_s(row: PhaseRow) -> float:
    """The phase's time without what its ranks computed."""
    return max(0.0, row.seconds.total - row.seconds.compute)


def _writes_to_memory(phases: Sequence[PhaseRow], path: str) -> bool:
    """Whether a phase wrote data that nothing made persistent inside its time."""
    rows = [row for row in phases if row.path == path]
    weak = any(row.flushed in ("none", "flush") for row in rows)
    return weak and any("write" in row.by_operation for row in rows)


def _crowded(facts: VerdictFacts) -> list[str]:
    """Ranks and other work that share too few cores."""
    cores = facts.cores * facts.hosts
    if cores and facts.ranks > cores:
        return [f"{facts.ranks} ranks on {cores} cores: times include waiting for a core"]
    if facts.cores and facts.load_average > facts.cores:
        return [f"the host was busy before the run (load {facts.load_average:.3g})"]
    return []


def _time_text(seconds: float) -> str:
    """A short time, as people say it."""
    for unit, factor in (("ms", 1e3), ("µs", 1e6)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"
