"""Signals: their names, how many of them a wait needs, and whether every wait can end.

A wait ends when a signal was given so often in the repetition. The order of signals and waits is
known before the run: instances of groups give what stands before their next wait, and go on as
soon as that has all it needs. Who is stopped when nobody can go on would wait for ever.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from venturi.model import plan as p
from venturi.model.error import UserError
from venturi.model.expression import ExpressionError
from venturi.model.workload import Value, WaitStep, Workload
from venturi.plan.rank_placement import depends_on_nodes
from venturi.plan.rank_view import ITERATION, RANK, RankView
from venturi.plan.scope import Scope, slots_of
from venturi.plan.template import Field, template_fields
from venturi.plan.walk import Nesting, Visit, leaves, walk

_MOST_ACTIONS = 2_000_000
_MOST_SIGNALS = 65_536
"""Different signals, each counted once for every instance of a group that waits for it."""
_ALL = [p.Instruction(operator=p.Operator.INTEGER, integer=0)]
"""The count of a wait that needs all signals, until it is known how many those are."""


def lower_signal(name: str, scope: Scope, where: str) -> p.Signal:
    """A signal; who waits for it is settled later."""
    return p.Signal(name=_name(name, scope, where), to=[])


def lower_wait(wait: WaitStep | str, scope: Scope, where: str) -> p.Wait:
    """A wait; what it needs is settled later where nobody says it."""
    rich = wait if isinstance(wait, WaitStep) else WaitStep(on=wait)
    count: Value | None = rich.count
    code = _ALL if count is None else scope.code(count, f"{where}.count")
    if count is not None and code == _ALL:
        raise UserError(f"{where}.count: at least one signal is needed")
    return p.Wait(name=_name(rich.on, scope, where), count=code)


def end_of(group: str) -> list[p.PathPart]:
    """The signal that the ranks of a group give at the end of their program."""
    return [p.PathPart(text=f"end of {group}")]


def all_signals(name: list[p.PathPart]) -> p.Wait:
    """A wait for all of a signal's times."""
    return p.Wait(name=name, count=_ALL)


def _name(text: str, scope: Scope, where: str) -> list[p.PathPart]:
    parts = []
    for piece in template_fields(text, where):
        if not isinstance(piece, Field):
            parts.append(p.PathPart(text=piece))
            continue
        code = scope.code(piece.text, where)
        if depends_on_nodes([code]):
            raise UserError(
                f"{where}: '{text}': a signal's name cannot depend on the node",
                "nobody knows before the run which rank is where",
            )
        parts.append(p.PathPart(value=code, width=piece.width))
    return parts


def following(workload: Workload) -> dict[str, str]:
    """The groups that begin after another one, with that; UserError where there is no such."""
    found = {name: spec.after for name, spec in workload.groups.items() if spec.after is not None}
    for name, other in found.items():
        if other not in workload.groups:
            known = ", ".join(workload.groups)
            raise UserError(f"groups.{name}.after: no group '{other}'", f"groups: {known}")
    return found


@dataclass(frozen=True)
class Settled:
    """A plan whose waits can all end."""

    plan: p.Plan
    awaited: Mapping[str, set[str]]
    """Of each group, the groups whose signals it waits for."""


def settle(plan: p.Plan) -> Settled:
    """Fill in who waits for each signal and how many; UserError at a wait that never ends."""
    if not any(_has(step) for group in plan.groups for step in group.program):
        return Settled(plan, {})
    book = _Book()
    by_iteration = _reads_iteration(plan)
    for iteration in range(plan.repetitions if by_iteration else 1):
        progresses = [
            _progress_of(plan, index, instance, iteration, book)
            for index, group in enumerate(plan.groups)
            for instance in range(group.instances)
        ]
        _settle(progresses, book)
    _check_number(plan, book)
    groups = [
        group.model_copy(update={"program": [_filled(step, book) for step in group.program]})
        for group in plan.groups
    ]
    awaited = {
        group.name: {plan.groups[giver].name for giver in book.givers.get(index, ())}
        for index, group in enumerate(plan.groups)
    }
    return Settled(plan.model_copy(update={"groups": groups}), awaited)


@dataclass
class _Wait:
    """One wait of one instance, as the program comes to it."""

    step: p.Wait
    name: str
    count: int
    """0: all."""


