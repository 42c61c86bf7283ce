"""Which processes work for one job, and how they become ranks and tasks."""

from __future__ import annotations

import numpy as np
import pytest

from venturi.derive.operation.actor import actors_of
from venturi.derive.operation.lineage import jobs_of
from venturi.model.trace import Process, Trace

MAKE, FIRST = 10, 100


def compiled(units: int, at_a_time: int) -> tuple[list[Process], list[int], list[int]]:
    """make, and for each unit a driver with a compiler and then an assembler: processes, and when
    their requests begin and end."""
    processes = [Process(process=MAKE, parent=1, program="make", host="h")]
    begin, end = [-1], [-1]
    for unit in range(units):
        number, start = FIRST + 10 * unit, unit // at_a_time * 100
        for place, program in enumerate(("cc", "cc1", "as")):
            parent = number if place else MAKE
            processes.append(
                Process(process=number + place, parent=parent, program=program, host="h")
            )
            begin.append(-1 if not place else start + 40 * place)
            end.append(-1 if not place else start + 40 * place + 30)
    return processes, begin, end


def ranked(processes: list[Process], begin: list[int], end: list[int]) -> list[tuple[int, int]]:
    """The rank and the job of each process."""
    trace = Trace.model_construct(processes=processes)
    moved = np.where(np.array(begin) >= 0, 1000, 0)
    found = actors_of(trace, np.array(begin), np.array(end), moved)
    return list(zip(found.of_process.tolist(), found.job.tolist(), strict=True))


@pytest.mark.parametrize("at_a_time", [2, 3])
def test_all_that_a_unit_needs_is_one_job_on_one_rank(at_a_time: int) -> None:
    found = ranked(*compiled(12, at_a_time))
    assert found[0] == (0, -1)
    families = [set(found[at : at + 3]) for at in range(1, len(found), 3)]
    assert all(len(family) == 1 for family in families)
    assert {job for family in families for _, job in family} == set(range(12))
    assert {rank for family in families for rank, _ in family} == set(range(at_a_time))


def test_workers_that_share_nothing_are_jobs_alone() -> None:
    processes = [Process(process=n, parent=MAKE, program="gzip", host="h") for n in (5, 6, 7)]
    span = np.array([0, 10, 20]), np.array([5, 15, 25])
    assert jobs_of(processes, [0, 1, 2], *span) == [[0], [1], [2]]


def test_workers_of_one_family_that_work_at_once_are_apart() -> None:
    """A pool within each of two programs: its workers are no one job."""
    processes = [Process(process=MAKE, parent=1, program="run", host="h")]
    for program in (20, 30):
        processes.append(Process(process=program, parent=MAKE, program="part", host="h"))
        processes += [
            Process(process=program + worker, parent=program, program="work", host="h")
            for worker in (1, 2)
        ]
    workers = [2, 3, 5, 6]
    first, last = np.full(7, -1), np.full(7, -1)
    first[workers], last[workers] = 0, 100
    assert sorted(jobs_of(processes, workers, first, last)) == [[2], [3], [5], [6]]


def test_threads_and_sources_without_parents_are_jobs_alone() -> None:
    processes = [Process(process=5, parent=1, program="p", host="h")] * 3
    span = np.zeros(3, np.int64), np.full(3, 10)
    assert jobs_of(processes, [0, 1, 2], *span) == [[0], [1], [2]]
    unknown = [Process(process=n, program="p", host="h") for n in (5, 6)]
    assert jobs_of(unknown, [0, 1], span[0][:2], span[1][:2]) == [[0], [1]]
