"""What an application does badly, each with the numbers that show it.

Thresholds are the defaults of Drishti (drishti-io 0.8, `drishti/includes/config.py`) where it
has one; those marked "own" are ours.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from venturi.derive.counts import BUCKETS, bytes_of, counts_of, total
from venturi.derive.finding_rule import LEAST_SECONDS, FindingRule, RuleMatch, amount_text
from venturi.derive.layout import FlowLayout, LayoutKind
from venturi.derive.program import is_tree
from venturi.derive.stream import DerivedStream, Flow, SyncPattern
from venturi.model.plan import Direction
from venturi.model.trace import CounterRecord, Layer, Trace
from venturi.model.units import size_text
from venturi.model.workload import Severity

SMALL_REQUEST_BYTES = 2**20
SMALL_SHARE = 0.10
MISALIGNED_SHARE = 0.10
RANDOM_SHARE = 0.20
MANY_REQUESTS = 1000
"""With fewer requests than this, Drishti is silent about sizes and order; here it is a note."""
METADATA_SECONDS = 30.0
SIZE_IMBALANCE = 0.30
STRAGGLER_SHARE = 0.15
STDIO_SHARE = 0.10
COLLECTIVE_SHARE = 0.50
METADATA_SHARE = 0.25
"""Own: opens among all operations."""
OPENS_EACH = 4
"""Own: opens of one file by one rank."""
LEAST_BYTES = 2**20
"""Own: less than this that is moved in vain is worth a note at most."""
OWN_SHARE = 0.01
"""Own: of what a library moves; up to this it is its metadata."""
_SHARES = ((0.5, Severity.HIGH), (0.1, Severity.MEDIUM), (0.01, Severity.LOW))
"""Own: from which share of what is moved on it is how severe that it is moved in vain."""
_STACK = {
    Layer.HDF5_DATASET: "HDF5",
    Layer.PNETCDF_VARIABLE: "PnetCDF",
    Layer.MPIIO: "MPI-IO",
    Layer.POSIX: "POSIX",
}
"""Layers that count data, highest first."""
REREAD_FACTOR = 1.5
"""Own: bytes read over the extent that was read."""


@dataclass(frozen=True)
class Case:
    """A stream, and the layout of each of its directions."""

    stream: DerivedStream
    layouts: dict[Direction, FlowLayout]

    @property
    def posix(self) -> list[CounterRecord]:
        """What reached POSIX."""
        views = self.stream.group.views
        return [record for view in views for record in view.records.get(Layer.POSIX, [])]


def _by_count(count: int) -> Severity:
    return Severity.HIGH if count > MANY_REQUESTS else Severity.NOTE


def _partial_capture(trace: Trace) -> Iterator[RuleMatch]:
    """What Darshan lost for want of memory; a capture of our own says itself what it missed."""
    for gap in trace.gaps if trace.source.format.startswith("darshan") else ():
        yield RuleMatch(
            severity=Severity.HIGH,
            what=f"The capture of {gap.layer} is incomplete, so all totals are lower bounds.",
            evidence=gap.what,
        )


def _small_requests(case: Case) -> Iterator[RuleMatch]:
    if is_tree(case.stream) or case.stream.interface.entry.buffers:
        return
    parts = [part for flow in case.stream.flows for part in flow.mix.parts]
    requests = sum(count for _, count in parts)
    small = sum(count for size, count in parts if size < SMALL_REQUEST_BYTES)
    if small <= SMALL_SHARE * requests or _is_joined_below(case):
        return
    sizes = {flow.direction.value: size_text(flow.mix.transfer) for flow in case.stream.flows}
    yield RuleMatch(
        severity=_by_count(small),
        what=f"{case.stream.name}: {'most' if small * 2 > requests else 'many'} requests are "
        "smaller than 1 MiB.",
        evidence=f"{small} of {requests} requests (threshold {SMALL_SHARE:.0%}); most bytes in "
        + " and ".join(f"{size} a {word}" for word, size in sizes.items()),
    )


def _is_joined_below(case: Case) -> bool:
    """Whether a library makes large requests at POSIX of those that it is asked for.

    Counters have sizes by class: small requests hold at most what the upper edge of their class
    says. If that is half of the bytes or less, most bytes move in large requests.
    """
    if not case.stream.interface.entry.is_library:
        return False
    both = [counts_of(case.posix, direction) for direction in Direction] if case.posix else []
    classes = [one for counts in both for one in zip(BUCKETS, counts.buckets, strict=True)]
    small = sum(n * edge for (_, edge), n in classes if edge <= SMALL_REQUEST_BYTES)
    has_large = any(n for (_, edge), n in classes if edge > SMALL_REQUEST_BYTES)
    return has_large and 2 * small <= sum(counts.bytes for counts in both)


def _noun(flow: Flow) -> str:
    return "writes" if flow.direction is Direction.WRITE else "reads"


def _misaligned(case: Case) -> Iterator[RuleMatch]:
    requests = total(case.posix, "READS", "WRITES")
    off = total(case.posix, "FILE_NOT_ALIGNED")
    if not requests or off <= MISALIGNED_SHARE * requests:
        return
    unit = max((r.counters.get("FILE_ALIGNMENT", 0) for r in case.posix), default=0)
    yield RuleMatch(
        severity=_by_count(off),
        what=f"{case.stream.name}: requests do not start where the file system's blocks do.",
        evidence=f"{off} of {requests} POSIX requests are not at a multiple of {size_text(unit)} "
        f"(threshold {MISALIGNED_SHARE:.0%})",
    )


def _random_access(case: Case) -> Iterator[RuleMatch]:
    for flow in case.stream.flows:
        layout = case.layouts[flow.direction]
        counts = flow.counts
        if layout.kind is not LayoutKind.RANDOM or counts.sequential is None:
            continue
        backward = counts.requests - counts.sequential
        if backward <= RANDOM_SHARE * counts.requests and layout.run <= flow.mix.transfer:
            continue
        yield RuleMatch(
            severity=_by_count(backward),
            what=f"{case.stream.name}: {_noun(flow)} come in random order.",
            evidence=f"{backward} of {counts.requests} {_noun(flow)} go backwards "
            f"(threshold {RANDOM_SHARE:.0%})",
        )


def _contention(case: Case) -> Iterator[RuleMatch]:
    stream = case.stream
    flow = stream.flow(Direction.WRITE)
    if not stream.is_shared or flow is None or flow.is_collective or flow.active < 2:
        return
    nest = case.layouts[Direction.WRITE].nest
    unit = max((r.counters.get("FILE_ALIGNMENT", 0) for r in case.posix), default=0)
    is_cut = nest is not None and unit > 0 and nest.block % unit != 0
    is_interleaved = nest is not None and nest.segments > 1 and nest.block < SMALL_REQUEST_BYTES
    if not is_cut and not is_interleaved and nest is not None:
        return
    block = size_text(nest.block) if nest else "pieces of unknown size"
    yield RuleMatch(
        severity=Severity.MEDIUM if flow.requests > MANY_REQUESTS else Severity.NOTE,
        what=f"{stream.name}: {flow.active} ranks write small pieces of one file in turns.",
        evidence=f"{flow.requests} independent writes; a rank's pieces of {block} lie between "
        "those of others",
    )


def _imbalance(case: Case) -> Iterator[RuleMatch]:
    slow, fast, what = _extremes(case.stream)
    if slow and (slow - fast) > SIZE_IMBALANCE * slow:
        yield RuleMatch(
            severity=Severity.MEDIUM,
            what=f"{case.stream.name}: ranks move different amounts of data.",
            evidence=f"{size_text(int(slow))} against {size_text(int(fast))} by {what} "
            f"(threshold {SIZE_IMBALANCE:.0%})",
        )


def _straggler(case: Case) -> Iterator[RuleMatch]:
    for record in case.stream.records:
        slowest = record.times.get("F_SLOWEST_RANK_TIME", 0.0)
        fastest = record.times.get("F_FASTEST_RANK_TIME", 0.0)
        if slowest >= LEAST_SECONDS and slowest - fastest > STRAGGLER_SHARE * slowest:
            yield RuleMatch(
                severity=Severity.MEDIUM,
                what=f"{case.stream.name}: one rank spends much longer in I/O than another.",
                evidence=f"{slowest:.3g} s against {fastest:.3g} s "
                f"(threshold {STRAGGLER_SHARE:.0%})",
            )
            return


def _extremes(stream: DerivedStream) -> tuple[float, float, str]:
    """The most and the fewest bytes of a rank, and which ranks are meant."""
    if all(record.rank >= 0 for record in stream.records):
        moved: dict[int, int] = {}
        for record in stream.records:
            both = sum(bytes_of(record, direction) for direction in Direction)
            moved[record.rank] = moved.get(record.rank, 0) + both
        return max(moved.values(), default=0), min(moved.values(), default=0), "the ranks in it"
    for extreme in ("SLOWEST_RANK", "FASTEST_RANK"):
        if len({record.counters.get(extreme) for record in stream.records}) > 1:
            # Several files have different ones: a sum over them is no rank's.
            return 0, 0, ""
    slow = total(stream.records, "SLOWEST_RANK_BYTES")
    fast = total(stream.records, "FASTEST_RANK_BYTES")
    return max(slow, fast), min(slow, fast), "its slowest and fastest rank"


def _metadata(case: Case) -> Iterator[RuleMatch]:
    stream = case.stream
    seconds = sum(record.times.get("F_META_TIME", 0.0) for record in case.posix) / stream.ranks
    requests = sum(flow.requests for flow in stream.flows)
    share = stream.opens / (stream.opens + requests) if stream.opens else 0.0
    is_many = share > METADATA_SHARE and stream.opens >= MANY_REQUESTS // 10
    if seconds <= METADATA_SECONDS and not is_many:
        return
    is_high = seconds > METADATA_SECONDS or stream.opens > MANY_REQUESTS
    yield RuleMatch(
        severity=Severity.HIGH if is_high else Severity.MEDIUM,
        what=f"{stream.name}: opening files is a large part of the work.",
        evidence=f"{stream.opens} opens of {stream.files} files beside {requests} requests; "
        f"{seconds:.3g} s of metadata time per rank (thresholds: own {METADATA_SHARE:.0%}, "
        f"{METADATA_SECONDS:g} s)",
    )


def _opens(case: Case) -> Iterator[RuleMatch]:
    stream = case.stream
    if stream.interface.entry.is_library or stream.opens < 1:
        return
    each = stream.opens / max(1, stream.units)
    requests = sum(flow.requests for flow in stream.flows)
    if each < OPENS_EACH or stream.opens * 4 < requests:
        return
    yield RuleMatch(
        severity=Severity.MEDIUM if stream.opens > MANY_REQUESTS else Severity.LOW,
        what=f"{stream.name}: files are opened again and again.",
        evidence=f"{each:.3g} opens of each file by each rank (own threshold {OPENS_EACH}), "
        f"{requests} requests in all",
    )


def _no_collective(case: Case) -> Iterator[RuleMatch]:
    stream = case.stream
    if stream.layer is not Layer.MPIIO or not stream.is_shared:
        return
    for flow in stream.flows:
        independent = flow.counts.requests - flow.counts.collective
        if flow.counts.collective >= COLLECTIVE_SHARE * flow.counts.requests:
            continue
        yield RuleMatch(
            severity=Severity.MEDIUM if independent > MANY_REQUESTS else Severity.LOW,
            what=f"{stream.name}: {_noun(flow)} use independent MPI-IO calls.",
            evidence=f"{independent} of {flow.counts.requests} {_noun(flow)} are independent",
        )


def _redundant_reads(case: Case) -> Iterator[RuleMatch]:
    flow = case.stream.flow(Direction.READ)
    if flow is None or not flow.counts.extent:
        return
    factor = flow.counts.bytes / flow.counts.extent
    if factor <= REREAD_FACTOR:
        return
    yield RuleMatch(
        severity=_graded(1 - 1 / factor, flow.counts.bytes - flow.counts.extent),
        what=f"{case.stream.name}: the same bytes are read more than once.",
        evidence=f"{size_text(flow.counts.bytes)} read of {size_text(flow.counts.extent)} in files "
        f"({factor:.3g} times, own threshold {REREAD_FACTOR:g})",
    )


def _redundant_writes(case: Case) -> Iterator[RuleMatch]:
    """Bytes that are written over; files that are opened again may be begun anew each time."""
    flow, stream = case.stream.flow(Direction.WRITE), case.stream
    if flow is None or not flow.counts.extent:
        return
    factor = flow.counts.bytes / flow.counts.extent
    if factor > REREAD_FACTOR:
        yield RuleMatch(
            severity=Severity.NOTE
            if stream.opens > max(1, stream.units)
            else _graded(1 - 1 / factor, flow.counts.bytes - flow.counts.extent),
            what=f"{stream.name}: the same bytes are written more than once.",
            evidence=f"{size_text(flow.counts.bytes)} written to {size_text(flow.counts.extent)} "
            f"of files ({factor:.3g} times, own threshold {REREAD_FACTOR:g})",
        )


def _syncs(case: Case) -> Iterator[RuleMatch]:
    stream = case.stream
    if stream.sync.pattern is not SyncPattern.EACH:
        return
    writes = stream.flow(Direction.WRITE)
    yield RuleMatch(
        severity=Severity.HIGH if stream.sync.calls > MANY_REQUESTS else Severity.MEDIUM,
        what=f"{stream.name}: every write is followed by {stream.sync.mode.value}.",
        evidence=f"{stream.sync.calls} sync calls for {writes.requests if writes else 0} writes",
    )


def _sieving(case: Case) -> Iterator[RuleMatch]:
    stream = case.stream
    if not stream.interface.entry.is_library or stream.flow(Direction.READ):
        return
    read = total(case.posix, "BYTES_READ")
    written = total(case.posix, "BYTES_WRITTEN")
    if not read:
        return
    yield RuleMatch(
        severity=_graded(read / (read + written), read),
        what=f"{stream.name}: a library reads while the application only writes.",
        evidence=f"{size_text(read)} read and {size_text(written)} written at POSIX",
    )


def _amplification(case: Case) -> Iterator[RuleMatch]:
    """Bytes that a layer moves beyond those that the layer above asked of it."""
    there = {layer for view in case.stream.group.views for layer in view.records}
    for upper, lower in pairwise(layer for layer in _STACK if layer in there):
        for direction in Direction:
            asked, moved = (_moved(case, layer, direction) for layer in (upper, lower))
            if not asked or moved - asked <= OWN_SHARE * moved:
                continue
            word = "reads" if direction is Direction.READ else "writes"
            yield RuleMatch(
                severity=_graded((moved - asked) / moved, moved - asked),
                what=f"{case.stream.name}: {_STACK[lower]} {word} more than {_STACK[upper]} asks "
                "for.",
                evidence=f"{amount_text(moved)} for {amount_text(asked)} "
                f"({moved / asked:.3g} times)",
            )


def _moved(case: Case, layer: Layer, direction: Direction) -> int:
    views = case.stream.group.views
    return sum(
        bytes_of(record, direction) for view in views for record in view.records.get(layer, [])
    )


def _graded(share: float, amount_bytes: int) -> Severity:
    """Return how severe it is that so large a share of what is moved is not needed."""
    if amount_bytes < LEAST_BYTES:
        return Severity.NOTE
    return next((severity for least, severity in _SHARES if share >= least), Severity.NOTE)


def _interleaved(case: Case) -> Iterator[RuleMatch]:
    if case.stream.is_interleaved:
        yield RuleMatch(
            severity=Severity.NOTE,
            what=f"{case.stream.name}: reads and writes alternate on the same file.",
            evidence=f"{total(case.stream.records, 'RW_SWITCHES')} changes of direction",
        )


def _stdio(cases: list[Case]) -> Iterator[RuleMatch]:
    moved = {case.stream.name: case.stream.group.bytes for case in cases}
    stdio = [case.stream for case in cases if case.stream.interface.entry.buffers]
    share = sum(moved[stream.name] for stream in stdio) / max(1, sum(moved.values()))
    if share > STDIO_SHARE:
        yield RuleMatch(
            severity=Severity.MEDIUM,
            what="Bulk data goes through buffered streams (fopen, fprintf).",
            evidence=f"{share:.0%} of the bytes, in {', '.join(s.name for s in stdio)} "
            f"(threshold {STDIO_SHARE:.0%})",
        )


CASE_RULES: tuple[FindingRule[Case], ...] = (
    FindingRule(
        "small-requests",
        _small_requests,
        "Gather data in memory, or use collective MPI-IO, to make requests larger.",
    ),
    FindingRule(
        "misaligned",
        _misaligned,
        (
            "Choose transfer and block as multiples of the file system's block or stripe; "
            "in HDF5 set the alignment."
        ),
    ),
    FindingRule(
        "random-access",
        _random_access,
        "Sort requests by offset, or read larger pieces and pick from memory.",
    ),
    FindingRule(
        "shared-file-contention",
        _contention,
        "Use collective writes, larger or aligned blocks, or one file for each node.",
    ),
    FindingRule(
        "imbalance",
        _imbalance,
        "Spread the data over the ranks, or let dedicated ranks do all of it.",
    ),
    FindingRule(
        "straggler",
        _straggler,
        "Look at that rank's node and storage target, and at what it does alone.",
    ),
    FindingRule(
        "metadata-heavy", _metadata, "Pack small files into few large ones, and keep files open."
    ),
    FindingRule("too-many-opens", _opens, "Open once, keep the file open, and close at the end."),
    FindingRule(
        "no-collective", _no_collective, "Use the _all variants, so that MPI-IO can join requests."
    ),
    FindingRule(
        "redundant-reads", _redundant_reads, "Read once and broadcast, or keep the data in memory."
    ),
    FindingRule(
        "redundant-writes",
        _redundant_writes,
        "Change data in memory and write them once.",
    ),
    FindingRule("sync-each-write", _syncs, "Sync once at the end of a phase."),
    FindingRule(
        "read-modify-write",
        _sieving,
        "Avoid holes in collective writes, or switch data sieving off (romio_ds_write).",
    ),
    FindingRule(
        "amplification",
        _amplification,
        "Ask for what the library moves anyway: whole chunks, contiguous ranges; or enlarge its "
        "cache or sieving buffer.",
    ),
    FindingRule(
        "read-write-switches",
        _interleaved,
        "Separate reading from writing where the algorithm allows.",
    ),
)

STDIO_RULE = FindingRule(
    "stdio-bulk", _stdio, "Use POSIX or MPI-IO with large requests for bulk data."
)

CAPTURE_RULE = FindingRule(
    "partial-capture",
    _partial_capture,
    "Capture again with more memory (MODMEM, MAX_RECORDS in Darshan's config).",
)
