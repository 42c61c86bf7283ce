"""Signals between groups: what a wait needs, and waits that could never end."""

from __future__ import annotations

from typing import Any

import pytest

from venturi.model import plan as p
from venturi.model.error import UserError
from venturi.model.workload import Workload
from venturi.plan.make import make_plan
from venturi.plan.setting import RunSettings


def work(**changes: Any) -> dict[str, Any]:
    """Three writers and, for each of two steps, an instance of two readers."""
    whole: dict[str, Any] = {
        "workload": 1,
        "name": "w",
        "groups": {"writers": {"ranks": 3}, "readers": {"ranks": 2, "instances": 2}},
        "files": {"f": {"path": "step{step}"}},
        "program": {
            "writers": [
                {
                    "for": "step",
                    "in": 2,
                    "do": [phase("write", create="f", write="6 KiB"), {"signal": "step {step}"}],
                }
            ],
            "readers": [
                {
                    "for": "step",
                    "in": 2,
                    "do": [
                        {
                            "when": "step == instance",
                            "do": [{"wait": "step {step}"}, phase("read", open="f", read="6 KiB")],
                        }
                    ],
                }
            ],
        },
    }
    return whole | changes


def phase(name: str, *, create: str = "", open: str = "", write: str = "", read: str = "") -> Any:
    """A phase that makes or opens a file, moves data and closes it."""
    file = create or open
    verb = {"create": file} if create else {"open": file}
    data = {"write": {"to": file, "size": write, "transfer": "1 KiB"}}
    if read:
        data = {"read": {"from": file, "size": read, "transfer": "1 KiB"}}
    return {"phase": name, "do": [verb, data, {"close": file}]}


def plan_of(data: dict[str, Any], repetitions: int = 1) -> p.Plan:
    return make_plan(Workload.model_validate(data), RunSettings(repetitions=repetitions)).plan


def leaves(steps: list[p.Step]) -> list[p.Step]:
    """All steps that hold no others."""
    return [
        leaf for step in steps for leaf in (leaves(step.body) if hasattr(step, "body") else [step])
    ]


def waits(group: p.Group) -> list[p.Wait]:
    return [step for step in leaves(group.program) if isinstance(step, p.Wait)]


def signals(group: p.Group) -> list[p.Signal]:
    return [step for step in leaves(group.program) if isinstance(step, p.Signal)]


def literal(code: list[p.Instruction]) -> int:
    assert [i.operator for i in code] == [p.Operator.INTEGER]
    return code[0].integer


def test_a_wait_needs_the_signals_of_all_ranks() -> None:
    writers, readers = plan_of(work()).groups
    assert [literal(wait.count) for wait in waits(readers)] == [3]
    assert [signal.to for signal in signals(writers)] == [[1]]


def test_a_count_may_be_given() -> None:
    data = work()
    data["program"]["readers"][0]["do"][0]["do"][0] = {"wait": {"on": "step {step}", "count": 2}}
    assert literal(waits(plan_of(data).groups[1])[0].count) == 2


def test_a_rank_may_signal_for_all() -> None:
    data = work()
    data["program"]["writers"][0]["do"][1] = {
        "when": "rank == 0",
        "do": [{"signal": "step {step}"}],
    }
    assert literal(waits(plan_of(data).groups[1])[0].count) == 1


def test_a_group_may_begin_after_another() -> None:
    data = work()
    data["groups"]["readers"]["after"] = "writers"
    data["program"]["readers"][0]["do"][0]["do"].pop(0)
    data["program"]["writers"][0]["do"].pop(1)
    writers, readers = plan_of(data).groups
    assert isinstance(readers.program[0], p.Wait)
    assert literal(readers.program[0].count) == 3
    assert isinstance(writers.program[-1], p.Signal)
    assert writers.program[-1].to == [1]


