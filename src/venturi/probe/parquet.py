"""Columns as Parquet, where DuckDB is installed."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Mapping
from pathlib import Path

from venturi.model.error import UserError
from venturi.probe.columns import Array


def can_write_parquet() -> bool:
    """Whether DuckDB is installed."""
    return importlib.util.find_spec("duckdb") is not None


def write_parquet(path: Path, columns: Mapping[str, Array], is_needed: bool = False) -> bool:
    """Write columns as a Parquet file, whole or not at all; False where DuckDB is missing.

    Raises UserError for that if the file `is_needed`.
    """
    if not can_write_parquet():
        if is_needed:
            raise UserError(
                "Parquet is written by DuckDB, which is not installed", "pip install duckdb"
            )
        return False
    duckdb = importlib.import_module("duckdb")
    part = path.with_name(f"{path.name}.part")
    with duckdb.connect() as connection:
        connection.register("columns", {name: values for name, values in columns.items()})
        target = str(part).replace("'", "''")
        connection.execute(f"COPY columns TO '{target}' (FORMAT parquet, COMPRESSION zstd)")
    part.replace(path)
    return True