@dataclass
class _GroupProgress:
    """What an instance of a group does for others: `given[k]` before its k-th wait, and after."""

    group: int
    label: str
    given: list[Counter[str]]
    waits: list[_Wait]
    at: int = 0


@dataclass
class _Book:
    """What is known of the steps of a plan, by the id of each."""

    needed: dict[int, dict[str, int]] = field(default_factory=dict)
    """Of waits for all signals: how many those are, by name."""
    given: dict[int, set[str]] = field(default_factory=dict)
    """The names of signals."""
    waiting: dict[str, set[int]] = field(default_factory=dict)
    """By name, the groups that wait for it."""
    givers: dict[int, set[int]] = field(default_factory=dict)
    """By group, those whose signals it waits for."""
    actions: int = 0


def _has(step: p.Step) -> bool:
    return any(isinstance(inner, p.Signal | p.Wait) for inner, _ in leaves([step]))


def _codes(steps: Iterable[p.Step]) -> Iterator[list[p.Instruction]]:
    """What signals and waits, and how often ranks come to them, depend on."""
    for step in steps:
        if not _has(step):
            continue
        if isinstance(step, p.For):
            yield step.count
            yield step.first or []
        elif isinstance(step, p.Choose):
            yield step.number
        elif isinstance(step, p.When):
            yield step.condition
        elif isinstance(step, p.Signal | p.Wait):
            yield from (part.value for part in step.name if part.value is not None)
            if isinstance(step, p.Wait):
                yield step.count
        yield from _codes(getattr(step, "body", []))


def _reads_iteration(plan: p.Plan) -> bool:
    return any(
        ITERATION in slots_of(code) for group in plan.groups for code in _codes(group.program)
    )


def _progress_of(
    plan: p.Plan, index: int, instance: int, iteration: int, book: _Book
) -> _GroupProgress:
    group = plan.groups[index]
    label = f"group '{group.name}'" + (f", instance {instance}" if group.instances > 1 else "")
    progress = _GroupProgress(index, label, [Counter()], [])
    if depends_on_nodes(_codes(group.program)):
        raise UserError(
            f"{label}: which signals are given cannot depend on the node",
            "nobody knows before the run which rank is where",
        )
    by_rank = any(RANK in slots_of(code) for code in _codes(group.program))
    view = RankView(plan, group, instance=instance)
    view.slots[ITERATION] = iteration
    program = _only_signals(group.program)
    for rank in range(group.ranks) if by_rank else (0,):
        view.take_place_of(rank)
        turn = 0
        for action in _actions(program, view, book, label):
            if isinstance(action, str):
                progress.given[turn][action] += 1 if by_rank else group.ranks
                continue
            turn += 1
            if rank == 0:
                progress.waits.append(action)
                progress.given.append(Counter())
                book.waiting.setdefault(action.name, set()).add(index)
    return progress


def _only_signals(steps: Iterable[p.Step]) -> list[p.Step]:
    """The program without what has nothing to do with signals; its leaves are the same objects."""
    return [
        step.model_copy(update={"body": _only_signals(step.body)})
        if isinstance(step, Nesting)
        else step
        for step in steps
        if _has(step)
    ]


def _actions(
    program: Iterable[p.Step], view: RankView, book: _Book, label: str
) -> Iterator[str | _Wait]:
    """Names of signals, and waits, in the order in which a rank comes to them."""
    try:
        for event in walk(view, program):
            match event:
                case Visit(p.Signal() as step):
                    name = view.text(step.name)
                    book.given.setdefault(id(step), set()).add(name)
                    yield name
                case Visit(p.Wait() as step):
                    yield _wait(step, view, label)
                case _:
                    continue
            book.actions += 1
            if book.actions > _MOST_ACTIONS:
                raise UserError(f"{label}: more than {_MOST_ACTIONS} signals and waits to follow")
    except ExpressionError as error:
        raise UserError(f"{label}, around signals: {error}") from None


def _wait(step: p.Wait, view: RankView, label: str) -> _Wait:
    name = view.text(step.name)
    if step.count == _ALL:
        return _Wait(step, name, 0)
    count = view.whole(step.count)
    if count < 1:
        raise UserError(f"{label}: a wait for {count} signals '{name}': at least one is needed")
    return _Wait(step, name, count)


