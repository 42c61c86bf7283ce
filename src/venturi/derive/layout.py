"""Where the requests of a flow lie in the file: rules 7 to 9 of the method.

The meaning of regular access is IOR's nest: segments, in each a block of every rank, in each
block the transfers. What does not fit the nest exactly is kept as sizes and counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from venturi.derive.counts import bytes_of, requests_of
from venturi.derive.stream import DerivedStream, Flow
from venturi.model.plan import Direction
from venturi.model.trace import CounterRecord, Layer
from venturi.model.units import size_text

RANDOM_BACKWARD_SHARE = 0.3
"""Uniform random access jumps backwards half of the time, regular access hardly ever."""
LEAST_JUMPS = 8
"""Fewer jumps than this say nothing about randomness."""
LEAST_JUMP_SHARE = 0.1
"""Rarer jumps than one in ten requests are rewinds and headers, not randomness."""
STRIDE_SHARE = 0.05
"""A stride counts if at least so many of the ranks show it, and two in any case."""
MOST_NESTS = 8
"""Datasets of more different shapes than this are kept as sizes and counts."""


class LayoutKind(StrEnum):
    """How the bytes lie."""

    NEST = "nest"
    RANDOM = "random"
    GAPPED = "gapped"
    SIZES = "sizes"


SEVERAL_FIT = 0.5
"""How sure the most frequent of several blocks is that fit gaps."""


@dataclass(frozen=True)
class IorNest:
    """IOR's nest, in bytes and segments."""

    transfer: int
    block: int
    segments: int

    @property
    def volume(self) -> int:
        """Bytes of one rank."""
        return self.block * self.segments


@dataclass(frozen=True)
class FlowLayout:
    """Where one flow's bytes lie, which rule said so, and how sure that is."""

    kind: LayoutKind
    rule: str
    confidence: float
    nests: tuple[IorNest, ...] = ()
    run: int = 0
    """Bytes that lie together between two jumps, of a random or gapped flow."""
    gap: int = 0
    """Bytes between two runs of a gapped flow."""
    has_free_block: bool = False
    """Whether block and segments could be any pair with the same product."""

    @property
    def nest(self) -> IorNest | None:
        """The nest, if there is exactly one."""
        return self.nests[0] if len(self.nests) == 1 else None


