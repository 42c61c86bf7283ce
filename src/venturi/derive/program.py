"""Streams as files and steps of a workload."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import eq

from venturi.derive.access import FILE_INDEX, Steps, Writer
from venturi.derive.counts import earliest, latest
from venturi.derive.file_view import FileView
from venturi.derive.layout import FlowLayout
from venturi.derive.stream import DerivedStream, Flow, SyncPattern
from venturi.model.plan import Direction, ItemVerb
from venturi.model.units import size_text
from venturi.model.workload import (
    EachStep,
    FileSpec,
    StepSpec,
    SyncStep,
    TreeSpec,
)

LEAST_ITEMS = 8
"""With so many small files for each rank, a stream is a tree of items."""
MOST_BURSTS = 64
"""With more rounds of files than this, all of them are one phase."""
EVERY_RANK = "1"
"""The condition that always holds."""
AGAIN = "again"
"""The loop variable over passes and repeated opens."""


@dataclass
class Draft:
    """The parts of a workload that streams become."""

    files: dict[str, FileSpec] = field(default_factory=dict)
    steps: list[tuple[float, StepSpec]] = field(default_factory=list)
    """Each with the time of its first use in the job."""
    assumed: list[str] = field(default_factory=list)

    def program(self) -> Steps:
        """The steps in the order of their first use."""
        return [step for _, step in sorted(self.steps, key=lambda pair: pair[0])]


def add_stream(
    draft: Draft, stream: DerivedStream, layouts: dict[Direction, FlowLayout], alone: bool
) -> None:
    """Adds the file and the phases of a stream; `alone` means there is no other stream."""
    namer = "{direction}" if alone else stream.name + " {direction}"
    if is_tree(stream):
        _add_tree(draft, stream, namer)
    else:
        _Phases(draft, stream, layouts, namer).add()


def is_tree(stream: DerivedStream) -> bool:
    """Many files of one size, each moved in one request: names matter more than data."""
    if stream.is_shared or len(stream.group.owners) != stream.ranks:
        return False
    if stream.files % stream.ranks or stream.files < LEAST_ITEMS * stream.ranks:
        return False
    sizes = set()
    for direction in Direction:
        sizes |= {view.bytes(direction) for view in stream.group.views}
        if any(view.requests(direction) > 1 for view in stream.group.views):
            return False
    per_rank = Counter(min(view.ranks) for view in stream.group.views)
    is_even = len(per_rank) == stream.ranks and len(set(per_rank.values())) == 1
    return len(sizes - {0}) <= 1 and is_even and _is_same_for_all(stream)


def _is_same_for_all(stream: DerivedStream) -> bool:
    amounts = {tuple(view.bytes(d) for d in Direction) for view in stream.group.views}
    return len(amounts) == 1


def rank_condition(owners: Sequence[int], ranks: int) -> tuple[str, str] | None:
    """When a rank is one of `owners`, and its number among them, as expressions.

    None where no short expression says it.
    """
    first, last, count = owners[0], owners[-1], len(owners)
    if count == ranks:
        return EVERY_RANK, "rank"
    if count == 1:
        return f"rank == {first}", "0"
    if last - first + 1 == count:
        if first == 0:
            return f"rank < {count}", "rank"
        upper = f" and rank <= {last}" if last < ranks - 1 else ""
        return f"rank >= {first}{upper}", f"rank - {first}"
    step = owners[1] - first
    regular = range(first, ranks, step)
    if count == len(regular) and first < step and all(map(eq, owners, regular)):
        return f"rank % {step} == {first}", f"rank // {step}"
    return None


def _add_tree(draft: Draft, stream: DerivedStream, namer: str) -> None:
    items = stream.files // stream.ranks
    writes, reads = stream.flow(Direction.WRITE), stream.flow(Direction.READ)
    size = max(view.bytes(direction) for view in stream.group.views[:1] for direction in Direction)
    exists = writes is None and reads is not None
    draft.files[stream.name] = FileSpec(
        path=stream.name,
        about=stream.known_as,
        interface=stream.interface,
        shared="rank" if stream.group.directory_per_rank else "all",
        tree=TreeSpec(items=items, size=size_text(size) if size else 0),
        prestage=size_text(items * size) if exists else None,
    )
    at = first_use(stream, stream.flows[0] if stream.flows else None)
    if not exists:
        verbs = [ItemVerb.CREATE]
        if writes is not None:
            verbs.append(ItemVerb.WRITE)
        if stream.sync.pattern is not SyncPattern.NONE:
            verbs.append(ItemVerb.SYNC)
        each = StepSpec(each=EachStep(on=stream.name, do=[*verbs, ItemVerb.CLOSE]))
        name = namer.format(direction="write" if writes is not None else "create")
        draft.steps.append((at, StepSpec(phase=name, do=[each])))
    if reads is not None:
        verbs = [ItemVerb.OPEN, ItemVerb.READ, ItemVerb.CLOSE]
        each = StepSpec(each=EachStep(on=stream.name, do=verbs))
        phase = StepSpec(phase=namer.format(direction="read"), do=[each])
        draft.steps.append((max(at, first_use(stream, reads)), phase))
    _add_tree_opens(draft, stream, namer, at)


def _add_tree_opens(draft: Draft, stream: DerivedStream, namer: str, at: float) -> None:
    """Opens of items beyond those that data needs: whole rounds over all items."""
    phases = 1 if not stream.flows else len(stream.flows)
    rounds = stream.opens // stream.files - phases
    if rounds <= 0:
        return
    each = EachStep(on=stream.name, do=[ItemVerb.OPEN, ItemVerb.CLOSE])
    step = StepSpec(each=each)
    if rounds > 1:
        step = StepSpec(for_=AGAIN, in_=rounds, do=[step])
    last = max([at, *(first_use(stream, flow) for flow in stream.flows)])
    draft.steps.append((last, StepSpec(phase=namer.format(direction="open"), do=[step])))


def first_use(stream: DerivedStream, flow: Flow | None) -> float:
    """When a flow, or a stream without data, was first used: seconds from the job's start."""
    if flow is not None and flow.counts.start_s is not None:
        return flow.counts.start_s
    return earliest(stream.records, "F_OPEN_START_TIMESTAMP") or 0.0


