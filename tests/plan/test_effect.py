"""Keys without effect: those of random steps against the operations, and none in what ships."""

from __future__ import annotations

import random
from typing import Any

import pytest

from venturi import library
from venturi.model.document import parse_data
from venturi.model.error import UserError
from venturi.model.workload import Method, Origin, Workload
from venturi.plan.effect import keys_without_effect
from venturi.plan.make import make_plan
from venturi.plan.setting import RunSettings
from venturi.plan.stream import Operation, RequestStream

STEPS = 120
SETTINGS = RunSettings(ranks=2)
CHOICES: dict[str, list[Any]] = {
    "pattern": ["segmented", "strided", "random", "append"],
    "transfer": [512, "4 KiB", "2 * 2048"],
    "size": ["64 KiB", 8192],
    "block": [4096, "8 KiB"],
    "segments": [1, 3],
    "count": [1, 8, "2 * 3"],
    "total": [8, 10],
    "at": [0, 4096],
    "apart": [False],
    "replacement": [True],
    "zipf": [1.1],
    "sync": ["fsync", "flush"],
    "think": ["1 ms"],
    "depth": [1, 4],
    "type": ["f32"],
    "big_endian": [True],
    "text": ["{rank:04d}"],
    "interleaved": [2],
    "element": [8],
}


def document(step: dict[str, Any]) -> dict[str, Any]:
    """A workload of one write."""
    return {
        "workload": 1,
        "name": "random",
        "files": {"f": {"path": "f"}},
        "program": {"all": [{"phase": "write", "do": [{"write": {"to": "f", **step}}]}]},
    }


def operations(step: dict[str, Any]) -> list[list[Operation]]:
    """What all ranks do."""
    plan = make_plan(parse_data(Workload, document(step)), SETTINGS).plan
    return [list(RequestStream(plan, rank).operations()) for rank in range(plan.ranks)]


def idle(data: dict[str, Any]) -> list[str]:
    """Keys without effect of a document, at these settings."""
    return keys_without_effect(parse_data(Workload, data), SETTINGS)


def test_a_random_step_is_the_same_without_the_keys_that_are_named() -> None:
    chance = random.Random(4)
    named = fine = 0
    for _ in range(STEPS):
        keys = chance.sample(list(CHOICES), chance.randint(1, 4))
        step: dict[str, Any] = {"transfer": 512, "count": 8, "size": 4096}
        step |= {key: chance.choice(CHOICES[key]) for key in keys}
        try:
            done = operations(step)
        except UserError:
            continue
        fine += 1
        for place in idle(document(step)):
            path, _, key = place.rpartition(".")
            assert path == "program.all[0].do[0].write"
            assert operations({k: v for k, v in step.items() if k != key}) == done, (step, key)
            named += 1
    assert fine > STEPS // 6
    assert named > fine // 4


@pytest.mark.parametrize(
    ("step", "keys"),
    [
        ({"size": 4096, "count": 8, "transfer": 512}, ["size"]),
        ({"transfer": 512, "count": 8, "type": "f32"}, ["type"]),
        ({"transfer": 512, "count": 8, "replacement": True}, ["replacement"]),
        ({"transfer": 512, "count": 1, "at": 0}, []),
    ],
)
def test_these_are_named(step: dict[str, Any], keys: list[str]) -> None:
    assert idle(document(step)) == [f"program.all[0].do[0].write.{key}" for key in keys]


def test_what_a_condition_leaves_out_is_not_looked_into() -> None:
    data = document({"size": 4096})
    inner = {"write": {"to": "f", "transfer": 512, "count": 8, "type": "f32"}}
    skipped = [{"phase": "other", "limit": "3 s", "do": [inner]}]
    data["program"]["all"].append({"when": "more", "do": skipped})
    data["parameters"] = {"more": 0}
    assert idle(data) == []
    data["parameters"] = {"more": 1}
    assert idle(data) == ["program.all[1].do[0].do[0].write.type"]


def test_what_a_program_derived_is_not_looked_through() -> None:
    data = document({"size": 4096, "count": 8, "transfer": 512})
    derived = parse_data(Workload, data).model_copy(
        update={"origin": Origin(source="a log", method=Method.TRACE)}
    )
    assert keys_without_effect(derived, SETTINGS) == []


@pytest.mark.parametrize("name", library.names())
def test_what_ships_has_none(name: str) -> None:
    assert keys_without_effect(library.load(name), RunSettings()) == []
