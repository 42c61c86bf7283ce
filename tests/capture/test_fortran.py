"""Fortran programs: MPI-IO and barriers are seen once, whichever of C's names the bindings call."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from capture.conftest import Capture
from venturi.model.operation import COLLECTIVE, KINDS, OPENED_TOGETHER, Kind
from venturi.model.trace import Layer

PROGRAM = """
program writer
  {use}
  implicit none
  {include}
  {file} :: handle
  integer :: rank, error
  integer(kind=MPI_OFFSET_KIND) :: at
  double precision :: values(512)
  values = 1.0d0
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_File_open(MPI_COMM_WORLD, "data", MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, &
                     handle, error)
  at = rank * 4096
  call MPI_File_write_at(handle, at, values, 512, MPI_DOUBLE_PRECISION, MPI_STATUS_IGNORE, error)
  call MPI_Barrier(MPI_COMM_WORLD, error)
  call MPI_File_read_at(handle, at, values, 256, MPI_DOUBLE_PRECISION, MPI_STATUS_IGNORE, error)
  at = 8192 + at
  call MPI_File_write_at_all(handle, at, values, 512, MPI_DOUBLE_PRECISION, MPI_STATUS_IGNORE, &
                             error)
  call MPI_File_close(handle, error)
  call MPI_Finalize(error)
end program
"""

FORMS = {
    "mpif.h": {"use": "", "include": "include 'mpif.h'", "file": "integer"},
    "mpi_f08": {"use": "use mpi_f08", "include": "", "file": "type(MPI_File)"},
}
AS_ROOT = {"openmpi": ("--allow-run-as-root", "--oversubscribe"), "mpich": ()}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("mpi", AS_ROOT)
def test_mpiio_from_fortran(capture: Capture, mpi: str, form: str, tmp_path: Path) -> None:
    source, program = tmp_path / "writer.f90", tmp_path / "writer"
    source.write_text(PROGRAM.format(**FORMS[form]))
    subprocess.run([f"mpif90.{mpi}", "-o", str(program), str(source)], check=True)
    run = capture(f"mpirun.{mpi}", *AS_ROOT[mpi], "-n", "2", str(program))
    operations = run.captured.operations
    assert operations is not None
    rank_of = [process.rank for process in run.trace.processes]
    mine = operations.take(operations.is_layer(Layer.MPIIO))
    for rank in range(2):
        rows = [
            (KINDS[kind], run.trace.files[file].path.rsplit("/", 1)[-1], offset, size, detail)
            for process, kind, file, offset, size, detail in zip(
                mine.process.tolist(),
                mine.kind.tolist(),
                mine.file.tolist(),
                mine.offset.tolist(),
                mine.bytes.tolist(),
                mine.detail.tolist(),
                strict=True,
            )
            if rank_of[process] == rank and KINDS[kind] is not Kind.BARRIER
        ]
        at = rank * 4096
        assert [row[:4] for row in rows] == [
            (Kind.OPEN, "data", -1, 0),
            (Kind.WRITE, "data", at, 4096),
            (Kind.READ, "data", at, 2048),
            (Kind.WRITE, "data", 8192 + at, 4096),
            (Kind.CLOSE, "data", -1, 0),
        ]
        assert rows[0][4] & OPENED_TOGETHER
        assert rows[3][4] == COLLECTIVE
    barriers = operations.take(operations.is_kind(Kind.BARRIER))
    assert barriers.detail.tolist() == [2, 2]
    assert run.trace.gaps == [], "MPI's own files are none of the application's"
    moved = operations.take(operations.is_kind(Kind.WRITE))
    assert {run.trace.files[file].path for file in moved.file} == {f"{capture.here}/data"}
