"""Operations of a trace: one row per call, as columns in a folder.

A trace with operations is a folder `NAME.trace/` with `trace.json` (the document) and one `.npy`
file per column below `operations/`. Columns are memory-mapped, so opening costs nothing and ten
million operations need no more memory than what is looked at.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from venturi.model.error import UserError
from venturi.model.trace import Layer

NO_FILE = 0xFFFF_FFFF
"""In the column `file`: the call names no file."""

UNKNOWN_OFFSET = -1
"""In the column `offset`: the capture does not know it, or the call has none."""

FOLDER = "operations"


class Kind(StrEnum):
    """What a call does. The order is that of the codes in the column `kind`."""

    OPEN = "open"
    """`detail`: the flags of open(2) as Linux numbers them; O_CREAT among them makes a create.
    OPENED_TOGETHER is set beside them where several ranks made the call together, OPENED_HINTED
    where it gives MPI-IO hints of its own."""
    CLOSE = "close"
    READ = "read"
    WRITE = "write"
    """`detail` of read and write: bit 0 collective, bit 1 non-blocking, bit 2 through a file view
    with holes between its bytes (the offset is that of the first), bit 3 on a pipe, socket or
    terminal, bit 4 of a dataset's elements that fill no box (strides, points), bit 5 the memory
    was looked at, bit 6 it had no pages yet; bits 7 to 31: where the memory is, in units of 16
    bytes, modulo 512 MiB; 0: unknown.
    """
    SEEK = "seek"
    """`offset`: where it led."""
    SYNC = "sync"
    DATA_SYNC = "data_sync"
    STAT = "stat"
    UNLINK = "unlink"
    RENAME = "rename"
    """`detail`: index of the new name in `files`; so for link and copy."""
    LINK = "link"
    """`bytes`: 1 of a symbolic link, 0 of a hard one."""
    MKDIR = "mkdir"
    RMDIR = "rmdir"
    LIST = "list"
    """Reading a directory; `bytes`: entries, where known."""
    TRUNCATE = "truncate"
    """`offset`: the new size."""
    ALLOCATE = "allocate"
    """`offset` and `bytes`: the range."""
    MAP = "map"
    """mmap of a file; stores into it are not seen. `offset` and `bytes`: the range; `detail`: bit 0
    where stores reach the file (shared and writable)."""
    COPY = "copy"
    """copy_file_range; `file` is read, `detail` is the index of the one written."""
    ATTRIBUTE = "attribute"
    """Extended attributes, modes, owners and times of files; `access` counts as stat. `detail`:
    1 + the index of what it is about in ATTRIBUTES; 0: unknown."""
    BARRIER = "barrier"
    """Ranks wait for each other (MPI_Barrier, another collective call of the application).
    `detail`: how many, where known."""
    CLONE = "clone"
    """Blocks that two files share from then on (FICLONE); `bytes`, `file` and `detail` as for
    copy. One that failed says that the program would have shared them."""
    SEND = "send"
    """sendfile between files; as copy."""
    MISS = "miss"
    """A name asked for that was not there. No capture has it: `derive` calls so whatever failed for
    want of the name."""


class Attribute(StrEnum):
    """What a call about an attribute does, in the words of a workload."""

    MODE = "set_mode"
    OWNER = "set_owner"
    TIMES = "set_times"
    SET_EXTENDED = "set_xattr"
    """Or removes one."""
    GET_EXTENDED = "get_xattr"
    """Or lists their names."""


ATTRIBUTES: tuple[Attribute, ...] = tuple(Attribute)
KINDS: tuple[Kind, ...] = tuple(Kind)
CAPTURED: tuple[Kind, ...] = tuple(kind for kind in Kind if kind is not Kind.MISS)
"""The kinds that a capture may have: with the codes of KINDS, from the first on."""
KIND_CODES: dict[Kind, int] = {kind: code for code, kind in enumerate(KINDS)}
LAYERS: tuple[Layer, ...] = tuple(Layer)
LAYER_CODES: dict[Layer, int] = {layer: code for code, layer in enumerate(LAYERS)}

COPIES = (Kind.COPY, Kind.CLONE, Kind.SEND)
"""Copies between files that the kernel makes."""

COLLECTIVE = 1
NON_BLOCKING = 2
IN_VIEW = 4
NOT_A_FILE = 8
STORES_REACH_FILE = 1
SCATTERED = 16
LOOKED_AT = 32
FRESH = 64
MEMORY_SHIFT = 7
MEMORY_UNIT = 16
OPENED_TOGETHER = 1 << 31
OPENED_HINTED = 1 << 30

TYPES: dict[str, str] = {
    "process": "<u4",
    "thread": "<u4",
    "layer": "u1",
    "kind": "u1",
    "error": "<u2",
    "file": "<u4",
    "detail": "<u4",
    "offset": "<i8",
    "bytes": "<i8",
    "start_ns": "<i8",
    "end_ns": "<i8",
}
"""The columns, and the type of each."""

Column = npt.NDArray[Any]


@dataclass(frozen=True)
class Operations:
    """Columns of equal length, one row per call, in the order of `start_ns`."""

    process: Column
    """Index into the trace's `processes`, which tell the rank."""
    thread: Column
    """Number of the thread within its process; 0 is the first."""
    layer: Column
    """Index into LAYERS."""
    kind: Column
    """Index into KINDS."""
    error: Column
    """errno of a call that failed; 0: fine."""
    file: Column
    """Index into the trace's `files`, or NO_FILE."""
    detail: Column
    """What it means depends on the kind; see Kind."""
    offset: Column
    """Of the first byte, or UNKNOWN_OFFSET."""
    bytes: Column
    """What was moved, not what was asked for."""
    start_ns: Column
    """Nanoseconds from the beginning of the job; so is `end_ns`."""
    end_ns: Column

    def __len__(self) -> int:
        return len(self.start_ns)

    def take(self, rows: Column) -> Operations:
        """The rows that an index or a mask chooses."""
        return Operations(**{name: getattr(self, name)[rows] for name in TYPES})

    def is_kind(self, *kinds: Kind) -> Column:
        """A mask of the rows of these kinds."""
        return np.isin(self.kind, [KIND_CODES[kind] for kind in kinds])

    def is_layer(self, *layers: Layer) -> Column:
        """A mask of the rows of these layers."""
        return np.isin(self.layer, [LAYER_CODES[layer] for layer in layers])


