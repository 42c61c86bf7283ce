"""The closure test on programs of MPI-IO and HDF5, under each MPI: captured, derived, compared."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from venturi.capture.proxy import ProxyRun, run_proxy
from venturi.model.document import parse_json
from venturi.model.fidelity_report import FidelityReport, Match
from venturi.model.operation import Kind
from venturi.model.trace import Layer
from venturi.model.workload import Workload
from venturi.model.yaml_text import parse_yaml

MPIIO = """
#include <mpi.h>
#include <string.h>
static char b[65536];
int main(int argc, char **argv) {
  int rank, ranks;
  MPI_File f;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  memset(b, 'a' + rank, sizeof b);
  MPI_File_open(MPI_COMM_WORLD, "out.mpi", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f);
  for (int i = 0; i < 8; i++)
    MPI_File_write_at_all(f, (MPI_Offset)(i * ranks + rank) * 65536, b, 65536, MPI_BYTE,
                          MPI_STATUS_IGNORE);
  MPI_File_sync(f);
  for (int i = 0; i < 8; i++)
    MPI_File_read_at(f, (MPI_Offset)(i * ranks + rank) * 65536, b, 65536, MPI_BYTE,
                     MPI_STATUS_IGNORE);
  MPI_File_close(&f);
  MPI_Finalize();
  return 0;
}
"""

HDF5 = """
#include <hdf5.h>
#include <mpi.h>
static double b[8192];
int main(int argc, char **argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
  hid_t file = H5Fcreate("out.h5", H5F_ACC_TRUNC, H5P_DEFAULT, access);
  hid_t transfer = H5Pcreate(H5P_DATASET_XFER);
  H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE);
  hsize_t all = 8192 * ranks, own = 8192, first = 8192 * rank;
  for (int i = 0; i < 3; i++) {
    char name[] = {'v', (char)('0' + i), 0};
    hid_t space = H5Screate_simple(1, &all, NULL), memory = H5Screate_simple(1, &own, NULL);
    hid_t set = H5Dcreate2(file, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT,
                           H5P_DEFAULT);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, &first, NULL, &own, NULL);
    H5Dwrite(set, H5T_NATIVE_DOUBLE, memory, space, transfer, b);
    H5Dclose(set);
    H5Sclose(memory);
    H5Sclose(space);
  }
  H5Pclose(transfer);
  H5Fclose(file);
  H5Pclose(access);
  MPI_Finalize();
  return 0;
}
"""

UNSAID = {"truncate operations", "writes consecutive", "writes forward", "writes backward"}
"""MPI_File_set_size has no word in the language; places in a file view count from the view."""

REOPENED = {"open operations", "close operations"}
"""The engine opens a dataset that it made again when it writes it."""

TIMED = {"time between operations, all ranks"}
"""What other programs on this machine lengthen: no word of a proxy is tested by it."""

LAUNCHERS = {"openmpi": ("--allow-run-as-root", "--oversubscribe"), "mpich": ()}


def run(place: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A command in the folder `place`."""
    return subprocess.run(
        words,
        cwd=place,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
        env={**os.environ, "VENTURI_STORE": str(place / "store")},
    )


def closed(place: Path, compiler: tuple[str, ...], mpi: str, program: str) -> FidelityReport:
    """The card of an MPI program on two ranks and its proxy, by the commands that a user types."""
    (place / "app.c").write_text(program, "utf-8")
    done = run(place, f"{compiler[0]}.{mpi}", *compiler[1:], "-o", "app", "app.c")
    assert done.returncode == 0, done.stderr
    venturi = (sys.executable, "-m", "venturi")
    launch = (f"mpirun.{mpi}", *LAUNCHERS[mpi], "-n", "2", "./app")
    done = run(place, *venturi, "capture", "-o", "app.trace", "--", *launch)
    assert done.returncode == 0, done.stderr
    (place / "io").mkdir()
    words = ("derive", "app.trace", "--check", "-d", "io", "-o", "app.yaml")
    done = run(place, *venturi, *words)
    assert done.returncode == 0, done.stderr
    assert list((place / "io").iterdir()) == []
    done = run(place, *venturi, "compare", "app.trace", "app-proxy.trace", "--json")
    assert done.returncode == 0, done.stderr
    return parse_json(FidelityReport, done.stdout)


def off(card: FidelityReport) -> dict[str, tuple[float, float]]:
    """What the proxy does not do as its application, whenever it does it."""
    return {
        f"{stream.name}: {field.name}": (field.application, field.proxy)
        for stream in [card.total, *card.streams]
        for field in stream.fields
        if field.match is Match.OFF and field.name not in TIMED
    }


@pytest.mark.parametrize("mpi", LAUNCHERS)
def test_mpi_io(mpi: str, tmp_path: Path) -> None:
    card = closed(tmp_path, ("mpicc",), mpi, MPIIO)
    assert off(card) == {}
    fields = {field.name: field.application for field in card.total.fields}
    assert fields["bytes written"] == fields["bytes read"] == 16 * 65536


@pytest.mark.parametrize("mpi", LAUNCHERS)
def test_parallel_hdf5(mpi: str, tmp_path: Path) -> None:
    card = closed(tmp_path, ("h5pcc", "-shlib"), mpi, HDF5)
    assert {name.partition(": ")[2] for name in off(card)} <= UNSAID | REOPENED
    fields = {field.name: field for field in card.total.fields}
    assert fields["bytes written"].application == 3 * 2 * 65536
    for name in ("ranks", "bytes written", "write operations"):
        assert fields[name].match is Match.EQUAL, name


STAGED = """
workload: 1
name: staged
parameters: {np: {default: 2, role: ranks}}
groups: {all: {ranks: np}}
files:
  input: {path: input, interface: mpiio, shared: all, prestage: 256 KiB}
  own: {path: own, interface: mpiio, shared: rank, prestage: 64 KiB}
program:
  all:
    - phase: read
      do:
        - open: input
        - read: {from: input, transfer: 64 KiB, size: 256 KiB}
        - close: input
        - open: own
        - write: {to: own, at: 0, size: 4 KiB}
        - close: own
"""


@pytest.mark.parametrize("mpi", LAUNCHERS)
def test_what_is_there_before_the_program_is_not_its_own(mpi: str, tmp_path: Path) -> None:
    workload = parse_yaml(STAGED, "staged.yaml", Workload)
    found = run_proxy(ProxyRun(workload, STAGED, tmp_path, machine=mpi), tmp_path)
    operations = found.operations
    assert operations is not None
    top = operations.is_layer(Layer.MPIIO)
    counts = {
        kind: int(np.count_nonzero(top & operations.is_kind(kind)))
        for kind in (Kind.OPEN, Kind.READ, Kind.WRITE, Kind.SYNC, Kind.CLOSE)
    }
    assert counts == {Kind.OPEN: 4, Kind.READ: 8, Kind.WRITE: 2, Kind.SYNC: 0, Kind.CLOSE: 4}
    posix = operations.is_layer(Layer.POSIX) & operations.is_kind(Kind.WRITE)
    assert int(operations.bytes[posix].sum()) == 2 * 4096
