"""MPI-4's calls with large counts are seen as their older forms are."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from capture.conftest import Capture
from venturi.model.operation import COLLECTIVE, KINDS, NON_BLOCKING
from venturi.model.trace import Layer

PROGRAM = """
#include <mpi.h>
#define DO(call) if ((call) != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, __LINE__)
static char data[4096];
int main(int argc, char** argv) {
  MPI_File file;
  MPI_Request request;
  MPI_Status status;
  MPI_Init(&argc, &argv);
  DO(MPI_File_open(MPI_COMM_WORLD, "out", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
  DO(MPI_File_write_at_c(file, 100, data, (MPI_Count)50, MPI_INT, &status));
  DO(MPI_File_write_at_all_c(file, 300, data, (MPI_Count)1000, MPI_BYTE, MPI_STATUS_IGNORE));
  DO(MPI_File_write_c(file, data, (MPI_Count)10, MPI_BYTE, MPI_STATUS_IGNORE));
  DO(MPI_File_write_all_c(file, data, (MPI_Count)20, MPI_BYTE, MPI_STATUS_IGNORE));
  DO(MPI_File_iwrite_at_c(file, 2000, data, (MPI_Count)30, MPI_BYTE, &request));
  DO(MPI_Wait(&request, MPI_STATUS_IGNORE));
  DO(MPI_File_read_at_c(file, 1290, data, (MPI_Count)4000, MPI_BYTE, &status));
  DO(MPI_File_read_at_all_begin_c(file, 5, data, (MPI_Count)7, MPI_BYTE));
  DO(MPI_File_read_at_all_end(file, data, MPI_STATUS_IGNORE));
  DO(MPI_File_close(&file));
  MPI_Finalize();
  return 0;
}
"""


@pytest.mark.needs("mpich")
def test_large_counts(capture: Capture, tmp_path: Path) -> None:
    source, program = tmp_path / "large.c", tmp_path / "large"
    source.write_text(PROGRAM)
    subprocess.run(["mpicc.mpich", "-o", str(program), str(source)], check=True)
    run = capture("mpirun.mpich", "-n", "1", str(program))
    operations = run.captured.operations
    assert operations is not None
    mine = operations.take(operations.is_layer(Layer.MPIIO))
    rows = zip(mine.kind, mine.offset, mine.bytes, mine.detail, strict=True)
    assert [(KINDS[k].value, int(o), int(b), int(d)) for k, o, b, d in rows][1:-1] == [
        ("write", 100, 200, 0),
        ("write", 300, 1000, COLLECTIVE),
        ("write", 0, 10, 0),
        ("write", 10, 20, COLLECTIVE),
        ("write", 2000, 30, NON_BLOCKING),
        ("read", 1290, 740, 0),
        ("read", 5, 7, COLLECTIVE),
    ]
