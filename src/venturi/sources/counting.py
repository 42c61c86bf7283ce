"""Counters from operations: what Darshan would have counted, under Darshan's names.

One record per layer, file and rank. Order and gaps follow darshan-posix.c: a request is
sequential if it begins behind the last byte of the one before, consecutive if exactly there, and
a stride is the gap between the two.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from venturi.model.operation import (
    COLLECTIVE,
    KIND_CODES,
    LAYERS,
    NO_FILE,
    NON_BLOCKING,
    NOT_A_FILE,
    UNKNOWN_OFFSET,
    Kind,
    Operations,
)
from venturi.model.trace import CounterRecord, Layer, Process, TracedFile

_Numbers = npt.NDArray[np.int64]

_EDGES_BYTES = [100, 2**10, 10 * 2**10, 100 * 2**10, 2**20]
_EDGES_BYTES += [4 * 2**20, 10 * 2**20, 100 * 2**20, 2**30]
"""Upper edges of Darshan's request-size buckets, inclusive; the last one is open."""

_BUCKETS = (
    "0_100",
    "100_1K",
    "1K_10K",
    "10K_100K",
    "100K_1M",
    "1M_4M",
    "4M_10M",
    "10M_100M",
    "100M_1G",
    "1G_PLUS",
)

_KEPT = 4
"""Darshan keeps the four most frequent sizes and strides."""

_DIRECTIONS = {Kind.READ: ("READ", "READS", "READ"), Kind.WRITE: ("WRITE", "WRITES", "WRITTEN")}
"""The word in sizes and times, in counts, and in bytes."""

_COUNTED = {
    Kind.OPEN: "OPENS",
    Kind.SEEK: "SEEKS",
    Kind.STAT: "STATS",
    Kind.SYNC: "FSYNCS",
    Kind.DATA_SYNC: "FDSYNCS",
    Kind.MAP: "MMAPS",
    Kind.RENAME: "RENAME_SOURCES",
}
_SYNC_NAMES = {Layer.STDIO: "FLUSHES", Layer.MPIIO: "SYNCS", Layer.HDF5_FILE: "FLUSHES"}
_META = (Kind.OPEN, Kind.CLOSE, Kind.SEEK, Kind.STAT)


