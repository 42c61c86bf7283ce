"""Copies in workloads: what is planned, counted and refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from venturi.model.error import UserError
from venturi.model.plan import CopyWay, Items, Manage, Phase, Step
from venturi.model.workload import Workload
from venturi.plan.make import PlanResult, make_plan
from venturi.plan.setting import RunSettings

COPY = {"copy": {"from": "one", "to": "two"}}


def made(
    *steps: Any, one: dict[str, Any] | None = None, two: dict[str, Any] | None = None
) -> PlanResult:
    first = {"path": "one", "shared": "rank", "prestage": "8 KiB", **(one or {})}
    files = {"one": {k: v for k, v in first.items() if v is not None}}
    files["two"] = {"path": "two", "shared": "rank", **(two or {})}
    text = {
        "workload": 1,
        "name": "copied",
        "groups": {"g": {"ranks": 2}},
        "files": files,
        "program": {"g": [{"phase": "p", "do": list(steps)}]},
    }
    return make_plan(Workload.model_validate_json(json.dumps(text)), RunSettings())


def steps_of(found: PlanResult) -> list[Step]:
    [phase] = found.plan.groups[0].program
    assert isinstance(phase, Phase)
    return phase.body


def test_a_copy_opens_and_closes_both_files() -> None:
    found = made(COPY, {"open": "two"}, {"read": {"from": "two", "size": "8 KiB"}})
    step = steps_of(found)[0]
    assert isinstance(step, Manage)
    assert (step.file, step.to, step.way) == (0, 1, CopyWay.CLONE)
    counts = found.totals.operations
    assert (counts["copy"], counts["create"], counts["close"]) == (2, 2, 4)
    assert (found.totals.bytes_written, found.totals.bytes_read) == (2 * 8192, 4 * 8192)
    assert found.totals.files == 4


def test_trees_are_copied_item_by_item() -> None:
    tree = {"tree": {"items": 10, "size": "1 KiB"}}
    found = made({"copy": {"from": "one", "to": "two", "by": "send"}}, one=tree, two=tree)
    step = steps_of(found)[0]
    assert isinstance(step, Items)
    assert (step.file, step.source, step.way) == (1, 0, CopyWay.SEND)
    assert found.totals.operations["copy"] == 20
    assert found.totals.bytes_written == 20 * 1024


def test_loops_say_how_long_each_file_is() -> None:
    one = {"path": "one.{i}", "prestage": "8 KiB if i < 2 else 1 KiB"}
    loop = {"for": "i", "in": 5, "do": [COPY]}
    found = made(loop, one=one, two={"path": "two.{i}"})
    assert found.totals.bytes_prestaged == found.totals.bytes_written == 2 * 19 * 1024
    one = {"path": "one", "prestage": "8 KiB * i"}
    with pytest.raises(UserError, match="'i'"):
        made(loop, one=one, two={"path": "two.{i}"})


TREE = {"tree": {"items": 10}}


@pytest.mark.parametrize(
    ("one", "two", "why"),
    [
        ({"prestage": None}, {}, "nothing made it"),
        ({"shared": "all"}, {}, "shared otherwise"),
        ({"interface": "stdio"}, {}, "copies none"),
        ({}, {"prestage": "1 KiB"}, "made by the copy"),
        ({}, {"content": {"verify": True}}, "made by the copy"),
        (TREE, {}, "a tree is copied to a tree"),
        (TREE, {"tree": {"items": 11}}, "its 'items' differs"),
    ],
)
def test_what_cannot_be_copied_is_refused(
    one: dict[str, Any], two: dict[str, Any], why: str
) -> None:
    with pytest.raises(UserError, match=why):
        made(COPY, one=one, two=two)


def test_open_files_are_not_copied() -> None:
    with pytest.raises(UserError, match="still open"):
        made({"open": "one"}, COPY)
    with pytest.raises(UserError, match="to itself"):
        made({"copy": {"from": "one", "to": "one"}})
    with pytest.raises(UserError, match="belong together"):
        made({"each": {"on": "two", "do": ["copy"]}}, one=TREE, two=TREE)