def layout_of(stream: DerivedStream, flow: Flow) -> FlowLayout:
    """The layout of one direction of a stream; the first rule that fits exactly."""
    if is_random(stream, flow):
        run = _mean_run(stream, flow)
        return FlowLayout(
            LayoutKind.RANDOM, "9: jumps go backwards as often as random ones do", 0.9, run=run
        )
    if stream.layer in (Layer.HDF5_DATASET, Layer.PNETCDF_VARIABLE):
        nests = _by_datasets(stream, flow)
        if nests and _adds_up(stream, flow, nests):
            return FlowLayout(
                LayoutKind.NEST, "7a: a segment for each equal dataset or record", 0.9, nests
            )
    volume = _volume(stream, flow)
    transfer = flow.mix.transfer
    if len(flow.mix.parts) != 1 or not volume or volume % transfer:
        return FlowLayout(
            LayoutKind.SIZES, "5: more than one size of requests, or uneven ranks", 0.4
        )
    if not stream.is_shared or flow.reads_whole:
        return _alone(stream, flow, volume)
    found = _block(stream, flow, volume)
    nest = IorNest(transfer, found[0], volume // found[0])
    free = found[1].startswith("7e")
    return FlowLayout(LayoutKind.NEST, found[1], found[2], (nest,), has_free_block=free)


def _adds_up(stream: DerivedStream, flow: Flow, nests: tuple[IorNest, ...]) -> bool:
    """Whether the nests make exactly the requests that were counted."""
    users = flow.active if stream.is_shared else 1
    times = users * flow.passes
    requests = times * sum(nest.volume // nest.transfer for nest in nests)
    moved = times * sum(nest.volume for nest in nests)
    return (requests, moved) == (flow.requests, flow.counts.bytes)


def is_random(stream: DerivedStream, flow: Flow) -> bool:
    """Rule 9, on the jumps only, so that random blocks of several requests count too."""
    jumps, backward = jumps_of(stream, flow)
    if jumps < max(LEAST_JUMPS, LEAST_JUMP_SHARE * flow.requests):
        return False
    top = max(stream.common.strides.values(), default=0)
    all_jumps = sum(jumps_of(stream, other)[0] for other in stream.flows)
    return backward > RANDOM_BACKWARD_SHARE * jumps and top * 2 < all_jumps


def jumps_of(stream: DerivedStream, flow: Flow) -> tuple[int, int]:
    """Requests that do not follow the one before, beyond the first of each rank and file.

    The second number is how many of them go backwards. (0, 0) where the order is unknown.
    """
    counts = flow.counts
    if counts.sequential is None or counts.consecutive is None:
        return 0, 0
    files = stream.files * flow.passes
    starts = files * (flow.active if stream.is_shared else 1)
    jumps = counts.requests - counts.consecutive - starts
    backward = counts.requests - counts.sequential - files
    return max(0, jumps), max(0, backward)


def _mean_run(stream: DerivedStream, flow: Flow) -> int:
    """Bytes between two jumps, as whole requests."""
    jumps, _ = jumps_of(stream, flow)
    return flow.mix.transfer * max(1, round(flow.requests / (jumps + 1)))


def _volume(stream: DerivedStream, flow: Flow) -> int:
    """Bytes of one rank in one file and pass, or 0 where ranks or files differ."""
    users = flow.active if stream.is_shared else 1
    volume, rest = divmod(flow.counts.bytes, stream.files * users * flow.passes)
    if rest or not _is_uniform(stream, flow.direction):
        return 0
    return volume


def _is_uniform(stream: DerivedStream, direction: Direction) -> bool:
    """Whether all files, and all ranks that are told apart, move the same."""
    by_file = {(v.bytes(direction), v.requests(direction)) for v in stream.group.views}
    by_rank = {
        (bytes_of(record, direction), requests_of(record, direction)[0])
        for record in stream.records
        if record.rank >= 0 and bytes_of(record, direction)
    }
    is_part = stream.layer in (Layer.HDF5_DATASET, Layer.PNETCDF_VARIABLE)
    return len(by_file) == 1 and (len(by_rank) <= 1 or is_part)


def _by_datasets(stream: DerivedStream, flow: Flow) -> tuple[IorNest, ...]:
    """Rule 7a: equal datasets are segments; a variable with records has one in each."""
    if stream.files != 1:
        return ()
    users = flow.active if stream.is_shared else 1
    amounts: dict[str, tuple[int, int]] = {}
    last: dict[str, CounterRecord] = {}
    for record in stream.records:
        moved, asked = amounts.get(record.identity, (0, 0))
        amounts[record.identity] = (
            moved + bytes_of(record, flow.direction),
            asked + requests_of(record, flow.direction)[0],
        )
        last[record.identity] = record
    nests: dict[tuple[int, int, int], int] = {}
    for identity, (moved, asked) in amounts.items():
        if not moved:
            continue
        if not asked or moved % (users * flow.passes) or moved % asked:
            return ()
        volume, transfer = moved // (users * flow.passes), moved // asked
        block = _record_block(last[identity], volume, transfer)
        if block % transfer:
            return ()
        key = (transfer, block, volume // block)
        nests[key] = nests.get(key, 0) + 1
    if not nests or len(nests) > MOST_NESTS:
        return ()
    return tuple(IorNest(t, b, s * count) for (t, b, s), count in nests.items())


def _record_block(record: CounterRecord, volume: int, transfer: int) -> int:
    """The part of a rank that lies together: all, or one record of a variable with records."""
    counters = record.counters
    if counters.get("IS_RECORD_VAR", 0) > 0:
        size = counters.get("NPOINTS", 0) * counters.get("DATATYPE_SIZE", 0)
        if 0 < size <= volume and volume % size == 0 and size % transfer == 0:
            return size
    return volume


def _alone(stream: DerivedStream, flow: Flow, volume: int) -> FlowLayout:
    """One rank in its own file: one stream of bytes, with or without gaps."""
    jumps, backward = jumps_of(stream, flow)
    transfer = flow.mix.transfer
    gap, count = max(stream.common.strides.items(), key=lambda s: s[1], default=(0, 0))
    if jumps and not backward and count * 2 > jumps:
        runs, rest = divmod(jumps + stream.files * flow.passes, stream.files * flow.passes)
        run = volume // runs if runs and volume % runs == 0 else 0
        if not rest and run and run % transfer == 0:
            return FlowLayout(
                LayoutKind.GAPPED, "7d: runs with one gap between them", 0.7, run=run, gap=gap
            )
    sure = 0.9 if not jumps else 0.5
    rule = "8: one stream of bytes; block and segments cannot be told apart"
    return FlowLayout(
        LayoutKind.NEST, rule, sure, (IorNest(transfer, volume, 1),), has_free_block=True
    )


def _block(stream: DerivedStream, flow: Flow, volume: int) -> tuple[int, str, float]:
    """Rules 7b to 7e for a shared file: bytes of a block, the rule, and how sure it is."""
    transfer, ranks = flow.mix.transfer, flow.active
    strides = stream.common.strides.most_common()
    least = max(2.0, STRIDE_SHARE * ranks)
    fitting = [
        gap // (ranks - 1)
        for gap, count in strides
        if ranks > 1 and gap % (ranks - 1) == 0 and count >= least
        if _fits(gap // (ranks - 1), transfer, volume)
    ]
    if fitting:
        rule = "7b: the gap is the blocks of the other ranks"
        others = ", ".join(size_text(block) for block in fitting[1:])
        return (
            fitting[0],
            rule + (f"; other gaps fit blocks of {others}" if others else ""),
            (SEVERAL_FIT if others else 0.95),
        )
    jumps, _ = jumps_of(stream, flow)
    if flow.is_collective:
        for gap, count in strides:
            if count >= least and _fits(gap + transfer, transfer, volume):
                return gap + transfer, "7c: the gap of an aggregator", 0.6
    counts = flow.counts
    if counts.consecutive is not None:
        runs, rest = divmod(counts.requests - counts.consecutive, ranks * flow.passes)
        block = volume // runs if runs and volume % runs == 0 else 0
        if rest == 0 and _fits(block, transfer, volume):
            return block, "7d: counted runs of consecutive requests", 0.9 if runs == 1 else 0.6
        if not jumps:
            return volume, "7d: no jumps", 0.6
    if flow.is_collective:
        return transfer, "7e: collective and no stride: ambiguous", 0.2
    return volume, "7e: no rule fits: ambiguous", 0.2


def _fits(block: int, transfer: int, volume: int) -> bool:
    return 0 < block <= volume and block % transfer == 0 and volume % block == 0
