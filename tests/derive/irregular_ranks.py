"""Programs of several ranks whose calls follow no rule, with files that they share."""

from __future__ import annotations

import random

from traced_run import CREATE, MS, REOPEN, TracedRun

from venturi.model.operation import Kind

INPUT_BYTES = 100_000


class IrregularRanks:
    """In each of some steps all ranks make a file together, write into it, and each into files of
    its own in a folder that the first one makes; then they wait for each other, and read what
    others wrote, and from an input that was there. How much, where and how often is by chance."""

    def __init__(self, seed: int, ranks: int, steps: int, calls: int) -> None:
        self.run = TracedRun(ranks, seed=seed)
        self._chance = random.Random(seed)
        self._calls = calls
        self._length: dict[str, int] = {}
        for rank in range(ranks):
            self.run.open(rank, "input", REOPEN)
        for step in range(steps):
            self.run.meet(self._chance.choice([0, 20 * MS]))
            self._step(step)
        self.run.meet()
        for rank in range(ranks):
            self.run.close(rank, "input")

    def _step(self, step: int) -> None:
        run, chance = self.run, self._chance
        folder, shared, header = f"step{step}", f"all{step}", f"head{step}"
        run.call(0, Kind.MKDIR, folder)
        run.open(0, header)
        run.move(0, Kind.WRITE, header, [(0, chance.randint(1, 999))])
        self._length[header] = int(run.rows[-1][5])
        run.close(0, header)
        run.meet()
        for rank in range(run.ranks):
            run.open(rank, shared, CREATE)
        run.meet()
        for rank in range(run.ranks):
            self._write(rank, shared, f"{folder}/own{rank}")
        run.meet()
        for rank in range(run.ranks):
            if chance.random() < 0.7:
                run.open(rank, header, REOPEN)
                run.move(rank, Kind.READ, header, [(0, self._length[header])])
                run.close(rank, header)
            for _ in range(chance.randint(1, self._calls)):
                size = chance.randint(1, 900)
                name = chance.choice([shared, "input"])
                most = self._length.get(name, INPUT_BYTES)
                run.move(rank, Kind.READ, name, [(chance.randint(0, most - size), size)])
        run.meet()
        for rank in range(run.ranks):
            run.close(rank, shared)
        run.meet()
        if chance.random() < 0.5:
            run.call(0, Kind.UNLINK, shared)

    def _write(self, rank: int, shared: str, own: str) -> None:
        run, chance = self.run, self._chance
        run.open(rank, own)
        for _ in range(chance.randint(self._calls // 2, self._calls)):
            name, size = chance.choice([shared, shared, own]), chance.randint(1, 9000)
            at = chance.randint(0, 50_000)
            run.now[rank] += chance.choice([0, 0, 2 * MS])
            run.move(rank, Kind.WRITE, name, [(at, size)])
            self._length[name] = max(self._length.get(name, 0), at + size)
        run.close(rank, own)
