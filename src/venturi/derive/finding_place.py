"""Findings on where requests lie in files, and on what becomes of the data.

Thresholds without another source are those of Drishti (drishti-io 0.8).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

import numpy as np

from venturi.derive.finding_counter import (
    MISALIGNED_SHARE,
    RANDOM_SHARE,
    REREAD_FACTOR,
    SMALL_REQUEST_BYTES,
)
from venturi.derive.finding_rule import FindingRule, RuleMatch, amount_text
from venturi.derive.footprint import TRUNCATE_FLAG
from venturi.derive.stream_rows import StreamRows
from venturi.model.operation import COLLECTIVE, IN_VIEW, UNKNOWN_OFFSET, Column, Kind
from venturi.model.units import size_text
from venturi.model.workload import Audience

BLOCK_BYTES = 4096
"""Own: the block of usual file systems and the page of the cache."""
LARGE_BYTES = 4 * 2**20
"""Own: from this size on a request's place hardly matters."""
SWITCH_SHARE = 0.25
"""Own: changes between reading and writing, over requests."""
LEAST_SWITCHES = 16
LEAST_ORDERED = 8
"""Own: fewer requests of a file have no order to speak of."""
APPEND_FLAG = 0o2000
"""O_APPEND of open(2) on Linux."""


def _misaligned(rows: StreamRows) -> Iterator[RuleMatch]:
    posix = rows.at_posix(Kind.READ, Kind.WRITE)
    ops = rows.found.ops
    placed = posix[(ops.offset[posix] != UNKNOWN_OFFSET) & (ops.bytes[posix] >= BLOCK_BYTES)]
    off = placed[ops.offset[placed] % BLOCK_BYTES != 0]
    if len(off) > MISALIGNED_SHARE * len(placed):
        yield RuleMatch(
            f"{rows.name}: requests do not begin where the file system's blocks do.",
            f"{len(off)} of {len(placed)} requests of a block or more do not begin at a multiple "
            f"of {size_text(BLOCK_BYTES)} (threshold {MISALIGNED_SHARE:.0%})",
            at_stake_s=_edges_s(rows, off),
        )


def _edges_s(rows: StreamRows, off: Column) -> float:
    """Return the part of the time in these requests that goes to the two blocks at their ends.

    That is what alignment can save; between them a large request moves whole blocks.
    """
    share = np.minimum(2 * BLOCK_BYTES / rows.found.ops.bytes[off], 1.0)
    mean = float(np.average(share, weights=rows.found.seconds[off] + 1e-12))
    return rows.longest_s(off) * mean


def _random_access(rows: StreamRows) -> Iterator[RuleMatch]:
    for word, part in (("reads", rows.reads), ("writes", rows.writes)):
        moved = part[rows.found.ops.bytes[part] > 0]
        _, of_file, requests = np.unique(rows.pairs(moved), return_inverse=True, return_counts=True)
        chain, follows = rows.by_chain(moved[requests[of_file] >= LEAST_ORDERED])
        if not follows.any() or rows.bytes(part) >= LARGE_BYTES * len(part):
            continue
        ops = rows.found.ops
        # What lies between the rows of a box belongs to others: it ends where it begins.
        is_box = np.array([len(file.shape) > 1 for file in rows.found.files] + [False], bool)
        spans = ~is_box[np.minimum(ops.file[chain], len(rows.found.files))]
        ends = np.roll(ops.offset[chain] + ops.bytes[chain] * spans, 1)
        # A file that is read, or written, once more from its beginning is in order.
        back = chain[follows & (ops.offset[chain] < ends) & (ops.offset[chain] > 0)]
        if len(back) > RANDOM_SHARE * int(follows.sum()):
            yield RuleMatch(
                f"{rows.name}: {word} come in random order.",
                f"{len(back)} of {int(follows.sum())} {word} go backwards (threshold "
                f"{RANDOM_SHARE:.0%}), most often of {size_text(rows.common_size(moved))}",
                at_stake_s=rows.longest_s(part),
            )


def _contention(rows: StreamRows) -> Iterator[RuleMatch]:
    if not len(rows.shared):
        return
    ops = rows.found.ops
    writes = rows.writes[(ops.detail[rows.writes] & COLLECTIVE) == 0]
    writes = _placed(rows, writes)
    writes = writes[np.isin(rows.found.root[writes], rows.shared)]
    writes = writes[np.isin(rows.found.lane[writes], rows.ranks)]
    if len(np.unique(rows.found.lane[writes])) < 2:
        return
    places = writes[np.lexsort((ops.offset[writes], rows.holder(writes)))]
    pairs = rows.holder(places) * len(rows.found.lanes) + rows.found.lane[places]
    runs = 1 + int(np.count_nonzero(pairs[1:] != pairs[:-1]))
    run_bytes = rows.bytes(writes) // runs
    if run_bytes < SMALL_REQUEST_BYTES:
        yield RuleMatch(
            f"{rows.name}: ranks write small pieces of one file that lie between each other's.",
            f"{len(writes)} independent writes; a rank's pieces of {amount_text(run_bytes)} in the "
            "mean touch those of another rank",
            at_stake_s=rows.longest_s(writes),
        )


