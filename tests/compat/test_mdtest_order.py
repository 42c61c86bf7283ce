"""No task of mdtest needs a directory that another one makes at the same time."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import pytest

from venturi.compat.mdtest_option import read_arguments
from venturi.compat.mdtest_workload import MdtestRunSettings, trials_of
from venturi.model import plan as p
from venturi.model.error import UserError
from venturi.model.expression import Number, evaluate
from venturi.plan.make import make_plan
from venturi.plan.rank_placement import RankPlacement

COMMANDS = 400


@dataclass
class Walk:
    """Which rank makes, and which uses, a directory between two moments at which all meet."""

    plan: p.Plan
    rank: int
    moment: int = 0
    made: dict[str, int] = field(default_factory=dict)
    used: list[tuple[str, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._group = self.plan.groups[0]
        self._seats = RankPlacement(self.plan, self._group, 1)
        self._slots: list[Number] = [0] * len(self.plan.slots)
        self._slots[1] = self._slots[2] = self._group.ranks
        self._seats.placement_of(self._slots, self.rank)
        self._steps(self._group.program)

    def _steps(self, steps: Iterable[p.Step]) -> None:
        for step in steps:
            self._step(step)

    def _step(self, step: p.Step) -> None:
        if isinstance(step, p.Phase):
            self.moment += 1
            self._steps(step.body)
            self.moment += 1
        elif isinstance(step, p.Barrier):
            self.moment += 1
        elif isinstance(step, p.For):
            for turn in range(int(evaluate(step.count, self._slots))):
                self._slots[step.variable] = turn
                self._steps(step.body)
        elif isinstance(step, p.When):
            if evaluate(step.condition, self._slots):
                self._steps(step.body)
        elif isinstance(step, p.Manage) and step.verb is p.NameVerb.MKDIR:
            shared = self.plan.files[step.file].sharing is not p.Sharing.RANK
            self.moment += shared
            self.made.setdefault(self._path(step.file, step.owner), self.moment)
            self.moment += shared
        elif isinstance(step, p.Items):
            self.used.append((self._path(step.file, step.owner), self.moment))

    def _path(self, file: int, owner: list[p.Instruction]) -> str:
        rank = int(evaluate(owner, self._slots))
        self._seats.placement_of(self._slots, rank)
        path = "".join(self._part(part) for part in self.plan.files[file].path)
        self._seats.placement_of(self._slots, self.rank)
        return path

    def _part(self, part: p.PathPart) -> str:
        return part.text if part.value is None else str(evaluate(part.value, self._slots))


def races(plan: p.Plan) -> Iterator[str]:
    """Directories that a rank uses although another one may still have to make them."""
    walks = [Walk(plan, rank) for rank in range(plan.ranks)]
    for walk in walks:
        for path, moment in walk.used:
            makers = [other for other in walks if path in other.made]
            own = any(other is walk for other in makers)
            if makers and not own and all(other.made[path] >= moment for other in makers):
                yield f"rank {walk.rank} uses {path}, which another rank makes at the same moment"


def command(chance: random.Random) -> list[str]:
    """Any line of mdtest's phases, trees and names."""
    words = ["-n", str(chance.choice([4, 8, 12]))]
    flags = ["-u", "-L", "-F", "-D", "-C", "-T", "-E", "-r", "-c", "-S", "-R"]
    words += [flag for flag in flags if chance.random() < 0.4]
    words += ["-N", str(chance.randint(0, 3))] if chance.random() < 0.6 else []
    words += ["-z", str(chance.randint(1, 2)), "-b", "2"] if chance.random() < 0.4 else []
    words += ["-I", "2"] if chance.random() < 0.3 else []
    words += ["-w", "100", "-e", "100"] if chance.random() < 0.4 else []
    return words


@pytest.mark.parametrize("ranks", [2, 4, 7])
def test_no_task_needs_what_another_still_makes(ranks: int) -> None:
    chance = random.Random(ranks)
    planned = 0
    for _ in range(COMMANDS):
        words = command(chance)
        try:
            trials = trials_of(read_arguments(words), MdtestRunSettings(ranks))
            plans = [make_plan(t.workload, t.settings(nodes=1, most_ranks=64)).plan for t in trials]
        except UserError:
            continue  # options that exclude each other
        for plan in plans:
            planned += 1
            assert not list(races(plan)), words
    assert planned > COMMANDS // 4


@pytest.mark.parametrize("phase", ["-T", "-E", "-r"])
def test_the_stat_and_delete_lines_of_io500_are_prepared_in_order(phase: str) -> None:
    words = ["-n", "4", "-u", "-L", "-F", "-N", "1", phase]
    (trial,) = trials_of(read_arguments(words), MdtestRunSettings(2))
    assert not list(races(make_plan(trial.workload, trial.settings(nodes=1, most_ranks=64)).plan))
