"""Files that all ranks write together, of which one rank writes the head by itself."""

from __future__ import annotations

import pytest
from traced_run import MS, TracedRun, check_exact, derived, moves_of, steps_of

from venturi.model.operation import Kind
from venturi.model.trace import Layer


def dumps(ranks: int, files: int, heads: int, is_early: bool = False) -> TracedRun:
    """Files with a head of the first ranks, and behind it a part of each rank."""
    run = TracedRun(ranks, Layer.MPIIO)
    part = 1 << 20
    for number in range(files):
        path = f"dump_{number}"
        for rank in range(ranks):
            run.open(rank, path)
        run.meet()
        for rank in range(heads):
            run.move(rank, Kind.WRITE, path, [(64 * rank, 64)])
        for rank in range(ranks):
            # Who has no head is in the call long before the others.
            run.now[rank] += 0 if is_early and rank >= heads else MS // 2
            place = 4096 + part * rank
            run.move(rank, Kind.WRITE, path, [(place, part)], together=True)
        run.meet()
        for rank in range(ranks):
            run.close(rank, path)
        run.meet(50 * MS)
    return run


@pytest.mark.parametrize("ranks", [2, 4])
@pytest.mark.parametrize("files", [1, 4])
@pytest.mark.parametrize("is_early", [False, True])
def test_what_all_write_together_stays_together(ranks: int, files: int, is_early: bool) -> None:
    run = dumps(ranks, files, 1, is_early)
    found = derived(run)
    check_exact(run, found, files=files)
    head, body = moves_of(found)
    assert (head.size or head.transfer, bool(head.collective)) == ("64 B", False)
    assert body.collective
    assert body.at == "4 KiB"
    assert [step.when for step in steps_of(found) if step.when] == ["rank == 0"]
    assert len([step for step in steps_of(found) if step.create]) == 1


def test_heads_of_all_ranks_are_told_with_the_rest() -> None:
    run = dumps(2, 3, 2)
    found = derived(run)
    check_exact(run, found, files=3)
    assert not any(step.when for step in steps_of(found))
    assert len([step for step in steps_of(found) if step.phase]) == 1
