"""Programs whose calls follow no rule."""

from __future__ import annotations

import random
from collections import Counter

from traced_run import APPEND, CREATE, MS, REOPEN, TracedRun

from venturi.model.operation import Kind


class IrregularProgram:
    """Calls of one rank in an order that chance chooses: files that are made, read, appended to,
    renamed into their place, looked at, and opened once more while they are open."""

    def __init__(self, seed: int, calls: int) -> None:
        self.run = TracedRun(1, seed=seed)
        self._chance = random.Random(seed)
        self._opened: dict[str, str] = {}
        self._length: dict[str, int] = {}
        self._again: Counter[str] = Counter()
        self._number = 0
        while len(self.run.rows) < calls:
            self._next()
        while self._opened:
            self._close(next(iter(self._opened)))

    def _next(self) -> None:
        chance = self._chance
        self.run.now[0] += chance.choice([0, 0, 0, 20_000, 5 * MS])
        path = chance.choice(list(self._opened)) if self._opened else ""
        if not path or chance.random() < 0.15:
            self._open()
        elif chance.random() < 0.1:
            self._close(path)
        elif chance.random() < 0.05:
            self.run.call(0, chance.choice([Kind.SYNC, Kind.DATA_SYNC, Kind.STAT]), path)
        else:
            self._move(path, chance.randint(1, 9000))

    def _move(self, path: str, size: int) -> None:
        how, chance, length = self._opened[path], self._chance, self._length[path]
        if how == "read" or (how == "make" and chance.random() < 0.3 and length > size):
            at = chance.randint(0, max(length - size, 0))
            self.run.move(0, Kind.READ, path, [(at, size)])
            return
        at = length if how == "append" else chance.choice([length, chance.randint(0, length)])
        self.run.move(0, Kind.WRITE, path, [(at, size)])
        self._length[path] = max(length, at + size)

    def _open(self) -> None:
        how = self._chance.choice(["make", "append", "read"])
        path = f"{how}{self._chance.randint(0, 9)}"
        if path in self._opened:
            if self._chance.random() < 0.2:
                self._again[path] += 1
                self.run.open(0, path, REOPEN)
            return
        if how == "read":
            self._length[path] = 50_000
            self.run.open(0, path, REOPEN)
        elif how == "append":
            self._length.setdefault(path, 0)
            self.run.open(0, path, APPEND)
        else:
            self._length[path] = 0
            self.run.open(0, path, CREATE)
        self._opened[path] = how

    def _close(self, path: str) -> None:
        self.run.close(0, path)
        if self._again[path]:
            self._again[path] -= 1
            return
        how = self._opened.pop(path)
        if how == "make" and self._chance.random() < 0.5:
            self._number += 1
            self.run.rename(0, path, f"kept{self._number}")
