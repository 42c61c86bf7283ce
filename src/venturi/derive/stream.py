"""A stream: what an application does to one group of files, in numbers.

Rules 1 to 6 and 10 of the method (docs/derive.md): interface, sharing, ranks, directions,
passes, collective and sync. Where the bytes lie is decided in `layout`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum

from venturi.derive.counts import Common, Counts, bytes_of, common_of, counts_of, total
from venturi.derive.grouping import FileGroup
from venturi.derive.known_name import known_name
from venturi.derive.request import Mix, mix_of
from venturi.model.plan import Direction, Interface, SyncMode
from venturi.model.trace import CounterRecord, Layer

PER_REQUEST_SHARE = 0.9
"""So many syncs per write mean: one after every write."""

SAME_REQUESTS = 0.1
"""POSIX sees the same requests as the layer above if their numbers differ by less."""

CLEAR_COUNT = 0.02
"""The number of movers that a variance gives must be this near to a whole one."""

SWITCHES_PER_USER = 2
"""More changes between reading and writing than this, per rank and file, are interleaving."""


class SyncPattern(StrEnum):
    """When data is made persistent."""

    NONE = "none"
    END = "at the end"
    EACH = "per request"


@dataclass(frozen=True)
class SyncUse:
    """What the counters of sync calls say."""

    pattern: SyncPattern
    mode: SyncMode
    calls: int


@dataclass(frozen=True)
class Flow:
    """One direction of a stream."""

    direction: Direction
    counts: Counts
    """As counted at the stream's data layer, with the order of requests where POSIX knows it."""
    mix: Mix
    active: int
    """Ranks that move data in this direction."""
    passes: int
    """How often the same bytes were moved."""
    reads_whole: bool
    """Whether every rank reads the whole file."""
    is_collective: bool

    @property
    def requests(self) -> int:
        """Requests that moved data."""
        return sum(count for _, count in self.mix.parts)


