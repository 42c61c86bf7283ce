"""Requests through MPI file views have their place in the file."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from venturi.model.operation import IN_VIEW, Kind
from venturi.model.trace import Layer
from venturi.model.trace_folder import read_trace

PROGRAM = """
#include <mpi.h>
static double b[512];
int main(int argc, char **argv) {
  int rank;
  MPI_File f;
  MPI_Datatype rows;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_File_open(MPI_COMM_WORLD, "out.mpi", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f);
  MPI_File_set_view(f, 100 + rank * 8192, MPI_DOUBLE, MPI_DOUBLE, "native", MPI_INFO_NULL);
  MPI_File_write(f, b, 512, MPI_DOUBLE, MPI_STATUS_IGNORE);
  MPI_File_write_at(f, 512, b, 512, MPI_DOUBLE, MPI_STATUS_IGNORE);
  MPI_Type_vector(8, 64, 128, MPI_DOUBLE, &rows);
  MPI_Type_commit(&rows);
  MPI_File_set_view(f, 100 + rank * 512, MPI_DOUBLE, rows, "native", MPI_INFO_NULL);
  MPI_File_read_at_all(f, 64, b, 64, MPI_DOUBLE, MPI_STATUS_IGNORE);
  MPI_File_read_at_all(f, 0, b, 512, MPI_DOUBLE, MPI_STATUS_IGNORE);
  MPI_File_set_view(f, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
  MPI_File_read_at(f, 7, b, 13, MPI_BYTE, MPI_STATUS_IGNORE);
  MPI_File_close(&f);
  MPI_Finalize();
  return 0;
}
"""
LAUNCHERS = {"openmpi": ("--allow-run-as-root", "--oversubscribe"), "mpich": ()}


@pytest.mark.parametrize("mpi", LAUNCHERS)
def test_the_place_is_that_of_the_first_byte(mpi: str, tmp_path: Path) -> None:
    (tmp_path / "app.c").write_text(PROGRAM, "utf-8")
    for words in (
        (f"mpicc.{mpi}", "-o", "app", "app.c"),
        (
            sys.executable,
            "-m",
            "venturi",
            "capture",
            "-o",
            "app.trace",
            "--",
            f"mpirun.{mpi}",
            *LAUNCHERS[mpi],
            "-n",
            "2",
            "./app",
        ),
    ):
        done = subprocess.run(
            words,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
            env={**os.environ, "VENTURI_STORE": str(tmp_path / "store")},
        )
        assert done.returncode == 0, done.stderr
    captured = read_trace(tmp_path / "app.trace")
    operations = captured.operations
    assert operations is not None
    for rank in range(2):
        process = [p.rank for p in captured.trace.processes].index(rank)
        mine = operations.is_layer(Layer.MPIIO) & (operations.process == process)
        rows = operations.take(mine & operations.is_kind(Kind.READ, Kind.WRITE))
        start, row = 100 + 8192 * rank, 100 + 512 * rank
        assert rows.offset.tolist() == [start, start + 4096, row + 1024, row, 7]
        assert rows.bytes.tolist() == [4096, 4096, 512, 4096, 13]
        assert [bool(detail & IN_VIEW) for detail in rows.detail.tolist()] == [
            False,
            False,
            False,
            True,
            False,
        ]
