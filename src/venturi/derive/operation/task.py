"""Tasks that a pool of workers took as they came, dealt to the ranks in turn.

Which worker gets which task is chance: one that is a moment earlier takes the next file. Told
worker by worker, such a run is as long as its number of tasks, and wrong the next day. Here the
tasks, in the order in which they began, go round the ranks, so what each rank does is a loop over
its tasks; what is lost is who did which, and that some workers did one more. Tasks that are too few
for all ranks at the end are told apart, so that nobody has more turns than there were tasks.

Times are those of such a dealing: all tasks of a turn begin together, as long after each other as
the longest of them took.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from venturi.derive.operation.neighbour import follows_of
from venturi.derive.operation.pause import COMPUTING_SHARE, LEAST_PAUSE_NS
from venturi.derive.operation.stream import Streams
from venturi.derive.operation.table import Table
from venturi.derive.operation.token import mixed_hash
from venturi.model.operation import Column, Kind

LEAST_TURNS = 2
"""Fewer tasks for each worker are told worker by worker."""
USUAL_SHARE = 0.5
"""What so many tasks use belongs to them; and a task has files of its own if there are so many."""
MOST_STAGES = 4
"""Tasks of more kinds, one after the other, are of one kind that differs."""
MOST_MOVED_TURNS = 4
"""A task may have begun so many turns early or late ..."""
USUALLY_MOVED_TURNS = 0.5
"""... and in the mean so many: a worker that is held up takes a task and begins it late."""
_NONE = -1


@dataclass(frozen=True)
class Tasks:
    """How many tasks were dealt, and of what."""

    count: int
    workers: int
    stream: int
    """The number, among those kept, of the stream with whose files tasks begin."""
    are_processes: bool = False
    """Whether each task is a process, with those that it started, and not told by its files."""


@dataclass(frozen=True)
class _Found:
    """The rows that belong to tasks, in the order of tasks; tasks are numbered as they began."""

    rows: Column
    task: Column
    """Of each of the rows."""
    start_ns: Column
    end_ns: Column
    worker: Column

    @property
    def first(self) -> Column:
        """Where the rows of each task begin."""
        return np.asarray(np.searchsorted(self.task, np.arange(len(self.start_ns))))


@dataclass(frozen=True)
class _Turns:
    """Where each task goes."""

    rank: Column
    turn: Column
    is_last: Column
    """Whether the task is one of a turn that has not enough for all ranks."""

    def __len__(self) -> int:
        return int(self.turn.max()) + 1


def dealt_in_turn(table: Table, streams: Streams) -> Iterator[tuple[Table, Tasks]]:
    """The table with tasks dealt in turn, for each way to tell them apart; nothing where there are
    none, or they came in turn."""
    if table.ranks < 2 or np.any(table.copied):
        return
    rows = np.flatnonzero(streams.of_file[table.file] >= 0)
    rows = rows[np.lexsort((table.start_ns[rows], table.rank[rows]))]
    ways: list[tuple[int | None, _Found | None]] = [(None, _jobs(table, rows))]
    for number, begins in _leading(table, streams, rows):
        ways.append((number, _tasks(table, streams, rows, begins)))
    for stream, all_tasks in ways:
        stages = [] if all_tasks is None else _stages(table, streams, all_tasks)
        if all_tasks is not None and stages:
            found, stages = _of_stages(all_tasks, stages)
            workers = len(np.unique(found.worker))
            turns = _turns(table, found, stages)
            first = streams.of_file[table.file[found.rows[found.first]]]
            begun = int(np.bincount(first).argmax()) if stream is None else stream
            tasks = Tasks(len(found.start_ns), workers, begun, are_processes=stream is None)
            yield _dealt(table, found, turns), tasks


# ---- what the tasks are


def _jobs(table: Table, rows: Column) -> _Found | None:
    """The tasks that are processes of their own, with those that they started."""
    if table.job is None:
        return None
    rows = rows[table.job[rows] >= 0]
    jobs, task = np.unique(table.job[rows], return_inverse=True)
    if len(jobs) < LEAST_TURNS * max(len(np.unique(table.rank[rows])), 1):
        return None
    order = np.argsort(task, kind="stable")
    return _found(table, rows[order], task[order])


def _tasks(table: Table, streams: Streams, rows: Column, begins: Column) -> _Found | None:
    """The tasks of all workers: a new one begins with each other file of the leading stream."""
    task = np.cumsum(begins) - 1
    ranks, first = np.unique(table.rank[rows], return_index=True)
    owner = table.rank[rows][begins]
    # What a rank does before its first task belongs to none.
    before = task - np.searchsorted(owner, np.repeat(ranks, np.diff(np.append(first, len(rows)))))
    task = np.where(before < 0, _NONE, task)
    moves = _moving(table, streams, rows, task)
    if not np.any(moves):
        return None
    return _found(table, rows[moves], task[moves])


def _found(table: Table, rows: Column, task: Column) -> _Found:
    """The tasks in the order in which they began; `task` are their numbers, together."""
    edges = np.flatnonzero(np.concatenate([[True], task[1:] != task[:-1]]))
    start, end = table.start_ns[rows[edges]], np.maximum.reduceat(table.end_ns[rows], edges)
    order = np.argsort(start, kind="stable")
    number = np.empty(len(order), np.int64)
    number[order] = np.arange(len(order))
    nth = np.repeat(number, np.diff(np.append(edges, len(rows))))
    by_task = np.argsort(nth, kind="stable")
    worker = table.rank[rows[edges]][order]
    return _Found(rows[by_task], nth[by_task], start[order], end[order], worker)


def _leading(table: Table, streams: Streams, rows: Column) -> list[tuple[int, Column]]:
    """Streams of which every task may have one file, and the rows with which tasks then begin: the
    stream that is used first, and the one with the fewest changes from file to file."""
    found: list[tuple[int, int, int, Column]] = []
    file, rank = table.file[rows], table.rank[rows]
    of_row = streams.of_file[file]
    for number, stream in enumerate(streams.kept):
        own = np.flatnonzero(of_row == number)
        ranks, at = np.unique(rank[own], return_index=True)
        if stream.is_shared or len(stream.files) < LEAST_TURNS * len(ranks):
            continue
        first = np.ones(len(own), bool)
        first[1:] = (file[own][1:] != file[own][:-1]) | (rank[own][1:] != rank[own][:-1])
        begins = np.zeros(len(rows), bool)
        begins[own[first]] = True
        if len(ranks) > 1:
            found.append((int(own[at].sum()), int(begins.sum()), number, begins))
    if not found:
        return []
    chosen = {min(found, key=lambda one: one[place])[2] for place in (0, 1)}
    return [(number, begins) for _, _, number, begins in found if number in chosen]


def _moving(table: Table, streams: Streams, rows: Column, task: Column) -> Column:
    """Mask of the rows that go with their task: those of streams that most tasks use, unless one
    file of a worker's own serves all of its tasks, or stays open over them."""
    count = int(task.max()) + 1
    file, of_row = table.file[rows], streams.of_file[table.file[rows]]
    opens = table.is_kind(Kind.OPEN)[rows].astype(np.int64)
    closes = table.is_kind(Kind.CLOSE)[rows]
    moves = np.asarray(task != _NONE)
    for number, stream in enumerate(streams.kept):
        own = (of_row == number) & (task != _NONE)
        tasks = len(np.unique(task[own]))
        balance = np.bincount(task[own], weights=(opens - closes)[own], minlength=count)
        is_whole = np.count_nonzero(balance) <= (1 - USUAL_SHARE) * max(tasks, 1)
        uses = len(np.unique(file[own] * np.int64(count) + task[own]))
        is_apart = stream.is_shared or len(np.unique(file[own])) * MOST_STAGES >= uses
        if tasks < USUAL_SHARE * count or not is_whole or not is_apart:
            moves[own] = False
    return moves


