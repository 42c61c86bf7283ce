"""Requests of two files that take turns: one loop in the place of two phases.

Who converts or packs reads a piece and writes a piece, again and again. Told as two phases, all
reads would come before all writes: the storage could not read ahead while it writes back, and what
was read would have left the processor's caches. Where two phases that follow each other took turns
in the capture, and went forward together, their requests are dealt to the turns of one loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from venturi.derive.operation.fit import linear_text
from venturi.derive.operation.go_on import equal_share
from venturi.derive.operation.naming import named_in
from venturi.derive.operation.program import Program
from venturi.derive.operation.run import Steps
from venturi.derive.operation.scene import VARIABLES
from venturi.derive.operation.table_run import number_of, with_run_apart
from venturi.model.operation import Column, Kind
from venturi.model.units import size_text
from venturi.model.workload import BareStep, DataStep, PatternKind, StepSpec

LEAST_TURNS = 8
"""Files that take fewer turns are used one after the other."""
MOST_AHEAD = 0.1
"""By such a share of its requests one may be ahead of the other."""
NEAR_TURNS = 0.1
"""The number of turns may differ by such a share where requests are dealt evenly then."""
_PLAIN = {
    "to",
    "from_",
    "transfer",
    "size",
    "count",
    "at",
    "memory",
    "fresh",
    "think",
    "seeks",
    "empty_reads",
    "pattern",
}


def woven(program: Program, steps: Steps) -> Steps:
    """The steps with those that took turns as one phase, or one loop."""
    out: Steps = []
    for step in steps:
        before = out[-1] if out else None
        both: Steps = []
        if isinstance(before, StepSpec) and isinstance(step, StepSpec):
            both = _together(program, before, step)
        out[-1 if both else len(out) :] = both or [step]
    return out


@dataclass(frozen=True)
class _Run:
    """Equal requests one behind the other: the step at this place of a phase."""

    at: int
    step: DataStep
    is_write: bool
    base: int
    transfer: int
    bytes: int

    @property
    def requests(self) -> int:
        """How many there are; the last one may be shorter."""
        return -(-self.bytes // self.transfer)

    def part(self, variable: str, turns: int) -> StepSpec:
        """What one of so many turns moves."""
        requests, size = self.requests, size_text(self.transfer)
        keys = {
            key: getattr(self.step, key)
            for key in self.step.model_fields_set - {"size", "count", "at"}
        }
        each, rest = divmod(requests, turns)
        if not rest and self.bytes == requests * self.transfer:
            keys["count"] = each
            keys["at"] = linear_text(self.base, [(each * self.transfer, variable)])
        else:
            low = f"{variable} * {requests} // {turns}"
            high = f"({variable} + 1) * {requests} // {turns}"
            keys["at"] = (
                f"{size_text(self.base)} + {size} * ({low})" if self.base else (f"{size} * ({low})")
            )
            if self.bytes == requests * self.transfer:
                keys["count"] = equal_share(requests, turns, variable)
            else:
                keys["size"] = f"min({size} * ({high}), {self.bytes} B) - {size} * ({low})"
        data = DataStep.model_validate(
            {("from" if key == "from_" else key): value for key, value in keys.items()}
        )
        return StepSpec(write=data) if self.is_write else StepSpec(read=data)


def _together(program: Program, one: StepSpec, other: StepSpec) -> Steps:
    """Two steps as those that do what both did in turns; none where they took none."""
    streams = [_streams(program, [step]) for step in (one, other)]
    if streams[0] & streams[1]:
        return []
    if one.phase and other.phase:
        found = _as_one(program, one, other)
    elif one.phase and other.for_:
        found = _around(program, one, other)
    elif one.for_ and other.phase:
        found = _around(program, other, one)
    else:
        return []
    if found:
        names = " and ".join(sorted(streams[0] | streams[1]))
        program.notes[f"{names} take turns; each turn has an equal share of their requests"] = 1
    return found


def _as_one(program: Program, one: StepSpec, other: StepSpec) -> Steps:
    """Two phases as one."""
    bodies = [_with_run_apart(list(step.do or [])) for step in (one, other)]
    runs = [_run_of(program, body) for body in bodies]
    body: Steps | None = None
    if runs[0] is not None and runs[1] is not None:
        body = _two_runs(program, bodies, [runs[0], runs[1]])
    elif runs[0] is not None:
        body = _in_loop(program, bodies[1], bodies[0], runs[0])
    elif runs[1] is not None:
        body = _in_loop(program, bodies[0], bodies[1], runs[1])
    return [] if body is None else [StepSpec(phase=f"{one.phase} and {other.phase}", do=body)]


def _with_run_apart(body: Steps) -> Steps:
    """The body of a phase, where its longest run is a part of a table with that run apart."""
    parts = [with_run_apart(step) if isinstance(step, StepSpec) else [step] for step in body]
    runs = [_plain(at, steps[-1]) for at, steps in enumerate(parts)]
    longest = max(filter(None, runs), key=lambda run: run.requests, default=None)
    return (
        body
        if longest is None
        else [*body[: longest.at], *parts[longest.at], *body[longest.at + 1 :]]
    )


def _around(program: Program, phase: StepSpec, loop: StepSpec) -> Steps:
    """A loop of phases with the run of a phase in it, and what is left of that one around it."""
    body = list(phase.do or [])
    run = _run_of(program, body)
    if run is None:
        return []
    whole = _in_loop(program, [loop], body, run)
    if whole is None:
        return []
    after = body[run.at + 1 :]
    name = program.titles.numbered(f"{' '.join(sorted(_streams(program, [phase])))} close")
    ends = StepSpec(phase=name, do=after)
    starts = StepSpec(phase=phase.phase, do=body[: run.at])
    return [*([starts] if run.at else []), whole[run.at], *([ends] if after else [])]


def _streams(program: Program, steps: Steps) -> set[str]:
    entries, kept = program.names.entries, program.streams.kept
    return {kept[entries[name].stream].name for name in named_in(steps) if name in entries}


def _run_of(program: Program, body: Steps) -> _Run | None:
    """The longest plain run of a phase; None where it has none, or has a loop."""
    found = [_plain(at, step) for at, step in enumerate(body)]
    if any(isinstance(step, StepSpec) and step.do is not None for step in body):
        return None
    runs = [run for run in found if run is not None and _is_own(program, run)]
    return max(runs, key=lambda run: run.requests, default=None)


def _is_own(program: Program, run: _Run) -> bool:
    """Whether each rank has a file of its own there, with bytes and no datasets."""
    name = str(run.step.to or run.step.from_)
    entry = program.names.entries.get(name)
    return entry is not None and not entry.is_shared and not entry.is_indexed


def _plain(at: int, step: StepSpec | BareStep) -> _Run | None:
    if not isinstance(step, StepSpec):
        return None
    data = step.write or step.read
    if not isinstance(data, DataStep) or step.from_ != "self":
        return None
    said = data.model_fields_set
    if said - _PLAIN or data.pattern is not PatternKind.CONTIGUOUS or data.transfer is None:
        return None
    transfer, base = number_of(data.transfer), number_of(data.at or 0)
    count, size = number_of(data.count or 0), number_of(data.size or 0)
    if not transfer or base is None or count is None or size is None:
        return None
    return _Run(at, data, step.write is not None, base, transfer, size or count * transfer)


def _two_runs(program: Program, bodies: list[Steps], runs: list[_Run]) -> Steps | None:
    """A loop over turns with a part of each run."""
    rows = [
        _rows(program, [body[run.at]], run.is_write) for body, run in zip(bodies, runs, strict=True)
    ]
    found = _turns(program, rows[0], rows[1])
    counts = [run.requests for run in runs]
    if not LEAST_TURNS <= found <= min(counts):
        return None
    turns = _even(found, counts)
    first = 0 if rows[0][0] < rows[1][0] else 1
    variable = VARIABLES[0]
    parts: Steps = [runs[side].part(variable, turns) for side in (first, 1 - first)]
    loop = StepSpec(for_=variable, in_=turns, do=parts)
    before = [*bodies[0][: runs[0].at], *bodies[1][: runs[1].at]]
    after = [*bodies[0][runs[0].at + 1 :], *bodies[1][runs[1].at + 1 :]]
    return [*before, loop, *after]


def _even(turns: int, counts: list[int]) -> int:
    """A number of turns near that one in which all have as many requests; else that one."""
    width = int(turns * NEAR_TURNS)
    near = sorted(range(turns - width, turns + width + 1), key=lambda one: abs(one - turns))
    return next((one for one in near if not any(count % one for count in counts)), turns)


def _in_loop(program: Program, body: Steps, other: Steps, run: _Run) -> Steps | None:
    """The other phase's body with the only step of this one, a loop, in the place of the run."""
    loop = body[0] if len(body) == 1 else None
    if not isinstance(loop, StepSpec) or loop.for_ is None:
        return None
    turns = loop.in_ if isinstance(loop.in_, int) else 0
    if not LEAST_TURNS <= turns <= run.requests:
        return None
    verbs = {verb for verb in ("read", "write") if _has_verb(loop, verb)}
    way = verbs == {"write"} if len(verbs) == 1 else None
    rows = _rows(program, [loop], way), _rows(program, [other[run.at]], run.is_write)
    if 2 * _turns(program, *rows) < turns:
        return None
    whole = _with_part(loop, run.part(loop.for_, turns), run.is_write)
    return None if whole is None else [*other[: run.at], whole, *other[run.at + 1 :]]


