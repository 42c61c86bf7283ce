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
SIEVE_SHARE = 0.10
"""Own: bytes read by a library over those written, where the application only writes."""
CUT_SHARE = 0.10
"""Own: selections that do not hold whole chunks."""
SEEKS_EACH = 1.0
"""Own: seeks over requests."""

CUT_CALLS = 4
"""Own: requests at POSIX over a library's calls; with more, the library cuts them to pieces."""
_NAMES = {
    Layer.MPIIO: "MPI-IO", Layer.HDF5_DATASET: "HDF5", Layer.PNETCDF_VARIABLE: "PnetCDF",
}  # fmt: skip
_LIBRARIES = (Layer.MPIIO, Layer.HDF5_DATASET, Layer.PNETCDF_VARIABLE)


def _small_requests(rows: StreamRows) -> Iterator[RuleMatch]:
    data = rows.data[rows.found.ops.bytes[rows.data] > 0]
    small = data[rows.found.ops.bytes[data] < SMALL_REQUEST_BYTES]
    is_few = len(data) < FEW_REQUESTS * len(rows.files)
    if rows.layer is Layer.STDIO or is_few or len(small) <= SMALL_SHARE * len(data):
        return
    word = "most" if 2 * len(small) > len(data) else "many"
    yield RuleMatch(
        f"{rows.name}: {word} requests are smaller than 1 MiB.",
        f"{len(small)} of {len(data)} requests (threshold {SMALL_SHARE:.0%}), most often of "
        f"{size_text(rows.common_size(small))}",
        at_stake_s=rows.longest_s(small),
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
    if read > SIEVE_SHARE * written:
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
    is_dataset = rows.found.ops.layer[rows.data] == LAYER_CODES[Layer.HDF5_DATASET]
    data = rows.data[is_dataset]
    used, place = np.unique(rows.found.ops.file[data], return_inverse=True)
    files = [rows.found.files[index] for index in used.tolist()]
    of_file = [prod(file.chunk) * file.element_bytes if file.chunk else 0 for file in files]
    chunks = np.array(of_file, np.int64)[place] if len(data) else np.zeros(0, np.int64)
    cut = np.zeros(len(data), bool)
    for index, file in enumerate(files):
        mine = place == index
        cut[mine] = _is_cut(rows.found.ops.take(data[mine]), file)
    data, chunks, cut = data[chunks > 0], chunks[chunks > 0], cut[chunks > 0]
    if cut.sum() <= CUT_SHARE * len(data):
        return
    below = rows.bytes(rows.at_posix(Kind.READ, Kind.WRITE))
    asked = rows.bytes(data)
    factor = f"; POSIX moves {below / asked:.3g} times what was asked for" if below else ""
    yield RuleMatch(
        f"{rows.name}: selections cut the chunks of HDF5 datasets.",
        f"{int(cut.sum())} of {len(data)} selections are no whole chunks: most often "
        f"{size_text(rows.common_size(data[cut]))} of chunks of {size_text(int(chunks[cut][0]))}"
        f"{factor}",
        at_stake_s=rows.longest_s(data[cut]),
    )


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
        "Set the MPI-IO hint romio_ds_write=disable (with HDF5 through H5Pset_fapl_mpio, else in "
        "the file that ROMIO_HINTS names), and make collective writes leave no holes.",
        Audience.USER,
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
    ),
    FindingRule(
        "too-many-seeks",
        _seeks,
        "Use pread and pwrite, which name the offset in the call.",
    ),
)
