"""The sessions of a workload as a Parquet file, where a library that writes it is installed."""

from __future__ import annotations

import importlib
import importlib.util
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from venturi.model.history import Series
from venturi.model.workload import Scalar
from venturi.probe.columns import Array
from venturi.probe.parquet import can_write_parquet, write_parquet

_FIXED = ("started", "session", "machine", "step", "metric", "condition", "unit")


def is_parquet_written() -> bool:
    """Whether PyArrow or DuckDB is installed."""
    return _has_arrow() or can_write_parquet()


def _has_arrow() -> bool:
    return importlib.util.find_spec("pyarrow") is not None


def parquet_of(series: Sequence[Series]) -> bytes:
    """A row for each session of each series; a parameter has a column `parameter.NAME`.

    A column of a parameter has numbers where all its values are numbers, else text; one that a
    series does not have is not a number there, or an empty text.
    """
    columns = _columns(series)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "data.parquet")
        if _has_arrow():
            arrow = importlib.import_module("pyarrow")
            importlib.import_module("pyarrow.parquet").write_table(
                arrow.table(dict(columns)), path, compression="zstd"
            )
        else:
            write_parquet(path, columns, is_needed=True)
        return path.read_bytes()


def _columns(series: Sequence[Series]) -> Mapping[str, Array]:
    rows = [(one, session) for one in series for session in one.sessions]
    text = [
        (s.started, s.session, one.machine, one.name, one.metric, one.condition, one.unit)
        for one, s in rows
    ]
    columns: dict[str, Array] = {
        name: np.array([row[index] for row in text], object) for index, name in enumerate(_FIXED)
    }
    columns["value"] = np.array([session.value for _, session in rows], np.float64)
    columns["repetitions"] = np.array([session.repetitions for _, session in rows], np.int64)
    columns["ranks"] = np.array([one.ranks for one, _ in rows], np.int64)
    for name in sorted({name for one in series for name in one.parameters}):
        columns[f"parameter.{name}"] = _column([one.parameters.get(name) for one, _ in rows])
    return columns


def _column(values: Sequence[Scalar | None]) -> Array:
    if all(value is None or _is_number(value) for value in values):
        return np.array([np.nan if value is None else value for value in values], np.float64)
    return np.array(["" if value is None else str(value) for value in values], object)


def _is_number(value: Scalar) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
