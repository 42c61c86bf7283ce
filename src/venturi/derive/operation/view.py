"""What to tell apart in time: the view of the operations that gives the shortest true program.

Which pauses are computing and which are accidents of a busy machine no threshold knows in advance:
with the right ones the program is short. So is it with the right order: where several files take
turns between one sync and the next, what was written before a sync decides what it costs, and the
stretches of time between syncs are kept apart; so are batches in which one file is read and another
written, because the storage reads ahead and writes back meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from venturi.derive.operation.fold import Leaf, Node
from venturi.derive.operation.sequence import leaves_of, sequence_of
from venturi.derive.operation.stream import Streams
from venturi.derive.operation.table import Table
from venturi.derive.operation.task import Tasks, dealt_in_turn
from venturi.derive.operation.token import Tokens, tokens_of
from venturi.derive.operation.visit import Acts, Part, acts_of
from venturi.model.operation import Column, Kind

MOST_TRIED = 5
"""So many of the widest steps between pauses are tried as thresholds."""
LEAST_STEP = 1.5
"""Pauses are alike if the longer is at most so many times the shorter."""
MOST_TRIED_OPERATIONS = 3_000_000
"""More operations are looked at once."""
STEPS_WEIGHT = 0.25
"""What a step within a phase weighs beside a phase."""
MOST_STEPS_COUNTED = 12
"""Of one act."""
DISORDER_WEIGHT = 40.0
"""What it weighs that no order is kept ..."""
IDLE_WEIGHT = 12.0
"""... and that pauses of so much of the run are left out:"""
IDLE_SHARE = 0.3
STALL_NS = 50_000_000
MOST_STALLS = 8
STALL_WEIGHT = 0.02
"""So few shorter pauses, without which the program is short, are stalls of a busy machine, of
little weight."""
SYNC_TURNS_LINES = 40
"""A program that tells how files take turns between syncs may be longer by so many lines ..."""
BATCHES_LINES = 20
"""... and one that tells how reading and writing do by so many."""
LEAST_BATCHES = 4
"""So many times that a rank reads one file and writes another say that they take turns ..."""
LEAST_IN_BATCH = 8
"""... in batches of so many requests, most of them: of fewer, no loop tells the order."""
TASKS_LINES = -24
"""A program that deals tasks does not tell who did which: it must be shorter by so many."""
GAIN = 0.75
"""Another view must be so much shorter than the first."""


@dataclass(frozen=True)
class View:
    """Operations as acts."""

    table: Table
    tokens: Tokens
    parts: list[Part]
    acts: Acts
    nests: bool = True
    """Whether bodies of loops have loops and odd turns, too."""
    worth_lines: int = 0
    """By how many lines its program may be longer than others, for what it tells."""
    tasks: Tasks | None = None
    """What was dealt to the ranks in turn."""
    are_names_apart: bool = False
    """Whether each call on a name alone is an act."""

    def is_task(self, leaves: Sequence[Leaf]) -> bool:
        """Whether these acts are those of tasks, which no rank begins together with others."""
        if self.table.dealt is None:
            return False
        tokens = [self.acts.first[self.acts.at[leaf.places]].ravel() for leaf in leaves]
        rows = self.tokens.rows[self.tokens.first[np.concatenate(tokens)]]
        return bool(np.all(self.table.dealt[rows]))


def view_of(table: Table, streams: Streams, are_names_apart: bool = False) -> View:
    """The acts of a table as it is."""
    tokens = tokens_of(table)
    parts, acts = acts_of(table, tokens, streams, are_names_apart)
    return View(table, tokens, parts, acts, are_names_apart=are_names_apart)


def views_of(table: Table, streams: Streams) -> list[View]:
    """The views that may give the shortest program, weighed against what they do not tell."""
    first = view_of(table, streams)
    if len(table) > MOST_TRIED_OPERATIONS:
        return [first]
    found = [_best_pauses(first, streams)]
    turns = with_turns(table, streams)
    if turns is not None:
        other, worth_lines = turns
        found.append(
            replace(_best_pauses(view_of(other, streams), streams), worth_lines=worth_lines)
        )
    for other, tasks in dealt_in_turn(table, streams):
        found.append(replace(view_of(other, streams), worth_lines=TASKS_LINES, tasks=tasks))
    views = [replace(view, nests=nests) for view in found for nests in (False, True)]
    apart = view_of(found[0].table, streams, are_names_apart=True)
    return views if len(apart.acts) == len(found[0].acts) else [*views, apart]


def _best_pauses(first: View, streams: Streams) -> View:
    best, least = first, _score(first, first.table)
    for table in _coarser(first.table):
        view = view_of(table, streams)
        score = _score(view, first.table)
        if score.is_shorter(least):
            best, least = view, score
    return best


@dataclass(frozen=True)
class _Score:
    """How long a program is, with the weight of the pauses that it leaves out."""

    length: float
    is_ordered: bool

    def is_shorter(self, other: _Score) -> bool:
        """Whether it is so much shorter as to be worth it; where only one of both keeps the order,
        that weighs, too."""
        mine, others = (
            one.length + DISORDER_WEIGHT * (rest.is_ordered and not one.is_ordered)
            for one, rest in ((self, other), (other, self))
        )
        return mine < GAIN * others


def _score(view: View, table: Table) -> _Score:
    """How long the program is, and what it leaves out of the time and the order."""
    nodes, is_ordered = sequence_of(view.acts, view.nests)
    length = _length(nodes, view.acts)
    run_ns = max(int(table.end_ns.max() - table.start_ns.min()), 1)
    lost = float(table.pauses_ns.sum() - view.table.pauses_ns.sum()) / run_ns
    if not np.any((view.table.pauses_ns > 0) & (view.table.pauses_ns < STALL_NS)):
        lost -= (1 - STALL_WEIGHT) * _stalled_ns(table) / run_ns
    idle = IDLE_WEIGHT * min(lost / IDLE_SHARE, 1.0)
    return _Score(length + idle, is_ordered)


def _stalled_ns(table: Table) -> int:
    """The time of short pauses, where they are few, or all amidst requests one way to a file."""
    pauses = table.pauses_ns
    short = np.flatnonzero((pauses > 0) & (pauses < STALL_NS))
    is_stalled = len(short) <= MOST_STALLS or _are_amidst(table, short)
    return int(pauses[short].sum()) if is_stalled else 0


def _are_amidst(table: Table, pauses: Column) -> bool:
    """Whether these pauses all stand between requests of one kind to one file."""
    order = np.argsort(table.start_ns, kind="stable")
    kind, file = table.kind[order], table.file[order]
    first = np.searchsorted(np.maximum.accumulate(table.stretch[order]), pauses)
    first = first[(first > 0) & (first < len(order))]
    same = (kind[first] == kind[first - 1]) & (file[first] == file[first - 1])
    return bool(np.all(same & table.is_kind(Kind.READ, Kind.WRITE)[order][first]))


def _length(nodes: list[Node], acts: Acts) -> float:
    def steps(leaf: Leaf) -> int:
        return min(int(acts.count[leaf.places.flat[0]]), MOST_STEPS_COUNTED)

    return sum(1 + STEPS_WEIGHT * steps(leaf) for leaf in leaves_of(nodes))


def _coarser(table: Table) -> Iterator[Table]:
    """The table with its longest pauses only, for the widest steps between pauses."""
    pauses = np.sort(table.pauses_ns[table.pauses_ns > 0])
    if not len(pauses):
        return
    steps = np.diff(np.log(pauses))
    widest = np.argsort(-steps, kind="stable")[:MOST_TRIED]
    for at in widest[steps[widest] >= np.log(LEAST_STEP)].tolist():
        yield _cut_at(table, float(np.sqrt(float(pauses[at]) * float(pauses[at + 1]))))
    yield _cut_at(table, float("inf"))


def _cut_at(table: Table, least_ns: float) -> Table:
    """The table with those of its pauses only that are so long; cuts of no time stay."""
    stays = (table.pauses_ns >= least_ns) | (table.pauses_ns == 0)
    stays[0] = True
    number = np.cumsum(stays) - 1
    return replace(table, stretch=number[table.stretch], pauses_ns=table.pauses_ns[stays])


def with_turns(table: Table, streams: Streams) -> tuple[Table, int] | None:
    """The table cut where several files take turns: at syncs, or where one is read again after
    another was written; and how many lines that is worth. None where none do."""
    rows = np.flatnonzero(streams.of_file[table.file] >= 0)
    rows = rows[np.lexsort((table.start_ns[rows], table.rank[rows]))]
    epochs, worth_lines = _epochs(table, rows), SYNC_TURNS_LINES
    if epochs is None or not _take_turns(table, rows, epochs):
        epochs, worth_lines = _batches(table, rows), BATCHES_LINES
    turns = None if epochs is None else _cut_between(table, rows, epochs)
    return None if turns is None else (turns, worth_lines)


def _cut_between(table: Table, rows: Column, epochs: Column) -> Table | None:
    """The table cut where a new epoch begins; None where ranks differ in them."""
    cuts = np.zeros(len(rows), bool)
    same = table.rank[rows][1:] == table.rank[rows][:-1]
    old = _rising(table.stretch[rows], same)
    cuts[1:] = same & ((epochs[1:] != epochs[:-1]) | (old[1:] != old[:-1]))
    number = np.cumsum(cuts)
    first = np.flatnonzero(np.concatenate([[True], ~same]))
    number = number - np.repeat(number[first], np.diff(np.append(first, len(rows))))
    counts = {int(number[end - 1]) for end in np.append(first[1:], len(rows))}
    if len(counts) > 1:
        return None
    pauses = np.zeros(int(number.max()) + 1, np.int64)
    begins = cuts & np.concatenate([[False], old[1:] != old[:-1]])
    np.maximum.at(pauses, number[begins], table.pauses_ns[old[begins]])
    stretch = np.zeros(len(table), table.stretch.dtype)
    stretch[rows] = number
    return replace(table, stretch=stretch, pauses_ns=pauses)


def _rising(stretch: Column, same: Column) -> Column:
    """The stretches of rows, in the order of time of each rank, which begins where they are not the
    `same`: what began before a pause and goes on after others is over before the pause counts."""
    starts = np.concatenate([[0], np.flatnonzero(~same) + 1, [len(stretch)]])
    parts = [stretch[low:high] for low, high in pairwise(starts)]
    return np.concatenate([np.minimum.accumulate(part[::-1])[::-1] for part in parts])


def _epochs(table: Table, rows: Column) -> Column | None:
    """For each row, in the order of its rank, the number of syncs that are over."""
    buffered = np.array([one.entry.buffers for one in table.interfaces])
    syncs = table.is_kind(Kind.SYNC, Kind.DATA_SYNC)[rows] & ~buffered[table.file[rows]]
    if not np.any(syncs):
        return None
    # What closes or syncs right after a sync still belongs to it.
    works = np.flatnonzero(~syncs & ~table.is_kind(Kind.CLOSE)[rows])
    over = np.cumsum(syncs)[works]
    begins = np.zeros(len(rows), np.int64)
    begins[works[1:]] = over[1:] > over[:-1]
    number: Column = np.cumsum(begins)
    return number


def _batches(table: Table, rows: Column) -> Column | None:
    """For each row, in the order of its rank, how often a file was read after another was written;
    None where that is seldom, or for a few requests each time."""
    data = np.flatnonzero(table.is_kind(Kind.READ, Kind.WRITE)[rows])
    if not len(data):
        return None
    reads = table.is_kind(Kind.READ)[rows[data]]
    file, rank = table.file[rows[data]], table.rank[rows[data]]
    turns = np.zeros(len(data), bool)
    turns[1:] = reads[1:] & ~reads[:-1] & (file[1:] != file[:-1]) & (rank[1:] == rank[:-1])
    count = int(np.count_nonzero(turns))
    sizes = np.diff(np.append(np.flatnonzero(turns), len(data)))
    if count < LEAST_BATCHES * table.ranks or np.median(sizes) < LEAST_IN_BATCH:
        return None
    begins = np.zeros(len(rows), np.int64)
    begins[data[turns]] = 1
    number: Column = np.cumsum(begins)
    return number


def _take_turns(table: Table, rows: Column, epochs: Column) -> bool:
    """Whether most syncs end stretches in which other files are written than in the one before."""
    writes = table.is_kind(Kind.WRITE)[rows]
    pairs = np.unique(np.stack((epochs[writes], table.file[rows][writes])), axis=1)
    count = int(epochs[-1]) + 1
    most = np.full(count, -1)
    most[pairs[0]] = pairs[1]
    several = np.bincount(pairs[0], minlength=count) > 1
    changes = np.concatenate([[False], most[1:] != most[:-1]])
    return int(np.count_nonzero(several | changes)) * 2 > count
