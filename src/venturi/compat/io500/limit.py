"""What a phase waited for most: ranks, cache, device, network or metadata, with the evidence."""

from __future__ import annotations

from dataclasses import dataclass

from venturi.compat.io500.own import counted_kind
from venturi.model.record import OperationRow, PhaseRow, Record
from venturi.model.review import ReviewLimit
from venturi.model.statistic import median
from venturi.report import quantity
from venturi.report.latency import merge
from venturi.report.server import sentence

FROM_MEMORY = 0.5
"""With so much of its data in memory before it, a phase says little of storage."""
SUSPECT = 0.1
"""With so much, its rate is in doubt: it is neither praised nor blamed."""
UNEVEN = 1.25
"""A rank that needs so many times the median time lets the others wait."""
OUTSIDE = 0.5
"""With more of their time outside of calls, the ranks themselves are the limit."""
SYNC = 0.25
"""With more of it in syncs, the device is."""
WAIT_NS = 500_000
"""A local operation that takes longer slept until a device answered."""
MEMORY_NS = 3_000
"""A local stat or open that takes less was answered by the kernel's memory."""
STEADY = 3.0
"""A remote operation within this factor of the fastest one waited for little but its way."""
SMALL_BYTES = 64 << 10
_REMOTE = (
    "nfs",
    "lustre",
    "gpfs",
    "beegfs",
    "ceph",
    "gluster",
    "sshfs",
    "cifs",
    "smb",
    "9p",
    "orangefs",
    "pvfs",
    "daos",
    "dfuse",
    "weka",
    "juicefs",
    "mfs",
    "moosefs",
    "afs",
    "panfs",
)


@dataclass(frozen=True)
class LimitEvidence:
    """A limit and the sentence that shows it."""

    limit: ReviewLimit
    evidence: str


@dataclass(frozen=True)
class PhaseContext:
    """What a phase's record alone does not say."""

    remote: bool
    crowded: str
    """That ranks shared cores with other work, in words; empty where they did not."""


def phase_context_of(record: Record) -> PhaseContext:
    """The facts of a record that its phases share."""
    here = record.environment
    kind = here.file_system.type.lower().removeprefix("fuse.")
    cores = here.cores * len(here.hosts)
    crowded = ""
    if record.ranks > cores:
        crowded = f"{record.ranks} ranks shared {quantity.counted(cores, 'core')}"
    elif here.load_average > here.cores:
        crowded = f"the load was {here.load_average:.1f} on {quantity.counted(here.cores, 'core')}"
    return PhaseContext(kind.startswith(_REMOTE), crowded)


def limit_of(row: PhaseRow, here: PhaseContext) -> LimitEvidence:
    """What one phase in one repetition waited for most.

    From the outside a server's device and the network before it are one wait: `network` is said
    where operations take hardly longer than the fastest of them.
    """
    if row.slow_servers:
        return LimitEvidence(
            ReviewLimit.DEVICE, f"{sentence(row.slow_servers[0])}: its files came last"
        )
    if (found := _uneven(row)) is not None:
        return found
    whole_s = sum(row.per_rank.total_s)
    inside = {kind: merge([done.histogram]).sum_s for kind, done in row.by_operation.items()}
    shares = {kind: spent / whole_s if whole_s > 0 else 0.0 for kind, spent in inside.items()}
    if (found := _from_memory(row)) is not None:
        return found
    calls = min(1.0, sum(shares.values()))
    if calls < 1 - OUTSIDE and not row.path.startswith("find"):
        own = "went into making, checking and counting" if not here.crowded else here.crowded
        words = f"the ranks were in calls for {quantity.percent(calls)} of their time; {own}"
        return LimitEvidence(ReviewLimit.RANKS, words)
    if shares.get("sync", 0.0) >= SYNC:
        share = quantity.percent(min(1.0, shares["sync"]))
        return LimitEvidence(
            ReviewLimit.DEVICE, f"{share} of the ranks' time went into sync, after all calls"
        )
    main = max(shares, key=lambda kind: shares[kind], default="")
    if not main:
        return LimitEvidence(ReviewLimit.RANKS, "nothing was done")
    if main in ("write", "read"):
        return _data(row, main, shares[main], here)
    return _names(row, main, shares[main], here)


