"""Who acts: processes of a trace as the ranks of a group."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np

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
        return Actors(ranks, given, said if outside else [])
    return _without_launcher(trace.processes, first_ns, last_ns, moved_bytes)


def _without_launcher(
    processes: list[Process], first_ns: Column, last_ns: Column, moved_bytes: Column
) -> Actors:
    active = [int(i) for i in np.argsort(first_ns, kind="stable") if first_ns[i] >= 0]
    workers, most = _workers(processes, active, first_ns, last_ns)
    work = moved_bytes[workers]
    are_alike = np.count_nonzero(work >= ALIKE_SHARE * work.max(initial=0)) * 2 > len(workers)
    ranks = min(most, MOST_WORKERS) if are_alike else 1
    of_process = np.zeros(len(first_ns), np.int32)
    if ranks == 1:
        several = len(active) > 1
        said = [f"{len(active)} processes without ranks act as one rank, in the order of time"]
        return Actors(1, of_process, said if several else [])
    free_at = [0] * ranks
    for process in workers:
        idle = [slot for slot in range(ranks) if free_at[slot] <= first_ns[process]]
        slot = idle[0] if idle else int(np.argmin(free_at))
        of_process[process] = slot
        free_at[slot] = int(last_ns[process])
    name = processes[workers[0]].program
    numbers = {(processes[one].host, processes[one].process) for one in workers}
    word = "processes" if len(numbers) == len(workers) else "processes and threads"
    text = f"{len(workers)} {word} of {name} act as {ranks} ranks: so many worked at a time"
    others = len(active) - len(workers)
    return Actors(ranks, of_process, [f"{text}; {others} others as rank 0" if others else text])


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
        steps = [(int(first_ns[p]), 1) for p in members] + [(int(last_ns[p]), -1) for p in members]
        level = 0
        for _, change in sorted(steps):
            level += change
            if level > most:
                best, most = members, level
    return best, most
