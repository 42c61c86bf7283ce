"""Which files are opened through MPI-IO with hints of the program's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from capture.conftest import ROOT_MAY, Capture
from venturi.model.operation import OPENED_HINTED, Kind
from venturi.model.trace import Layer

PROGRAM = """
#include <mpi.h>

static void touch(const char* name, MPI_Info hints) {
  MPI_File file;
  MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, hints, &file);
  MPI_File_close(&file);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Info hints;
  MPI_Info_create(&hints);
  touch("none", MPI_INFO_NULL);
  touch("empty", hints);
  MPI_Info_set(hints, "cb_nodes", "1");
  touch("some", hints);
  MPI_Info_free(&hints);
  MPI_Finalize();
  return 0;
}
"""


@pytest.mark.parametrize("mpi", ROOT_MAY)
def test_hints_of_the_program_are_told(capture: Capture, mpi: str) -> None:
    run = capture.two_ranks(mpi, PROGRAM)
    ops = run.captured.operations
    assert ops is not None
    opens = ops.take(ops.is_layer(Layer.MPIIO) & ops.is_kind(Kind.OPEN))
    names = [Path(run.trace.files[file].path).name for file in opens.file.tolist()]
    hinted = [bool(detail & OPENED_HINTED) for detail in opens.detail.tolist()]
    assert sorted(zip(names, hinted, strict=True)) == [
        ("empty", False),
        ("empty", False),
        ("none", False),
        ("none", False),
        ("some", True),
        ("some", True),
    ]
