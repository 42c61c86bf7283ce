"""Files that are open without the application having said so.

A process reads what a shell opened for it. The engine opens a file before it uses it, and where
other processes' calls stand between the reads, so that a loop is made of both, it would do so in
each turn. Such openings are one, before the first use, and so is the close, behind the last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from venturi.derive.operation.run import Steps
from venturi.model.workload import BareStep, DataStep, PatternKind, StepSpec

_Step = StepSpec | BareStep


def opened_once(
    steps: Sequence[_Step], implied: Sequence[StepSpec], numbered: Callable[[str], str]
) -> Steps:
    """The steps, where each file whose openings are `implied` is opened once for all steps at the
    top, one after the other, that use it so; `numbered` makes titles of phases."""
    found = list(steps)
    for name in dict.fromkeys(step.open for step in implied if step.open is not None):
        openings = [step for step in implied if step.open == name]
        for first, last in reversed(list(_stretches(found, name, openings))):
            found[first : last + 1] = _around(found[first : last + 1], name, numbered)
    return found


def _stretches(steps: Steps, name: str, openings: Sequence[StepSpec]) -> Iterator[tuple[int, int]]:
    """First and last of the steps at the top that use a file, all of them by implied openings."""
    places: list[int] = []
    for place, step in enumerate([*steps, StepSpec(open=name)]):
        inner = list(_below([step]))
        if not any(_names(one, name) for one, _ in inner):
            continue
        if place < len(steps) and _only_implied(inner, name, openings):
            places.append(place)
            continue
        if len(places) > 1 or any(_is_in_loop(steps[one], name) for one in places):
            yield places[0], places[-1]
        places = []


def _only_implied(
    inner: list[tuple[StepSpec, bool]], name: str, openings: Sequence[StepSpec]
) -> bool:
    opens = closes = 0
    for step, is_for_some in inner:
        if step.open == name:
            if is_for_some or not any(step is one for one in openings):
                return False
            opens += 1
        elif step.close == name:
            if is_for_some:
                return False
            closes += 1
        elif _names(step, name) and not _is_at_place(step, name):
            return False
    return opens == closes > 0


def _is_at_place(step: StepSpec, name: str) -> bool:
    """Whether a step on a file does the same when it is open since before."""
    if step.stat == name or (step.sync is not None and not isinstance(step.sync, str)):
        return True
    data = step.write if step.write is not None else step.read
    return isinstance(data, DataStep) and (
        data.pattern is not PatternKind.SEQUENTIAL or data.at is not None
    )


def _names(step: StepSpec, name: str) -> bool:
    """Whether a step itself is about a file."""
    bare = step.model_copy(update={"do": None})
    return name in _texts(bare.to_data())


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value.partition(".")[0]
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)


def _is_in_loop(step: _Step, name: str, is_inside: bool = False) -> bool:
    if not isinstance(step, StepSpec):
        return False
    if step.open == name:
        return is_inside
    is_inside |= step.for_ is not None
    return any(_is_in_loop(one, name, is_inside) for one in step.do or [])


def _around(steps: Steps, name: str, numbered: Callable[[str], str]) -> Steps:
    """Steps without openings and closes of a file, which stand before and behind them."""
    found = [one for step in steps if (one := _without(step, name)) is not None]
    opening, closing = StepSpec(open=name), StepSpec(close=name)
    first = found[0]
    if isinstance(first, StepSpec) and first.phase is not None:
        found[0] = first.model_copy(update={"do": [opening, *(first.do or [])]})
    else:
        found.insert(0, StepSpec(phase=numbered(f"{name} open"), do=[opening]))
    last = found[-1]
    if isinstance(last, StepSpec) and last.phase is not None:
        found[-1] = last.model_copy(update={"do": [*(last.do or []), closing]})
    else:
        found.append(StepSpec(phase=numbered(f"{name} close"), do=[closing]))
    return found


def _without(step: _Step, name: str) -> _Step | None:
    if not isinstance(step, StepSpec):
        return step
    if name in (step.open, step.close):
        return None
    if step.do is None:
        return step
    body = [one for inner in step.do if (one := _without(inner, name)) is not None]
    return step.model_copy(update={"do": body}) if body else None


def _below(steps: Sequence[_Step], is_for_some: bool = False) -> Iterator[tuple[StepSpec, bool]]:
    """Each step, those within others too, and whether a condition is around it."""
    for step in steps:
        if isinstance(step, StepSpec):
            is_some = is_for_some or step.when is not None
            yield step, is_some
            yield from _below(step.do or [], is_some)
