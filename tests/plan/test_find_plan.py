"""Where a walk may begin: what the engine would refuse in the run is refused in the plan."""

from __future__ import annotations

import json

import pytest

from venturi.model import plan as p
from venturi.model.error import UserError
from venturi.model.workload import Workload
from venturi.plan.make import make_plan
from venturi.plan.setting import RunSettings


def top_of(place: str) -> list[p.PathPart]:
    """The beginning of a walk in a loop over `i`."""
    phase = {"phase": "p", "do": [{"find": {"in": place}}]}
    text = {
        "workload": 1,
        "name": "t",
        "groups": {"g": {"ranks": 2}},
        "program": {"g": [{"for": "i", "in": 2, "do": [phase]}]},
    }
    plan = make_plan(Workload.model_validate_json(json.dumps(text)), RunSettings()).plan
    loop = plan.groups[0].program[0]
    assert isinstance(loop, p.For)
    (inner,) = loop.body
    assert isinstance(inner, p.Phase)
    (step,) = inner.body
    assert isinstance(step, p.Find)
    return step.top


@pytest.mark.parametrize("place", ["a", "a/b/", "a{i // 2}/b", ""])
def test_below_the_runs_directory(place: str) -> None:
    assert bool(top_of(place)) == bool(place)


@pytest.mark.parametrize("place", [".", "./a", "a//b", "a/./b", "/a", "..", "a/../b"])
def test_elsewhere_is_refused(place: str) -> None:
    with pytest.raises(UserError, match=r"empty part|leads out"):
        top_of(place)