def operations_of(**columns: Any) -> Operations:
    """Operations from columns of any number type; those left out are 0, files and offsets unknown.

    Sorts by start (stable). Raises ValueError where lengths differ or a name is no column.
    """
    count = len(next(iter(columns.values()), ()))
    empty = {"file": NO_FILE, "offset": UNKNOWN_OFFSET}
    strange = set(columns) - set(TYPES)
    if strange:
        raise ValueError(f"no columns of operations: {sorted(strange)}")
    full = {}
    for name, dtype in TYPES.items():
        if name in columns:
            full[name] = np.asarray(columns[name]).astype(dtype, copy=False)
        else:
            full[name] = np.full(count, empty.get(name, 0), dtype)
        if len(full[name]) != count:
            raise ValueError(f"column '{name}' has {len(full[name])} rows, not {count}")
    starts = full["start_ns"]
    if count and np.any(starts[1:] < starts[:-1]):
        order = np.argsort(starts, kind="stable")
        full |= {name: full[name][order] for name in columns}  # the others are constant
    return Operations(**full)


def save_operations(operations: Operations, folder: Path) -> None:
    """Writes the columns below `folder`/operations, which must not exist yet."""
    place = folder / FOLDER
    place.mkdir()
    for field in fields(operations):
        np.save(place / f"{field.name}.npy", getattr(operations, field.name), allow_pickle=False)


def load_operations(folder: Path) -> Operations:
    """The columns below `folder`/operations, memory-mapped.

    Raises UserError where one is missing, torn or of another type or length.
    """
    place = folder / FOLDER
    columns = {}
    for name, dtype in TYPES.items():
        path = place / f"{name}.npy"
        try:
            column = np.load(path, mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError, EOFError) as error:
            raise UserError(f"'{path}' is no column of operations: {error}") from None
        if column.dtype != np.dtype(dtype) or column.ndim != 1:
            raise UserError(f"'{path}' holds {column.dtype} values where {dtype} belongs")
        columns[name] = column
    lengths = {len(column) for column in columns.values()}
    if len(lengths) != 1:
        raise UserError(f"the columns in '{place}' have different lengths: {sorted(lengths)}")
    return Operations(**columns)
