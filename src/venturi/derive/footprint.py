"""Operations, with what one asks of each: whose it is, of which stream, and at which layer.

The same view serves the findings, the pictures and the comparison of two captures.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from venturi.derive.known_name import numbered
from venturi.derive.noise import is_foreign
from venturi.model.operation import (
    COPIES,
    KIND_CODES,
    LAYER_CODES,
    LAYERS,
    NO_FILE,
    NOT_A_FILE,
    TYPES,
    UNKNOWN_OFFSET,
    Column,
    Kind,
    Operations,
)
from venturi.model.trace import Layer, Process, TracedFile
from venturi.model.trace_folder import Captured

MOST_NAMES = 4
"""The same for files of which a program that also moves data uses the names only."""

MOST_STREAMS = 24
"""With more kinds of names than this, names are put together more coarsely."""

LONGEST_ENDING = 8
"""Of a name, with its dot; what is longer is no ending."""

NAMES = (
    Kind.OPEN,
    Kind.CLOSE,
    Kind.STAT,
    Kind.UNLINK,
    Kind.RENAME,
    Kind.LINK,
    Kind.MKDIR,
    Kind.RMDIR,
    Kind.LIST,
    Kind.TRUNCATE,
    Kind.ALLOCATE,
    Kind.ATTRIBUTE,
)
"""Kinds that work on names and sizes, not on data."""

SYNCS = (Kind.SYNC, Kind.DATA_SYNC)

TRUNCATE_FLAG = 0o1000
"""O_TRUNC of open(2) on Linux."""

_DATASET_CODES = [LAYER_CODES[layer] for layer in (Layer.HDF5_DATASET, Layer.PNETCDF_VARIABLE)]

_HEIGHT = {
    Layer.POSIX: 0,
    Layer.STDIO: 0,
    Layer.LUSTRE: 0,
    Layer.MPIIO: 1,
    Layer.HDF5_FILE: 2,
    Layer.PNETCDF_FILE: 2,
    Layer.HDF5_DATASET: 3,
    Layer.PNETCDF_VARIABLE: 3,
}
"""Of layers that call each other, the higher one is what the application said."""

_LAUNCHERS = frozenset(
    {
        "mpirun",
        "mpiexec",
        "mpiexec.hydra",
        "hydra_pmi_proxy",
        "orterun",
        "orted",
        "prterun",
        "prted",
        "prte",
        "srun",
        "slurmstepd",
    }
)
"""They start ranks; what they read and write is not the application's."""