def _stages(table: Table, streams: Streams, found: _Found) -> list[Column]:
    """The tasks in stages of one kind each, those in which several workers took what came."""
    kind, stream = table.kind[found.rows], streams.of_file[table.file[found.rows]]
    word = mixed_hash(kind.astype(np.int64) * len(streams.kept) + stream)
    again = np.concatenate([[False], word[1:] == word[:-1]])
    again[found.first] = False
    place = np.cumsum(~again).astype(np.uint64)
    place -= np.repeat(place[found.first], np.bincount(found.task))
    symbol = np.where(again, np.uint64(0), mixed_hash(word + place))
    name = np.add.reduceat(symbol, found.first)
    cuts = np.flatnonzero(name[1:] != name[:-1]) + 1
    everything = np.arange(len(name))
    stages = np.split(everything, cuts) if len(cuts) < MOST_STAGES else [everything]
    return [tasks for tasks in stages if not _came_in_turn(found.worker[tasks])]


def _came_in_turn(worker: Column) -> bool:
    """Whether every worker had one task of each turn: these are ranks, and no pool."""
    workers = np.unique(worker)
    whole = len(worker) // len(workers) * len(workers)
    turns = np.sort(worker[:whole].reshape(-1, len(workers)), axis=1)
    return whole == len(worker) and bool(np.all(turns == workers))


def _of_stages(found: _Found, stages: list[Column]) -> tuple[_Found, list[Column]]:
    """The tasks of these stages only, and their stages."""
    chosen = np.concatenate(stages)
    number = np.full(len(found.start_ns), _NONE)
    number[chosen] = np.arange(len(chosen))
    rows = number[found.task] != _NONE
    edges = np.cumsum([len(tasks) for tasks in stages])[:-1]
    kept = _Found(
        found.rows[rows],
        number[found.task[rows]],
        found.start_ns[chosen],
        found.end_ns[chosen],
        found.worker[chosen],
    )
    return kept, np.split(np.arange(len(chosen)), edges)


# ---- who gets them


