"""Random programs of loops, conditions and cycles on one rank or more, as runs that were traced."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from dataclasses import dataclass

from traced_run import MS, TracedRun

from venturi.model.operation import ATTRIBUTES, Attribute, Kind

Turns = dict[str, int]


@dataclass(frozen=True)
class Here:
    """Where a statement stands while the program runs."""

    run: TracedRun
    rank: int
    turns: Turns


Action = Callable[[Here], None]
Condition = Callable[[Here], bool]


@dataclass(frozen=True)
class FileUse:
    """Whose a file is, and whether each turn of the outermost loop has one of its own."""

    number: int
    is_shared: bool
    is_of_turn: bool

    def path(self, rank: int, turn: int) -> str:
        """Its name."""
        words = [f"f{self.number}"]
        words += [f"{turn:03d}"] * self.is_of_turn
        words += [f"r{rank}"] * (not self.is_shared)
        return "_".join(words)


class RandomProgram:
    """A nest of loops that writes, reads what was written just before, syncs and computes."""

    def __init__(self, seed: int, ranks: int = 1, reads: bool = False, names: bool = False) -> None:
        self._drawn = random.Random(seed)
        self._ranks, self._reads, self._names = ranks, reads, names
        self._numbers = itertools.count()
        self._files = [self._file(number) for number in range(self._drawn.randint(1, 3))]
        self._positions: dict[tuple[int, str], int] = {}
        self._written: dict[tuple[int, str], tuple[int, int]] = {}
        self._steps = self._drawn.choice([5, 12, 20] if ranks == 1 else [3, 5, 12])
        self._most = 250 if ranks == 1 else 150
        self._body = self._block(1, [("t", self._steps)], self._steps)

    def _file(self, number: int) -> FileUse:
        is_shared = self._ranks > 1 and self._drawn.random() < 0.5
        return FileUse(number, is_shared, self._drawn.random() < 0.4)

    def run(self) -> TracedRun:
        """The run of it."""
        run = TracedRun(self._ranks)
        for rank in range(self._ranks):
            self._each(Here(run, rank, {"t": 0}), run.open, of_turn=False)
        for turn in range(self._steps):
            if self._ranks > 1:
                run.meet()
            for rank in range(self._ranks):
                here = Here(run, rank, {"t": turn})
                self._each(here, run.open, of_turn=True)
                for action in self._body:
                    action(here)
                self._each(here, run.close, of_turn=True)
        for rank in range(self._ranks):
            self._each(Here(run, rank, {"t": 0}), run.close, of_turn=False)
        return run

    def _each(self, here: Here, call: Callable[[int, str], None], of_turn: bool) -> None:
        for file in self._files:
            if file.is_of_turn == of_turn:
                call(here.rank, file.path(here.rank, here.turns["t"]))

    def _block(self, depth: int, loops: list[tuple[str, int]], times: int) -> list[Action]:
        drawn, found = self._drawn, []
        for _ in range(drawn.randint(1, 3)):
            kind = drawn.random()
            if depth < 3 and kind < 0.45:
                count = max(2, min(drawn.choice([3, 4, 5, 8, 10]), self._most // max(1, times)))
                name = f"i{depth}"
                body = self._block(depth + 1, [*loops, (name, count)], times * count)
                found.append(_loop(name, count, body))
            elif kind < 0.62:
                found.append(_when(self._condition(loops), self._call(loops)))
            else:
                found.append(self._call(loops))
        return found

    def _condition(self, loops: list[tuple[str, int]]) -> Condition:
        drawn, last = self._drawn, self._ranks - 1
        if self._ranks > 1 and drawn.random() < 0.5:
            of_ranks: list[Condition] = [
                lambda here: here.rank == 0,
                lambda here: here.rank % 2 == 1,
                lambda here: here.rank < last,
            ]
            return drawn.choice(of_ranks)
        name, _ = loops[-1]
        every = drawn.choice([2, 3, 5])
        which = drawn.randrange(every)
        return lambda here: here.turns[name] % every == which

    def _call(self, loops: list[tuple[str, int]]) -> Action:
        drawn, file = self._drawn, self._drawn.choice(self._files)
        if self._names and drawn.random() < 0.5:
            return self._work_on_names(file, loops)
        kind = drawn.random()
        if kind > 0.85:
            return _compute
        if kind > 0.75:
            return lambda here: here.run.call(
                here.rank, Kind.SYNC, file.path(here.rank, here.turns["t"])
            )
        if self._reads and kind > 0.6:
            return lambda here: self._read_back(here, file)
        return self._write(file, loops)

    def _work_on_names(self, file: FileUse, loops: list[tuple[str, int]]) -> Action:
        """A file that is made aside and gets its name when it is whole, one that is made and
        removed, a folder, or a file that is cut or gets another mode."""
        drawn, number = self._drawn, next(self._numbers)
        name, _ = drawn.choice(loops)
        size = drawn.choice([100, 3901, 65_536])
        is_one_name = drawn.random() < 0.5

        def path(here: Here, word: str) -> str:
            turns = "" if is_one_name else "_".join(str(here.turns[one]) for one, _ in loops)
            return f"{word}{number}_{turns}r{here.rank}"

        def commit(here: Here) -> None:
            aside = f"{path(here, 'kept')}.tmp"
            here.run.open(here.rank, aside)
            here.run.move(here.rank, Kind.WRITE, aside, [(0, size + 8 * here.turns[name])])
            here.run.close(here.rank, aside)
            here.run.rename(here.rank, aside, path(here, "kept"))

        def scratch(here: Here) -> None:
            here.run.open(here.rank, path(here, "scratch"))
            here.run.move(here.rank, Kind.WRITE, path(here, "scratch"), [(0, size)])
            here.run.close(here.rank, path(here, "scratch"))
            here.run.call(here.rank, Kind.UNLINK, path(here, "scratch"))

        def folder(here: Here) -> None:
            here.run.call(here.rank, Kind.MKDIR, path(here, "folder"))
            if is_one_name:
                here.run.call(here.rank, Kind.RMDIR, path(here, "folder"))

        def set_mode(here: Here) -> None:
            mode = 1 + ATTRIBUTES.index(Attribute.MODE)
            where = file.path(here.rank, here.turns["t"])
            here.run.call(here.rank, Kind.ATTRIBUTE, where, detail=mode)

        return drawn.choice([commit, scratch, folder, set_mode])

    def _write(self, file: FileUse, loops: list[tuple[str, int]]) -> Action:
        drawn = self._drawn
        size = drawn.choice([100, 3901, 4096, 65_536])
        table = [size + 8 * drawn.randrange(50) for _ in range(drawn.choice([1, 1, 2, 3, 5]))]
        name = drawn.choice(loops)[0]
        steps = {one: size * drawn.choice([1, 2, 4]) * self._ranks for one, _ in loops}
        is_placed = drawn.random() < 0.4 or file.is_shared

        def write(here: Here) -> None:
            path = file.path(here.rank, here.turns["t"])
            length = table[here.turns[name] % len(table)]
            if is_placed:
                at = sum(here.turns[one] * step for one, step in steps.items()) + here.rank * size
            else:
                at = self._positions.get((here.rank, path), 0)
                self._positions[here.rank, path] = at + length
            self._written[here.rank, path] = at, length
            here.run.move(here.rank, Kind.WRITE, path, [(at, length)])

        return write

    def _read_back(self, here: Here, file: FileUse) -> None:
        path = file.path(here.rank, here.turns["t"])
        if (here.rank, path) in self._written:
            here.run.move(here.rank, Kind.READ, path, [self._written[here.rank, path]])


def _compute(here: Here) -> None:
    here.run.now[here.rank] += 5 * MS


def _loop(name: str, count: int, body: list[Action]) -> Action:
    def act(here: Here) -> None:
        for turn in range(count):
            for action in body:
                action(Here(here.run, here.rank, here.turns | {name: turn}))

    return act


def _when(condition: Condition, action: Action) -> Action:
    def act(here: Here) -> None:
        if condition(here):
            action(here)

    return act