def _appended(rows: StreamRows) -> Column:
    """Files that are opened to append: each write goes to their end, wherever it says it goes."""
    opens = rows.of_kind(Kind.OPEN)
    return np.asarray(rows.found.root[opens[(rows.found.ops.detail[opens] & APPEND_FLAG) != 0]])


def _append_contention(rows: StreamRows) -> Iterator[RuleMatch]:
    files = np.intersect1d(_appended(rows), rows.shared)
    writes = rows.writes[np.isin(rows.found.root[rows.writes], files)]
    writes = writes[np.isin(rows.found.lane[writes], rows.ranks)]
    lanes = len(np.unique(rows.found.lane[writes]))
    if lanes > 1:
        yield RuleMatch(
            f"{rows.name}: {lanes} ranks append to the same file.",
            f"{len(writes)} writes, most often of {size_text(rows.common_size(writes))}, to files "
            "opened with O_APPEND: each waits for the file's end",
            at_stake_s=rows.longest_s(writes),
        )


@dataclass(frozen=True)
class _Again:
    """Requests that move the same bytes of a file more than once."""

    moves: Column
    moved: int
    """Bytes."""
    extent: int
    """Bytes that there are."""

    @property
    def factor(self) -> float:
        """How many times each is moved."""
        return self.moved / self.extent