class _Phases:
    """The file and the phases of a stream that is not a tree."""

    def __init__(
        self, draft: Draft, stream: DerivedStream, layouts: dict[Direction, FlowLayout], namer: str
    ) -> None:
        self._draft = draft
        self._stream = stream
        self._layouts = layouts
        self._namer = namer
        self._condition, self._place = self._roles()
        self._data, self._ends = self._written("")
        self._exists = self._is_read_before_written()
        self._several = stream.files_each > 1
        if self._exists and self._several:
            self._join_files()

    def _written(self, base: str) -> tuple[dict[Direction, Steps], dict[Direction, int]]:
        """The data steps of each direction, and where each ends in the file."""
        steps: dict[Direction, Steps] = {}
        ends: dict[Direction, int] = {}
        for flow in self._stream.flows:
            layout = self._layouts[flow.direction]
            writer = Writer(self._stream, flow, layout, self._place, base)
            steps[flow.direction] = writer.write()
            ends[flow.direction] = writer.offset
        return steps, ends

    def _join_files(self) -> None:
        """Lets one file stand for several that were there before the job.

        Prestaged files cannot depend on a loop; every byte still is read once, and every
        file opened.
        """
        stream = self._stream
        length = max(self._ends.values())
        self._data, _ = self._written(f"{FILE_INDEX} * {size_text(length)}")
        self._ends = dict.fromkeys(self._ends, length * stream.files_each)
        self._several = False
        self._draft.assumed.append(
            f"{stream.name}: the parts of one file stand for {stream.files_each} files that were "
            "there before"
        )

    def add(self) -> None:
        """Adds the file, then a phase for each direction, or one that only opens."""
        stream = self._stream
        self._draft.files[stream.name] = self._file()
        begins = itertools.accumulate((first_use(stream, flow) for flow in stream.flows), max)
        phases = [(at, self._phase(f)) for at, f in zip(begins, stream.flows, strict=True)]
        if not phases:
            phases = [(first_use(stream, None), self._only_opens())]
        if stream.files_each > 1 and are_bursts(stream):
            loop = StepSpec(for_=FILE_INDEX, in_=stream.files_each, do=[p for _, p in phases])
            phases = [(phases[0][0], loop)]
        self._draft.steps += phases

    def _roles(self) -> tuple[str, str]:
        stream = self._stream
        if stream.is_shared:
            return EVERY_RANK, "rank"
        found = rank_condition(stream.group.owners, stream.ranks)
        if found is None:
            count = len(stream.group.owners)
            self._draft.assumed.append(
                f"{stream.name}: the {count} ranks with these files are scattered; the first "
                f"{count} ranks stand for them"
            )
            found = f"rank < {count}", "rank"
        return found

    def _is_read_before_written(self) -> bool:
        """Whether data that is read was there before the job, or has to be for the proxy."""
        if Direction.READ not in self._ends:
            return False
        is_first = self._stream.flows[0].direction is Direction.READ
        return is_first or self._ends[Direction.READ] > self._ends[Direction.WRITE]

    def _file(self) -> FileSpec:
        stream = self._stream
        prestage = None
        if self._exists:
            users = stream.ranks if stream.is_shared else 1
            prestage = size_text(-(-self._ends[Direction.READ] // users))
        return FileSpec(
            path=f"{stream.name}.{{{FILE_INDEX}:04d}}" if self._several else stream.name,
            about=stream.known_as,
            interface=stream.interface,
            shared="all" if stream.is_shared else "rank",
            prestage=prestage,
        )

    def _phase(self, flow: Flow) -> StepSpec:
        stream = self._stream
        layout = self._layouts[flow.direction]
        body = list(self._data[flow.direction])
        if flow.direction is Direction.WRITE and stream.sync.pattern is SyncPattern.END:
            body.append(StepSpec(sync=SyncStep(on=stream.name, mode=stream.sync.mode)))
        is_first = flow is stream.flows[0] and not self._exists
        opening = StepSpec(create=stream.name) if is_first else StepSpec(open=stream.name)
        closing = StepSpec(close=stream.name)
        repeats = flow.passes if is_repeated(layout) else 1
        if repeats == 1:
            body = [opening, *body, closing]
        elif is_reopened(stream, flow):
            body = [StepSpec(for_=AGAIN, in_=repeats, do=[opening, *body, closing])]
        else:
            body = [opening, StepSpec(for_=AGAIN, in_=repeats, do=body), closing]
        if flow is stream.flows[-1] and not stream.interface.entry.is_library:
            body += self._opens(stream.opens // max(1, stream.units) - self._opens_for_data())
        return self._wrap(body, flow.direction.value)

    def _opens_for_data(self) -> int:
        """How often the phases open each file."""
        return sum(
            flow.passes
            if is_repeated(self._layouts[flow.direction]) and is_reopened(self._stream, flow)
            else 1
            for flow in self._stream.flows
        )

    def _only_opens(self) -> StepSpec:
        """A file that was opened and closed, and no more."""
        stream = self._stream
        body: Steps = [StepSpec(create=stream.name), StepSpec(close=stream.name)]
        body += self._opens(stream.opens // max(1, stream.units) - 1)
        return self._wrap(body, "open")

    def _opens(self, times: int) -> Steps:
        """Opens that move nothing."""
        if times <= 0:
            return []
        pair: Steps = [StepSpec(open=self._stream.name), StepSpec(close=self._stream.name)]
        return pair if times == 1 else [StepSpec(for_=AGAIN, in_=times, do=pair)]

    def _wrap(self, body: Steps, word: str) -> StepSpec:
        """The body for every file, for the ranks that do it, as a phase."""
        stream = self._stream
        if stream.files_each > 1 and not are_bursts(stream):
            body = [StepSpec(for_=FILE_INDEX, in_=self._files_each(), do=body)]
        if self._condition != EVERY_RANK:
            body = [StepSpec(when=self._condition, do=body)]
        return StepSpec(phase=self._namer.format(direction=word), do=body)

    def _files_each(self) -> int | str:
        """How many files a rank has: a number, or an expression where ranks differ."""
        stream = self._stream
        owners = len(stream.group.owners)
        if stream.is_shared or stream.files % owners == 0:
            return stream.files_each
        return f"block({stream.files}, {owners}, {self._place})"


def is_repeated(layout: FlowLayout) -> bool:
    """Whether passes over the data become a loop; else they are in the counts already."""
    return bool(layout.nests) or layout.gap > 0


def is_reopened(stream: DerivedStream, flow: Flow) -> bool:
    """Whether there were enough opens for one in each pass over the data."""
    return stream.opens >= flow.passes * stream.units


def are_bursts(stream: DerivedStream) -> bool:
    """Whether a stream's files are used one set after the other: no set overlaps the next."""
    if stream.files_each > MOST_BURSTS:
        return False
    by_rank: dict[int, list[tuple[float, float]]] = {}
    for view in stream.group.views:
        window = _window(view)
        if window is None:
            return False
        by_rank.setdefault(min(view.ranks), []).append(window)
    if len({len(windows) for windows in by_rank.values()}) != 1:
        return False
    ordered = [sorted(windows) for windows in by_rank.values()]
    rounds = list(zip(*ordered, strict=True))
    ends = [max(end for _, end in windows) for windows in rounds]
    starts = [min(start for start, _ in windows) for windows in rounds]
    return all(end <= start for end, start in zip(ends[:-1], starts[1:], strict=True))


def _window(view: FileView) -> tuple[float, float] | None:
    """From the first open of a file to its last close, in seconds from the job's start."""
    start = earliest(view.data, "F_OPEN_START_TIMESTAMP")
    end = latest(view.data, "F_CLOSE_END_TIMESTAMP")
    return None if start is None or end is None else (start, end)