_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True)
class Footprint:
    """Columns beside the operations of `ops`, one entry per row."""

    ops: Operations
    files: Sequence[TracedFile]
    lane: Column
    """Index into `lanes`."""
    lanes: list[str]
    ranks: int
    """Lanes of ranks; 0: a job without any."""
    root: Column
    """The file, for datasets the one that they lie in; -1: none."""
    stream: Column
    """Index into `streams`; -1: left out as noise, or no file."""
    streams: list[str]
    top: Column
    """Mask: rows of the layer in which the application speaks to the file."""
    job_s: float

    @cached_property
    def seconds(self) -> Column:
        """How long each call took."""
        return np.asarray((self.ops.end_ns - self.ops.start_ns) * 1e-9)

    def kind(self, *kinds: Kind) -> Column:
        """Mask of the rows of these kinds."""
        table = np.zeros(256, bool)
        table[[KIND_CODES[kind] for kind in kinds]] = True
        return np.asarray(table[self.ops.kind])

    @cached_property
    def reads(self) -> Column:
        """Mask: what the application read of its files, also by copying them."""
        return self.own & self.kind(Kind.READ, Kind.COPY)

    @cached_property
    def writes(self) -> Column:
        """Mask: what the application wrote to its files, also by copying others."""
        return self.own & self.kind(Kind.WRITE)

    @cached_property
    def data(self) -> Column:
        """Mask: reads and writes that moved bytes."""
        return self.reads | self.writes

    @cached_property
    def names(self) -> Column:
        """Mask: work on names and sizes of the application's files; datasets have none."""
        in_file = np.isin(self.ops.layer, _DATASET_CODES)
        return self.own & self.kind(*NAMES) & ~in_file

    @cached_property
    def syncs(self) -> Column:
        """Mask: syncs of the application's files."""
        return self.own & self.kind(*SYNCS)

    @cached_property
    def own(self) -> Column:
        """Mask: calls of the application on its own files; no noise, pipes or lower layers."""
        pipe = (self.ops.detail & NOT_A_FILE) != 0
        pipe &= self.kind(Kind.READ, Kind.WRITE)
        return np.asarray(self.top & (self.stream >= 0) & ~pipe)

    @property
    def who(self) -> str:
        """What a lane is: a rank, or a program where there are none."""
        return "rank" if self.ranks else "program"

    @cached_property
    def renamed(self) -> Column:
        """Files that get another name."""
        return np.unique(self.root[self.kind(Kind.RENAME) & (self.ops.error == 0)])

    @cached_property
    def replaced(self) -> Column:
        """Files whose names stand for others afterwards: removed, renamed, replaced, or cut."""
        fine = self.ops.error == 0
        rename = fine & self.kind(Kind.RENAME)
        targets = self.ops.detail[rename & (self.ops.detail < len(self.files))]
        begins_ns = np.full(len(self.files) + 1, np.iinfo(np.int64).max)
        np.minimum.at(begins_ns, self.root[self.data], self.ops.start_ns[self.data])
        cuts = self.kind(Kind.OPEN) & (self.ops.detail & TRUNCATE_FLAG > 0)
        cuts |= self.kind(Kind.TRUNCATE)
        cuts &= fine & (self.ops.start_ns > begins_ns[self.root])
        gone = fine & self.kind(Kind.UNLINK, Kind.RENAME)
        return np.unique(np.concatenate((self.root[gone | cuts], targets)))

    def of_layer(self, *layers: Layer) -> Column:
        """Mask of the rows of these layers."""
        table = np.zeros(256, bool)
        table[[LAYER_CODES[layer] for layer in layers]] = True
        return np.asarray(table[self.ops.layer])

    def longest_s(self, mask: Column) -> float:
        """Return the seconds inside the masked calls, of the lane that is in them longest."""
        return float(self.inside_s(np.flatnonzero(mask)).max(initial=0.0))

    def inside_s(self, rows: Column) -> Column:
        """Return the seconds that each lane is inside of these calls.

        Calls that lie in each other, or run at once in threads of a lane, count once.
        """
        lane, start = self.lane[rows], self.ops.start_ns[rows]
        order = np.lexsort((start, lane))
        lane, start, end = lane[order], start[order], self.ops.end_ns[rows][order]
        if not len(lane):
            return np.zeros(len(self.lanes))
        # Lanes lie one behind the other on one line, so that one running maximum serves them all.
        origin = int(start.min())
        beyond = lane.astype(np.int64) * (int(end.max()) - origin + 1) - origin
        reached = np.maximum.accumulate(end + beyond)
        before = np.append(np.int64(-1), reached[:-1])
        new = np.maximum(end + beyond - np.maximum(start + beyond, before), 0)
        return np.bincount(lane, new * 1e-9, len(self.lanes))

    def per_lane(self, mask: Column, values: Column) -> Column:
        """Sums of `values` over the masked rows, lane by lane."""
        return np.bincount(self.lane[mask], values[mask], len(self.lanes))

    def path(self, root: int) -> str:
        """The path of a file."""
        return self.files[root].path


