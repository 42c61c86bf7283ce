"""Threads that open files of their own act as ranks; those that share descriptors do not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from test_pool import of_one_size, pool, tasks_of
from traced_run import TracedRun, check_exact, moves_of

from venturi.derive.workload import derive
from venturi.model.operation import Kind
from venturi.model.trace_folder import Captured


def in_threads(run: TracedRun, rank: int = -1) -> Captured:
    """The run with a thread of one process for each of its ranks."""
    captured = run.captured(with_ranks=False)
    assert captured.operations is not None
    process = captured.trace.processes[0].model_copy(update={"rank": rank})
    operations = captured.operations
    job = captured.trace.job.model_copy(update={"ranks": 1})
    return Captured(
        captured.trace.model_copy(update={"processes": [process], "job": job}),
        replace(operations, process=np.zeros_like(operations.process), thread=operations.process),
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


def test_threads_of_a_rank_are_that_rank() -> None:
    run = pool(24, 3, of_one_size)
    found = derive(in_threads(run, rank=0), "run")
    check_exact(run, found)
    assert found.parameters["np"].default == 1  # type: ignore[union-attr]
    assert moves_of(found)
