"""Mapped files: what is stored and read through memory, which no capture sees.

That a file is mapped is seen, and which part of it. A file that is reached in no other way worth
mentioning is told as if each mapping touched all of its part once, when it was made: stores where
they reach the file, else loads. So the bytes are moved by the same means, if not at the same time.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from venturi.model.operation import (
    KIND_CODES,
    NO_FILE,
    STORES_REACH_FILE,
    Column,
    Kind,
    Operations,
)
from venturi.model.trace import Layer

MOST_BESIDE = 0.01
"""Of the bytes mapped: with more moved by calls, mappings are a second look at the same data."""
MOST_BYTES = 1 << 30
"""A longer mapping of a file that is not known to be so long is room for one that grows."""
NOTE = "mapped files are told as if each mapping touched all of its part once; when is not seen"


def with_maps_told(operations: Operations, notes: list[str]) -> Operations:
    """The operations with mappings as requests; a note says so."""
    rows = mapping_rows(operations)
    if not len(rows):
        return operations
    notes.append(NOTE)
    kind, detail = np.array(operations.kind), np.array(operations.detail)
    stores = (detail[rows] & STORES_REACH_FILE) > 0
    kind[rows] = np.where(stores, KIND_CODES[Kind.WRITE], KIND_CODES[Kind.READ])
    detail[rows] = 0
    return replace(operations, kind=kind, detail=detail)


def mapping_rows(operations: Operations) -> Column:
    """The rows of mappings through which files are used."""
    is_map = operations.is_kind(Kind.MAP) & (operations.error == 0) & (operations.bytes > 0)
    rows = np.flatnonzero(is_map & operations.is_layer(Layer.POSIX) & (operations.file != NO_FILE))
    if not len(rows):
        return rows
    file = operations.file[rows]
    count = int(file.max()) + 1
    moves = operations.is_kind(Kind.READ, Kind.WRITE) & (operations.file < count)
    others = np.flatnonzero(moves & (operations.bytes > 0))
    beside = np.bincount(operations.file[others], operations.bytes[others], minlength=count)
    mapped = np.bincount(file, operations.bytes[rows], minlength=count)
    cuts = np.flatnonzero(operations.is_kind(Kind.TRUNCATE) & (operations.file < count))
    known = np.zeros(count, np.int64)
    np.maximum.at(
        known, operations.file[others], operations.offset[others] + operations.bytes[others]
    )
    np.maximum.at(known, operations.file[cuts], operations.offset[cuts])
    ends = operations.offset[rows] + operations.bytes[rows]
    is_room = (ends > MOST_BYTES) & (ends > known[file])
    return np.asarray(rows[(beside[file] <= MOST_BESIDE * mapped[file]) & ~is_room])
