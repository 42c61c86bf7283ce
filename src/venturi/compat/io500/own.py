"""A run of our own in the terms of published results."""

from __future__ import annotations

from collections.abc import Sequence

from venturi.compat.io500.arguments import NAME
from venturi.compat.io500.judge import of_phases
from venturi.compat.io500.score import (
    BANDWIDTH,
    METADATA,
    RANDOM_EXTENDED,
    SCORED,
    missing,
    score,
)
from venturi.model.error import UserError
from venturi.model.published import Flag, Io500Phase, Io500Result, Io500Score
from venturi.model.record import Level, PhaseRow, Record
from venturi.model.statistic import median
from venturi.model.verdict import UseKind

RANDOM = "ior-rnd4K-easy-read"
"""Shown, and not scored."""
EXTENDED = ("find-easy", "find-hard", "mdworkbench-bench", *RANDOM_EXTENDED)
"""Scored in the extended mode alone."""
_WORKBENCH_EACH = 4
"""What md-workbench counts for an object: stat, read, removal, creation."""
_COUNTED = {
    "write": "create",
    "stat": "stat",
    "delete": "unlink",
    "read": "open",
}


def is_io500(record: Record) -> bool:
    """Whether a record is of the suite."""
    return record.name == NAME


def counted_kind(phase: str) -> str:
    """The operation that a phase counts: `write` or `read` of data, else one on names."""
    if phase.startswith("find"):
        return "find"
    if phase.startswith("mdworkbench"):
        return "stat"
    last = phase.rsplit("-", 1)[-1]
    return last if phase.startswith("ior") else _COUNTED.get(last, "")


def is_bandwidth(phase: str) -> bool:
    """Whether the unit of a phase is GiB/s; else it is kIOPS."""
    return phase in (*BANDWIDTH, *RANDOM_EXTENDED, RANDOM)


def rate_of(row: PhaseRow) -> float:
    """What io500 would call the rate of a phase, in GiB/s or kIOPS."""
    total_s = row.seconds.total
    if total_s <= 0:
        return 0.0
    if is_bandwidth(row.path):
        return row.bytes / total_s / 2**30
    done = row.by_operation.get(counted_kind(row.path))
    each = _WORKBENCH_EACH if row.path.startswith("mdworkbench") else 1
    return each * done.operations / total_s / 1000 if done else 0.0


def rows_by_phase(record: Record) -> dict[str, list[PhaseRow]]:
    """The phases that have a rate, in the order in which they ran, with their repetitions."""
    found: dict[str, list[PhaseRow]] = {}
    for row in record.phases:
        if row.path in (*SCORED, *EXTENDED, RANDOM):
            found.setdefault(row.path, []).append(row)
    return found


def result_of(record: Record) -> Io500Result:
    """The run as a result, by medians over its repetitions; UserError for another workload.

    It may stand in a list only where the rules hold: else its place is what it would be.
    """
    if not is_io500(record):
        raise UserError(
            f"{record.id} is a run of {record.name}, not of {NAME}", "see venturi results ls"
        )
    phases = [
        Io500Phase(
            name=name,
            value=median([rate_of(row) for row in rows]),
            unit="GiB/s" if is_bandwidth(name) else "kIOPS",
            seconds=median([row.seconds.total for row in rows]),
            scored=name in SCORED,
        )
        for name, rows in rows_by_phase(record).items()
    ]
    is_ranked = record.verdict.may(UseKind.RANK)
    flags = [] if is_ranked else [Flag(id=_flag(record), what=_reasons(record))]
    return Io500Result(
        key=record.id,
        source=record.id,
        format="venturi",
        version=record.environment.venturi,
        filesystem=record.environment.file_system.type,
        year=int(record.started[:4]),
        procs=record.ranks,
        nodes=len(record.environment.hosts),
        phases=phases,
        published=Io500Score(),
        recomputed=_score(phases),
        match=True,
        ranked=is_ranked,
        flags=[*flags, *of_phases(phases)],
    )


def _flag(record: Record) -> str:
    level = record.verdict.level
    return "unranked" if level is Level.VALID else level.value.lower()


def _reasons(record: Record) -> str:
    """Why a run has no place: its level, and the rules of the ranking that fail."""
    verdict = record.verdict
    use = verdict.use_for(UseKind.RANK)
    broken = [rule for rule in use.broken if not rule.startswith("the run is ")] if use else []
    reasons = broken if verdict.level is Level.VALID else [*verdict.reasons, *broken]
    return f"{verdict.level.value}: {'; '.join(reasons)}"


def _score(phases: Sequence[Io500Phase]) -> Io500Score:
    """The official score, but none at all where a phase is missing or 0."""
    lacking = missing(phases)
    if not lacking:
        return score(phases)
    half = score([phase for phase in phases if phase.name in (BANDWIDTH + METADATA)])
    return Io500Score(
        bw=None if set(lacking) & set(BANDWIDTH) else half.bw,
        md=None if set(lacking) & set(METADATA) else half.md,
    )
