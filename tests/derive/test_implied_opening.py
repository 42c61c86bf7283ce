"""Who reads what somebody else opened for it has it open once, in whatever loop it reads."""

from __future__ import annotations

import random

import pytest
from traced_run import APPEND, MS, TracedRun, check_exact, derived

from venturi.derive.operation import workload as told
from venturi.derive.operation.expansion import asked_by_proxy
from venturi.model.operation import KIND_CODES, Kind
from venturi.plan.make import make_plan
from venturi.plan.setting import RunSettings


def command_and_log(seed: int) -> TracedRun:
    """A client that reads commands from its input, and a server that logs each of them."""
    drawn = random.Random(seed)
    run = TracedRun(1)
    each, size = drawn.randint(1, 9), drawn.choice([1, 28, 512])
    record, turns = drawn.choice([48, 4096]), drawn.randint(40, 400)
    run.open(0, "log", APPEND)
    for turn in range(turns):
        places = [(size * (each * turn + i), size) for i in range(each)]
        run.move(0, Kind.READ, "commands", places)
        if seed % 2:
            run.meet(drawn.choice([0, MS]))
        run.move(0, Kind.WRITE, "log", [(record * turn, record)], sync=Kind.DATA_SYNC)
    run.close(0, "log")
    return run


@pytest.mark.parametrize("is_exact", [False, True])
@pytest.mark.parametrize("seed", range(10))
def test_what_nobody_opens_is_opened_once(
    seed: int, is_exact: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not is_exact:  # as where there are too many calls to tell them one by one
        monkeypatch.setattr(told, "_call_by_call", lambda *_: None)
    run = command_and_log(seed)
    found = derived(run)
    check_exact(run, found, files=2)
    asked = asked_by_proxy(make_plan(found, RunSettings()).plan, range(1), len(run.rows) + 100)
    assert (asked.kind == KIND_CODES[Kind.OPEN]).sum() == 2
    assert not asked.fault
