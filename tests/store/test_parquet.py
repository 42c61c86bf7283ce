"""The one writer of Parquet: what it writes is read back, and it loads no more than it needs."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from venturi.model.error import UserError
from venturi.store import parquet
from venturi.store.parquet import can_write_parquet, write_parquet

COLUMNS = {
    "at": np.array([1, -2, 2**62], np.int64),
    "flags": np.array([0, 255, 7], np.uint8),
    "error": np.array([0, -1, 5], np.int16),
    "value": np.array([0.5, np.nan, 1e-9]),
    "name": np.array(["", "Größe\t'x'", "a" * 3000], object),
}


def test_columns_are_read_back_as_they_were(tmp_path: Path) -> None:
    from pyarrow import parquet as reader

    path = tmp_path / "a.parquet"
    assert write_parquet(path, {**COLUMNS, "every": np.arange(6, dtype=np.int32)[::2]})
    table = reader.read_table(path)
    assert table.schema.names == [*COLUMNS, "every"]
    types = [str(one) for one in table.schema.types]
    assert types == ["int64", "uint8", "int16", "double", "string", "int32"]
    for name, values in COLUMNS.items():
        found = table[name].to_pylist()
        assert np.array_equal(found, values.tolist(), equal_nan=name == "value"), name
    assert table["every"].to_pylist() == [0, 2, 4]
    assert [one.name for one in tmp_path.iterdir()] == ["a.parquet"]
    before = path.read_bytes()
    write_parquet(path, {**COLUMNS, "every": np.arange(6, dtype=np.int32)[::2]})
    assert path.read_bytes() == before


def test_no_rows_are_a_file_too(tmp_path: Path) -> None:
    from pyarrow import parquet as reader

    path = tmp_path / "empty.parquet"
    write_parquet(path, {name: values[:0] for name, values in COLUMNS.items()})
    assert reader.read_table(path).num_rows == 0


def test_more_text_than_small_offsets_can_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pyarrow import parquet as reader

    monkeypatch.setattr(parquet, "_MOST_SHORT", 100)
    path = tmp_path / "long.parquet"
    write_parquet(path, {"name": COLUMNS["name"]})
    assert reader.read_table(path)["name"].to_pylist() == COLUMNS["name"].tolist()


def test_pandas_is_not_loaded(tmp_path: Path) -> None:
    """It takes longer to load than all the rest to write."""
    assert importlib.util.find_spec("pandas") is not None, "else this shows nothing"
    code = (
        "import sys, numpy as np, pathlib\n"
        "from venturi.store.parquet import write_parquet\n"
        "columns = {'n': np.arange(3), 't': np.array(['a', 'b', ''], object)}\n"
        "write_parquet(pathlib.Path(sys.argv[1]), columns, is_needed=True)\n"
        "print('pandas' in sys.modules)\n"
    )
    line = [sys.executable, "-c", code, str(tmp_path / "a.parquet")]
    done = subprocess.run(line, capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_without_a_library_nothing_is_written_or_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet, "_has", lambda library: False)
    assert not can_write_parquet()
    assert not write_parquet(tmp_path / "a.parquet", COLUMNS)
    with pytest.raises(UserError, match="PyArrow or DuckDB, and neither is installed"):
        write_parquet(tmp_path / "a.parquet", COLUMNS, is_needed=True)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_cannot_be_made_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"none/a\.parquet: No such file or directory"):
        write_parquet(tmp_path / "none" / "a.parquet", COLUMNS, is_needed=True)
    with pytest.raises(FileNotFoundError):
        write_parquet(tmp_path / "none" / "a.parquet", COLUMNS)
