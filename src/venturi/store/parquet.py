"""Columns as a Parquet file, where a library that writes it is installed: PyArrow, else DuckDB.

PyArrow gets buffers and no arrays: for an array of text it imports pandas, which takes longer than
all else that is written here.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from venturi.model.error import UserError

Array = np.ndarray[Any, Any]
_MOST_SHORT = 2**31 - 1


def can_write_parquet() -> bool:
    """Whether PyArrow or DuckDB is installed."""
    return _has("pyarrow") or _has("duckdb")


def write_parquet(path: Path, columns: Mapping[str, Array], is_needed: bool = False) -> bool:
    """Write columns as a Parquet file, whole or not at all; False where no library is installed.

    Columns are numbers, or arrays of objects that are texts. If the file `is_needed`, UserError is
    raised for a missing library, and for a file that cannot be written; else that is an OSError.
    """
    if not can_write_parquet():
        if is_needed:
            raise UserError(
                "Parquet is written by PyArrow or DuckDB, and neither is installed",
                "pip install pyarrow",
            )
        return False
    part = path.with_name(f"{path.name}.part")
    try:
        with part.open("wb"):
            pass  # the libraries have errors of their own
        write = _write_arrow if _has("pyarrow") else _write_duckdb
        write(part, columns)
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        if is_needed:
            raise UserError(f"{path}: {error.strerror}", "choose another file") from None
        raise
    return True


def _has(library: str) -> bool:
    return importlib.util.find_spec(library) is not None


def _write_arrow(path: Path, columns: Mapping[str, Array]) -> None:
    arrow = importlib.import_module("pyarrow")
    arrays = [_arrow_column(arrow, values) for values in columns.values()]
    table = arrow.Table.from_arrays(arrays, names=list(columns))
    with path.open("wb") as file:
        importlib.import_module("pyarrow.parquet").write_table(table, file, compression="zstd")


def _arrow_column(arrow: Any, values: Array) -> Any:
    if values.dtype != np.object_:
        whole = np.ascontiguousarray(values)
        kind = arrow.from_numpy_dtype(whole.dtype)
        return arrow.Array.from_buffers(kind, len(whole), [None, arrow.py_buffer(whole)])
    texts = [str(text).encode("utf-8", "replace") for text in values.tolist()]
    ends = np.cumsum([0, *map(len, texts)], dtype=np.int64)
    kind = arrow.large_string() if ends[-1] > _MOST_SHORT else arrow.string()
    places = ends if ends[-1] > _MOST_SHORT else ends.astype(np.int32)
    buffers = [None, arrow.py_buffer(places), arrow.py_buffer(b"".join(texts))]
    return arrow.Array.from_buffers(kind, len(texts), buffers)


def _write_duckdb(path: Path, columns: Mapping[str, Array]) -> None:
    duckdb = importlib.import_module("duckdb")
    with duckdb.connect() as connection:
        connection.register("columns", dict(columns))
        target = str(path).replace("'", "''")
        connection.execute(f"COPY columns TO '{target}' (FORMAT parquet, COMPRESSION zstd)")
