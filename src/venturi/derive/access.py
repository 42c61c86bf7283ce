"""The data steps of one flow: IOR's nest where it fits, else sizes and counts that add up."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import gcd
from typing import Any

from venturi.derive.layout import FlowLayout, IorNest, LayoutKind
from venturi.derive.stream import DerivedStream, Flow, SyncPattern
from venturi.model.plan import Direction
from venturi.model.units import size_text
from venturi.model.workload import BareStep, DataStep, PatternKind, StepSpec

FILE_INDEX = "k"
"""The loop variable over the files of a stream."""
RUN_INDEX = "i"
"""The loop variable over the runs in a file."""
MOST_PARTS = 6
"""A mix of more sizes than this is shortened: the rarest are replaced by their mean."""
GOLDEN = 0.618
"""Steps of this share of a circle spread points evenly: the order of random runs."""

Steps = list[StepSpec | BareStep]


@dataclass
class Writer:
    """Writes the data steps of one flow of one stream."""

    stream: DerivedStream
    flow: Flow
    layout: FlowLayout
    place: str = "rank"
    """The rank's number among those that use these files, as an expression."""
    base: str = ""
    """Where the file begins within the one file that stands for several, as an expression."""
    offset: int = 0
    """Where the next step's pattern begins in the file; at the end, where the last one ends."""
    steps: Steps = field(default_factory=list)

    def write(self) -> Steps:
        """All steps, in order."""
        if self.layout.kind is LayoutKind.RANDOM:
            self._random()
        elif self.layout.kind is LayoutKind.GAPPED:
            self._gapped()
        elif self.layout.kind is LayoutKind.NEST:
            for nest in self.layout.nests:
                self._nest(nest)
        else:
            self._sizes(shortened(self.flow.mix.parts))
        return self.steps

    @property
    def _spread(self) -> bool:
        """Whether all ranks share the file and all of them move data."""
        return self.stream.is_shared and self.flow.active == self.stream.ranks

    def _add(self, **keys: Any) -> None:
        self.steps.append(self._step(**keys))

    def _step(self, **keys: Any) -> StepSpec:
        """A `write` or `read` on the stream's file with these keys."""
        is_write = self.flow.direction is Direction.WRITE
        keys["to" if is_write else "from_"] = self.stream.name
        if self.flow.is_collective:
            keys["collective"] = True
        if is_write and self.stream.sync.pattern is SyncPattern.EACH:
            keys["sync"] = self.stream.sync.mode
        data = DataStep(**keys)
        return StepSpec(write=data) if is_write else StepSpec(read=data)

    @property
    def _mover(self) -> str:
        """Whether a rank moves data, where not all do."""
        return "rank == 0" if self.flow.active == 1 else f"rank < {self.flow.active}"

    def _start(self) -> dict[str, str]:
        at = self._behind("")
        return {"at": at} if at else {}

    def _nest(self, nest: IorNest) -> None:
        transfer, volume = size_text(nest.transfer), size_text(nest.volume)
        if self.stream.is_shared and (self.flow.reads_whole or not self._spread):
            size = volume if self._spread else f"{volume} if {self._mover} else 0"
            step = "0" if self.flow.reads_whole else volume
            self._add(transfer=transfer, size=size, at=self._behind(f"{step} * rank"))
        elif not self.stream.is_shared or nest.segments == 1:
            self._add(transfer=transfer, size=volume, **self._start())
        elif nest.block == nest.transfer:
            count = nest.segments
            pattern = PatternKind.STRIDED
            self._add(pattern=pattern, transfer=transfer, count=count, **self._start())
        else:
            self._add(
                pattern=PatternKind.SEGMENTED,
                transfer=transfer,
                block=size_text(nest.block),
                segments=nest.segments,
                **self._start(),
            )
        takes_turns = self.stream.is_shared and not self.flow.reads_whole
        self.offset += nest.volume * (self.flow.active if takes_turns else 1)

    def _behind(self, place: str) -> str:
        """A place, behind the base and what the flow moved before."""
        offset = size_text(self.offset) if self.offset else ""
        return " + ".join(term for term in (self.base, offset, place) if term)

    def _gapped(self) -> None:
        run, gap = self.layout.run, self.layout.gap
        runs = self.flow.counts.bytes // (self.stream.files * self.flow.passes * run)
        step = self._step(
            transfer=size_text(self.flow.mix.transfer),
            size=size_text(run),
            at=self._behind(f"{RUN_INDEX} * {size_text(run + gap)}"),
        )
        self.steps.append(StepSpec(for_=RUN_INDEX, in_=runs, do=[step]))
        self.offset = runs * (run + gap)

    def _random(self) -> None:
        (transfer, count), *rest = shortened(self.flow.mix.parts)
        region = self._region(transfer)
        run = self.layout.run
        each, uneven = divmod(count, self._units)
        per_run = run // transfer
        if per_run > 1 and not uneven and each % per_run == 0 and region >= run:
            self._random_runs(run, each // per_run, max(1, region // run))
        else:
            self._add(
                pattern=PatternKind.RANDOM,
                transfer=size_text(transfer),
                size=size_text(region),
                count=each if not uneven else self._share(count),
                **self._start(),
                **({"replacement": True} if each + (uneven > 0) > region // transfer else {}),
            )
        self.offset = region * (self.stream.ranks if self.stream.is_shared else 1)
        self._sizes(rest)

    def _random_runs(self, run: int, runs: int, slots: int) -> None:
        """Runs in a scattered order: a step that has no factor in common with their number."""
        step = max(1, round(slots * GOLDEN))
        while gcd(step, slots) != 1:
            step += 1
        place = f"({RUN_INDEX} * {step} % {slots})"
        step_bytes = f"ranks * {size_text(run)}" if self.stream.is_shared else size_text(run)
        data = self._step(
            transfer=size_text(self.flow.mix.transfer),
            size=size_text(run),
            at=self._behind(f"{place} * {step_bytes}"),
        )
        self.steps.append(StepSpec(for_=RUN_INDEX, in_=runs, do=[data]))

    @property
    def _units(self) -> int:
        return self.stream.files * (self.stream.ranks if self.stream.is_shared else 1)

    def _region(self, transfer: int) -> int:
        """Bytes of the region of one rank, in whole requests."""
        share = self.flow.counts.extent // self._units
        return max(1, share // transfer) * transfer

    def _share(self, count: int) -> str:
        """A rank's part of `count` requests that do not divide evenly, as an expression."""
        stream = self.stream
        if stream.is_shared:
            return f"block({self._per_file(count)}, ranks, rank)"
        owners = len(stream.group.owners)
        users = "ranks" if owners == stream.ranks else str(owners)
        if stream.files_each == 1:
            return f"block({count}, {users}, {self.place})"
        if owners == 1:
            return f"block({count}, {stream.files}, {FILE_INDEX})"
        files = f"{stream.files_each} * {users}" if stream.files % owners == 0 else stream.files
        return f"block({count}, {files}, {FILE_INDEX} * {users} + {self.place})"

    def _per_file(self, count: int) -> str | int:
        """The part of `count` requests that one shared file gets."""
        each, rest = divmod(count, self.stream.files)
        return f"block({count}, {self.stream.files}, {FILE_INDEX})" if rest else each

    def _sizes(self, parts: list[tuple[int, int]]) -> None:
        """One step for each size, one after the other."""
        for size, count in parts:
            if self.stream.is_shared and not self._spread:
                self._sizes_of_few(size, count)
            elif self.stream.is_shared:
                self._sizes_of_all(size, count)
            else:
                self._sizes_alone(size, count)

    def _sizes_alone(self, size: int, count: int) -> None:
        each, rest = divmod(count, self.stream.files)
        if rest:
            self._add(transfer=size_text(size), count=self._share(count), **self._start())
        else:
            self._add(transfer=size_text(size), size=size_text(each * size), **self._start())
        self.offset += (each + (rest > 0)) * size

    def _sizes_of_all(self, size: int, count: int) -> None:
        each, rest = divmod(count, self._units)
        if rest:
            self._add(transfer=size_text(size), total=self._per_file(count), **self._start())
        else:
            self._add(transfer=size_text(size), size=size_text(each * size), **self._start())
        self.offset += -(-count // self.stream.files) * size

    def _sizes_of_few(self, size: int, count: int) -> None:
        """The first ranks share the requests; each begins behind the ranks before it."""
        users, files = self.flow.active, self.stream.files
        transfer = size_text(size)
        if files == 1:
            each, rest = divmod(count, users)
            before = f"({each} * rank + min(rank, {rest}))" if rest else f"{each} * rank"
            before = f"min(rank, {rest})" if each == 0 else before
            length = count * size
        else:
            each = -(-count // (users * files))
            before = f"{each} * rank"
            length = each * users * size
        part = f"block({self._per_file(count)}, {users}, min(rank, {users - 1}))"
        self._add(
            transfer=transfer,
            count=f"{part} if {self._mover} else 0",
            at=self._behind(f"{before} * {transfer}"),
        )
        self.offset += length


def shortened(parts: tuple[tuple[int, int], ...]) -> list[tuple[int, int]]:
    """At most `MOST_PARTS` + 1 parts with the same bytes and requests."""
    if len(parts) <= MOST_PARTS + 1:
        return list(parts)
    head, tail = list(parts[: MOST_PARTS - 1]), parts[MOST_PARTS - 1 :]
    requests = sum(count for _, count in tail)
    size, longer = divmod(sum(size * count for size, count in tail), requests)
    mean = [(size + 1, longer), (size, requests - longer)]
    return head + [(bytes_, count) for bytes_, count in mean if bytes_ and count]
