"""Steps that write and then read, as two phases: their rates must not run together."""

from __future__ import annotations

from venturi.derive.operation.run import Steps
from venturi.model.workload import StepSpec


def one_way_each(steps: Steps) -> list[tuple[str, Steps]]:
    """The steps in one or two parts with the verb of each.

    All requests of the first part go one way, those of the second the other; the verb is "" where
    the steps cannot be cut so.
    """
    if len(steps) == 1 and isinstance(steps[0], StepSpec) and steps[0].when is not None:
        inner = one_way_each(list(steps[0].do or []))
        when = steps[0].when
        return [(verb, [StepSpec(when=when, do=part)]) for verb, part in inner]
    ways = [_ways(step) if isinstance(step, StepSpec) else set() for step in steps]
    found = [way for step_ways in ways for way in sorted(step_ways)]
    changes = [at for at in range(1, len(found)) if found[at] != found[at - 1]]
    if len(changes) != 1 or any(len(step_ways) > 1 for step_ways in ways):
        return [("", steps)]
    cut = ways.index({found[-1]})
    return [(found[0], steps[:cut]), (found[-1], steps[cut:])]


def _ways(step: StepSpec) -> set[str]:
    """`write` and `read`, as far as the step does so."""
    if step.do is None:
        return {step.verb} & {"write", "read"}
    inner = [_ways(child) for child in step.do if isinstance(child, StepSpec)]
    return set().union(*inner)


def only_opens(step: StepSpec) -> bool:
    """Whether a step, with all within it, does nothing but open files."""
    if step.do is None:
        return step.verb in ("open", "create")
    return all(isinstance(inner, StepSpec) and only_opens(inner) for inner in step.do)


def with_whens_joined(steps: Steps) -> Steps:
    """The steps with neighbours under the same condition as one."""
    joined: Steps = []
    for step in steps:
        before = joined[-1] if joined else None
        if (
            isinstance(step, StepSpec)
            and isinstance(before, StepSpec)
            and step.when is not None
            and step.when == before.when
        ):
            joined[-1] = StepSpec(when=step.when, do=[*(before.do or []), *(step.do or [])])
        else:
            joined.append(step)
    return joined