def _with_part(outer: StepSpec, part: StepSpec, is_write: bool) -> StepSpec | None:
    """A loop, or the only phase in it, with a write behind its last request, or a read before its
    first one; None where it moves nothing in one place."""
    inner = list(outer.do or [])
    moving = [at for at, step in enumerate(inner) if isinstance(step, StepSpec) and _moves(step)]
    if not moving:
        return None
    first = inner[moving[0]]
    if isinstance(first, StepSpec) and first.phase:
        whole = _with_part(first, part, is_write) if len(moving) == 1 else None
        if whole is None:
            return None
        inner[moving[0]] = whole
    else:
        inner.insert(moving[-1] + 1 if is_write else moving[0], part)
    return outer.model_copy(update={"do": inner})


def _moves(step: StepSpec) -> bool:
    return _has_verb(step, "write") or _has_verb(step, "read")


def _has_verb(step: StepSpec, verb: str) -> bool:
    """Whether it, or a step within it, is one of these."""
    if step.do is not None:
        return any(isinstance(inner, StepSpec) and _has_verb(inner, verb) for inner in step.do)
    return step.verb == verb


def _rows(program: Program, steps: Sequence[StepSpec | BareStep], is_write: bool | None) -> Column:
    """Requests of the first rank to the streams that steps name, in the order of time."""
    entries, table = program.names.entries, program.table
    streams = [entries[name].stream for name in named_in(steps) if name in entries]
    kinds = {None: (Kind.READ, Kind.WRITE), True: (Kind.WRITE,), False: (Kind.READ,)}[is_write]
    mask = table.is_kind(*kinds) & np.isin(program.streams.of_file[table.file], streams)
    rows = np.flatnonzero(mask)
    if not len(rows):
        return rows
    rows = rows[table.rank[rows] == table.rank[rows[0]]]
    in_order: Column = rows[np.argsort(table.start_ns[rows], kind="stable")]
    return in_order


def _turns(program: Program, one: Column, other: Column) -> int:
    """How often the requests of one follow those of the other; 0 where they do not go forward
    together."""
    if not len(one) or not len(other):
        return 0
    start = program.table.start_ns
    both = np.concatenate([start[one], start[other]])
    side = np.repeat([False, True], [len(one), len(other)])[np.argsort(both, kind="stable")]
    ahead = np.cumsum(~side) / len(one) - np.cumsum(side) / len(other)
    if np.abs(ahead).max() > MOST_AHEAD:
        return 0
    return int(np.count_nonzero(side[1:] & ~side[:-1]))
