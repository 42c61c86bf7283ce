"""What programs compute between calls on many files is told with the calls."""

from __future__ import annotations

import random

import pytest
from traced_run import US, TracedRun, steps_of

from venturi.derive.cost import LEAST_SECONDS
from venturi.derive.operation.pace import CALL_TO_CALL_NS
from venturi.derive.workload import derive
from venturi.derive.yaml_text import to_yaml
from venturi.model.operation import Kind
from venturi.model.workload import Workload


def recorded(run: TracedRun) -> Workload:
    """What is derived of a run that our own tracer recorded."""
    return derive(run.captured(source="venturi"), "app")


def programs(seed: int) -> TracedRun:
    """Files that are made, asked for and removed, with computing of any length before each call,
    the same for each kind in the mean."""
    chance = random.Random(seed)
    run = TracedRun(1, seed=seed)
    usual = {kind: chance.choice([1, 5, 30, 400]) * US for kind in Kind}
    spread, number = chance.choice([0.0, 0.2, 1.0]), chance.choice([50, 200, 600])

    def computes(kind: Kind) -> None:
        run.now[0] += int(usual[kind] * chance.lognormvariate(0, spread))

    names = [f"out/f{one}" for one in range(number)]
    for name in names:
        computes(Kind.OPEN)
        run.open(0, name)
        computes(Kind.WRITE)
        run.move(0, Kind.WRITE, name, [(0, 3000)])
        computes(Kind.CLOSE)
        run.close(0, name)
    for kind in [Kind.STAT] * chance.randint(0, 3) + [Kind.UNLINK]:
        for name in names:
            computes(kind)
            run.call(0, kind, name)
    return run


@pytest.mark.parametrize("seed", range(20))
def test_all_of_it_is_told(seed: int) -> None:
    found = recorded(programs(seed))
    text = to_yaml(found)
    assert found.origin is not None
    likeness = found.origin.likeness
    assert likeness is not None
    assert likeness.is_equal, text
    missed = abs(likeness.proxy_seconds_between - likeness.seconds_between)
    way_s = likeness.application * CALL_TO_CALL_NS / 1e9
    assert missed <= max(way_s, LEAST_SECONDS, 0.03 * likeness.seconds_between), text
    assert len(steps_of(found)) <= 24, text


@pytest.mark.parametrize("calls", [[], [Kind.STAT], [Kind.WRITE, Kind.STAT], [Kind.UNLINK]])
def test_files_that_stay_open_have_their_computing(calls: list[Kind]) -> None:
    """The step closes them, which the program never did."""
    run = TracedRun(1)
    for number in range(300):
        name = f"out/f{number}"
        run.now[0] += 500 * US
        run.open(0, name)
        for kind in calls:
            run.now[0] += 100 * US
            if kind is Kind.WRITE:
                run.move(0, kind, name, [(0, 3000)])
            else:
                run.call(0, kind, name)
    found = recorded(run)
    assert found.origin is not None
    likeness = found.origin.likeness
    assert likeness is not None
    assert likeness.proxy_seconds_between == pytest.approx(likeness.seconds_between, rel=0.03)


def test_a_programs_way_from_call_to_call_has_no_word() -> None:
    run = TracedRun(1)
    for number in range(30):
        run.open(0, f"f{number}")
        run.move(0, Kind.WRITE, f"f{number}", [(0, 3000)])
        run.close(0, f"f{number}")
    assert "think" not in to_yaml(recorded(run))