def _redundant_reads(rows: StreamRows) -> Iterator[RuleMatch]:
    again = _moved_again(rows, rows.reads)
    if again is None:
        return
    pairs = np.unique(rows.pairs(again.moves))
    readers = len(pairs) / len(np.unique(pairs // len(rows.found.lanes)))
    who = rows.found.who
    who = f"{readers:.3g} {who}s read each file" if readers > REREAD_FACTOR else f"one {who} does"
    yield RuleMatch(
        f"{rows.name}: the same bytes are read more than once.",
        f"{amount_text(again.moved)} read of {amount_text(again.extent)} in files "
        f"({again.factor:.3g} times, own threshold {REREAD_FACTOR:g}); {who}",
        at_stake_s=rows.longest_s(again.moves) * (1 - 1 / again.factor),
    )


def _redundant_writes(rows: StreamRows) -> Iterator[RuleMatch]:
    """Bytes that are written over in place."""
    in_place = ~np.isin(rows.found.root[rows.writes], _appended(rows))
    again = _moved_again(rows, rows.writes[in_place])
    if again is not None:
        yield RuleMatch(
            f"{rows.name}: the same bytes are written more than once.",
            f"{amount_text(again.moved)} written to {amount_text(again.extent)} of files "
            f"({again.factor:.3g} times, own threshold {REREAD_FACTOR:g})",
            at_stake_s=rows.longest_s(again.moves) * (1 - 1 / again.factor),
        )


def _moved_again(rows: StreamRows, moves: Column) -> _Again | None:
    """Of these requests those at known places, where the same bytes are moved more than once; None
    where they are not. What is cut off, replaced or removed is another file afterwards."""
    moves = _placed(rows, moves)
    moves = moves[~np.isin(rows.found.root[moves], rows.found.replaced)]
    if not len(moves):
        return None
    again = _Again(moves, rows.bytes(moves), _extent(rows, moves))
    return again if again.factor > REREAD_FACTOR else None


def _placed(rows: StreamRows, moves: Column) -> Column:
    """Those that moved something at a known place; through a file view it is not the file's."""
    ops = rows.found.ops
    is_known = (ops.offset[moves] != UNKNOWN_OFFSET) & ((ops.detail[moves] & IN_VIEW) == 0)
    return np.asarray(moves[is_known & (ops.bytes[moves] > 0)])


def _extent(rows: StreamRows, moves: Column) -> int:
    """Bytes from the first to the last that was moved, over all files; of a dataset with several
    dimensions all, for what lies between is not known."""
    holder = rows.holder(moves)
    begins = rows.found.ops.offset[moves]
    order = np.argsort(holder, kind="stable")
    starts = np.flatnonzero(np.append(True, np.diff(holder[order]) != 0))
    low = np.minimum.reduceat(begins[order], starts)
    high = np.maximum.reduceat((begins + rows.found.ops.bytes[moves])[order], starts)
    files = [rows.found.files[one] for one in holder[order][starts].tolist()]
    whole = [prod(one.shape) * one.element_bytes if len(one.shape) > 1 else 0 for one in files]
    return int(np.maximum(high - low, np.array(whole, np.int64)).sum())


def _switches(rows: StreamRows) -> Iterator[RuleMatch]:
    chain, follows = rows.by_chain(rows.data)
    reading = rows.found.reads[chain]
    turns = int(np.count_nonzero(follows & (reading != np.roll(reading, 1))))
    if turns >= LEAST_SWITCHES and turns > SWITCH_SHARE * len(chain):
        yield RuleMatch(
            f"{rows.name}: reads and writes alternate on the same file.",
            f"{turns} changes of direction in {len(chain)} requests",
            at_stake_s=rows.longest_s(rows.reads),
        )


def _lost_writes(rows: StreamRows) -> Iterator[RuleMatch]:
    """Writes to a file that is cut or emptied afterwards, and was not read or renamed till then."""
    ops = rows.found.ops
    cuts = rows.of_kind(Kind.TRUNCATE)
    cuts = cuts[ops.offset[cuts] != UNKNOWN_OFFSET]
    opens = rows.of_kind(Kind.OPEN)
    cuts = np.concatenate((cuts, opens[(ops.detail[opens] & TRUNCATE_FLAG) != 0]))
    if not len(cuts) or not len(rows.writes):
        return
    cuts = cuts[np.argsort(ops.start_ns[cuts], kind="stable")]
    files = len(rows.found.files)
    until, keeps = np.full(files, -1, np.int64), np.zeros(files, np.int64)
    # Of several cuts of a file the latest one counts.
    until[rows.found.root[cuts]] = ops.start_ns[cuts]
    is_truncate = rows.found.kind(Kind.TRUNCATE)[cuts]
    keeps[rows.found.root[cuts]] = np.where(is_truncate, ops.offset[cuts], 0)
    uses = np.append(rows.reads, rows.of_kind(Kind.RENAME))
    uses = uses[ops.start_ns[uses] <= until[rows.found.root[uses]]]
    used = np.full(files, -1, np.int64)
    np.maximum.at(used, rows.found.root[uses], ops.start_ns[uses])
    roots = rows.found.root[rows.writes]
    ended = ops.end_ns[rows.writes]
    is_before = (ended <= until[roots]) & (ended > used[roots])
    lost = rows.writes[is_before & (ops.offset[rows.writes] >= keeps[roots])]
    if len(lost):
        yield RuleMatch(
            f"{rows.name}: data are written and then cut off.",
            f"{amount_text(rows.bytes(lost))} in {len(lost)} writes were gone when the file was "
            "truncated",
            at_stake_s=rows.longest_s(lost),
        )


def _temporary(rows: StreamRows) -> Iterator[RuleMatch]:
    ops, root = rows.found.ops, rows.found.root
    unlinks = rows.of_kind(Kind.UNLINK)
    unlinks = unlinks[ops.error[unlinks] == 0]
    until = np.full(len(rows.found.files), -1, np.int64)
    np.maximum.at(until, root[unlinks], ops.start_ns[unlinks])
    # What is removed first and written then (an old output) is no temporary file.
    writes = rows.writes[ops.start_ns[rows.writes] < until[root[rows.writes]]]
    if not len(writes):
        return
    gone = np.unique(root[writes])
    reads = rows.reads[np.isin(root[rows.reads], gone)]
    files = len(gone)
    used = f"{amount_text(rows.bytes(reads))} read back" if len(reads) else "never read"
    yield RuleMatch(
        f"{rows.name}: {'a file is' if files == 1 else f'{files} files are'} written and deleted "
        "in the same run.",
        f"{amount_text(rows.bytes(writes))} written, {used}",
        at_stake_s=rows.longest_s(np.concatenate((writes, reads))),
    )


PLACE_RULES: tuple[FindingRule[StreamRows], ...] = (
    FindingRule(
        "misaligned",
        _misaligned,
        "Begin blocks at multiples of 4 KiB, better of the stripe (H5Pset_alignment in HDF5, "
        "nc_header_align_size in PnetCDF, a padded header in a format of your own).",
        is_gain=True,
    ),
    FindingRule(
        "random-access",
        _random_access,
        "Sort requests by offset, read larger pieces and pick from memory, or say "
        "posix_fadvise(POSIX_FADV_RANDOM) so that nothing is read ahead in vain.",
    ),
    FindingRule(
        "shared-file-contention",
        _contention,
        "Write collectively (MPI_File_write_at_all), give each rank blocks of a stripe or more, "
        "or one file to each node.",
    ),
    FindingRule(
        "append-contention",
        _append_contention,
        "Let each rank append to a file of its own, or let ranks agree on offsets (MPI_Exscan) "
        "and use pwrite.",
    ),
    FindingRule(
        "redundant-reads",
        _redundant_reads,
        "Let one rank read and MPI_Bcast the data, read collectively, or keep them in memory.",
        is_gain=True,
    ),
    FindingRule(
        "redundant-writes",
        _redundant_writes,
        "Change data in memory and write them once, at the end or when memory is full; what is "
        "written again only to be safe can go to a second file in turn.",
        is_gain=True,
    ),
    FindingRule(
        "read-write-switches",
        _switches,
        "Read a batch, change it in memory, write it as a whole.",
    ),
    FindingRule(
        "write-then-truncate",
        _lost_writes,
        "Write a new file only once, under a temporary name, and rename it; do not truncate and "
        "fill one again.",
        is_gain=True,
    ),
    FindingRule(
        "temporary-files",
        _temporary,
        "Put temporary files on the node (TMPDIR on local storage or in memory), or keep the data "
        "in memory.",
        Audience.USER,
    ),
)
