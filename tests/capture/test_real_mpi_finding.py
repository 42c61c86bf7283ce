"""Findings of real programs of MPI-IO and HDF5, and of programs that nearly have them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from venturi.capture.run import CaptureContext
from venturi.capture.run import capture as captured
from venturi.capture.tracer import TracerSettings
from venturi.derive.finding import operation_findings

SMALL = """
#include <mpi.h>
#include <string.h>
static char block[4096];
int main(int count, char **words) {
  int rank, ranks;
  MPI_File file;
  const int together = count > 1 && strcmp(words[1], "together") == 0;
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_File_open(MPI_COMM_WORLD, "out", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  for (int i = 0; i < 2000; i++) {
    const MPI_Offset at = (MPI_Offset)(i * ranks + rank) * 4096;
    if (together)
      MPI_File_write_at_all(file, at, block, 4096, MPI_BYTE, MPI_STATUS_IGNORE);
    else
      MPI_File_write_at(file, at, block, 4096, MPI_BYTE, MPI_STATUS_IGNORE);
  }
  MPI_File_close(&file);
  MPI_Finalize();
  return 0;
}
"""

HOLES = """
#include <mpi.h>
static char block[1 << 20];
int main(int count, char **words) {
  MPI_File file;
  MPI_Datatype shown;
  MPI_Info hints;
  MPI_Init(&count, &words);
  MPI_Info_create(&hints);
  MPI_Info_set(hints, "romio_ds_write", words[1]);
  MPI_File_open(MPI_COMM_SELF, "out", MPI_MODE_CREATE | MPI_MODE_RDWR, hints, &file);
  MPI_File_set_size(file, 64 << 20);
  MPI_Type_vector(4096, 256, 1024, MPI_BYTE, &shown);
  MPI_Type_commit(&shown);
  MPI_File_set_view(file, 0, MPI_BYTE, shown, "native", hints);
  for (int i = 0; i < 8; i++)
    MPI_File_write_at(file, (MPI_Offset)i << 20, block, 1 << 20, MPI_BYTE, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
  MPI_Finalize();
  return 0;
}
"""

CHUNKS = """
import h5py, numpy, sys
cache = 2**24 if sys.argv[1] == "cached" else 2**15
with h5py.File("out.h5", "w", rdcc_nbytes=cache) as file:
    chunk = (1, 512) if sys.argv[1] == "whole" else (64, 32)
    rows = file.create_dataset("rows", (512, 512), "f8", chunks=chunk)
    for i in range(512):
        rows[i] = numpy.full(512, i)
"""

LAUNCHERS = {
    "openmpi": ("mpirun.openmpi", "--allow-run-as-root", "--oversubscribe"),
    "mpich": ("mpirun.mpich",),
}


def found_in(tmp_path: Path, *command: str) -> set[str]:
    outcome = captured(
        command, tmp_path / "x.trace", TracerSettings(), CaptureContext(here=tmp_path)
    )
    assert outcome.finished.code == 0
    return {finding.id for finding in operation_findings(outcome.captured)}


def launched(tmp_path: Path, mpi: str, program: str, ranks: int, word: str) -> set[str]:
    (tmp_path / "app.c").write_text(program, "utf-8")
    line = [f"mpicc.{mpi}", "-o", "app", "app.c"]
    subprocess.run(line, cwd=tmp_path, check=True, env=dict(os.environ))
    return found_in(tmp_path, *LAUNCHERS[mpi], "-n", str(ranks), "./app", word)


@pytest.mark.parametrize("mpi", LAUNCHERS)
@pytest.mark.parametrize("word", ["alone", "together"])
def test_small_independent_calls(mpi: str, word: str, tmp_path: Path) -> None:
    found = launched(tmp_path, mpi, SMALL, 2, word)
    assert ("no-collective" in found) == (word == "alone")


@pytest.mark.needs("mpich", "openmpi")
@pytest.mark.parametrize("word", ["enable", "disable"])
def test_holes_that_are_read_and_written_back(word: str, tmp_path: Path) -> None:
    found = launched(tmp_path, "mpich", HOLES, 1, word)
    assert ("read-modify-write" in found) == (word == "enable")


@pytest.mark.parametrize("word", ["cut", "whole", "cached"])
def test_rows_that_cut_chunks(word: str, tmp_path: Path) -> None:
    """A chunk cache that holds all chunks of a row writes each of them once."""
    found = found_in(tmp_path, sys.executable, "-c", CHUNKS, word)
    assert ("chunk-cuts" in found) == (word == "cut")
