"""Files that get another name, or are cut: what is planned and what is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from venturi.model.error import UserError
from venturi.model.plan import Manage, NameVerb, Phase
from venturi.model.workload import Workload
from venturi.plan.make import PlanResult, make_plan
from venturi.plan.setting import RunSettings

WRITE = [{"create": "new"}, {"write": {"to": "new", "size": "8 KiB"}}]


def made(*steps: Any, ranks: int = 2, **state: Any) -> PlanResult:
    files = {"new": {"path": "state.new", "shared": "rank"}}
    files["state"] = {"path": "state", "shared": "rank", **state}
    text = {
        "workload": 1,
        "name": "renamed",
        "groups": {"g": {"ranks": ranks}},
        "files": files,
        "program": {"g": [{"phase": "p", "do": list(steps)}]},
    }
    return make_plan(Workload.model_validate_json(json.dumps(text)), RunSettings())


def manages(found: PlanResult) -> list[Manage]:
    [phase] = found.plan.groups[0].program
    assert isinstance(phase, Phase)
    return [step for step in phase.body if isinstance(step, Manage)]


def test_a_file_is_read_under_its_new_name() -> None:
    rename = {"rename": {"on": "new", "to": "state"}}
    read = [{"open": "state"}, {"read": {"from": "state", "size": "8 KiB"}}, {"close": "state"}]
    found = made(*WRITE, {"close": "new"}, rename, *read)
    assert found.totals.operations["rename"] == 2
    [step] = [step for step in manages(found) if step.verb is NameVerb.RENAME]
    assert (step.file, step.to) == (0, 1)


def test_on_a_shared_name_one_rank_does_it() -> None:
    rename = {"rename": {"on": "new", "to": "state"}}
    files = {"shared": "all"}
    with pytest.raises(UserError, match="shared otherwise"):
        made(*WRITE, {"close": "new"}, rename, **files)


def test_the_old_name_is_gone_after_it() -> None:
    rename = {"rename": {"on": "new", "to": "state"}}
    with pytest.raises(UserError, match="nothing made it"):
        made(*WRITE, {"close": "new"}, rename, {"open": "new"}, {"close": "new"})


def test_files_are_cut_to_a_size() -> None:
    cut = {"truncate": {"on": "new", "size": "1 KiB"}}
    found = made(*WRITE, cut, {"truncate": "new"}, {"close": "new"})
    assert found.totals.operations["truncate"] == 4
    sizes = [step.bytes for step in manages(found) if step.verb is NameVerb.TRUNCATE]
    assert [size is not None for size in sizes] == [True, True]


@pytest.mark.parametrize(
    ("steps", "state", "words"),
    [
        ([*WRITE, {"rename": {"on": "new", "to": "state"}}], {}, "still open"),
        ([{"rename": {"on": "new", "to": "state"}}], {}, "nothing made it"),
        ([*WRITE, {"close": "new"}, {"rename": {"on": "new", "to": "new"}}], {}, "already"),
        ([*WRITE, {"close": "new"}, {"rename": {"on": "new", "to": "other"}}], {}, "no file"),
        (
            [*WRITE, {"close": "new"}, {"rename": {"on": "new", "to": "state"}}],
            {"prestage": "4 KiB"},
            "not with 'tree'",
        ),
        (
            [*WRITE, {"close": "new"}, {"rename": {"on": "new", "to": "state"}}],
            {"interface": "stdio"},
            "another interface",
        ),
        ([{"truncate": "state"}], {}, "not open"),
    ],
)
def test_what_cannot_be_is_refused(steps: list[Any], state: dict[str, Any], words: str) -> None:
    with pytest.raises(UserError, match=words):
        made(*steps, **state)


@pytest.mark.parametrize(
    ("verbs", "words"),
    [
        (["open", "close", "rename"], "chain of its own"),
        (["create", "write", "rename", "close"], "renamed once"),
        (["create", "close", "rename", "rename"], "renamed once"),
    ],
)
def test_items_are_renamed_when_they_were_made_and_closed(verbs: list[str], words: str) -> None:
    each = {"each": {"on": "state", "do": verbs}}
    with pytest.raises(UserError, match=words):
        made(each, tree={"items": 3, "size": 10})


def test_items_that_get_their_names_are_counted_once() -> None:
    each = {"each": {"on": "state", "do": ["create", "write", "close", "rename"]}}
    found = made(each, tree={"items": 3, "size": 10})
    assert found.totals.operations["rename"] == 6
