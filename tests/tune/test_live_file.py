"""A workload without the steps that parameters leave out keeps every file that is spoken of."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest

from venturi.model.workload import VERBS, BareStep, StepSpec, Workload
from venturi.tune.rewrite import live

STEPS: dict[str, tuple[Any, set[str]]] = {
    "for": ({"for": "i", "in": 2, "do": [{"create": "a"}]}, {"a"}),
    "choose": ({"choose": {"by": 0, "of": [{"create": "a"}, {"open": "b"}]}}, {"a", "b"}),
    "when": ({"when": "rank < 1", "do": [{"create": "a"}]}, {"a"}),
    "phase": ({"phase": "q", "do": [{"stat": "a"}]}, {"a"}),
    "barrier": ({"barrier": "all"}, set()),
    "compute": ({"compute": "1 s"}, set()),
    "write": ({"write": {"to": "a", "size": 1}}, {"a"}),
    "read": ({"read": {"from": "a.rows", "size": 1}}, {"a"}),
    "create": ({"create": "a"}, {"a"}),
    "open": ({"open": "a"}, {"a"}),
    "close": ({"close": "a"}, {"a"}),
    "stat": ({"stat": "a"}, {"a"}),
    "unlink": ({"unlink": "a"}, {"a"}),
    "mkdir": ({"mkdir": "a"}, {"a"}),
    "rmdir": ({"rmdir": "a"}, {"a"}),
    "read_dir": ({"read_dir": "a"}, {"a"}),
    "each": ({"each": {"on": "a", "do": ["copy"], "from": "b"}}, {"a", "b"}),
    "find": ({"find": {"newer": "a"}}, {"a"}),
    "sync": ({"sync": {"on": "a"}}, {"a"}),
    "signal": ({"signal": "a"}, set()),
    "wait": ({"wait": "a"}, set()),
    "rename": ({"rename": {"on": "a", "to": "b"}}, {"a", "b"}),
    "truncate": ({"truncate": {"on": "a", "size": 1}}, {"a"}),
    "copy": ({"copy": {"from": "a", "to": "b"}}, {"a", "b"}),
    "exec": ({"exec": {"command": "a"}}, set()),
    "kernel": ({"kernel": {"name": "a"}}, set()),
    "set_mode": ({"set_mode": "a"}, {"a"}),
    "set_owner": ({"set_owner": "a"}, {"a"}),
    "set_times": ({"set_times": "a"}, {"a"}),
    "miss": ({"miss": "a"}, {"a"}),
}
SHORT = [{"write": "a"}, {"read": "a"}, {"truncate": "a"}]


def kept(step: Any) -> set[str]:
    data = {
        "workload": 1,
        "name": "one-step",
        "files": {name: {"path": name} for name in ("a", "b", "unused")},
        "program": {"g": [{"phase": "p", "do": [step, {"when": 0, "do": [{"open": "b"}]}]}]},
    }
    workload = Workload.model_validate_json(json.dumps(data))
    return set(live(workload, lambda value: value if isinstance(value, int) else None).files)


def test_every_verb_is_here() -> None:
    assert set(STEPS) == {verb.rstrip("_") for verb in VERBS}
    assert set(get_args(BareStep)) <= set(STEPS)


@pytest.mark.parametrize("verb", STEPS)
def test_a_file_that_a_step_speaks_of_stays(verb: str) -> None:
    step, names = STEPS[verb]
    assert kept(step) == names


@pytest.mark.parametrize("step", SHORT)
def test_so_it_is_with_short_forms(step: Any) -> None:
    assert kept(step) == {"a"}


def test_a_sync_of_all_files_names_none() -> None:
    assert StepSpec.model_validate_json('{"sync": "fsync"}').named == set()
