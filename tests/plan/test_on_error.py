"""What a phase says of errors: phases inside do likewise, unless they say otherwise."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import ValidationError

from venturi.model import plan as p
from venturi.model.workload import Workload
from venturi.plan.make import make_plan
from venturi.plan.setting import RunSettings

STAT = {"compute": 0}


def phases_of(*program: dict[str, Any]) -> dict[str, p.OnError]:
    """What each phase does, by its path."""
    text = {"workload": 1, "name": "t", "groups": {"g": {"ranks": 2}}, "program": {"g": program}}
    plan = make_plan(Workload.model_validate_json(json.dumps(text)), RunSettings()).plan
    found: dict[str, p.OnError] = {}

    def look(steps: list[p.Step]) -> None:
        for step in steps:
            if isinstance(step, p.Phase):
                found[step.path] = step.on_error
            look(getattr(step, "body", []))

    look(plan.groups[0].program)
    return found


def test_a_phase_stops_by_default() -> None:
    assert phases_of({"phase": "a", "do": [STAT]}) == {"a": p.OnError.STOP}


def test_inner_phases_do_likewise_unless_they_say_otherwise() -> None:
    inner = {"phase": "b", "do": [STAT]}
    other = {"phase": "c", "on_error": "stop", "do": [STAT]}
    loop = {"for": "i", "in": 2, "do": [inner, other]}
    found = phases_of(
        {"phase": "a", "on_error": "go on", "do": [loop]}, {"phase": "d", "do": [STAT]}
    )
    go_on, stop = p.OnError.GO_ON, p.OnError.STOP
    assert found == {"a": go_on, "a/b": go_on, "a/c": stop, "d": stop}


def test_it_belongs_to_a_phase() -> None:
    step = {"compute": 0, "on_error": "go on"}
    text = {"workload": 1, "name": "t", "program": {"g": [step]}}
    with pytest.raises(ValidationError, match="'on_error' belongs to a 'phase'"):
        Workload.model_validate_json(json.dumps(text))
