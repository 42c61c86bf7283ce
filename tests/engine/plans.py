"""Small plans for the engine's tests, built with the models."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from venturi.model.plan import (
    Barrier,
    CachePolicy,
    ClockKind,
    Compute,
    Content,
    Direction,
    Exec,
    Expression,
    Fault,
    FaultKind,
    File,
    For,
    Group,
    Instruction,
    Interface,
    Items,
    ItemVerb,
    Loop,
    Manage,
    NameVerb,
    Nest,
    OperationKind,
    Operator,
    Option,
    PathPart,
    Phase,
    Plan,
    Random,
    Sharing,
    Slot,
    StagedLoop,
    Step,
    Sync,
    SyncMode,
    Transfer,
    Tree,
    When,
)

__all__ = [
    "INNER_LOOP",
    "LOOP",
    "RANK",
    "RANKS",
    "Barrier",
    "CachePolicy",
    "ClockKind",
    "Content",
    "ItemVerb",
    "NameVerb",
    "Operator",
    "PathPart",
    "Phase",
    "Plan",
    "Sharing",
    "StagedLoop",
    "Sync",
    "SyncMode",
    "Tree",
    "When",
    "binary",
    "compute",
    "fault",
    "file",
    "hold",
    "items",
    "loop",
    "manage",
    "nest",
    "number",
    "phase",
    "plan",
    "random",
    "read",
    "slot",
    "write",
]

SLOTS = [word.value for word in Slot]
LOOP, INNER_LOOP = len(SLOTS), len(SLOTS) + 1
"""The slots of a plan's first two loops."""


def number(value: int | float) -> Expression:
    """A literal."""
    if isinstance(value, float):
        return [Instruction(operator=Operator.REAL, real=value)]
    return [Instruction(operator=Operator.INTEGER, integer=value)]


def slot(index: int) -> Expression:
    """The value of a slot."""
    return [Instruction(operator=Operator.VARIABLE, integer=index)]


RANK = slot(0)
RANKS = slot(1)


def binary(operator: Operator, left: Expression, right: Expression) -> Expression:
    """Two operands and their operator."""
    return [*left, *right, Instruction(operator=operator)]


def _expression(value: int | Expression) -> Expression:
    return number(value) if isinstance(value, int) else value


def file(
    name: str = "data",
    *,
    interface: str = "posix",
    per_rank: bool = False,
    path: list[PathPart] | None = None,
    options: dict[str, str] | None = None,
    **rest: Any,
) -> File:
    """A shared file, or one per rank."""
    parts = path or [PathPart(text=f"{name}")]
    if per_rank and path is None:
        parts = [PathPart(text=f"{name}.", value=RANK, width=4)]
    return File(
        name=name,
        path=parts,
        interface=Interface(interface),
        options=[Option(name=key, value=value) for key, value in (options or {}).items()],
        sharing=rest.pop("sharing", Sharing.RANK if per_rank else Sharing.ALL),
        **rest,
    )


def fault(kind: str, operation: str, **rest: Any) -> Fault:
    """A fault, by its words."""
    return Fault(kind=FaultKind(kind), operation=OperationKind(operation), **rest)


def nest(base: int | Expression, *loops: tuple[int | Expression, int | Expression]) -> Nest:
    """Regular access; each loop is (count, stride)."""
    return Nest(
        base=_expression(base),
        loops=[Loop(count=_expression(c), stride=_expression(s)) for c, s in loops],
    )


def random(
    slots: int | Expression,
    count: int | Expression,
    *,
    first: int | Expression = 0,
    step: int | Expression = 1,
    replacement: bool = False,
) -> Random:
    """Random access from offset 0 on."""
    return Random(
        base=number(0),
        slots=_expression(slots),
        count=_expression(count),
        first=_expression(first),
        step=_expression(step),
        replacement=replacement,
    )


def _transfer(
    direction: Direction, index: int, size: int, pattern: Nest | Random, **rest: Any
) -> Transfer:
    owner = rest.pop("owner", RANK)
    return Transfer(
        operation=direction, file=index, owner=owner, size=number(size), pattern=pattern, **rest
    )


def write(size: int, pattern: Nest | Random, *, index: int = 0, **rest: Any) -> Transfer:
    """Writes of one size."""
    return _transfer(Direction.WRITE, index, size, pattern, **rest)


def read(size: int, pattern: Nest | Random, *, index: int = 0, **rest: Any) -> Transfer:
    """Reads of one size."""
    return _transfer(Direction.READ, index, size, pattern, **rest)


def manage(verb: str, index: int = 0, owner: Expression = RANK, **rest: Any) -> Manage:
    """One operation on a name."""
    return Manage(verb=NameVerb(verb), file=index, owner=owner, **rest)


def items(*verbs: str, index: int = 0, owner: Expression = RANK, shuffled: bool = False) -> Items:
    """Verbs on each item of a tree."""
    return Items(
        file=index, owner=owner, verbs=[ItemVerb(verb) for verb in verbs], shuffled=shuffled
    )


def compute(seconds: float) -> Compute:
    """Sleeping."""
    return Compute(seconds=number(seconds))


def hold() -> Exec:
    """All ranks wait here until the test lets them go on: see `running.meddled`."""
    return Exec(number=0, command=[PathPart(text="hold")], limit_s=600)


def phase(path: str, *body: Step, **rest: Any) -> Phase:
    """A measured phase."""
    return Phase(path=path, body=list(body), **rest)


def loop(variable: int, count: int | Expression, *body: Step) -> For:
    """A loop over a slot."""
    return For(variable=variable, count=_expression(count), body=list(body))


def plan(
    place: Path, files: Sequence[File], program: Sequence[Step], *, ranks: int = 1, **rest: Any
) -> Plan:
    """A plan that works in `place/run` and keeps its journal in `place/journal`."""
    journal = place / "journal"
    journal.mkdir(exist_ok=True)
    made = Plan(
        run=rest.pop("run", "r1"),
        name="test",
        seed=rest.pop("seed", 1),
        ranks=ranks,
        repetitions=rest.pop("repetitions", 1),
        clock=rest.pop("clock", ClockKind.REAL),
        directory=str(place / "run"),
        journal=str(journal),
        slots=[*SLOTS, *rest.pop("loops", [])],
        files=list(files),
        groups=[Group(name="all", ranks=rest.pop("group_ranks", ranks), program=list(program))],
    )
    (journal / "plan.json").write_text(made.to_json())
    return made


def times(left: Expression, right: int) -> Expression:
    """left * right, as an expression."""
    return binary(Operator.MULTIPLY, left, number(right))


def write_and_read(place: Path, ranks: int, *, size: int, count: int, **rest: Any) -> Plan:
    """Every rank writes and reads its own block, in a shared file or in its own."""
    options = {key: rest.pop(key) for key in ("clock", "repetitions") if key in rest}
    target = file(**rest)
    base = 0 if target.sharing == "rank" else times(RANK, size * count)
    pattern = nest(base, (count, size))
    return plan(
        place,
        [target],
        [
            phase("write", manage("create"), write(size, pattern), manage("close")),
            phase("read", manage("open"), read(size, pattern), manage("close")),
        ],
        ranks=ranks,
        **options,
    )