def _settle(progresses: Sequence[_GroupProgress], book: _Book) -> None:
    """What waits need; UserError unless each of them can end."""
    totals: Counter[str] = Counter()
    for progress in progresses:
        for given in progress.given:
            totals.update(given)
            for name in given:
                for group in book.waiting.get(name, ()):
                    book.givers.setdefault(group, set()).add(progress.group)
    for progress in progresses:
        for wait in progress.waits:
            _check_total(progress, wait, totals)
            if wait.count == 0:
                book.needed.setdefault(id(wait.step), {})[wait.name] = totals[wait.name]
                wait.count = totals[wait.name]
    _follow(progresses)


def _follow(progresses: Sequence[_GroupProgress]) -> None:
    """Let all instances go on until each has come to its end."""
    given: Counter[str] = Counter()
    for progress in progresses:
        given.update(progress.given[0])
    moved = True
    while moved:
        moved = False
        for progress in progresses:
            while progress.at < len(progress.waits) and _is_over(
                progress.waits[progress.at], given
            ):
                progress.at += 1
                given.update(progress.given[progress.at])
                moved = True
    stuck = [progress for progress in progresses if progress.at < len(progress.waits)]
    if stuck:
        _refuse(stuck)


def _is_over(wait: _Wait, given: Counter[str]) -> bool:
    return given[wait.name] >= wait.count


def _receivers(book: _Book, signal: int) -> set[int]:
    """The groups that wait for some signal of this step."""
    return {g for name in book.given.get(signal, ()) for g in book.waiting.get(name, ())}


def _check_number(plan: p.Plan, book: _Book) -> None:
    """The engine has room for so many."""
    names: dict[int, set[str]] = {}
    for signal, given in book.given.items():
        for group in _receivers(book, signal):
            names.setdefault(group, set()).update(given)
    number = sum(len(found) * plan.groups[group].instances for group, found in names.items())
    if number > _MOST_SIGNALS:
        raise UserError(
            f"{number} different signals to instances that wait: at most {_MOST_SIGNALS} in a "
            "repetition",
            "give one signal for several steps",
        )


def _check_total(progress: _GroupProgress, wait: _Wait, totals: Counter[str]) -> None:
    total = totals[wait.name]
    if total == 0:
        near = difflib.get_close_matches(wait.name, totals, n=1)
        hint = f"did you mean '{near[0]}'?" if near else "add 'signal' where it becomes true"
        raise UserError(
            f"{progress.label} waits for the signal '{wait.name}', which nobody gives", hint
        )
    if wait.count > total:
        raise UserError(
            f"{progress.label} waits for {wait.count} signals '{wait.name}', but only {total} are "
            "given in a repetition",
            "every rank that comes to a 'signal' gives one; without 'count' all of them are waited "
            "for",
        )


def _refuse(stuck: Sequence[_GroupProgress]) -> None:
    first = stuck[0]
    wait = first.waits[first.at]
    later = [
        progress
        for progress in stuck
        if any(wait.name in given for given in progress.given[progress.at + 1 :])
    ]
    words = [
        f"{progress.label} gives it only after its own wait for "
        f"'{progress.waits[progress.at].name}'"
        for progress in later[:2]
    ]
    raise UserError(
        f"{first.label} would wait for ever for the signal '{wait.name}': {'; '.join(words)}",
        "give the signal before that wait",
    )


def _filled(step: p.Step, book: _Book) -> p.Step:
    """The step with what was found about the signals and waits in it."""
    if not _has(step):
        return step
    if isinstance(step, Nesting):
        return step.model_copy(update={"body": [_filled(inner, book) for inner in step.body]})
    if isinstance(step, p.Signal):
        return step.model_copy(update={"to": sorted(_receivers(book, id(step)))})
    needed = book.needed.get(id(step), {})
    if not needed:
        return step
    counts = sorted((count, name) for name, count in needed.items())
    if counts[0][0] != counts[-1][0]:
        (low, one), (high, other) = counts[0], counts[-1]
        raise UserError(
            f"a wait for all signals of a name: '{one}' is given {low} times, '{other}' {high} "
            "times",
            "say with 'count' how many it needs",
        )
    literal = p.Instruction(operator=p.Operator.INTEGER, integer=counts[0][0])
    return step.model_copy(update={"count": [literal]})
