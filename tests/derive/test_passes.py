"""Samples that are read in a new order in each of several passes, by several workers."""

from __future__ import annotations

import pytest
from traced_run import REOPEN, TracedRun, check_exact, derived, moves_of, steps_of

from venturi.model.operation import Kind
from venturi.model.workload import PatternKind


def epochs(ranks: int, passes: int, samples: int = 600, lost: int = 0) -> TracedRun:
    """Batches of 20 samples of one file, dealt to the ranks as they are free."""
    run = TracedRun(ranks)
    for rank in range(ranks):
        run.open(rank, "samples", REOPEN)
    for _ in range(passes):
        order = list(range(samples))
        run.p_value.shuffle(order)
        order = order[lost:]
        for batch in range(0, len(order), 20):
            places = [(12288 * one, 12288) for one in order[batch : batch + 20]]
            run.move(batch // 20 % ranks, Kind.READ, "samples", places)
    for rank in range(ranks):
        run.close(rank, "samples")
    return run


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("passes", [2, 3])
def test_every_pass_reads_every_sample_once(ranks: int, passes: int) -> None:
    run = epochs(ranks, passes)
    found = derived(run)
    check_exact(run, found)
    (read,) = moves_of(found)
    assert read.pattern is PatternKind.RANDOM
    assert not read.replacement
    assert read.count is None
    assert [step.in_ for step in steps_of(found) if step.for_] == [passes]


def test_samples_that_are_left_out_now_and_then_are_drawn() -> None:
    run = epochs(1, 2, lost=100)
    found = derived(run)
    check_exact(run, found)
    (read,) = moves_of(found)
    assert read.replacement
    assert not any(step.for_ for step in steps_of(found))
