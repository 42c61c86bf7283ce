"""Files that are there before the run under every name that loops give them."""

from __future__ import annotations

from typing import Any

import pytest

from venturi.model.error import UserError
from venturi.model.plan import Slot, StagedLoop
from venturi.model.workload import Workload
from venturi.plan.make import PlanResult, make_plan
from venturi.plan.setting import RunSettings

READ = [{"open": "f"}, {"read": {"from": "f", "transfer": "1 KiB", "count": 4}}, {"close": "f"}]


def loop(variable: str, count: int | str, *body: dict[str, Any]) -> dict[str, Any]:
    return {"for": variable, "in": count, "do": list(body)}


def made(path: str, *steps: dict[str, Any], shared: str = "rank") -> PlanResult:
    file = {"path": path, "shared": shared, "prestage": "4 KiB"}
    return make_plan(
        Workload.model_validate(
            {
                "workload": 1,
                "name": "staged",
                "groups": {"g": {"ranks": 2}},
                "files": {"f": file},
                "program": {"g": [{"phase": "p", "do": list(steps)}]},
            }
        ),
        RunSettings(),
    )


def loops(found: PlanResult) -> list[tuple[str, int]]:
    slots = found.plan.slots
    return [(slots[one.variable], one.count) for one in found.plan.files[0].staged_loops]


def test_every_turn_of_the_loops_around_a_use_has_its_file() -> None:
    found = made("f.{10 * i + j}", loop("i", 3, loop("j", 2, loop("k", 5, *READ))))
    assert loops(found) == [("i", 3), ("j", 2)]
    assert found.totals.files == 2 * 6
    assert found.totals.bytes_prestaged == 2 * 6 * 4096


def test_the_longest_loop_counts() -> None:
    found = made("f.{i}", loop("i", 3, *READ), loop("i", "2 * ranks", *READ), shared="all")
    assert loops(found) == [("i", 4)]
    assert found.totals.files == 4


def test_turns_that_name_the_same_again_stage_nothing() -> None:
    found = made("f.{i % 7}", loop("i", 3000, *READ))
    assert loops(found) == [("i", 7)]
    assert found.totals.files == 2 * 7
    assert found.totals.bytes_prestaged == 2 * 7 * 4096


def test_a_name_without_loops_is_one_file() -> None:
    assert made("f", loop("i", 3, *READ)).plan.files[0].staged_loops == []


@pytest.mark.parametrize(
    ("count", "words"),
    [("rank + 1", "no fixed number of turns"), (2_000_000, "more than 1000000")],
)
def test_what_cannot_be_staged(count: int | str, words: str) -> None:
    with pytest.raises(UserError, match=words):
        made("f.{i}", loop("i", count, *READ))


def test_the_plan_names_slots() -> None:
    found = made("f.{i}", loop("i", 3, *READ))
    assert found.plan.files[0].staged_loops == [StagedLoop(variable=len(Slot), count=3)]
