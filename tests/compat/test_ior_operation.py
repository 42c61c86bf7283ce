"""savePerOpDataCSV: tables of single operations from a log in columns; -M as a share of memory."""

from __future__ import annotations

import csv
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from venturi.compat.ior_memory import occupied_share
from venturi.compat.ior_operation import write_operation_tables
from venturi.compat.ior_result import IorRun
from venturi.compat.ior_test import IorTest
from venturi.model.error import UserError

US = 1000


def log_of(path: Path, reads: bool = True) -> Path:
    """Two repetitions of two ranks: an open, three writes of 4 KiB, then two reads."""
    rows = [
        (rank, begin, begin + (k + 1) * US, 4096 if kind else -1, phase, repetition, kind)
        for rank in (1, 0)
        for repetition in (0, 1)
        for phase, kinds in (
            (1 + 2 * repetition, (0, 1, 1, 1)),
            (2 + 2 * repetition, (2, 2) if reads else ()),
        )
        for k, kind in enumerate(kinds)
        for begin in [10**9 * (1 + phase) + 10 * US * k]
    ]
    names = ("rank", "begin_ns", "end_ns", "bytes", "phase", "repetition", "kind")
    columns = dict(zip(names, np.array(rows, dtype="i8").T, strict=True))
    np.savez(
        path,
        phase_names=np.array(["write", "read", "write", "read"]),
        kind_names=np.array(["open", "write", "read"]),
        **cast("dict[str, Any]", columns),
    )
    return path


def run_of(test: IorTest) -> IorRun:
    return cast("IorRun", SimpleNamespace(test=test))


def rows_of(path: Path) -> list[dict[str, float]]:
    with path.open(encoding="utf-8") as file:
        return [{k: float(v) for k, v in row.items()} for row in csv.DictReader(file)]


def test_each_rank_and_repetition_has_a_table(tmp_path: Path) -> None:
    prefix = tmp_path / "op"
    test = IorTest(write=True, operation_log=str(prefix))
    made = write_operation_tables(run_of(test), log_of(tmp_path / "log.npz", reads=False))
    names = [path.name for path in made]
    assert names == ["op-0-00000.csv", "op-0-00001.csv", "op-1-00000.csv", "op-1-00001.csv"]


def test_writes_and_reads_do_not_share_a_table(tmp_path: Path) -> None:
    test = IorTest(write=True, read=True, operation_log=str(tmp_path / "op"))
    made = write_operation_tables(run_of(test), log_of(tmp_path / "log.npz"))
    assert len(made) == len(set(made)) == 8
    rows = rows_of(tmp_path / "op-write-1-00001.csv")
    assert [list(row) for row in rows] == [["time", "runtime", "tp"]] * 3
    assert [row["time"] for row in rows] == pytest.approx([0.0, 1e-5, 2e-5])
    assert [row["runtime"] for row in rows] == pytest.approx([2e-6, 3e-6, 4e-6])
    assert rows[0]["tp"] == pytest.approx(4096 / 2e-6)


def test_memory_is_a_share_of_the_node(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("venturi.compat.ior_memory.memory_bytes", lambda: 16 << 30)
    assert occupied_share(IorTest(), 4) is None
    assert occupied_share(IorTest(memory="75%"), 4) == "75.000 %"
    assert occupied_share(IorTest(memory="4g"), 4) == "25.000 %"
    assert occupied_share(IorTest(memory_per_task="1g"), 4) == "25.000 %"
    with pytest.raises(UserError, match="100 %"):
        occupied_share(IorTest(memory="16g"), 1)