def wait_for(name: str, count: Any = None) -> dict[str, Any]:
    """The workload where readers wait for something else."""
    data = work()
    wait = {"on": name} if count is None else {"on": name, "count": count}
    data["program"]["readers"][0]["do"][0]["do"][0] = {"wait": wait}
    return data


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (wait_for("stop {step}"), "'stop 0', which nobody gives (did you mean 'step 0'?)"),
        (wait_for("step {step + 1}"), "instance 1 waits for the signal 'step 2', which nobody"),
        (wait_for("step {step}", 4), "waits for 4 signals 'step 0', but only 3 are given"),
        (wait_for("step {step}", 0), "count: at least one signal is needed"),
        (wait_for("step {step}", "1 - ranks // 2"), "a wait for 0 signals 'step 0'"),
        (wait_for("step {node}"), "a signal's name cannot depend on the node"),
        (wait_for("step {stop}"), "unknown name 'stop'"),
        (wait_for("step {step"), "a brace without its pair"),
    ],
)
def test_waits_that_could_never_end_are_refused(data: dict[str, Any], words: str) -> None:
    with pytest.raises(UserError) as caught:
        plan_of(data)
    assert words in f"{caught.value} ({caught.value.hint})"


def test_circles_are_refused() -> None:
    data = work(
        groups={"a": {"ranks": 1}, "b": {"ranks": 1}, "c": {"ranks": 1}},
        program={
            "a": [{"wait": "from c"}, phase("p", create="f", write="1 KiB"), {"signal": "from a"}],
            "b": [{"wait": "from a"}, {"signal": "from b"}],
            "c": [{"wait": "from b"}, {"signal": "from c"}],
        },
        files={"f": {"path": "f"}},
    )
    with pytest.raises(UserError) as caught:
        plan_of(data)
    assert str(caught.value) == (
        "group 'a' would wait for ever for the signal 'from c': group 'c' gives it only after its "
        "own wait for 'from b'"
    )
    data["program"]["c"].reverse()
    assert len(plan_of(data).groups) == 3


def test_a_rank_cannot_wait_for_what_it_gives_later() -> None:
    data = work()
    data["program"]["writers"][0]["do"].insert(0, {"wait": "step {step}"})
    with pytest.raises(UserError, match="only after its own wait for 'step 0'"):
        plan_of(data)


def test_a_signal_may_be_given_in_one_repetition_only() -> None:
    data = work()
    data["program"]["writers"][0]["do"][1] = {
        "when": "iteration == 0",
        "do": [{"signal": "step {step}"}],
    }
    assert plan_of(data, repetitions=1)
    with pytest.raises(UserError, match="nobody gives"):
        plan_of(data, repetitions=2)


def test_all_signals_are_as_many_each_time() -> None:
    data = work()
    data["program"]["writers"][0]["do"][1] = {
        "when": "rank <= step",
        "do": [{"signal": "step {step}"}],
    }
    with pytest.raises(UserError, match="'step 0' is given 1 times, 'step 1' 2 times"):
        plan_of(data)


@pytest.mark.parametrize(
    ("where", "step", "words"),
    [
        ("limit", {"signal": "x"}, "'signal' cannot stand in a phase with a limit"),
        ("limit", {"wait": "step 0"}, "'wait' cannot stand in a phase with a limit"),
        ("rank", {"wait": "step 0"}, "'wait' under a condition on the rank"),
        ("again", {"signal": "x"}, "no names are made and no ranks wait"),
    ],
)
def test_places_where_ranks_would_come_differently(where: str, step: Any, words: str) -> None:
    data = work()
    inner = phase("write", create="f", write="6 KiB")
    inner["do"].insert(2, step)
    if where == "limit":
        inner["limit"] = "5 s"
    elif where == "rank":
        inner["do"][2] = {"when": "rank == 0", "do": [step]}
    else:
        inner["at_least"] = "1 s"
        inner["do"].insert(3, {"write": {"to": "f", "size": "6 KiB", "transfer": "1 KiB"}})
    data["program"]["writers"][0]["do"][0] = inner
    with pytest.raises(UserError, match=words):
        plan_of(data)


def test_who_uses_a_file_of_another_group_waits_for_it() -> None:
    data = work()
    data["program"]["readers"][0]["do"][0]["do"].reverse()
    with pytest.raises(UserError, match="'f' is opened but nothing made it"):
        plan_of(data)
    data = work()
    data["program"]["writers"][0]["do"].reverse()
    with pytest.raises(UserError, match="nothing says who comes first"):
        plan_of(data)


def test_a_group_after_one_that_is_not_there() -> None:
    data = work()
    data["groups"]["readers"]["after"] = "writer"
    with pytest.raises(UserError, match=r"groups\.readers\.after: no group 'writer'"):
        plan_of(data)
