"""Findings on requests for data: how large, through what, how often made persistent.

Thresholds without another source are those of Drishti (drishti-io 0.8).
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

import numpy as np

from venturi.derive.finding_counter import (
    COLLECTIVE_SHARE,
    SMALL_REQUEST_BYTES,
    SMALL_SHARE,
    STDIO_SHARE,
)
from venturi.derive.finding_rule import FindingRule, RuleMatch, amount_text, seconds_text
from venturi.derive.stream_rows import StreamRows
from venturi.model.operation import COLLECTIVE, LAYER_CODES, Column, Kind, Operations
from venturi.model.trace import Layer, TracedFile
from venturi.model.units import size_text
from venturi.model.workload import Audience

FEW_REQUESTS = 4
"""Own: with fewer requests for each file, the files are small, not the requests."""
SYNC_SHARE = 0.5
"""Own: syncs over writes, from which on every write counts as synced."""
LEAST_SYNCS = 4
SYNC_TIME_SHARE = 0.25
"""Own: of the time in a stream's calls."""
AMPLIFIED = 1.5
"""Own: bytes at POSIX over those asked for, from which on the size of requests is a symptom."""
CUT_SHARE = 0.10
"""Own: selections that do not hold whole chunks."""
SEEKS_EACH = 1.0
"""Own: seeks over requests."""

CUT_CALLS = 4
"""Own: requests at POSIX over a library's calls; with more, the library cuts them to pieces."""
_NAMES = {
    Layer.MPIIO: "MPI-IO",
    Layer.HDF5_DATASET: "HDF5",
    Layer.PNETCDF_VARIABLE: "PnetCDF",
}
_LIBRARIES = (Layer.MPIIO, Layer.HDF5_DATASET, Layer.PNETCDF_VARIABLE)


def _small_requests(rows: StreamRows) -> Iterator[RuleMatch]:
    """Small requests of the application, unless a library makes large ones of them."""
    data = rows.data[rows.found.ops.bytes[rows.data] > 0]
    below = _below(rows, Kind.READ, Kind.WRITE)
    if len(below) and len(data):
        if _is_amplified(rows, rows.bytes(below) / rows.bytes(data)):
            return
        data = below
    small = data[rows.found.ops.bytes[data] < SMALL_REQUEST_BYTES]
    is_few = len(data) < FEW_REQUESTS * len(rows.files)
    if rows.layer is Layer.STDIO or is_few or len(small) <= SMALL_SHARE * len(data):
        return
    if 2 * rows.bytes(small) <= rows.bytes(data) and len(below):
        return
    word = "most" if 2 * len(small) > len(data) else "many"
    where = " at POSIX" if len(below) else ""
    yield RuleMatch(
        f"{rows.name}: {word} requests are smaller than 1 MiB.",
        f"{len(small)} of {len(data)} requests{where} (threshold {SMALL_SHARE:.0%}), most often of "
        f"{size_text(rows.common_size(small))}",
        at_stake_s=rows.longest_s(small),
    )


def _is_amplified(rows: StreamRows, times: float) -> bool:
    """Whether a library makes small requests because of what it is asked for."""
    sides = {Kind.READ: rows.reads, Kind.WRITE: rows.writes}
    return times > AMPLIFIED or any(
        _in_vain(rows, cut, sides[kind], _below(rows, kind)) > 1 - 1 / AMPLIFIED
        for kind, cut in _cut_calls(rows)
    )


def _below(rows: StreamRows, *kinds: Kind) -> Column:
    """Return the requests at POSIX that a library makes of the application's; none without one."""
    if rows.layer not in _LIBRARIES:
        return rows.data[:0]
    below = rows.at_posix(*kinds)
    return np.asarray(below[rows.found.ops.bytes[below] > 0])


def _amplification(rows: StreamRows) -> Iterator[RuleMatch]:
    """Bytes that a library moves beyond those that the application asked for, graded by time."""
    cut = {kind for kind, _ in _cut_calls(rows)}
    for kind, word, asked in (
        (Kind.READ, "reads", rows.reads),
        (Kind.WRITE, "writes", rows.writes),
    ):
        below = rows.bytes(_below(rows, kind))
        wanted = rows.bytes(asked)
        if not wanted or below <= wanted or kind in cut:
            continue
        yield RuleMatch(
            f"{rows.name}: {_NAMES[rows.layer]} {word} more than the application asks for.",
            f"{amount_text(below)} at POSIX for {amount_text(wanted)} in {len(asked)} calls "
            f"({below / wanted:.3g} times)",
            at_stake_s=rows.longest_s(asked) * (1 - wanted / below),
        )


def _stdio(rows: StreamRows) -> Iterator[RuleMatch]:
    everything = int(rows.found.ops.bytes[rows.found.data].sum())
    moved = rows.bytes(rows.data)
    if rows.layer is Layer.STDIO and moved > STDIO_SHARE * everything:
        yield RuleMatch(
            f"{rows.name}: bulk data goes through buffered streams (fread, fwrite, fprintf).",
            f"{moved / everything:.0%} of all bytes (threshold {STDIO_SHARE:.0%}) in "
            f"{len(rows.data)} calls",
            at_stake_s=rows.longest_s(rows.data),
        )


