"""The sessions of a workload as a Parquet file, where a library that writes it is installed."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from venturi.model.history import Series
from venturi.model.workload import Scalar
from venturi.store.parquet import Array, write_parquet

_OF_SERIES = {
    "machine": "machine",
    "name": "step",
    "metric": "metric",
    "condition": "condition",
    "unit": "unit",
}
"""Columns by what they are of a series."""


def parquet_of(series: Sequence[Series]) -> bytes:
    """A row for each session of each series; a parameter has a column `parameter.NAME`.

    A column of a parameter has numbers where all its values are numbers, else text; one that a
    series does not have is not a number there, or an empty text.
    """
    columns = _columns(series)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "data.parquet")
        write_parquet(path, columns, is_needed=True)
        return path.read_bytes()


def _columns(series: Sequence[Series]) -> Mapping[str, Array]:
    rows = [(one, session) for one in series for session in one.sessions]
    counts = [len(one.sessions) for one in series]
    columns: dict[str, Array] = {
        "started": np.array([session.started for _, session in rows], object),
        "session": np.array([session.session for _, session in rows], object),
    }
    for name, column in _OF_SERIES.items():
        of_series = np.array([getattr(one, name) for one in series], object)
        columns[column] = np.repeat(of_series, counts)
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
