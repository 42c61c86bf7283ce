"""Whether what reads among writes would find was written before.

A read of a place that nobody wrote ends early or brings zeros: neither is a measurement of the
storage, and verification would call it damage. So a step with `reads` needs its file written as a
whole, in an earlier step without a limit, or prestaged. The stamps of both writes of a place pass,
so a read is right before and after the write of its place.
"""

from __future__ import annotations

from collections.abc import Iterable

from venturi.model import plan as p
from venturi.model.error import UserError
from venturi.plan.rank_view import RankView
from venturi.plan.request import end_of, requests_of
from venturi.plan.walk import leaves

_LOSING = (p.NameVerb.RENAME, p.NameVerb.TRUNCATE, p.NameVerb.COPY)
"""After these nothing is said to be there; bytes that are renamed or copied are not followed."""


def check_reads(plan: p.Plan, nodes: int = 1) -> None:
    """UserError at a step that would read what was not written, on so many nodes."""
    for group in plan.groups:
        if _any_reads(group.program):
            _Checker(plan, group, nodes).check()


def _any_reads(steps: Iterable[p.Step]) -> bool:
    return any(isinstance(step, p.Transfer) and step.reads > 0 for step, _ in leaves(steps))


class _Checker:
    """Walks a program and knows of each file how many bytes from its beginning on are written."""

    def __init__(self, plan: p.Plan, group: p.Group, nodes: int) -> None:
        self._plan = plan
        self._group = group
        self._view = RankView(plan, group, nodes)
        self._whole: dict[int, int] = {}
        self._counts: set[int] = set()
        """Requests of a rank in the latest step: one number where all have equally many."""
        self._moved: dict[int, tuple[int, int]] = {}
        """Bytes that the steps of the phase so far wrote into one file, and how far they reach."""

    def check(self) -> None:
        for index, file in enumerate(self._plan.files):
            if file.prestage is not None:
                self._whole[index] = self._sum(file.prestage) // self._files(file)
            elif file.foreign:
                self._whole[index] = 2**63
        self._walk(self._group.program, "", counts=True)

    def _walk(self, steps: Iterable[p.Step], phase: str, counts: bool) -> None:
        for step in steps:
            if isinstance(step, p.Phase):
                self._moved.clear()
                self._walk(step.body, step.path, counts and step.limit_s is None)
            elif isinstance(step, (p.When, p.Choose)):
                self._walk(step.body, phase, counts=False)
            elif isinstance(step, (p.For, p.Repeat)):
                self._walk(step.body, phase, counts)
            elif isinstance(step, p.Manage) and step.verb is p.NameVerb.CREATE:
                self._forget(step.file)
            elif isinstance(step, p.Manage) and step.verb in _LOSING:
                self._forget(step.file if step.to is None else step.to)
            elif isinstance(step, p.Transfer) and step.operation is p.Direction.WRITE:
                self._write(step, phase, counts)

    def _forget(self, file: int) -> None:
        self._whole[file] = 0
        self._moved.pop(file, None)

    def _write(self, step: p.Transfer, phase: str, counts: bool) -> None:
        file = self._plan.files[step.file]
        moved, end = self._extent(step)
        if step.reads > 0 and step.collective and len(self._counts) > 1:
            raise UserError(
                f"phase '{phase}': ranks that read and write '{file.name}' together need equally "
                f"many requests, and they have {min(self._counts)} to {max(self._counts)}",
                "deal the same number to each, or drop 'collective'",
            )
        if step.reads > 0:
            if end > self._whole.get(step.file, 0):
                raise UserError(
                    f"phase '{phase}': 'reads' among the writes of '{file.name}' would read what "
                    "was not written before",
                    "write all of the file in an earlier step without a limit, or give it "
                    "'prestage: SIZE'",
                )
            return
        is_random = isinstance(step.pattern, p.Random) and step.pattern.replacement
        if not counts or is_random or isinstance(step.pattern, (p.Append, p.Box, p.Sequential)):
            return
        before, far = self._moved.get(step.file, (0, 0))
        self._moved[step.file] = moved + before, max(end, far)
        moved, end = self._moved[step.file]
        if moved == end * self._files(file):
            self._whole[step.file] = max(self._whole.get(step.file, 0), end)

    def _extent(self, step: p.Transfer) -> tuple[int, int]:
        """Bytes that all ranks move, and how far the furthest of them reaches."""
        moved, end = 0, 0
        self._counts = set()
        for rank in range(self._group.ranks):
            self._view.take_place_of(rank)
            requests = requests_of(step, self._view.whole)
            moved += sum(each * count for _, each, count in requests)
            self._counts.add(sum(count for _, _, count in requests))
            if requests:
                end = max(end, end_of(step, self._view.whole))
        return moved, end

    def _sum(self, code: list[p.Instruction]) -> int:
        total = 0
        for rank in range(self._group.ranks):
            self._view.take_place_of(rank)
            total += self._view.whole(code)
        return total

    def _files(self, file: p.File) -> int:
        """How many files there are of an entry at a time."""
        return self._view.placement.files(file)
