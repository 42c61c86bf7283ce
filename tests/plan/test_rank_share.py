"""`-n` is the number of all ranks of a run: groups take shares, or a sentence says what to set."""

from __future__ import annotations

import random
import re
from itertools import product
from typing import Any

import pytest

from venturi import library
from venturi.model.error import UserError
from venturi.model.plan import Plan
from venturi.model.workload import Workload
from venturi.plan.make import make_plan, ranks_of
from venturi.plan.setting import RunSettings

_WITH_GROUPS = ("ecmwf", "tsmp-a", "tsmp-b", "cryoem-stream", "ensemble", "interference", "lqcd-bc")


def workload_of(groups: dict[str, dict[str, Any]], parameters: dict[str, Any]) -> Workload:
    """Groups that write a file each; `parameters` as in a workload's file."""
    return Workload.model_validate(
        {
            "workload": 1,
            "name": "shared",
            "parameters": parameters,
            "groups": groups,
            "files": {name: {"path": f"{name}-file", "shared": "rank"} for name in groups},
            "program": {
                name: [
                    {
                        "phase": f"{name}-phase",
                        "do": [{"create": name}, {"write": {"to": name, "size": "4 KiB"}}],
                    }
                ]
                for name in groups
            },
        }
    )


def drawn(chance: random.Random) -> tuple[Workload, list[str]]:
    """A workload of one to four groups, and the parameters that `-n` may choose."""
    count = chance.randint(1, 4)
    parameters: dict[str, Any] = {
        f"p{i}": {"default": chance.randint(1, 4), "least": 1} for i in range(count)
    }
    parameters["times"] = chance.randint(1, 3)
    marked = [name for name in list(parameters)[:-1] if chance.random() < 0.7]
    for name in marked:
        parameters[name]["role"] = "ranks"
    groups = {}
    for i in range(count):
        own = chance.choice(["{p}", "{p}", "2 * {p}", "{p} + 1", "{p} * times", "2"])
        ranks, instances = own.format(p=f"p{i}"), chance.choice([1, 1, 1, 2, "times"])
        if chance.random() < 0.15:  # a group whose instances are chosen
            ranks, instances = "1", f"p{i}"
        groups[f"g{i}"] = {"ranks": ranks, "instances": instances}
    return workload_of(groups, parameters), marked


def planned_or_refused(workload: Workload, wanted: int) -> tuple[Plan | None, UserError | None]:
    """The plan on so many ranks, whose promises hold, or why there is none."""
    try:
        made = make_plan(workload, RunSettings(ranks=wanted))
    except UserError as error:
        return None, error
    assert all(expectation.holds for expectation in made.expectations)
    return made.plan, None


def can_be_had(workload: Workload, marked: list[str], wanted: int) -> bool:
    """Whether any values give so many ranks; all are tried."""
    for values in product(range(1, wanted + 1), repeat=len(marked)):
        chosen = {name: str(value) for name, value in zip(marked, values, strict=True)}
        if ranks_of(workload, RunSettings(assignments=chosen)) == wanted:
            return True
    return False


@pytest.mark.parametrize("seed", range(60))
def test_the_ranks_of_all_groups_sum_to_n_or_the_refusal_says_what_to_set(seed: int) -> None:
    chance = random.Random(seed)
    workload, marked = drawn(chance)
    for wanted in chance.sample(range(1, 13), 5):
        made, error = planned_or_refused(workload, wanted)
        if error is not None:
            assert f"-n {wanted}" in error.message
            assert all(f"{name}: " in error.message for name in workload.groups)
            for near in re.findall(r"use -n (\d+)|or -n (\d+)", error.hint):
                number = int(near[0] or near[1])
                assert ranks_of(workload, RunSettings(ranks=number)) == number
            named = marked or ["--set", "role: ranks"]
            assert all(word in error.hint for word in named)
            if len(marked) < 4:  # all values of four are too many to try
                assert not can_be_had(workload, marked, wanted), (wanted, error.message)
            continue
        assert made is not None
        assert made.ranks == wanted
        assert [group.name for group in made.groups] == list(workload.groups)
        assert sum(group.ranks * group.instances for group in made.groups) == wanted
        assert all(group.ranks >= 1 for group in made.groups)


@pytest.mark.parametrize("name", _WITH_GROUPS)
@pytest.mark.parametrize("wanted", [*range(1, 13), 40])
def test_workloads_of_the_library_start_as_many_ranks_as_asked_for(name: str, wanted: int) -> None:
    workload = library.load(name)
    made, error = planned_or_refused(workload, wanted)
    if error is None:
        assert made is not None
        assert made.ranks == wanted
        return
    assert f"-n {wanted}" in error.message
    assert "use -n" in error.hint
    assert "--set" in error.hint


def test_several_parameters_keep_their_proportion() -> None:
    groups: dict[str, dict[str, Any]] = {
        "a": {"ranks": "x"},
        "b": {"ranks": "y"},
        "c": {"ranks": 3},
    }
    marked: dict[str, Any] = {"role": "ranks", "least": 1}
    workload = workload_of(groups, {"x": {"default": 2, **marked}, "y": {"default": 6, **marked}})
    shares = {
        wanted: [
            group.ranks for group in make_plan(workload, RunSettings(ranks=wanted)).plan.groups
        ]
        for wanted in (5, 7, 11, 43, 803)
    }
    assert shares == {
        5: [1, 1, 3],
        7: [1, 3, 3],
        11: [2, 6, 3],
        43: [10, 30, 3],
        803: [200, 600, 3],
    }


def test_a_value_of_set_stays_and_n_contradicting_it_is_refused() -> None:
    groups = {"a": {"ranks": "x"}, "b": {"ranks": "y"}}
    workload = workload_of(
        groups, {name: {"default": 1, "role": "ranks", "least": 1} for name in ("x", "y")}
    )
    made = make_plan(workload, RunSettings(ranks=7, assignments={"x": "5"}))
    assert [group.ranks for group in made.plan.groups] == [5, 2]
    with pytest.raises(UserError, match="-n 3"):
        make_plan(workload, RunSettings(ranks=3, assignments={"x": "5"}))
    with pytest.raises(UserError, match="-n 8"):
        make_plan(library.load("ior"), RunSettings(ranks=8, assignments={"np": "4"}))


def test_groups_of_fixed_ranks_take_their_own_number_and_no_other() -> None:
    workload = workload_of({"a": {"ranks": 1}, "b": {"ranks": 2, "instances": 2}}, {})
    assert make_plan(workload, RunSettings(ranks=5)).plan.ranks == 5
    with pytest.raises(UserError, match=r"have 5 in all \(a: 1, b: 2 x 2\)"):
        make_plan(workload, RunSettings(ranks=6))


@pytest.mark.parametrize("wanted", [0, -3])
def test_less_than_one_rank_is_refused(wanted: int) -> None:
    with pytest.raises(UserError, match=f"-n {wanted}: at least one rank"):
        make_plan(library.load("tsmp-a"), RunSettings(ranks=wanted))