def _sync_each_write(rows: StreamRows) -> Iterator[RuleMatch]:
    syncs, writes = len(rows.syncs), len(rows.writes)
    if syncs < LEAST_SYNCS or syncs < SYNC_SHARE * writes:
        return
    mean_s = float(rows.found.seconds[rows.syncs].mean())
    yield RuleMatch(
        f"{rows.name}: small pieces are written, and each is made persistent at once.",
        f"{syncs} syncs of {seconds_text(mean_s)} for {writes} writes, most often of "
        f"{size_text(rows.common_size(rows.writes))}",
        at_stake_s=rows.longest_s(rows.syncs),
    )


def _sync_time(rows: StreamRows) -> Iterator[RuleMatch]:
    syncs = len(rows.syncs)
    spent = float(rows.found.seconds[rows.own].sum())
    share = float(rows.found.seconds[rows.syncs].sum()) / spent if spent > 0 else 0.0
    is_each = syncs >= LEAST_SYNCS and syncs >= SYNC_SHARE * len(rows.writes)
    if syncs == 0 or is_each or share <= SYNC_TIME_SHARE:
        return
    yield RuleMatch(
        f"{rows.name}: waiting for persistence is a large part of the time.",
        f"{syncs} syncs take {share:.0%} of the time in calls on these files "
        f"(own threshold {SYNC_TIME_SHARE:.0%})",
        at_stake_s=rows.longest_s(rows.syncs),
    )


def _read_modify_write(rows: StreamRows) -> Iterator[RuleMatch]:
    if rows.layer not in _LIBRARIES or len(rows.reads) or not len(rows.writes):
        return
    reads = rows.at_posix(Kind.READ)
    read, written = rows.bytes(reads), rows.bytes(rows.at_posix(Kind.WRITE))
    if read:
        yield RuleMatch(
            f"{rows.name}: a library reads what lies around each write, and writes it back.",
            f"the application reads nothing; at POSIX {amount_text(read)} are read and "
            f"{amount_text(written)} written for its {amount_text(rows.bytes(rows.writes))}",
            at_stake_s=rows.longest_s(reads),
        )


def _no_collective(rows: StreamRows) -> Iterator[RuleMatch]:
    if rows.layer not in _LIBRARIES or not len(rows.shared) or len(rows.ranks) < 2:
        return
    together = int(np.count_nonzero(rows.found.ops.detail[rows.data] & COLLECTIVE))
    if together >= COLLECTIVE_SHARE * len(rows.data):
        return
    asked, below = rows.data, rows.at_posix(Kind.READ, Kind.WRITE)
    is_cut = len(below) > CUT_CALLS * len(asked)
    requests = below if is_cut else asked
    if rows.bytes(requests) >= SMALL_REQUEST_BYTES * len(requests):
        return
    reached = f"; {len(below)} requests reach POSIX" if is_cut else ""
    yield RuleMatch(
        f"{rows.name}: {len(rows.ranks)} ranks use one file with small independent calls.",
        f"{len(asked) - together} of {len(asked)} calls of {_NAMES[rows.layer]} are independent"
        f"{reached}, most often of {size_text(rows.common_size(requests))}",
        at_stake_s=rows.longest_s(rows.data),
    )


def _chunk_cuts(rows: StreamRows) -> Iterator[RuleMatch]:
    """Selections that hold no whole chunks, where this makes the library move more bytes.

    Reads and writes are looked at apart. A chunk cache that joins the selections of a chunk makes
    whole chunks of them: then nothing is lost.
    """
    for kind, cut in _cut_calls(rows):
        asked = rows.reads if kind is Kind.READ else rows.writes
        below = _below(rows, kind)
        factor = ""
        if len(below):
            times = rows.bytes(below) / max(rows.bytes(asked), 1)
            factor = f"; POSIX moves {times:.3g} times what was asked for"
        chunk = rows.found.files[int(rows.found.ops.file[cut[0]])]
        chunk_bytes = prod(chunk.chunk) * chunk.element_bytes
        word = "reads" if kind is Kind.READ else "writes"
        yield RuleMatch(
            f"{rows.name}: selections of {word} cut the chunks of HDF5 datasets.",
            f"{len(cut)} of {len(asked)} {word} are no whole chunks: most often "
            f"{size_text(rows.common_size(cut))} of chunks of {size_text(chunk_bytes)}{factor}",
            at_stake_s=rows.longest_s(cut) * _in_vain(rows, cut, asked, below),
        )


