"""A workload that is not run beside a capture: what was changed in a proxy is seen and named."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator

import pytest
from random_program import RandomProgram
from traced_run import derived, planned

from venturi.analyse.planned_fidelity import planned_fidelity
from venturi.derive.yaml_text import to_yaml
from venturi.model.error import UserError
from venturi.model.fidelity_report import FidelityReport, Match
from venturi.model.trace_folder import Captured
from venturi.model.workload import StepSpec, Workload
from venturi.model.yaml_text import parse_yaml

Steps = list[StepSpec | str]
Change = Callable[[Steps], Iterator[Steps]]
NAMES = ("app", "proxy")


def made(seed: int, ranks: int) -> tuple[Captured, Workload] | None:
    """A run and its proxy, if that makes exactly its calls."""
    run = RandomProgram(seed, ranks, reads=True).run()
    workload = derived(run)
    assert workload.origin is not None
    likeness, observed = workload.origin.likeness, workload.origin.observed
    assert observed is not None
    if likeness is None or not likeness.is_equal:
        return None
    totals = planned(workload).totals
    done = {kind: totals.operations.get(kind, 0) for kind in ("read", "write", "sync")}
    assert {kind: observed.operations.get(kind, 0) for kind in done} == done
    return run.captured(), workload


def without_one(steps: Steps) -> Iterator[Steps]:
    """Without one step that does something and has none within it; the first use opens a file."""
    for at, step in enumerate(steps):
        if not isinstance(step, StepSpec) or step.create is not None or step.open is not None:
            continue
        if step.do is None and step.compute is None:
            yield steps[:at] + steps[at + 1 :]


def without_pause(steps: Steps) -> Iterator[Steps]:
    """Without computing of a millisecond at least."""
    for at, step in enumerate(steps):
        if isinstance(step, StepSpec) and str(step.compute).endswith((" ms", " s")):
            yield steps[:at] + steps[at + 1 :]


def with_two_swapped(steps: Steps) -> Iterator[Steps]:
    """With a request and the step after it, another one, in the other order."""
    for at in range(len(steps) - 1):
        first, second = steps[at : at + 2]
        if isinstance(first, StepSpec) and isinstance(second, StepSpec) and first != second:
            data = first.write is not None or first.read is not None
            if data and second.do is None and second.compute is None:
                yield [*steps[:at], second, first, *steps[at + 2 :]]


def changed(steps: Steps, change: Change) -> Iterator[Steps]:
    """The program changed in one place, for each of them."""
    yield from change(steps)
    for at, step in enumerate(steps):
        if isinstance(step, StepSpec) and step.do is not None:
            for inner in changed(list(step.do), change):
                if inner:
                    yield [*steps[:at], step.model_copy(update={"do": inner}), *steps[at + 1 :]]


def spoilt(workload: Workload, change: Change, chance: random.Random) -> Workload | None:
    """The workload with one random change of this kind, if there is one."""
    (group,) = workload.program
    found = list(changed(list(workload.program[group]), change))
    if not found:
        return None
    return workload.model_copy(update={"program": {group: chance.choice(found)}})


def averaged(workload: Workload) -> Workload | None:
    """With a constant in place of sizes that vary."""
    text = to_yaml(workload.model_copy(update={"origin": None}))
    found = re.search(r'(transfer|size): "pick\(\w+, ([\d, ]+)\)"', text)
    if found is None:
        return None
    sizes = [int(one) for one in found[2].split(",")]
    mean = f"{found[1]}: {sum(sizes) // len(sizes)} B"
    return parse_yaml(text.replace(found[0], mean, 1), "spoilt", Workload)


def judged(captured: Captured, workload: Workload) -> FidelityReport | None:
    """None: it is refused, with a sentence."""
    try:
        return planned_fidelity(captured, workload, NAMES)
    except UserError:
        return None


@pytest.mark.parametrize("ranks", [1, 3])
def test_what_was_changed_is_seen_and_named(ranks: int) -> None:
    chance, seen = random.Random(7), dict.fromkeys(("all", "pause", "order", "size"), 0)
    for seed in range(40):
        both = made(seed, ranks)
        if both is None:
            continue
        captured, workload = both
        sound = planned_fidelity(captured, workload, NAMES)
        assert sound.match is Match.EQUAL, sound.headline
        seen["all"] += 1
        for name, change, field in (
            ("step", without_one, "operations"),
            ("pause", without_pause, "time between operations"),
            ("order", with_two_swapped, "operations, one by one"),
        ):
            other = spoilt(workload, change, chance)
            if other is None:
                continue
            report = judged(captured, other)
            text = to_yaml(other)
            if report is not None:
                named = [one.name for one in report.total.fields if one.match is not Match.EQUAL]
                assert any(field in one for one in named), (name, text)
                assert report.match is not Match.EQUAL, (name, text)
            seen[name] = seen.get(name, 0) + 1
        mean = averaged(workload)
        if mean is not None:
            report = judged(captured, mean)
            assert report is None or report.match is Match.OFF, to_yaml(mean)
            seen["size"] += 1
    assert seen["all"] >= 25
    assert min(seen.values()) >= 5, seen


def test_another_number_of_ranks_is_refused() -> None:
    both = made(4, 1)
    assert both is not None
    captured, workload = both
    ranks = {"np": workload.parameters["np"].model_copy(update={"default": 2})}
    with pytest.raises(UserError, match="2 ranks, and the application has 1"):
        planned_fidelity(captured, workload.model_copy(update={"parameters": ranks}), NAMES)
