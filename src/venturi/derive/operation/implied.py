"""Files that are open without the application having said so.

A process reads what a shell opened for it. The engine opens a file before it uses it, and where
other processes' calls stand between the reads, so that a loop is made of both, it would do so in
each turn. Such openings are one, before the first use, and so is the close, behind the last.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from venturi.derive.operation.naming import named_in
from venturi.derive.operation.run import Steps
from venturi.model.workload import BareStep, DataStep, PatternKind, StepSpec

_Step = StepSpec | BareStep


@dataclass(frozen=True)
class _Leaf:
    """A step without others in it, and what stands around it."""

    step: StepSpec
    is_for_some: bool
    """A condition."""
    is_in_loop: bool


def opened_once(
    steps: Sequence[_Step], implied: Sequence[StepSpec], numbered: Callable[[str], str]
) -> Steps:
    """The steps, where each file whose openings are `implied` is opened once for all steps at the
    top, one after the other, that use it so; `numbered` makes titles of phases."""
    found = list(steps)
    named = [named_in([step]) for step in found]
    for name in dict.fromkeys(step.open for step in implied if step.open is not None):
        openings = [step for step in implied if step.open == name]
        users = [place for place, names in enumerate(named) if name in names]
        stretches = _stretches(found, users, name, openings)
        for first, last in reversed(stretches):
            found[first : last + 1] = _around(found[first : last + 1], name, numbered)
        if stretches:
            named = [named_in([step]) for step in found]
    return found


def _stretches(
    steps: Steps, users: list[int], name: str, openings: Sequence[StepSpec]
) -> list[tuple[int, int]]:
    """First and last of the steps at the top that use a file, all of them by implied openings."""
    found: list[tuple[int, int]] = []
    places: list[int] = []
    is_again = False
    for place in [*users, None]:
        leaves = [] if place is None else _leaves([steps[place]])
        own = [leaf for leaf in leaves if name in named_in([leaf.step])]
        if place is not None and _only_implied(own, name, openings):
            places.append(place)
            is_again |= len(places) > 1
            is_again |= any(leaf.is_in_loop for leaf in own if leaf.step.open == name)
            continue
        if is_again:
            found.append((places[0], places[-1]))
        places, is_again = [], False
    return found


def _only_implied(own: list[_Leaf], name: str, openings: Sequence[StepSpec]) -> bool:
    """Whether the steps on a file open it by implied openings alone, and close it as often."""
    opens = [leaf for leaf in own if leaf.step.open == name]
    closes = [leaf for leaf in own if leaf.step.close == name]
    if any(leaf.is_for_some for leaf in [*opens, *closes]):
        return False
    others = [leaf.step for leaf in own if name not in (leaf.step.open, leaf.step.close)]
    return (
        len(opens) == len(closes) > 0
        and all(any(leaf.step is one for one in openings) for leaf in opens)
        and all(_is_at_place(step, name) for step in others)
    )


def _is_at_place(step: StepSpec, name: str) -> bool:
    """Whether a step on a file does the same when it is open since before."""
    if step.stat == name or (step.sync is not None and not isinstance(step.sync, str)):
        return True
    data = step.write if step.write is not None else step.read
    return isinstance(data, DataStep) and (
        data.pattern is not PatternKind.SEQUENTIAL or data.at is not None
    )


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


def _leaves(
    steps: Sequence[_Step], is_for_some: bool = False, is_in_loop: bool = False
) -> list[_Leaf]:
    found: list[_Leaf] = []
    for step in steps:
        if not isinstance(step, StepSpec):
            continue
        if step.do is None:
            found.append(_Leaf(step, is_for_some, is_in_loop))
            continue
        is_some, is_loop = is_for_some or step.when is not None, is_in_loop or step.for_ is not None
        found += _leaves(step.do, is_some, is_loop)
    return found
