"""A write that is lost among rewrites is found; and nothing is found where nothing was lost."""

from __future__ import annotations

import random as chance_of
from pathlib import Path

import pytest

from engine.plans import (
    LOOP,
    RANK,
    RANKS,
    Content,
    Operator,
    Plan,
    Tree,
    binary,
    fault,
    file,
    items,
    loop,
    manage,
    nest,
    number,
    phase,
    plan,
    random,
    read,
    times,
    write,
)
from engine.running import Engine, Outcome, size_of_group
from venturi.model.plan import Step

VERIFIED = Content(verify=True)
PROGRAMS = 60


def damage(outcome: Outcome) -> list[str]:
    """What was found, request by request."""
    return [
        detail["damage"]
        for event in outcome.of("phase_finished")
        for detail in event["details"]
        if detail.get("damage")
    ]


def errors(outcome: Outcome) -> int:
    return sum(event["errors"] for event in outcome.of("phase_finished"))


def block(size: int, count: int, per_rank: bool) -> object:
    return nest(0 if per_rank else times(RANK, size * count), (count, size))


@pytest.mark.parametrize("per_rank", [True, False], ids=["own", "shared"])
@pytest.mark.parametrize("again", ["same", "random", "smaller", "loop"])
def test_a_lost_rewrite_is_found(
    engine: Engine, tmp_path: Path, comm: str, per_rank: bool, again: str
) -> None:
    ranks, size, count = size_of_group(comm), 4096, 16
    whole = block(size, count, per_rank)
    if again == "smaller":
        second = write(size // 4, block(size // 4, 4 * count, per_rank))
    elif again == "random":
        places = ranks * count
        step = {} if per_rank else {"first": RANK, "step": ranks}
        second = write(size, random(count if per_rank else places, count, **step))
    else:
        second = write(size, whole)
    lost = fault("drop", "write", nth=count + 5)
    rewrite = [phase("again", second)]
    if again == "loop":
        # Ranks that share a file are told apart by phases only.
        rewrite = [phase("again", loop(LOOP, 3, second))]
        rewrite += [] if per_rank else [phase("last", second)]
        lost = fault("drop", "write", nth=(3 if per_rank else 4) * count + 5)
    program = [
        phase("w", manage("create"), write(size, whole)),
        *rewrite,
        phase("r", read(size, whole)),
    ]
    files = [file(per_rank=per_rank, content=VERIFIED, faults=[lost])]
    made = plan(tmp_path, files, program, ranks=ranks, loops=["i"])
    outcome = engine.run(made, comm)
    assert outcome.code == 3, outcome.stderr
    assert damage(outcome) == ["stale"] * ranks
    assert outcome.phase("r")["errors"] == ranks


def test_a_lost_rewrite_of_an_item_is_found(engine: Engine, tmp_path: Path) -> None:
    tree = Tree(depth=0, branch=1, items=number(10), size=number(3901))
    lost = fault("drop", "write", nth=17)
    program = [
        phase("w", items("create", "write", "close")),
        phase("again", items("open", "write", "close")),
        phase("r", items("open", "read", "close")),
    ]
    made = plan(
        tmp_path,
        [file(tree=tree, per_rank=True, content=VERIFIED, faults=[lost])],
        program,
        ranks=2,
    )
    outcome = engine.run(made)
    assert damage(outcome) == ["stale", "stale"]


def test_a_lost_write_over_prestaged_data_is_found(engine: Engine, tmp_path: Path) -> None:
    size, count = 4096, 8
    lost = fault("drop", "write", nth=3)
    whole = nest(0, (count, size))
    program = [
        phase("w", manage("open"), write(size, whole)),
        phase("r", read(size, whole)),
    ]
    files = [file(prestage=number(size * count), content=VERIFIED, faults=[lost])]
    assert damage(engine.run(plan(tmp_path, files, program), "alone")) == ["stale"]


class Programs:
    """Programs of writes, rewrites and reads in any order, on files of several kinds."""

    def __init__(self, seed: int, ranks: int) -> None:
        self._chance = chance_of.Random(seed)
        self._ranks = ranks
        self._size = self._chance.choice([512, 1000, 4096, 5000])
        self._count = 8
        self.per_rank = self._chance.random() < 0.5

    def made(self, place: Path) -> Plan:
        chance = self._chance
        size, count = self._size, self._count
        kinds = {"interface": chance.choice(["posix", "uring", "stdio", "mmap"])}
        files = [file(per_rank=self.per_rank, content=VERIFIED, **kinds)]
        program = [phase("w", manage("create"), write(size, self._whole(size, count)))]
        for turn in range(chance.randint(1, 6)):
            program.append(self._phase(f"p{turn}"))
        program.append(phase("r", read(size, self._whole(size, count))))
        return plan(
            place,
            files,
            program,
            ranks=self._ranks,
            loops=["i"],
            repetitions=chance.randint(1, 2),
            seed=chance.randint(1, 99),
        )

    def _whole(self, size: int, count: int) -> object:
        return block(size, count, self.per_rank)

    def _phase(self, name: str) -> Step:
        chance = self._chance
        body: list[Step] = []
        for _ in range(chance.randint(1, 3)):
            body += self._steps()
        if chance.random() < 0.25:
            again = write(self._size, self._whole(self._size, self._count))
            return phase(name, again, again, limit_s=1e-6, bound_s=0.0)
        return phase(name, *body)

    def _steps(self) -> list[Step]:
        chance, size, count = self._chance, self._size, self._count
        draw = chance.random()
        if draw < 0.3:
            return [write(size, self._whole(size, count))]
        if draw < 0.45:
            part = chance.randint(1, count)
            first = 0 if self.per_rank else times(RANK, size * count)
            return [write(size, nest(first, (part, size)))]
        if draw < 0.6:
            step = {} if self.per_rank else {"first": RANK, "step": self._ranks}
            places = count if self.per_rank else count * self._ranks
            return [write(size, random(places, chance.randint(1, count), **step))]
        if draw < 0.7:
            return [loop(LOOP, chance.randint(2, 3), write(size, self._whole(size, count)))]
        if draw < 0.8:
            # What an odd number of bytes at a time makes of words.
            odd = chance.choice([7, 100, size - 1])
            return [write(odd, nest(0 if self.per_rank else times(RANK, size * count), (8, odd)))]
        return [read(size, self._whole(size, count))]


@pytest.mark.parametrize("seed", range(PROGRAMS))
def test_nothing_is_found_where_nothing_was_lost(engine: Engine, tmp_path: Path, seed: int) -> None:
    programs = Programs(seed, 1 + seed % 3)
    outcome = engine.run(programs.made(tmp_path))
    assert outcome.code == 0, outcome.stderr
    assert errors(outcome) == 0, [event["details"] for event in outcome.of("phase_finished")]


def test_ranks_that_race_through_a_phase_are_no_damage(engine: Engine, tmp_path: Path) -> None:
    """One rank reads what its neighbour writes again in the same phase, before or after it."""
    size, count, ranks = 4096, 64, 4
    pattern = nest(times(RANK, size * count), (count, size))
    neighbour = binary(Operator.MODULO, binary(Operator.ADD, RANK, number(1)), RANKS)
    body = [write(size, pattern), read(size, pattern, owner=neighbour)]
    program = [
        phase("w", manage("create"), write(size, pattern)),
        phase("race", loop(LOOP, 20, *body)),
    ]
    made = plan(tmp_path, [file(content=VERIFIED)], program, ranks=ranks, loops=["i"])
    outcome = engine.run(made)
    assert errors(outcome) == 0
