"""Threads that open files of their own act as ranks; those that share descriptors do not."""

from __future__ import annotations

from dataclasses import replace

from test_pool import of_one_size, pool, tasks_of
from traced_run import TracedRun, check_exact, moves_of

from venturi.derive.workload import derive
from venturi.model.operation import Kind
from venturi.model.trace_folder import Captured


def in_threads(run: TracedRun, rank: int = -1, each: int = 0) -> Captured:
    """The run with a thread of one process for each of its ranks; of `each` threads a process."""
    captured = run.captured(with_ranks=False)
    assert captured.operations is not None
    operations, each = captured.operations, each or len(captured.trace.processes)
    first = captured.trace.processes[0]
    processes = [
        first.model_copy(update={"rank": rank + i, "process": first.process + i})
        for i in range(len(captured.trace.processes) // each)
    ]
    job = captured.trace.job.model_copy(update={"ranks": len(processes)})
    thread = operations.process % each
    return Captured(
        captured.trace.model_copy(update={"processes": processes, "job": job}),
        replace(operations, process=operations.process // each, thread=thread),
    )


def test_a_pool_of_threads_is_one_of_processes() -> None:
    run = pool(24, 3, of_one_size)
    threads = derive(in_threads(run), "run")
    processes = derive(run.captured(with_ranks=False), "run")
    check_exact(run, threads, files=24)
    assert tasks_of(threads) == ["24 over 3 workers"]
    assert threads.program == processes.program
    assert threads.origin is not None
    assert "3 processes and threads of app act as 3 ranks" in threads.origin.assumed[0]


def test_threads_that_read_through_what_one_opened_are_one_rank() -> None:
    run = TracedRun(3)
    for number in range(6):
        run.open(0, f"in.{number}")
    for number in range(24):
        run.now[number % 3] = max(run.now)
        run.move(number % 3, Kind.WRITE, f"in.{number % 6}", [(number // 6 * 50_000, 50_000)])
    found = derive(in_threads(run), "run")
    check_exact(run, found, files=6)
    assert found.parameters["np"].default == 1  # type: ignore[union-attr]


def of_own_files(ranks: int, idle: int = -1) -> TracedRun:
    """Each rank writes a file and reads it back; the idle one writes little."""
    run = TracedRun(ranks)
    for rank in range(ranks):
        places = [(at * 65_536, 65_536) for at in range(1 if rank == idle else 50)]
        run.open(rank, f"out.{rank}")
        run.move(rank, Kind.WRITE, f"out.{rank}", places)
        run.move(rank, Kind.READ, f"out.{rank}", places)
    return run


def test_equal_threads_of_each_rank_are_ranks() -> None:
    run = of_own_files(8)
    threads = derive(in_threads(run, rank=0, each=4), "run")
    check_exact(run, threads, files=8)
    assert threads.program == derive(run.captured(), "run").program
    assert threads.origin is not None
    assert "4 threads of each rank act as ranks, 8 in all" in threads.origin.assumed


def test_threads_that_differ_are_their_rank() -> None:
    run = of_own_files(8, idle=5)
    found = derive(in_threads(run, rank=0, each=4), "run")
    check_exact(run, found)
    assert found.parameters["np"].default == 2  # type: ignore[union-attr]
    assert moves_of(found)