def _in_vain(rows: StreamRows, cut: Column, asked: Column, below: Column) -> float:
    """Return the share of what a library moves that whole chunks would not have it move.

    Fewer bytes than were asked for are compressed chunks, or a cache's: then requests count beyond
    one for each chunk that there is. Without requests below, everything may be in vain.
    """
    if not len(below):
        return 1.0
    moved, wanted = rows.bytes(below), rows.bytes(asked)
    if moved >= wanted:
        return 1.0 - wanted / moved
    files = [rows.found.files[index] for index in np.unique(rows.found.ops.file[cut]).tolist()]
    chunks = sum(
        prod(-(-extent // own) for extent, own in zip(file.shape, file.chunk, strict=False))
        for file in files
    )
    return float(max(1.0 - chunks / len(below), 0.0))


def _cut_calls(rows: StreamRows) -> Iterator[tuple[Kind, Column]]:
    """Yield the calls that cut chunks, of the directions in which more than a few do."""
    for kind, moves in ((Kind.READ, rows.reads), (Kind.WRITE, rows.writes)):
        data = moves[rows.found.ops.layer[moves] == LAYER_CODES[Layer.HDF5_DATASET]]
        used, place = np.unique(rows.found.ops.file[data], return_inverse=True)
        cut = np.zeros(len(data), bool)
        chunked = 0
        for index, file in enumerate(rows.found.files[number] for number in used.tolist()):
            mine = place == index
            cut[mine] = _is_cut(rows.found.ops.take(data[mine]), file)
            chunked += int(mine.sum()) if file.chunk and file.element_bytes > 0 else 0
        if cut.any() and cut.sum() > CUT_SHARE * chunked:
            yield kind, data[cut]


def _is_cut(calls: Operations, dataset: TracedFile) -> Column:
    """Mask: calls that move no whole chunks of the dataset, or do not begin where one does."""
    if not dataset.chunk or dataset.element_bytes <= 0:
        return np.zeros(len(calls), bool)
    cut = calls.bytes % (prod(dataset.chunk) * dataset.element_bytes) != 0
    if len(dataset.shape) != len(dataset.chunk) or prod(dataset.shape) <= 0:
        return np.asarray(cut)
    element = calls.offset // dataset.element_bytes
    known = (calls.offset >= 0) & (element < prod(dataset.shape))
    begin = np.unravel_index(np.where(known, element, 0), dataset.shape)
    for along, extent in zip(begin, dataset.chunk, strict=True):
        cut |= known & (along % extent != 0)
    return np.asarray(cut)


def _seeks(rows: StreamRows) -> Iterator[RuleMatch]:
    seeks = rows.of_kind(Kind.SEEK)
    if len(rows.data) and len(seeks) > SEEKS_EACH * len(rows.data):
        yield RuleMatch(
            f"{rows.name}: there are more seeks than requests for data.",
            f"{len(seeks)} seeks for {len(rows.data)} reads and writes",
            at_stake_s=rows.longest_s(seeks),
        )


DATA_RULES: tuple[FindingRule[StreamRows], ...] = (
    FindingRule(
        "small-requests",
        _small_requests,
        "Gather data in memory and hand over 1 MiB or more with each call (one writev or pwrite "
        "of a buffer; with MPI, MPI_File_write_at_all and the hint romio_cb_write=enable).",
    ),
    FindingRule(
        "stdio-bulk",
        _stdio,
        "Move bulk data with read and write of 1 MiB or more, or give the stream a large buffer "
        "with setvbuf before its first use.",
    ),
    FindingRule(
        "sync-each-write",
        _sync_each_write,
        "Call fsync once at the end of a batch; for a log that must not lose a line, write "
        "batches, or use fdatasync on a file whose space fallocate reserved.",
        is_gain=True,
    ),
    FindingRule(
        "sync-time",
        _sync_time,
        "Sync fewer times, or from a thread of its own; ask whether data that can be computed "
        "again must be synced at all.",
    ),
    FindingRule(
        "read-modify-write",
        _read_modify_write,
        "Write whole chunks of HDF5 datasets. With MPI-IO set the hint romio_ds_write=disable "
        "(with HDF5 through H5Pset_fapl_mpio, else in the file that ROMIO_HINTS names), and make "
        "collective writes leave no holes.",
        Audience.USER,
        is_gain=True,
    ),
    FindingRule(
        "no-collective",
        _no_collective,
        "Use the calls that end in _all (MPI_File_write_at_all; H5Pset_dxpl_mpio with "
        "H5FD_MPIO_COLLECTIVE), so that the library joins requests of many ranks.",
    ),
    FindingRule(
        "chunk-cuts",
        _chunk_cuts,
        "Choose chunks that selections cover whole (H5Pset_chunk, `chunks=` in h5py, `chunksizes=` "
        "in netCDF4, h5repack -l), or a chunk cache that holds all chunks of a selection "
        "(H5Pset_chunk_cache, `rdcc_nbytes=` in h5py).",
        is_gain=True,
    ),
    FindingRule(
        "amplification",
        _amplification,
        "Ask for what the library moves anyway: whole chunks, rows in the order of the file, "
        "contiguous ranges; or enlarge its cache (chunk cache in HDF5, data sieving buffer in "
        "MPI-IO) so that what is moved is used before it is dropped.",
        is_gain=True,
    ),
    FindingRule(
        "too-many-seeks",
        _seeks,
        "Use pread and pwrite, which name the offset in the call.",
        is_gain=True,
    ),
)