def _turns(table: Table, found: _Found, stages: list[Column]) -> _Turns:
    """The rank and the turn of each task: stage by stage, round the ranks that worked."""
    count = len(found.start_ns)
    rank, turn = np.zeros(count, np.int64), np.zeros(count, np.int64)
    is_last = np.zeros(count, bool)
    lead = table.file[found.rows][found.first]
    size = np.add.reduceat(table.bytes[found.rows], found.first)
    place: dict[int, int] = {}
    before = 0
    for tasks in stages:
        workers = np.unique(found.worker[tasks])
        known = np.array([place.get(int(one), _NONE) for one in lead[tasks]])
        order = _near_order(len(workers), known, (lead[tasks], size[tasks]))
        nth = np.empty(len(tasks), np.int64)
        nth[order] = np.arange(len(tasks))
        for one, at in zip(lead[tasks].tolist(), nth.tolist(), strict=True):
            place.setdefault(one, at)
        rank[tasks] = workers[nth % len(workers)]
        turn[tasks] = before + nth // len(workers)
        is_last[tasks] = nth >= len(tasks) // len(workers) * len(workers)
        before += -(-len(tasks) // len(workers))
    return _Turns(rank, turn, is_last)


def _near_order(ranks: int, known: Column, by: tuple[Column, Column]) -> Column:
    """The order of tasks: that of their files before, that in which these were first named, or of
    sizes, if they began nearly so."""
    named, size = by
    began = np.arange(len(size))
    keys = [] if np.any(known == _NONE) else [known]
    for key in (*keys, named, size, -size):
        order: Column = np.argsort(key, kind="stable")
        moved = np.abs(order - began)
        if moved.max() < MOST_MOVED_TURNS * ranks and moved.mean() < USUALLY_MOVED_TURNS * ranks:
            return order
    return began


# ---- the table that follows


def _dealt(table: Table, found: _Found, turns: _Turns) -> Table:
    """The table with the tasks' rows at their new ranks and times."""
    rank, start = table.rank.copy(), table.start_ns.copy()
    stretch, pauses = table.stretch.copy(), table.pauses_ns
    began = np.full(len(turns), np.iinfo(np.int64).max)
    np.minimum.at(began, turns.turn, found.start_ns)
    began = np.maximum.accumulate(began)
    longest = np.zeros(len(turns), np.int64)
    np.maximum.at(longest, turns.turn, found.end_ns - found.start_ns)
    end = int(found.end_ns.max())
    span = longest + np.diff(np.append(began, end)) + 1
    window = began[0] + np.cumsum(span) - span

    first, last = stretch[found.rows].min(), stretch[found.rows].max()
    compute = _compute_ns(table, found)
    new = first + (1 + np.arange(len(turns)) if compute else np.zeros(len(turns), np.int64))
    others = np.ones(len(table), bool)
    others[found.rows] = False
    after = np.flatnonzero(others & (table.start_ns >= end))
    amid = np.flatnonzero(others & (table.start_ns >= began[0]) & (table.start_ns < end))
    start[after] += window[-1] + span[-1] - end
    stretch[after] += new[-1] - last
    of_amid = np.searchsorted(began, table.start_ns[amid], side="right") - 1
    start[amid] += window[of_amid] + longest[of_amid] - began[of_amid]
    stretch[amid] = new[of_amid]
    of_row = turns.turn[found.task]
    rank[found.rows] = turns.rank[found.task]
    start[found.rows] += window[of_row] - found.start_ns[found.task]
    stretch[found.rows] = new[of_row]
    steps = np.full(len(turns) if compute else 0, compute)
    dealt = np.zeros(len(table), np.uint8)
    dealt[found.rows] = 1 + turns.is_last[found.task]
    changed = replace(
        table,
        rank=rank,
        start_ns=start,
        end_ns=start + table.end_ns - table.start_ns,
        stretch=stretch,
        pauses_ns=np.concatenate([pauses[: first + 1], steps, pauses[last + 1 :]]),
        dealt=dealt,
    )
    return _sorted(changed)


def _compute_ns(table: Table, found: _Found) -> int:
    """The usual time of a task that is no I/O; 0 where that is short."""
    busy = np.bincount(found.task, (table.end_ns - table.start_ns)[found.rows])
    order = np.lexsort((found.start_ns, found.worker))
    start, worker = found.start_ns[order], found.worker[order]
    same = worker[1:] == worker[:-1]
    whole = (start[1:] - start[:-1])[same]
    idle = np.maximum(whole - busy[order][:-1][same], 0)
    usual = int(np.median(idle)) if len(idle) else 0
    is_much = idle.sum() >= COMPUTING_SHARE * whole.sum()
    return usual if is_much and usual >= LEAST_PAUSE_NS else 0


def _sorted(table: Table) -> Table:
    """The table in its order again."""
    in_time = np.argsort(table.start_ns, kind="stable")
    follows = np.empty(len(table), bool)
    follows[in_time] = follows_of(table.file[in_time], table.rank[in_time])
    table = replace(table, follows=follows)
    order = np.lexsort((table.start_ns, table.rank, table.file))
    columns: dict[str, Any] = {
        one.name: value[order]
        for one in fields(table)
        if one.name != "pauses_ns" and isinstance(value := getattr(table, one.name), np.ndarray)
    }
    return replace(table, **columns)
