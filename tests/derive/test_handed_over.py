"""A file that one rank writes while another reads it: the data comes from the writer's cache."""

from __future__ import annotations

import pytest
from traced_run import REOPEN, TracedRun, check_exact, derived, steps_of

from venturi.model.operation import Kind

O_CREAT, O_APPEND, O_WRONLY = 0o100, 0o2000, 0o1


def producer_and_consumer(blocks: int, first: int) -> TracedRun:
    """Rank 1 opens the file and polls it while rank 0 appends, and reads what is there, in odd
    amounts."""
    run = TracedRun(2)
    run.open(1, "stream")
    run.close(1, "stream")
    run.now[0] = max(run.now)
    run.open(1, "stream", REOPEN)
    run.open(0, "stream", O_CREAT | O_APPEND | O_WRONLY)
    read = 0
    for block in range(blocks):
        run.now[0] = max(run.now)
        run.move(0, Kind.WRITE, "stream", [(16384 * block, 16384)])
        if block >= first and block % 3 != 1:
            run.now[1] = max(run.now)
            run.call(1, Kind.STAT, "stream")
            size = 16384 * (block + 1) - read
            run.move(1, Kind.READ, "stream", [(read, size)])
            read += size
    run.close(0, "stream")
    run.now[1] = max(run.now)
    if read < 16384 * blocks:
        run.move(1, Kind.READ, "stream", [(read, 16384 * blocks - read)])
    run.close(1, "stream")
    return run


@pytest.mark.parametrize("blocks", [30, 61])
def test_who_reads_what_another_rank_writes_reads_that_file(blocks: int) -> None:
    run = producer_and_consumer(blocks, 2)
    found = derived(run)
    check_exact(run, found)
    assert len(found.files) == 1
    (spec,) = found.files.values()
    assert spec.prestage is None
    verbs = [step.verb for step in steps_of(found) if step.write or step.read]
    assert verbs == sorted(verbs, reverse=True), "what is read must be there"


def test_who_begins_a_file_anew_has_one_of_its_own() -> None:
    run = TracedRun(2)
    for rank in (1, 0):
        run.meet()
        run.open(rank, "stream")
        run.move(rank, Kind.WRITE, "stream", [(16384 * i, 16384) for i in range(8)])
        run.close(rank, "stream")
    found = derived(run)
    check_exact(run, found)
    assert all("0 * rank" not in str(spec.path) for spec in found.files.values())