def _uneven(row: PhaseRow) -> LimitEvidence | None:
    times = row.per_rank.total_s
    if len(times) < 2:
        return None
    middle, last = median(times), max(times)
    if middle <= 0 or last < UNEVEN * middle:
        return None
    words = (
        f"rank {times.index(last)} needed {quantity.seconds(last)}, the median rank "
        f"{quantity.seconds(middle)}: the others waited"
    )
    return LimitEvidence(ReviewLimit.RANKS, words)


def _from_memory(row: PhaseRow) -> LimitEvidence | None:
    """Data that was counted in the page cache before it was read; what was not counted is no sign.

    Of files that were written before in the run and not dropped nobody knows what is still there.
    """
    if counted_kind(row.path) != "read" and not row.path.endswith("-read"):
        return None
    share = row.cached_share
    if share is None or share < FROM_MEMORY:
        return None
    known = row.cache_reason or "as the kernel counts"
    words = f"{quantity.percent(share)} of its data was in memory before the phase ({known})"
    return LimitEvidence(ReviewLimit.CACHE, words)


def _data(row: PhaseRow, kind: str, share: float, here: PhaseContext) -> LimitEvidence:
    done = row.by_operation[kind]
    bytes_each = done.bytes // max(done.operations, 1)
    size, took = quantity.size(bytes_each), quantity.nanoseconds(done.latency_ns.p50)
    per_cent = quantity.percent(min(share, 1.0))
    words = f"{per_cent} of the time in {kind}s; a {kind} of {size} took {took}"
    if here.remote and bytes_each <= SMALL_BYTES:
        return _way_or(row.by_operation[kind], words, ReviewLimit.DEVICE)
    if here.remote or done.latency_ns.p50 > WAIT_NS:
        slow = "at the median: the ranks waited for storage"
        return LimitEvidence(ReviewLimit.DEVICE, f"{words} {slow}")
    if kind == "write":
        return LimitEvidence(
            ReviewLimit.CACHE, f"{words} at the median: memory took it, sync came late or fast"
        )
    if done.latency_ns.p99 > WAIT_NS:
        late = quantity.nanoseconds(done.latency_ns.p99)
        return LimitEvidence(
            ReviewLimit.DEVICE, f"{words} at the median, but one in a hundred {late}"
        )
    return LimitEvidence(ReviewLimit.CACHE, f"{words} at the median: no device answers so fast")


def _names(row: PhaseRow, kind: str, share: float, here: PhaseContext) -> LimitEvidence:
    done = row.by_operation[kind]
    took = quantity.nanoseconds(done.latency_ns.p50)
    per_cent = quantity.percent(min(share, 1.0))
    words = f"{per_cent} of the time in {kind}s, which took {took}"
    if kind == "find":
        return LimitEvidence(
            ReviewLimit.METADATA, f"{per_cent} of the time in listing and looking at names"
        )
    if here.remote:
        return _way_or(done, words, ReviewLimit.METADATA)
    if done.latency_ns.p50 > WAIT_NS:
        return LimitEvidence(
            ReviewLimit.DEVICE, f"{words} at the median: each waited for the device"
        )
    if kind in ("stat", "open") and done.latency_ns.p50 < MEMORY_NS:
        return LimitEvidence(
            ReviewLimit.CACHE, f"{words} at the median: the kernel's memory answered"
        )
    return LimitEvidence(ReviewLimit.METADATA, f"{words} at the median")


def _way_or(done: OperationRow, words: str, other: ReviewLimit) -> LimitEvidence:
    """The way to the servers, or what they do, by how much longer than the fastest most take."""
    fastest = quantity.nanoseconds(done.latency_ns.min)
    if done.latency_ns.p50 <= STEADY * done.latency_ns.min:
        return LimitEvidence(
            ReviewLimit.NETWORK, f"{words} at the median and {fastest} at best: round trips"
        )
    return LimitEvidence(
        other, f"{words} at the median but {fastest} at best: servers had other work"
    )
