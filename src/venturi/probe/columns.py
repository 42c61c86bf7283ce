"""Files of columns: the plain form in which samples, minutes and hours are kept.

    bytes 0-7      VNTCOLS1
    bytes 8-11     length of the header, little-endian
    header         JSON: facts of the whole file, and of each column its name, type, coding, the
                   length of its compressed bytes and their CRC-32, in the order of the columns
    columns        zlib streams

A column is an array of little-endian numbers. `delta` means that differences to the value before
are kept; then all first bytes of the numbers stand before all second ones, and so on.
"""

from __future__ import annotations

import json
import os
import struct
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from venturi.model.error import UserError
from venturi.store.whole_file import write_whole

Array = npt.NDArray[Any]

_MAGIC = b"VNTCOLS1"
_LENGTH = struct.Struct("<I")
_LEVEL = 6


def write_columns(
    path: Path, facts: Mapping[str, Any], columns: Mapping[str, Array], deltas: frozenset[str]
) -> None:
    """Write a file as a whole: a reader finds it complete or not at all."""
    rows, bodies = [], []
    for name, values in columns.items():
        body = zlib.compress(_shuffled(values, name in deltas), _LEVEL)
        rows.append(
            {
                "name": name,
                "type": values.dtype.newbyteorder("<").str,
                "delta": name in deltas,
                "bytes": len(body),
                "crc": zlib.crc32(body),
            }
        )
        bodies.append(body)
    count = len(next(iter(columns.values())))
    header = json.dumps({**facts, "rows": count, "columns": rows}).encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, b"".join((_MAGIC, _LENGTH.pack(len(header)), header, *bodies)))


def read_facts(path: Path) -> dict[str, Any]:
    """Return the header of a file. Raises UserError where it is damaged."""
    with path.open("rb") as file:
        return _header(file.read(12), file.read, path)


def read_columns(path: Path, names: tuple[str, ...] = ()) -> dict[str, Array]:
    """Return columns by name, all of them if none is named. Raises UserError for damage."""
    found: dict[str, Array] = {}
    with path.open("rb") as file:
        header = _header(file.read(12), file.read, path)
        for row in header["columns"]:
            if names and row["name"] not in names:
                file.seek(row["bytes"], os.SEEK_CUR)
                continue
            body = file.read(row["bytes"])
            if zlib.crc32(body) != row["crc"]:
                raise UserError(f"{path}: the column {row['name']} is damaged")
            found[row["name"]] = _restored(
                zlib.decompress(body), np.dtype(row["type"]), header["rows"], row["delta"]
            )
    return found


def _header(start: bytes, read: Any, path: Path) -> dict[str, Any]:
    try:
        if start[:8] != _MAGIC:
            raise ValueError
        header: dict[str, Any] = json.loads(read(_LENGTH.unpack(start[8:])[0]))
    except (ValueError, struct.error):
        raise UserError(f"{path}: this is no file of a probe, or it is damaged") from None
    return header


def _shuffled(values: Array, is_delta: bool) -> bytes:
    if is_delta and len(values):
        values = np.concatenate((values[:1], np.diff(values)))
    width = values.dtype.itemsize
    as_bytes = np.ascontiguousarray(values.astype(values.dtype.newbyteorder("<"))).view(np.uint8)
    return as_bytes.reshape(-1, width).T.tobytes()


def _restored(data: bytes, dtype: np.dtype[Any], count: int, is_delta: bool) -> Array:
    planes = np.frombuffer(data, np.uint8).reshape(dtype.itemsize, count)
    values: Array = np.ascontiguousarray(planes.T).view(dtype).reshape(count)
    return np.cumsum(values, dtype=dtype) if is_delta else values
