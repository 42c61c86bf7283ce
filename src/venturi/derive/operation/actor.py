"""Who acts: processes of a trace as the ranks of a group."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np

from venturi.derive.operation.lineage import jobs_of
from venturi.model.operation import Column
from venturi.model.trace import Process, Trace

MOST_WORKERS = 64
"""More processes at a time than this share ranks."""
ALIKE_SHARE = 0.1
"""Workers are alike if most of them move so much of what the busiest one moves."""


@dataclass(frozen=True)
class Actors:
    """The rank of each process; -1 where it is no part of the parallel program."""

    ranks: int
    of_process: Column
    job: Column
    """What each process worked for, where workers had more such than one; -1: nothing known."""
    assumed: list[str] = field(default_factory=list)


def actors_of(trace: Trace, first_ns: Column, last_ns: Column, moved_bytes: Column) -> Actors:
    """Ranks as the launcher gave them; without a launcher, one, or one for each worker.

    `first_ns` and `last_ns` bound the requests of each process; both are -1 where it has none.
    """
    given = np.array([process.rank for process in trace.processes] or [0], np.int32)
    if len(given) < len(first_ns):
        given = np.concatenate([given, np.full(len(first_ns) - len(given), -1, np.int32)])
    if np.any(given >= 0) and trace.processes:
        ranks = max(trace.job.ranks, int(given.max()) + 1)
        outside = int(np.count_nonzero((given < 0) & (first_ns >= 0)))
        said = [f"{outside} processes without a rank (launchers, shells) are left out"]
        said = (said if outside else []) + _said_of_threads(trace.processes, ranks)
        return Actors(ranks, given, np.full(len(given), -1), said)
    return _without_launcher(trace.processes, first_ns, last_ns, moved_bytes)


def _said_of_threads(processes: list[Process], ranks: int) -> list[str]:
    """Where threads of a process have ranks of their own: how many there are."""
    of_process: dict[tuple[str, int], set[int]] = defaultdict(set)
    for process in processes:
        if process.rank >= 0:
            of_process[process.host, process.process].add(process.rank)
    each = max(len(one) for one in of_process.values())
    return [f"{each} threads of each rank act as ranks, {ranks} in all"] if each > 1 else []


def _without_launcher(
    processes: list[Process], first_ns: Column, last_ns: Column, moved_bytes: Column
) -> Actors:
    active = [int(i) for i in np.argsort(first_ns, kind="stable") if first_ns[i] >= 0]
    workers, most = _workers(processes, active, first_ns, last_ns)
    work = moved_bytes[workers]
    are_alike = np.count_nonzero(work >= ALIKE_SHARE * work.max(initial=0)) * 2 > len(workers)
    of_process, job = np.zeros(len(first_ns), np.int32), np.full(len(first_ns), -1)
    if most == 1 or not are_alike:
        several = len(active) > 1
        said = [f"{len(active)} processes without ranks act as one rank, in the order of time"]
        return Actors(1, of_process, job, said if several else [])
    jobs = _active_jobs(processes, workers, (first_ns, last_ns))
    ranks = min(_at_a_time([(start, end) for start, end, _ in jobs]), MOST_WORKERS)
    free_at = [0] * ranks
    for number, (start, end, members) in enumerate(jobs):
        idle = [slot for slot in range(ranks) if free_at[slot] <= start]
        slot = idle[0] if idle else int(np.argmin(free_at))
        of_process[members], job[members] = slot, number
        free_at[slot] = end
    return Actors(ranks, of_process, job, [_said(processes, (active, workers), job, ranks)])


def _active_jobs(
    processes: list[Process], workers: list[int], spans: tuple[Column, Column]
) -> list[tuple[int, int, list[int]]]:
    """When each job that makes requests begins and ends, and its processes, in order of time."""
    first_ns, last_ns = spans
    found = []
    for members in jobs_of(processes, workers, first_ns, last_ns):
        own = [one for one in members if first_ns[one] >= 0]
        if own:
            found.append((int(first_ns[own].min()), int(last_ns[own].max()), members))
    return sorted(found)


def _said(
    processes: list[Process], who: tuple[list[int], list[int]], job: Column, ranks: int
) -> str:
    """Who acts as which rank."""
    active, workers = who
    numbers = {(processes[one].host, processes[one].process) for one in workers}
    word = "processes" if len(numbers) == len(workers) else "processes and threads"
    text = f"{len(workers)} {word} of {processes[workers[0]].program} act as {ranks} ranks: "
    text += "so many worked at a time"
    family = int(np.count_nonzero(job[active] >= 0)) - len(workers)
    if family:
        text += f"; {family} more processes of the same jobs with them"
    others = len(active) - len(workers) - family
    return f"{text}; {others} others as rank 0" if others else text


def _workers(
    processes: list[Process], active: list[int], first_ns: Column, last_ns: Column
) -> tuple[list[int], int]:
    """The processes of that program of which most are active at a time, and how many are."""
    by_program: dict[str, list[int]] = defaultdict(list)
    for process in active:
        name = processes[process].program if process < len(processes) else ""
        by_program[name].append(process)
    best: list[int] = []
    most = 1
    for name, members in by_program.items():
        if not name or len(members) < 2:
            continue
        at_a_time = _at_a_time([(int(first_ns[p]), int(last_ns[p])) for p in members])
        if at_a_time > most:
            best, most = members, at_a_time
    return best, most


def _at_a_time(spans: list[tuple[int, int]]) -> int:
    """How many of these overlap, at most."""
    level = most = 0
    for _, change in sorted(step for start, end in spans for step in ((start, 1), (end, -1))):
        level += change
        most = max(most, level)
    return most