@dataclass(frozen=True)
class DerivedStream:
    """One group of files, and both directions of what happens to them."""

    name: str
    group: FileGroup
    ranks: int
    """Of the whole job."""
    layer: Layer
    records: tuple[CounterRecord, ...]
    """Those of the data layer."""
    common: Common
    flows: tuple[Flow, ...]
    """In the order of their first requests."""
    sync: SyncUse

    @property
    def interface(self) -> Interface:
        """How the application reaches the files."""
        return self.group.interface

    @property
    def known_as(self) -> str:
        """The files' names, as one."""
        return known_name([view.path for view in self.group.views])

    @property
    def is_shared(self) -> bool:
        """Whether several ranks use one file."""
        return self.group.is_shared

    @property
    def files(self) -> int:
        """How many files there are."""
        return len(self.group.views)

    @property
    def units(self) -> int:
        """Pairs of a file and a rank that uses it."""
        return self.files * (len(self.group.owners) if self.is_shared else 1)

    @property
    def files_each(self) -> int:
        """Files of each rank, rounded up, or of all ranks where they share them."""
        return self.files if self.is_shared else -(-self.files // len(self.group.owners))

    @property
    def opens(self) -> int:
        """Opens at POSIX or STDIO."""
        return sum(view.opens for view in self.group.views)

    def flow(self, direction: Direction) -> Flow | None:
        """The flow of one direction, if there is one."""
        return next((flow for flow in self.flows if flow.direction is direction), None)

    @property
    def is_interleaved(self) -> bool:
        """Whether reads and writes alternate, rather than one after the other."""
        switches = total(self.records, "RW_SWITCHES")
        parts = len({record.identity for record in self.records})
        users = len(self.group.owners) if self.is_shared else 1
        return len(self.flows) > 1 and switches > SWITCHES_PER_USER * parts * users

    @property
    def order_text(self) -> str:
        """The directions in words: `write`, `write then read`, `interleaved`, `none`."""
        if self.is_interleaved:
            return "interleaved"
        return " then ".join(flow.direction.value for flow in self.flows) or "none"


def stream_of(group: FileGroup, name: str, ranks: int) -> DerivedStream:
    """The numbers of a group of files in a job of `ranks` ranks."""
    layer = _data_layer(group)
    records = [record for view in group.views for record in view.records.get(layer, [])]
    posix = [record for view in group.views for record in view.records.get(Layer.POSIX, [])]
    common = common_of(records)
    counts = {direction: counts_of(records, direction) for direction in Direction}
    flows = []
    for direction, other in ((Direction.WRITE, Direction.READ), (Direction.READ, Direction.WRITE)):
        mix = mix_of(counts[direction], counts[other], common.accesses)
        if mix.parts:
            known = _with_order(counts[direction], posix, direction)
            flows.append(_flow(group, direction, known, mix))
    flows.sort(key=lambda flow: flow.counts.start_s or 0.0)
    return DerivedStream(
        name=name,
        group=group,
        ranks=ranks,
        layer=layer,
        records=tuple(records),
        common=Common(common.accesses, common_of(posix).strides),
        flows=tuple(flows),
        sync=_sync(group, layer, counts[Direction.WRITE].requests),
    )


def _data_layer(group: FileGroup) -> Layer:
    """The layer that counted most of the group's bytes."""
    moved: Counter[Layer] = Counter()
    for view in group.views:
        moved[view.data_layer] += 1 + view.both_bytes
    return moved.most_common(1)[0][0]


def _with_order(counts: Counts, posix: list[CounterRecord], direction: Direction) -> Counts:
    """Adds what only POSIX knows: the extent, and the order if it saw the same requests."""
    if counts.sequential is not None or not posix:
        return counts
    below = counts_of(posix, direction)
    same = abs(below.requests - counts.requests) <= SAME_REQUESTS * counts.requests
    return Counts(
        **{
            **vars(counts),
            "extent": below.extent,
            "sequential": below.sequential if same else None,
            "consecutive": below.consecutive if same else None,
        }
    )


def _flow(group: FileGroup, direction: Direction, counts: Counts, mix: Mix) -> Flow:
    active = _active_ranks(group, direction, counts)
    passes = max(1, round(counts.bytes / counts.extent)) if counts.extent else 1
    reads_whole = (
        direction is Direction.READ
        and group.is_shared
        and active > 1
        and passes % active == 0
        and sum(view.opens for view in group.views) < active * passes * len(group.views)
    )
    if reads_whole:
        passes //= active
    if counts.bytes % passes:
        passes = 1
    return Flow(
        direction=direction,
        counts=counts,
        mix=mix,
        active=active,
        passes=passes,
        reads_whole=reads_whole,
        is_collective=_is_collective(group, counts),
    )


def _active_ranks(group: FileGroup, direction: Direction, counts: Counts) -> int:
    """How many of the owners move data: counted, or told by runs and variance."""
    owners = len(group.owners)
    records = [record for view in group.views for record in view.data]
    if all(record.rank >= 0 for record in records):
        busy = {record.rank for record in records if bytes_of(record, direction)}
        return min(owners, len(busy)) or owners
    if len(records) > 1 or owners == 1:
        return owners
    if records[0].layer is Layer.POSIX and counts.consecutive is not None:
        runs = counts.requests - counts.consecutive
        if 0 < runs < owners:
            return runs
    return _active_by_variance(records[0], direction, owners)


def _active_by_variance(record: CounterRecord, direction: Direction, owners: int) -> int:
    """k of n equal ranks have a variance of (W/n)^2 (n/k - 1): solved for k where it fits."""
    moved = bytes_of(record, direction)
    variance = record.times.get("VARIANCE_RANK_BYTES", record.times.get("F_VARIANCE_RANK_BYTES"))
    if (
        variance is None
        or not moved
        or any(bytes_of(record, d) for d in Direction if d is not direction)
    ):
        return owners
    active = owners / (1.0 + variance * owners * owners / (float(moved) * moved))
    nearest = round(active)
    is_clear = 1 <= nearest <= owners // 2 and abs(active - nearest) < CLEAR_COUNT
    return nearest if is_clear else owners


def _is_collective(group: FileGroup, counts: Counts) -> bool:
    """More collective than independent requests; HDF5 says it itself."""
    datasets = [r for view in group.views for r in view.records.get(Layer.HDF5_DATASET, [])]
    if datasets:
        return any(r.counters.get("USE_MPIIO_COLLECTIVE", 0) > 0 for r in datasets)
    return counts.collective * 2 > counts.requests


def _sync(group: FileGroup, layer: Layer, writes: int) -> SyncUse:
    """Sync calls of the layer that the application used."""
    records = {kind: [r for v in group.views for r in v.records.get(kind, [])] for kind in Layer}
    mode = SyncMode.FSYNC
    if layer is Layer.STDIO:
        calls, mode = total(records[Layer.STDIO], "FLUSHES"), SyncMode.FLUSH
    elif layer is Layer.POSIX:
        calls = total(records[Layer.POSIX], "FSYNCS")
        data_only = total(records[Layer.POSIX], "FDSYNCS")
        if data_only > calls:
            mode = SyncMode.FDATASYNC
        calls += data_only
    else:
        calls = total(records[Layer.MPIIO], "SYNCS") + total(records[Layer.PNETCDF_FILE], "SYNCS")
        calls += total(records[Layer.HDF5_FILE], "FLUSHES")
    units = sum(len(view.ranks) for view in group.views)
    if not calls or not writes:
        return SyncUse(SyncPattern.NONE, SyncMode.NONE, calls)
    is_each = calls >= PER_REQUEST_SHARE * writes and writes > units
    return SyncUse(SyncPattern.EACH if is_each else SyncPattern.END, mode, calls)