@dataclass
class _Groups:
    """Operations of one layer, ordered by group (file and rank) and, within it, by time."""

    operations: Operations
    group: _Numbers
    count: int

    def take(self, mask: npt.NDArray[np.bool_]) -> _Groups:
        return _Groups(self.operations.take(mask), self.group[mask], self.count)

    def of_kind(self, *kinds: Kind) -> _Groups:
        mask = self.operations.is_kind(*kinds)
        return self if mask.all() else self.take(mask)

    def placed(self) -> _Groups:
        """Rows whose offset is known."""
        mask = self.operations.offset != UNKNOWN_OFFSET
        return self if mask.all() else self.take(mask)

    def total(self, values: npt.NDArray[np.generic] | None = None) -> npt.NDArray[np.float64]:
        """The number of rows, or the sum of `values`, of each group."""
        return np.bincount(self.group, values, self.count).astype(np.float64)

    def total_where(self, mask: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
        """The number of rows of each group for which the mask is true."""
        return np.bincount(self.group[mask], None, self.count).astype(np.float64)

    def firsts(self) -> tuple[_Numbers, _Numbers]:
        """The groups that have rows, and where each begins."""
        if not len(self.group):
            return self.group, self.group
        first = np.flatnonzero(np.append(True, self.group[1:] != self.group[:-1]))
        return self.group[first], first

    def sum_bytes(self) -> _Numbers:
        """Exact sums: doubles would lose bytes beyond 2**53."""
        sums = np.zeros(self.count, np.int64)
        present, first = self.firsts()
        if len(first):
            sums[present] = np.add.reduceat(self.operations.bytes.astype(np.int64), first)
        return sums

    def extreme(self, values: _Numbers, largest: bool) -> tuple[_Numbers, _Numbers]:
        """Groups that have rows, and the largest or smallest of `values` in each."""
        present, first = self.firsts()
        if not len(first):
            return present, present
        reduce = np.maximum if largest else np.minimum
        return present, reduce.reduceat(values, first)


class _CounterDraft:
    """Counters and times of all groups of a layer while they are made."""

    def __init__(self, count: int) -> None:
        self.counters: list[dict[str, int]] = [{} for _ in range(count)]
        self.times: list[dict[str, float]] = [{} for _ in range(count)]

    def count(self, name: str, values: npt.NDArray[np.generic]) -> None:
        for counters, value in zip(self.counters, values.tolist(), strict=True):
            counters[name] = int(value)

    def count_some(self, name: str, groups: _Numbers, values: _Numbers) -> None:
        for group, value in zip(groups.tolist(), values.tolist(), strict=True):
            self.counters[group][name] = value

    def time(self, name: str, seconds: npt.NDArray[np.float64]) -> None:
        for times, value in zip(self.times, seconds.tolist(), strict=True):
            times[name] = value

    def stamp(self, name: str, groups: _Numbers, at_ns: _Numbers) -> None:
        """Times of day; 0 would mean never."""
        for group, value in zip(groups.tolist(), at_ns.tolist(), strict=True):
            self.times[group][name] = max(value, 1) / 1e9


def counters_of(
    operations: Operations, files: list[TracedFile], processes: list[Process]
) -> list[CounterRecord]:
    """The counters that these operations make, in the order of layers, files and ranks.

    Left out are calls that failed, calls on no file, and processes that belong to no rank while
    others do (launchers); helpers of a rank count as that rank. Without any rank all is rank 0.
    """
    ranks = np.array(ranks_of(processes), np.int64)
    if not len(operations) or not len(ranks):
        return []
    rank = ranks[operations.process]
    strange = operations.is_kind(Kind.READ, Kind.WRITE) & (operations.detail & NOT_A_FILE != 0)
    good = (operations.error == 0) & (operations.file != NO_FILE) & (rank >= 0) & ~strange
    del strange
    records: list[CounterRecord] = []
    for code in np.flatnonzero(np.bincount(operations.layer[good])).tolist():
        mine = good & (operations.layer == code)
        records += _layer_records(LAYERS[code], operations.take(mine), rank[mine], files)
    return records


def ranks_of(processes: list[Process]) -> list[int]:
    """The rank that each process works for; -1: none, which is so only where others have one."""
    if all(process.rank < 0 for process in processes):
        return [0] * len(processes)
    places = {(p.host, p.process): i for i, p in enumerate(processes) if p.process}
    return [_rank_of(process, processes, places) for process in processes]


def _rank_of(process: Process, processes: list[Process], places: dict[tuple[str, int], int]) -> int:
    for _ in range(len(processes)):
        if process.rank >= 0:
            return process.rank
        parent = places.get((process.host, process.parent))
        if parent is None or processes[parent] is process:
            return -1
        process = processes[parent]
    return -1


def _layer_records(
    layer: Layer, operations: Operations, rank: _Numbers, files: list[TracedFile]
) -> list[CounterRecord]:
    width = int(rank.max()) + 1
    key = operations.file.astype(np.int64) * width + rank
    keys, group = np.unique(key, return_inverse=True)
    order = np.argsort(group, kind="stable")
    groups = _Groups(operations.take(order), group[order], len(keys))
    draft = _CounterDraft(len(keys))
    _count_calls(draft, groups, layer)
    for kind in _DIRECTIONS:
        _count_direction(draft, groups.of_kind(kind), layer, kind)
    data = groups.of_kind(Kind.READ, Kind.WRITE)
    _count_both(draft, data)
    return [
        CounterRecord(
            layer=layer,
            file=files[file].path,
            identity=str(file),
            within=_owner(files[file]),
            rank=owner,
            counters=counters,
            times=times,
        )
        for (file, owner), counters, times in zip(
            (divmod(key, width) for key in keys.tolist()),
            draft.counters,
            draft.times,
            strict=True,
        )
    ]


def _owner(file: TracedFile) -> str:
    return "" if file.within is None else str(file.within)


def _count_calls(draft: _CounterDraft, groups: _Groups, layer: Layer) -> None:
    for kind, name in _COUNTED.items():
        some = groups.of_kind(kind)
        if kind is Kind.OPEN and layer is Layer.MPIIO:
            together = some.operations.detail & COLLECTIVE != 0
            draft.count("COLL_OPENS", some.total_where(together))
            draft.count("INDEP_OPENS", some.total_where(~together))
        else:
            is_sync = kind is Kind.SYNC
            draft.count(_SYNC_NAMES.get(layer, name) if is_sync else name, some.total())
    meta = groups.of_kind(*_META)
    draft.time("F_META_TIME", meta.total(_durations_s(meta)))
    for kind in (Kind.OPEN, Kind.CLOSE):
        _stamp(draft, groups.of_kind(kind), kind.name)


def _stamp(draft: _CounterDraft, some: _Groups, word: str) -> None:
    starts = some.extreme(some.operations.start_ns, largest=False)
    draft.stamp(f"F_{word}_START_TIMESTAMP", *starts)
    ends = some.extreme(some.operations.end_ns, largest=True)
    draft.stamp(f"F_{word}_END_TIMESTAMP", *ends)


def _durations_s(some: _Groups) -> npt.NDArray[np.float64]:
    return np.asarray((some.operations.end_ns - some.operations.start_ns) / 1e9, np.float64)


def _count_direction(draft: _CounterDraft, some: _Groups, layer: Layer, kind: Kind) -> None:
    word, plural, past = _DIRECTIONS[kind]
    for prefix, mask in _directions_of(layer, some.operations):
        draft.count(prefix + plural, some.total_where(mask))
    draft.count(f"BYTES_{past}", some.sum_bytes())
    draft.time(f"F_{word}_TIME", some.total(_durations_s(some)))
    _stamp(draft, some, word)
    placed = some.placed()
    last = placed.operations.offset + placed.operations.bytes - 1
    draft.count_some(f"MAX_BYTE_{past}", *placed.extreme(last, largest=True))
    if layer is Layer.POSIX:
        before = _before(placed.group, last)
        offset = placed.operations.offset
        draft.count(f"SEQ_{plural}", placed.total_where(offset > before))
        draft.count(f"CONSEC_{plural}", placed.total_where(offset == before + 1))
    infix = "" if layer is Layer.POSIX else "AGG_"
    bucket = np.searchsorted(_EDGES_BYTES, some.operations.bytes, side="left")
    for place, name in enumerate(_BUCKETS):
        draft.count(f"SIZE_{word}_{infix}{name}", some.total_where(bucket == place))


def _directions_of(
    layer: Layer, operations: Operations
) -> Iterator[tuple[str, npt.NDArray[np.bool_]]]:
    """The prefixes under which requests are counted, and which requests each means."""
    if layer not in (Layer.MPIIO, Layer.PNETCDF_VARIABLE):
        yield "", np.ones(len(operations), np.bool_)
        return
    together = operations.detail & COLLECTIVE != 0
    waiting = operations.detail & NON_BLOCKING == 0
    yield "COLL_", together
    yield "INDEP_", ~together & waiting
    yield "NB_", ~together & ~waiting


def _before(group: _Numbers, last: _Numbers) -> _Numbers:
    """The last byte of the request before, in the same group; 0 before the first one."""
    before = np.zeros(len(group), np.int64)
    same = group[1:] == group[:-1]
    before[1:][same] = last[:-1][same]
    return before


def _count_both(draft: _CounterDraft, data: _Groups) -> None:
    """What Darshan counts for both directions together."""
    kinds = data.operations.kind
    turned = np.zeros(len(data.group), np.bool_)
    turned[1:] = (data.group[1:] == data.group[:-1]) & (kinds[1:] != kinds[:-1])
    draft.count("RW_SWITCHES", data.total_where(turned))
    sizes = data.take(data.operations.bytes > 0)
    _count_frequent(draft, "ACCESS", sizes.group, sizes.operations.bytes)
    groups, gaps = [], []
    for kind in _DIRECTIONS:
        code = KIND_CODES[kind]
        placed = (data if (kinds == code).all() else data.take(kinds == code)).placed()
        last = placed.operations.offset + placed.operations.bytes - 1
        gap = placed.operations.offset - _before(placed.group, last) - 1
        gap[np.append(True, placed.group[1:] != placed.group[:-1])[: len(gap)]] = 0
        groups.append(placed.group[gap > 0])
        gaps.append(gap[gap > 0])
    _count_frequent(draft, "STRIDE", np.concatenate(groups), np.concatenate(gaps))


def _count_frequent(draft: _CounterDraft, what: str, group: _Numbers, value: _Numbers) -> None:
    """The most frequent values of each group, the most frequent first."""
    if not len(group):
        return
    order = np.lexsort((value, group))
    group, value = group[order], value[order]
    new = np.ones(len(group), np.bool_)
    new[1:] = (group[1:] != group[:-1]) | (value[1:] != value[:-1])
    first = np.flatnonzero(new)
    count = np.diff(np.append(first, len(group)))
    group, value = group[first], value[first]
    order = np.lexsort((-count, group))
    group, value, count = group[order], value[order], count[order]
    starts = np.flatnonzero(np.append(True, group[1:] != group[:-1]))
    place = np.arange(len(group)) - np.repeat(starts, np.diff(np.append(starts, len(group))))
    for k in range(_KEPT):
        mask = place == k
        draft.count_some(f"{what}{k + 1}_{what}", group[mask], value[mask])
        draft.count_some(f"{what}{k + 1}_COUNT", group[mask], count[mask])
