"""All changes that are known: each is a file `change_*.py` with a `CHANGE`."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from venturi.model.error import UserError
from venturi.model.plan import Interface
from venturi.model.tuning import Cause, Skipped
from venturi.model.workload import Finding, Workload
from venturi.plan.make import PlanResult, make_plan
from venturi.plan.setting import RunSettings
from venturi.tune.change import TuningChange, Variant
from venturi.tune.evaluation_context import DoesNotApply, EvaluationContext
from venturi.tune.rewrite import bare, joined, live

LEFT_OUT = (
    "overlap of I/O with computing: a workload has no steps at the same time on one rank",
    "aggregators with the time of the gather: data does not travel between ranks in a workload "
    "(`tasks` leaves that time out)",
    "chunk caches, collective metadata and alignment inside HDF5: no change tries these options",
    "compression of plain files: only datasets in chunks have it",
)
"""What the language of workloads cannot say, or no change tries."""

_FIRST = (
    "transfer",
    "sync",
    "opens",
    "stats",
    "order",
    "collective",
    "spread",
    "chunks",
    "files",
)
"""Keys that are looked at first where the time does not suffice for all."""


_BY_FINDING = {
    "serial-io": ("spread",),
    "chunk-cuts": ("chunks",),
    "sync-each-write": ("sync", "transfer"),
    "repeated-stats": ("stats",),
    "too-many-opens": ("opens", "rereads"),
    "redundant-reads": ("rereads",),
    "no-collective": ("collective", "order"),
    "random-access": ("order",),
    "append-contention": ("files",),
    "shared-file-contention": ("files", "order"),
    "sync-time": ("sync",),
    "read-modify-write": ("chunks",),
    "small-requests": ("transfer",),
    "stdio-bulk": ("interface", "buffer"),
    "misaligned": ("align",),
}
"""Keys that answer what was found in a capture; of two with as much at stake the special first."""


GENERAL = frozenset({"small-requests", "stdio-bulk", "misaligned", "random-access", "sync-time"})
"""Findings on calls that a special one may be about, too; such a one says what to do about them."""

QUIET = GENERAL | {"redundant-reads"}
"""Findings that are no news where no change answers them: files may be read twice for a reason."""

_GENERAL_SHARE = 0.5
"""Of its time at stake a general finding counts so much: it comes first if it is about more."""

_LEAST_STAKE = 0.01
"""Of the time in I/O: findings with less at stake are not told of."""


@cache
def changes() -> tuple[TuningChange, ...]:
    """The catalogue, in the order in which changes are looked at."""
    modules = sorted(
        module.name
        for module in pkgutil.iter_modules([str(Path(__file__).parent)])
        if module.name.startswith("change_")
    )
    found = [importlib.import_module(f"venturi.tune.{name}").CHANGE for name in modules]
    rank = {key: place for place, key in enumerate(_FIRST)}
    return tuple(sorted(found, key=lambda change: (rank.get(change.key, len(rank)), change.key)))


@dataclass(frozen=True)
class Candidate:
    """A change with a value, that applies to the workload."""

    key: str
    value: str
    variant: Variant

    @property
    def name(self) -> str:
        """`key=value`."""
        return f"{self.key}={self.value}"


def applicable(
    context: EvaluationContext, settings: RunSettings
) -> tuple[list[Candidate], list[Skipped]]:
    """The changes that apply, each value once, and why the others do not."""
    found: list[Candidate] = []
    skipped: list[Skipped] = []
    seen = [context.workload]
    for change in changes():
        reasons: dict[str, str] = {}
        for value in change.values(context):
            try:
                candidate = made(change, value, context, settings)
            except DoesNotApply as reason:
                reasons[value] = str(reason)
                continue
            if candidate.variant.workload in seen:
                continue
            seen.append(candidate.variant.workload)
            found.append(candidate)
        skipped += _skipped(change, reasons, any(c.key == change.key for c in found))
    return _in_turn(found, _looked_for(context)), skipped


def _answered(context: EvaluationContext) -> list[Finding]:
    """The findings of the capture that a key answers, those with most time at stake first, special
    ones before general ones."""
    known = list(_BY_FINDING)
    findings = [finding for finding in context.findings if finding.id in _BY_FINDING]

    def place(one: Finding) -> tuple[float, int]:
        share = _GENERAL_SHARE if one.id in GENERAL else 1.0
        return -share * (one.at_stake_s or 0.0), known.index(one.id)

    return sorted(findings, key=place)


def _looked_for(context: EvaluationContext) -> list[str]:
    """Keys that answer the findings of the capture, those with most time at stake first."""
    keys = (key for finding in _answered(context) for key in _BY_FINDING[finding.id])
    return list(dict.fromkeys(keys))


def causes(
    context: EvaluationContext,
    candidates: Sequence[Candidate],
    skipped: Sequence[Skipped],
    io_s: float,
) -> list[Cause]:
    """The findings that a key answers, those with most time at stake first.

    Those with little at stake of the `io_s` that the capture saw (0: not known) are left out.
    Where no candidate answers one, it says why.
    """
    found = []
    for finding in _answered(context):
        keys = _BY_FINDING[finding.id]
        if finding.at_stake_s is not None and finding.at_stake_s < _LEAST_STAKE * io_s:
            continue
        answers = [candidate.name for candidate in candidates if candidate.key in keys]
        why = [f"{one.name}: {one.why}" for one in skipped if one.name.partition("=")[0] in keys]
        if not answers and not why:
            continue
        found.append(
            Cause(
                finding=finding.id,
                what=finding.what,
                evidence=finding.evidence,
                advice=finding.advice,
                answers=answers,
                says="" if answers else f"No change can be measured for it ({'; '.join(why)}).",
            )
        )
    return found


def _skipped(change: TuningChange, reasons: dict[str, str], is_found: bool) -> Iterator[Skipped]:
    """One line for a key that does not apply at all, else one for each value."""
    if not is_found and len(set(reasons.values())) == 1:
        yield Skipped(name=change.key, why=next(iter(reasons.values())))
        return
    for value, why in reasons.items():
        yield Skipped(name=f"{change.key}={value}", why=why)


def _in_turn(found: list[Candidate], first: list[str]) -> list[Candidate]:
    """The first value of every key, those looked for before others, then the second ones, etc."""
    place: dict[str, int] = {}
    turns: list[tuple[int, int]] = []
    for candidate in found:
        turn = place.get(candidate.key, 0)
        place[candidate.key] = turn + 1
        rank = first.index(candidate.key) if candidate.key in first else len(first)
        turns.append((turn, rank))
    return [candidate for _, candidate in sorted(zip(turns, found, strict=True), key=_turn)]


def _turn(entry: tuple[tuple[int, int], Candidate]) -> tuple[int, int]:
    return entry[0]


def named(text: str, context: EvaluationContext, settings: RunSettings) -> Candidate:
    """The change that KEY=VALUE means; UserError where it cannot be."""
    key, sign, value = (part.strip() for part in text.partition("="))
    change = next((change for change in changes() if change.key == key), None)
    if change is None or not sign or not value:
        forms = ", ".join(f"{change.key}={change.form}" for change in changes())
        raise UserError(f"{text}: no such change", f"known are {forms}")
    try:
        candidate = made(change, value, context, settings)
    except DoesNotApply as reason:
        raise UserError(f"{text}: it does not apply: {reason}") from None
    if candidate.variant.workload == context.workload:
        raise UserError(f"{text}: the workload is like that already")
    return candidate


def made(
    change: TuningChange, value: str, context: EvaluationContext, settings: RunSettings
) -> Candidate:
    """The change with a value, planned; DoesNotApply also where the plan is refused."""
    variant = change.make(context, value)
    check(variant, context, settings)
    return Candidate(change.key, value, variant)


def check(variant: Variant, context: EvaluationContext, settings: RunSettings) -> PlanResult:
    """The plan of a variant. Raises DoesNotApply where it is refused or moves other bytes."""
    try:
        plan = make_plan(variant.workload, settings)
    except UserError as error:
        raise DoesNotApply(f"then it cannot be planned: {error.message}") from None
    before, after = context.made.totals, plan.totals
    for word in ("bytes_written", "bytes_read"):
        had, has = getattr(before, word), getattr(after, word)
        if had != has and not (variant.reads_less and word == "bytes_read" and has < had):
            what = word.replace("_", " ")
            raise DoesNotApply(f"then it would move other data: {has} {what} instead of {had}")
    missing = {file.interface for file in plan.plan.files} - context.interfaces
    if missing:
        names = ", ".join(sorted(interface.value for interface in missing))
        raise DoesNotApply(f"the engine for this launcher has no {names} here")
    if not any(after.operations.values()):
        raise DoesNotApply("nothing would be left of the workload")
    return plan


def context_of(
    workload: Workload,
    settings: RunSettings,
    file_system: str,
    interfaces: frozenset[str],
    has_mpi: bool = True,
) -> EvaluationContext:
    """The scene of a workload; UserError where it cannot be planned."""
    known = frozenset(word for word in Interface if word.value in interfaces)
    found = workload.origin.findings if workload.origin is not None else []
    made = make_plan(workload, settings)
    whole = EvaluationContext(bare(workload), made, file_system, known, has_mpi, tuple(found))
    plain = joined(live(whole.workload, whole.number), whole.ranks)
    return replace(whole, workload=plain, made=make_plan(plain, settings))
