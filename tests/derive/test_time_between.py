"""Time between calls is kept: what lasts where it was, and what is short by its mean."""

from __future__ import annotations

import random

import pytest
from test_in_order import journal
from traced_run import MS, REOPEN, US, TracedRun, derived, steps_of

from venturi.derive.remainder import UNTOLD
from venturi.derive.yaml_text import to_yaml
from venturi.model.operation import Kind


def disturbed(turns: int, seed: int, nap: int = 0) -> TracedRun:
    """A loop on a processor that others use now and then, which computes 1 ms in each turn."""
    run, chance = TracedRun(1, seed=seed), random.Random(seed)

    def computes(least: int) -> None:
        run.now[0] += least + (chance.randint(100 * US, 900 * US) if chance.random() < 0.1 else 0)

    for turn in range(turns):
        if nap and turn % 5 == 2:
            run.now[0] += nap
        run.open(0, f"step_{turn}")
        computes(30 * US)
        run.move(0, Kind.WRITE, f"step_{turn}", [(0, 20_000 + 8 * turn)])
        computes(20 * US)
        run.call(0, Kind.SYNC, f"step_{turn}")
        computes(50 * US)
        run.close(0, f"step_{turn}")
    return run


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("nap", [0, 20 * MS])
def test_a_disturbed_loop_stays_a_loop_and_lasts_as_long(seed: int, nap: int) -> None:
    found = derived(disturbed(40, seed, nap))
    assert found.origin is not None
    likeness = found.origin.likeness
    assert likeness is not None
    assert likeness.is_equal
    text = to_yaml(found)
    missed = abs(likeness.proxy_seconds_between - likeness.seconds_between)
    assert missed <= 0.02 * likeness.seconds_between, text
    (loop,) = [step for step in steps_of(found) if step.for_ is not None]
    assert loop.in_ == 40
    assert len(steps_of(found)) <= 8 + 2 * bool(nap), text


def test_a_nest_is_no_deeper_than_there_are_names_for_its_turns() -> None:
    """What is doubled ten times could be ten loops of two turns."""
    run = TracedRun(1)
    run.open(0, "data", REOPEN)

    def doubled(depth: int) -> None:
        if depth == 0:
            run.move(0, Kind.WRITE, "data", [(0, 512)])
            return
        doubled(depth - 1)
        run.call(0, (Kind.STAT, Kind.SYNC)[depth % 2], "data")
        doubled(depth - 1)

    doubled(10)
    run.close(0, "data")
    found = derived(run)
    assert found.origin is not None
    assert found.origin.likeness is not None


def test_links_among_calls_that_are_told_one_by_one_are_left_out_and_named() -> None:
    run = journal(0o102)
    target = run.paths.setdefault("other", len(run.paths))
    run.call(0, Kind.LINK, "journal", size=1, detail=target)
    run.call(0, Kind.STAT, "other")
    run.call(0, Kind.UNLINK, "other")
    found = derived(run)
    assert found.origin is not None
    likeness = found.origin.likeness
    assert likeness is not None
    assert likeness.ordered == likeness.alike == likeness.application - 3
    without, undone = [text for text in found.origin.assumed if text.startswith("left out")]
    assert without.endswith("no word for it: 1 link")
    assert undone.endswith("lost again: 1 stat, 1 unlink")
    assert found.origin.observed is not None
    (left,) = found.origin.observed.left_out
    assert (left.what, left.files, left.operations) == (UNTOLD, 1, 3)
