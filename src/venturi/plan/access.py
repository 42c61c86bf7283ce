"""Where the requests of one data step on plain bytes lie.

Every function yields `Access` parts: requests in one nest, or at random, listed or appended
places. A remainder that is shorter than the transfer becomes a part of its own.
"""

from __future__ import annotations

from venturi.model.error import UserError
from venturi.model.workload import DataStep, PatternKind
from venturi.plan.irregular import append, mixed, random, sequential, shares_of, table
from venturi.plan.part import RANK, Access, Boxes, Sharers, Sizes, fixed_sharers_of, sharers_of
from venturi.plan.regular import contiguous, segmented, strided, tiled
from venturi.plan.scope import Scope

__all__ = [
    "RANK",
    "Access",
    "Boxes",
    "Sharers",
    "accesses",
    "fixed_sharers_of",
    "sharers_of",
    "target_of",
]

_OWN_KEYS = {
    "table": PatternKind.TABLE,
    "shape": PatternKind.TILED,
    "tile": PatternKind.TILED,
    "zipf": PatternKind.RANDOM,
}
"""Keys that only one pattern has."""


def _check_keys(step: DataStep, where: str) -> None:
    """UserError for keys that do not belong together, or not to a plain file."""
    if step.part is not None:
        raise UserError(f"{where}: 'part' chooses among parts of datasets; this is a plain file")
    if step.first is not None:
        raise UserError(f"{where}: 'first' chooses among equal datasets, and this is a plain file")
    for key, pattern in _OWN_KEYS.items():
        if getattr(step, key) and step.pattern is not pattern:
            raise UserError(
                f"{where}: '{key}' belongs to 'pattern: {pattern.value}', not to "
                f"'{step.pattern.value}'"
            )
    if not step.apart and (step.pattern is not PatternKind.CONTIGUOUS or step.total is not None):
        raise UserError(
            f"{where}: 'apart: false' belongs to contiguous parts, of 'size' or 'count'",
            "leave it out",
        )


def target_of(step: DataStep | None, is_write: bool, where: str) -> str:
    """The file or `file.dataset` that a `write` or `read` names."""
    assert step is not None
    wanted, other = (step.to, step.from_) if is_write else (step.from_, step.to)
    word, wrong = ("to", "from") if is_write else ("from", "to")
    if other is not None:
        raise UserError(f"{where}: use '{word}' here, not '{wrong}'")
    if wanted is None:
        raise UserError(f"{where}: '{word}' is missing (a file or file.dataset)")
    return wanted


def accesses(
    step: DataStep, sharers: Sharers, ranks: int, scope: Scope, where: str
) -> list[Access]:
    """The parts of a `write` or `read` on a plain file; `ranks` are those of the group."""
    _check_keys(step, where)
    sizes = Sizes(step, scope, where)
    if step.mix:
        return mixed(step, shares_of(step, scope, where), sizes, sharers, scope)
    match step.pattern:
        case PatternKind.SEGMENTED:
            return segmented(sizes, sharers)
        case PatternKind.STRIDED:
            return strided(sizes, sharers)
        case PatternKind.TILED:
            return tiled(step, sizes, sharers, ranks, scope)
        case PatternKind.RANDOM:
            return random(step, sizes, sharers, scope)
        case PatternKind.APPEND:
            return append(sizes)
        case PatternKind.SEQUENTIAL:
            return sequential(step, sizes)
        case PatternKind.TABLE:
            return table(step, sizes, scope)
        case PatternKind.CONTIGUOUS:
            return contiguous(sizes, sharers)
