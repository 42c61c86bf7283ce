"""Who reads what somebody else opened for it has it open once, in whatever loop it reads."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest
from traced_run import APPEND, MS, TracedRun, check_exact, derived

from venturi.derive.nest.unopened import implied_calls
from venturi.derive.operation import workload as told
from venturi.derive.operation.expansion import asked_by_proxy
from venturi.derive.yaml_text import to_yaml
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


@pytest.mark.parametrize("seed", range(1, 10, 2))
def test_pauses_in_some_turns_of_such_a_program_are_one_condition(seed: int) -> None:
    run = command_and_log(seed)
    found = derived(run)
    assert not found.tables
    check_exact(run, found, files=2)
    assert len([line for line in to_yaml(found).splitlines() if " do:" in line]) <= 4


@pytest.mark.parametrize("seed", range(50))
def test_what_is_used_is_open_and_what_is_opened_is_closed(seed: int) -> None:
    drawn = random.Random(seed)
    kinds = [KIND_CODES[kind] for kind in (Kind.OPEN, Kind.CLOSE, Kind.READ, Kind.WRITE, Kind.STAT)]
    count, ranks = drawn.randint(2, 80), drawn.randint(1, 2)
    rank = np.sort([*range(ranks), *(drawn.randrange(ranks) for _ in range(count))])
    kind = np.array([drawn.choice(kinds) for _ in rank])
    file = np.array([drawn.randrange(3) for _ in rank])
    is_made = file == 0
    handle = 3 * rank + file
    implied = implied_calls(rank, kind, handle, is_made)
    calls = zip(
        np.insert(rank, implied.before, rank[implied.use]).tolist(),
        np.insert(kind, implied.before, implied.kind).tolist(),
        np.insert(handle, implied.before, handle[implied.use]).tolist(),
        np.insert(np.zeros(len(rank), bool), implied.before, True).tolist(),
        strict=True,
    )
    opened: Counter[int] = Counter()
    ours: Counter[int] = Counter()
    last = 0
    for who, what, which, is_ours in calls:
        assert who >= last == which // 3 or who == which // 3 > last
        last = who
        if what == KIND_CODES[Kind.OPEN]:
            assert not ours[which]
            ours[which] += is_ours
            opened[which] += not is_ours
        elif what == KIND_CODES[Kind.CLOSE] and (is_ours or not opened[which]):
            assert is_ours <= ours[which]
            ours[which] = 0
        elif what == KIND_CODES[Kind.CLOSE]:
            opened[which] -= 1
        elif what != KIND_CODES[Kind.STAT]:
            assert ours[which] or opened[which]
    assert not any(ours.values())