def footprint_of(captured: Captured, names: Sequence[str] = ()) -> Footprint | None:
    """The footprint of a trace; None where it has no operations.

    `names` are those of the streams of its files, one for each, empty for what is left out;
    without them streams are found by the names of the files.
    """
    given, trace = captured.operations, captured.trace
    if given is None:
        return None
    ops = with_copies_alike(given)
    lane_of, lanes, ranks = _lanes(trace.processes, trace.job.ranks)
    roots = _roots(trace.files)
    at = np.where(ops.file == NO_FILE, len(roots), ops.file).astype(np.int64)
    root = np.append(roots, -1)[np.minimum(at, len(roots))]
    height = _heights()[ops.layer]
    highest = np.zeros(len(roots) + 1, np.int8)
    data = ops.is_kind(Kind.READ, Kind.WRITE)
    np.maximum.at(highest, root[data], height[data])
    top = _is_top(height, highest[root])
    top |= _synced_by_itself(ops, height, highest[root])
    has_data = np.zeros(len(roots) + 1, bool)
    has_data[root[data]] = True
    if names:
        streams = sorted({name for name in names if name})
        numbers = {name: number for number, name in enumerate(streams)}
        stream_of = np.array([numbers.get(name, -1) for name in names])[roots]
    else:
        stream_of, streams = _streams(trace.files, roots, highest[:-1], has_data[:-1])
    starts_others = np.array([p.program in _LAUNCHERS for p in trace.processes] or [False])
    process = np.minimum(ops.process, len(lane_of) - 1)
    moved = max(trace.job.seconds, float(ops.end_ns.max(initial=0)) * 1e-9)
    return Footprint(
        ops=ops,
        files=trace.files,
        lane=lane_of[process],
        lanes=lanes,
        ranks=ranks,
        root=root,
        stream=np.where(starts_others[process], -1, np.append(stream_of, -1)[root]),
        streams=streams,
        top=top,
        job_s=moved,
    )


def with_copies_alike(operations: Operations) -> Operations:
    """The operations with every copy that moved something, or shared it, as one kind and a write.

    Which way a storage has says nothing of the application; the others were tried in vain, or only
    found the end of the file. A copy is read by the call itself; behind it stands a write of as
    many bytes to the other file, at an unknown place and without time of its own.
    """
    copies = operations.is_kind(*COPIES)
    if not np.any(copies):
        return operations
    found = operations.take(np.flatnonzero(~copies | (operations.bytes > 0)))
    copies = found.is_kind(*COPIES)
    rows = np.flatnonzero(copies & (found.error == 0))
    columns = {name: getattr(found, name).copy() for name in TYPES}
    added = {name: column[rows] for name, column in columns.items()}
    columns["kind"][copies] = KIND_CODES[Kind.COPY]
    columns["detail"][copies] = 0  # no bits as of reads and writes
    added["kind"][:] = KIND_CODES[Kind.WRITE]
    added["file"], added["detail"] = added["detail"].copy(), np.zeros_like(added["detail"])
    added["offset"][:] = UNKNOWN_OFFSET
    added["start_ns"] = added["end_ns"]
    order = np.argsort(np.concatenate((np.arange(len(found)), rows)), kind="stable")
    both = {name: np.concatenate((columns[name], added[name]))[order] for name in TYPES}
    return Operations(**both)


def _heights() -> Column:
    return np.array([_HEIGHT[layer] for layer in LAYERS] + [0] * (256 - len(LAYERS)), np.int8)


def _is_top(height: Column, highest: Column) -> Column:
    """Data of the highest layer; names of the layer of files that belongs to it."""
    opens_for = np.where(highest == 3, 2, highest)
    return np.asarray((height == highest) | ((height == opens_for) & (highest > 0)))


def _synced_by_itself(ops: Operations, height: Column, highest: Column) -> Column:
    """Mask: syncs of a library's files that no call of a library makes.

    Who calls fsync on the descriptor of an HDF5 file, behind a flush, speaks to the file directly.
    """
    found = ops.is_kind(*SYNCS) & (height < highest)
    if not np.any(found):
        return found
    thread = ops.process.astype(np.int64) << 32 | ops.thread
    rows = np.flatnonzero(found | (height > 0))
    rows = rows[np.lexsort((-height[rows], ops.start_ns[rows], thread[rows]))]
    origin, last = int(ops.start_ns[rows].min()), int(ops.end_ns[rows].max())
    # Threads lie one behind the other on one line, so that one running maximum serves them all.
    line = np.unique(thread[rows], return_inverse=True)[1] * (last - origin + 1) - origin
    ends = np.where(height[rows] > 0, ops.end_ns[rows] + line, np.int64(-1))
    inside = np.maximum.accumulate(ends) >= ops.end_ns[rows] + line
    found[rows[inside]] = False
    return found


