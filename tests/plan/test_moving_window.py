"""Windows of items that are counted from what is there: what they add up to, what is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from venturi.model.error import UserError
from venturi.model.workload import Workload
from venturi.plan.make import PlanResult, make_plan
from venturi.plan.setting import RunSettings


def planned(tree: dict[str, Any], **window: Any) -> PlanResult:
    """Ten items, then four passes that make two behind the newest."""
    make = {"each": {"on": "d", "do": ["create", "write", "close"], **window}}
    ahead = {"each": {"on": "d", "do": ["create", "write", "close"], "first": 0, "count": 10}}
    document = {
        "workload": 1,
        "name": "fifo",
        "about": "A working set that moves on",
        "groups": {"tasks": {"ranks": 3}},
        "files": {"d": {"path": "d", "shared": "rank", "interface": "posix", "tree": tree}},
        "program": {
            "tasks": [
                {"phase": "ahead", "do": [ahead]},
                {"for": "pass", "in": 4, "do": [{"phase": "make", "limit": "1 s", "do": [make]}]},
            ]
        },
    }
    return make_plan(Workload.model_validate_json(json.dumps(document)), RunSettings(repetitions=1))


def test_each_pass_makes_items_of_its_own() -> None:
    made = planned({"items": 30, "size": 7}, first=0, count=2, counted_from="newest")
    assert made.totals.files == 3 * (10 + 4 * 2)
    assert made.totals.bytes_written == 3 * (10 + 4 * 2) * 7


@pytest.mark.parametrize(
    ("tree", "window"),
    [
        ({"items": 30, "size": 7}, {"first": 2, "counted_from": "oldest"}),
        (
            {"items": 30, "sizes": [{"bytes": 1, "weight": 1}, {"bytes": 9, "weight": 1}]},
            {"first": 0, "count": 2, "counted_from": "newest"},
        ),
    ],
)
def test_what_is_known_in_the_run_only_is_refused(
    tree: dict[str, Any], window: dict[str, Any]
) -> None:
    with pytest.raises(UserError, match="counted_from"):
        planned(tree, **window)
