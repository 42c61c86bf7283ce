"""Runs of reads, writes and seeks in strace's output, taken together.

Most lines of a long text are such calls. What they do to places in files follows from sums over
columns; only what opens, closes, or makes a task must be gone through one by one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from venturi.model.operation import KIND_CODES, LAYER_CODES, NO_FILE, UNKNOWN_OFFSET, Kind
from venturi.model.trace import Layer
from venturi.sources import strace_line
from venturi.sources.move import (
    MOST_BYTES,
    MOST_DIFFERENT,
    Move,
    MoveRun,
    Numbers,
    digits,
    numbered,
    runs,
)
from venturi.sources.strace_state import OpenFile, TracedThread, World

_LINE = re.compile(
    r"((?:(\d{1,9}) +)?([1-8]\d{9}\.\d{6}) (?:"
    r"((?:read|write)v?\([^\n]*\) += \d{1,18})"
    r"|(p(?:read|write)64\([^\n]*, )(\d{1,18})(\) += \d{1,18})"
    r"|(lseek\([^\n]*, )-?\d{1,18}(?:, SEEK_(?:SET|CUR)\) += )(\d{1,18})"
    r") <(\d\.\d{6})>|[^\n]*)\n",
    re.ASCII,
)
"""A line: the whole; process, stamp; a call at the descriptor's place; one at its own in three
parts; a seek and where it led; the time that it took. Other lines have the whole alone."""

_STAMP = (17, 10)
_SPENT = (8, 1)
"""Width of a time, and where its point stands."""


@dataclass
class Calls:
    """Lines that follow each other; where they are no run, the texts are all there is."""

    texts: Sequence[str]
    is_run: bool = False
    tasks: Sequence[str] = ()
    keys: Sequence[str] = ()
    """The calls without their places."""
    places: Sequence[str] = ()
    starts: Sequence[str] = ()
    spent: Sequence[str] = ()


def pieces(text: str) -> Iterator[Calls]:
    """The whole lines of a text, in pieces."""
    found = _LINE.findall(text)
    if not found:
        return
    texts, tasks, starts, plain, head, at, tail, seek, led, spent = zip(*found, strict=True)
    for begin, end, is_run in runs(np.fromiter(map(bool, spent), np.bool_, len(spent))):
        part = slice(begin, end)
        if not is_run:
            yield Calls(texts[part])
            continue
        keys: Sequence[str] = plain[part]
        places: Sequence[str] = ()
        if any(head[part]) or any(seek[part]):
            columns = zip(keys, head[part], tail[part], seek[part], strict=True)
            keys = ["".join(one) for one in columns]
            places = [a or b for a, b in zip(at[part], led[part], strict=True)]
        yield Calls(texts[part], True, tasks[part], keys, places, starts[part], spent[part])


class _Resolving:
    """What the calls of a run mean, given what is open when it begins."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.holders: list[OpenFile] = []
        self.moves: list[Move] = []
        self.appending: dict[int, list[bool]] = {}
        """By file: of each move whether it is an append through a descriptor."""
        self._numbers: dict[int, int] = {}
        self._labels: dict[tuple[int, int], str] = {}

    def add(self, task: TracedThread, key: str) -> bool:
        """One more call of a task; False where its meaning changes within the run."""
        name, _, rest = key.partition("(")
        target = strace_line.descriptor(rest, self.world.descriptor_cache)
        table = (id(task.descriptors), target[0])
        if self._labels.setdefault(table, target[1]) != target[1]:
            return False
        opened = self.world.opened(task, target)
        file, strange = (NO_FILE, 0) if opened is None else (opened.file, opened.strange)
        is_seek, is_placed = name == "lseek", name[0] == "p"
        kind = Kind.SEEK if is_seek else Kind.READ if "read" in name else Kind.WRITE
        holder = UNKNOWN_OFFSET
        if opened is not None and (is_seek or not strange):
            holder = self._holder(opened)
        self.moves.append(
            Move(
                (
                    task.process.index,
                    task.thread,
                    LAYER_CODES[Layer.POSIX],
                    KIND_CODES[kind],
                    0,
                    file,
                    0 if is_seek else strange,
                ),
                0 if is_seek else int(key[key.rindex(" ") :]),
                holder,
                is_placed or (is_seek and opened is None),
                is_seek and opened is not None,
            )
        )
        is_append = opened is not None and opened.appends and kind is Kind.WRITE and not is_placed
        self.appending.setdefault(file, []).append(is_append)
        return True

    def _holder(self, opened: OpenFile) -> int:
        number = self._numbers.setdefault(id(opened), len(self.holders))
        if number == len(self.holders):
            self.holders.append(opened)
        return number

    def begin(self) -> list[int] | None:
        """The places when the run begins; None where appends meet other calls."""
        begin = []
        for opened in self.holders:
            appends = self.appending.get(opened.file, [])
            if not any(appends):
                begin.append(opened.offset)
            elif all(appends) and sum(o.file == opened.file for o in self.holders) == 1:
                begin.append(self.world.sizes.get(opened.file, UNKNOWN_OFFSET))
            else:
                return None
        return [*begin, UNKNOWN_OFFSET] if max(begin, default=0) < MOST_BYTES else None


def take(world: World, tasks: dict[str, TracedThread], calls: Calls) -> tuple[int, int] | None:
    """Does what a run does, `tasks` by their names in its lines.

    When it began and ended in nanoseconds; None: nothing was done, it goes one by one.
    """
    names, task = numbered(calls.tasks)
    keys, key = numbered(calls.keys)
    pairs, code = np.unique(task * len(keys) + key, return_inverse=True)
    if len(pairs) * MOST_DIFFERENT > len(code):
        return None
    meaning = _Resolving(world)
    for pair in pairs.tolist():
        if not meaning.add(tasks[names[pair // len(keys)]], keys[pair % len(keys)]):
            return None
    begin = meaning.begin()
    if begin is None or max(move.size for move in meaning.moves) * len(code) >= MOST_BYTES:
        return None
    start_ns = digits(calls.starts, *_STAMP) * 1000
    end_ns = start_ns + digits(calls.spent, *_SPENT) * 1000
    run = MoveRun(meaning.moves, code, _places(calls), start_ns, end_ns)
    offset, after = run.offsets(begin)
    for opened, place in zip(meaning.holders, after[:-1].tolist(), strict=True):
        if place >= 0:
            opened.offset = place
    write = KIND_CODES[Kind.WRITE]
    for file, end in run.ends(offset, lambda move: move.head[3] == write).items():
        if end > world.sizes.get(file, end):
            world.sizes[file] = end
    world.rows.extend(run.table(offset))
    return int(start_ns.min()), int(end_ns.max())


def _places(calls: Calls) -> Numbers:
    if not calls.places:
        return np.full(len(calls.texts), UNKNOWN_OFFSET, np.int64)
    return np.fromiter((int(p) if p else UNKNOWN_OFFSET for p in calls.places), np.int64)