def _lanes(processes: Sequence[Process], ranks: int) -> tuple[Column, list[str], int]:
    """The lane of each process: its rank; of processes without one, their program."""
    has_ranks = any(process.rank >= 0 for process in processes)
    known = max((process.rank for process in processes), default=-1) + 1
    count = max(known, ranks) if has_ranks else 0
    lanes = [f"rank {rank}" for rank in range(count)]
    places: dict[str, int] = {}
    lane_of = []
    for process in processes:
        if process.rank >= 0:
            lane_of.append(process.rank)
            continue
        program = process.program or "a process"
        if program not in places:
            places[program] = len(lanes)
            lanes.append(program)
        lane_of.append(places[program])
    if not lane_of:
        return np.zeros(1, np.int64), ["the job"], 0
    return np.array(lane_of, np.int64), lanes, count


def _roots(files: Sequence[TracedFile]) -> Column:
    """For each file its own index; for a dataset the index of the file that it lies in."""
    roots = [i if file.within is None else file.within for i, file in enumerate(files)]
    return np.array(roots, np.int64)


def _streams(
    files: Sequence[TracedFile], roots: Column, highest: Column, has_data: Column
) -> tuple[Column, list[str]]:
    """The stream of each file; those of which only names are used stand apart, and coarsely."""
    kept = [i for i in np.unique(roots).tolist() if not is_foreign(files[i])]
    moved = [i for i in kept if has_data[i]]
    named = [i for i in kept if not has_data[i]]
    groups = _grouped(files, moved, highest, MOST_STREAMS)
    groups += _grouped(files, named, highest, MOST_NAMES if moved else MOST_STREAMS)
    of_file = np.full(len(files), -1, np.int64)
    for place, (_, group) in enumerate(groups):
        of_file[group] = place
    return of_file[roots] if len(roots) else of_file, [name for name, _ in groups]


def _grouped(
    files: Sequence[TracedFile], chosen: list[int], highest: Column, most: int
) -> list[tuple[str, list[int]]]:
    """Files by their names with numbers as `#`, as coarsely as needed: name and members."""
    base = _common_folder([files[i].path for i in chosen])
    levels = (numbered, _by_ending, _below(2), _below(1), _below(0))
    members: dict[tuple[str, int], list[int]] = {}
    for level in levels:
        members = {}
        for i in chosen:
            key = (base + level(files[i].path[len(base) :]), int(highest[i]))
            members.setdefault(key, []).append(i)
        if len(members) <= most:
            break
    if len(members) > most:
        members = {(f"{base}**", 0): chosen}
    return [(_name(key[0], [files[i].path for i in g]), g) for key, g in members.items()]


def _by_ending(path: str) -> str:
    folder, slash, name = numbered(path).rpartition("/")
    return f"{folder}{slash}*{_ending(name)}"


def _below(levels: int) -> Callable[[str], str]:
    """A pattern that keeps so many folders, and the names' ending."""

    def pattern(path: str) -> str:
        parts = numbered(path).split("/")
        return "/".join([*parts[:-1][:levels], f"**{_ending(parts[-1])}"])

    return pattern


def _ending(name: str) -> str:
    dot = name.rfind(".")
    return name[dot:] if dot > 0 and len(name) - dot <= LONGEST_ENDING else ""


def _common_folder(paths: Sequence[str]) -> str:
    if not paths:
        return ""
    low, high = min(paths), max(paths)
    same = next((i for i, c in enumerate(low) if i >= len(high) or c != high[i]), len(low))
    return low[: low.rfind("/", 0, same + 1) + 1]


def _name(pattern: str, paths: Sequence[str]) -> str:
    """A stream's name: numbers that all its files have in common stay."""
    if len(paths) == 1:
        return paths[0]
    if "*" in pattern or any("#" in path for path in paths):
        return pattern
    numbers = [_DIGITS.findall(path) for path in paths]
    same = [column[0] if len(set(column)) == 1 else "#" for column in zip(*numbers, strict=True)]
    words = _DIGITS.split(paths[0])
    return words[0] + "".join(n + word for n, word in zip(same, words[1:], strict=True))
