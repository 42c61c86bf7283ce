"""Sums over counter records, by direction, in words that are the same for every layer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from venturi.model.plan import Direction
from venturi.model.trace import CounterRecord, Layer
from venturi.model.workload import REQUEST_EDGES_BYTES

_BUCKET_NAMES = (
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
BUCKETS = tuple(zip(_BUCKET_NAMES, REQUEST_EDGES_BYTES, strict=True))
"""Darshan's request-size buckets: name, upper edge in bytes (inclusive; darshan-common.h)."""

KEPT_VALUES = 4
"""Darshan keeps the four most frequent request sizes and strides of a record."""

_VERB = {Direction.WRITE: ("WRITES", "WRITTEN", "WRITE"), Direction.READ: ("READS", "READ", "READ")}
_BYTES = {direction: "BYTES_" + words[1] for direction, words in _VERB.items()}
_COLLECTIVE_LAYERS = (Layer.MPIIO, Layer.PNETCDF_VARIABLE)
_INDEPENDENT = ("INDEP_", "NB_")
_COLLECTIVE = ("COLL_", "SPLIT_")


@dataclass(frozen=True)
class Counts:
    """What some records say about one direction."""

    bytes: int = 0
    requests: int = 0
    collective: int = 0
    """Requests made collectively."""
    buckets: tuple[int, ...] = (0,) * len(BUCKETS)
    """Requests by size, or all zero where the layer does not count that."""
    extent: int = 0
    """Offset behind the last byte touched, summed over files; 0 where unknown."""
    sequential: int | None = None
    """Requests at a higher offset than the one before; None where unknown."""
    consecutive: int | None = None
    """Requests exactly behind the one before."""
    start_s: float | None = None
    """When the first request began, from the job's start."""
    end_s: float | None = None


@dataclass(frozen=True)
class Common:
    """What records say about both directions together."""

    accesses: Counter[int] = field(default_factory=Counter)
    """Frequent request sizes in bytes, and how often they came."""
    strides: Counter[int] = field(default_factory=Counter)
    """Gaps from the end of a request to the start of the next, and how often."""


def total(records: Iterable[CounterRecord], *names: str) -> int:
    """The sum of the named counters; absent ones count as 0."""
    if len(names) == 1:
        [name] = names
        return sum([record.counters.get(name, 0) for record in records])
    return sum(record.counters.get(name, 0) for record in records for name in names)


def requests_of(record: CounterRecord, direction: Direction) -> tuple[int, int]:
    """Requests of a record: all of them, and those that were collective."""
    word = _VERB[direction][0]
    if record.layer not in _COLLECTIVE_LAYERS:
        return record.counters.get(word, 0), 0
    collective = total([record], *(prefix + word for prefix in _COLLECTIVE))
    return collective + total([record], *(prefix + word for prefix in _INDEPENDENT)), collective


def bytes_of(record: CounterRecord, direction: Direction) -> int:
    """Bytes that a record moved in a direction."""
    return record.counters.get(_BYTES[direction], 0)


def counts_of(records: list[CounterRecord], direction: Direction) -> Counts:
    """The sums of records of one layer for one direction."""
    _, past, word = _VERB[direction]
    prefix = f"SIZE_{word}_" + ("" if _is_plain(records) else "AGG_")
    both = [requests_of(record, direction) for record in records]
    extents: dict[str, int] = {}
    for record in records:
        last = record.counters.get(f"MAX_BYTE_{past}")
        if last is not None and bytes_of(record, direction):
            extents[record.identity] = max(extents.get(record.identity, 0), last + 1)
    plural = _VERB[direction][0]
    knows_order = any(f"SEQ_{plural}" in record.counters for record in records)
    return Counts(
        bytes=sum(bytes_of(record, direction) for record in records),
        requests=sum(count for count, _ in both),
        collective=sum(count for _, count in both),
        buckets=tuple(total(records, prefix + name) for name, _ in BUCKETS),
        extent=sum(extents.values()),
        sequential=total(records, f"SEQ_{plural}") if knows_order else None,
        consecutive=total(records, f"CONSEC_{plural}") if knows_order else None,
        start_s=earliest(records, f"F_{word}_START_TIMESTAMP"),
        end_s=latest(records, f"F_{word}_END_TIMESTAMP"),
    )


def _is_plain(records: list[CounterRecord]) -> bool:
    return all(record.layer is Layer.POSIX for record in records)


def common_of(records: Iterable[CounterRecord]) -> Common:
    """The frequent request sizes and strides of records of one layer."""
    common = Common()
    kept = [
        (f"{what}{place}_COUNT", f"{what}{place}_{what}", into)
        for place in range(1, KEPT_VALUES + 1)
        for what, into in (("ACCESS", common.accesses), ("STRIDE", common.strides))
    ]
    for record in records:
        counters = record.counters
        for number, size, into in kept:
            count = counters.get(number, 0)
            if count > 0:
                value = counters.get(size, 0)
                if value > 0:
                    into[value] += count
    return common


def earliest(records: Iterable[CounterRecord], name: str) -> float | None:
    """The smallest of a time stamp, ignoring 0, which stands for 'never'."""
    stamps = [r.times[name] for r in records if r.times.get(name, 0.0) > 0.0]
    return min(stamps, default=None)


def latest(records: Iterable[CounterRecord], name: str) -> float | None:
    """The largest of a time stamp, ignoring 0."""
    stamps = [r.times[name] for r in records if r.times.get(name, 0.0) > 0.0]
    return max(stamps, default=None)
