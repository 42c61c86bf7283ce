"""Real programs under capture: what is known of them beforehand is in the trace."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from capture.conftest import ROOT_MAY, Capture, Run
from venturi.model.operation import COLLECTIVE, OPENED_TOGETHER, SCATTERED, Kind
from venturi.model.trace import Layer


def moved(run: Run, kind: str, name: str) -> int:
    """Bytes that went to or from a file at the POSIX layer."""
    return sum(row[4] for row in run.rows() if row[:3] == ("posix", kind, name))


def python(capture: Capture, text: str, *options: str) -> Run:
    """Captures a Python script; of its files only those where it runs."""
    script = capture.place / "script.py"
    script.write_text(text)
    only = ("--only", f"{capture.here}/*")
    return capture(sys.executable, str(script), options=(*only, *options))


def test_tar_reads_all_and_writes_the_archive(capture: Capture) -> None:
    data = capture.here / "data"
    data.mkdir(parents=True)
    for i in range(20):
        (data / f"file.{i}").write_bytes(bytes(1000 * i))
    run = capture("tar", "cf", "archive", "data")
    assert moved(run, "write", "archive") == (capture.here / "archive").stat().st_size
    assert [moved(run, "read", f"file.{i}") for i in range(20)] == [1000 * i for i in range(20)]
    assert ("posix", "list", "data", -1, 22, 0) in run.rows()


def test_git_clone_makes_what_is_there_then(capture: Capture) -> None:
    source = capture.place / "source"
    as_somebody = ["-c", "user.name=n", "-c", "user.email=e"]
    subprocess.run(["git", "init", "-q", str(source)], check=True)
    (source / "file").write_text("content\n")
    subprocess.run(["git", "-C", str(source), "add", "."], check=True)
    commit = ["git", "-C", str(source), *as_somebody, "commit", "-qm", "one"]
    subprocess.run(commit, check=True)
    run = capture("git", "clone", "-q", str(source), "clone")
    assert (capture.here / "clone" / "file").read_text() == "content\n"
    assert moved(run, "write", "file") == 8
    assert run.trace.gaps == [] or all("mapping" in gap.what for gap in run.trace.gaps)
    assert {process.program for process in run.trace.processes} >= {"git"}


def test_sqlite_syncs_each_transaction(capture: Capture) -> None:
    run = python(
        capture,
        "import sqlite3\n"
        "base = sqlite3.connect('base.db')\n"
        "base.execute('create table t (n integer)')\n"
        "for n in range(10):\n"
        "    base.execute('insert into t values (?)', (n,))\n"
        "    base.commit()\n",
    )
    count = run.count()
    assert count["unlink", "base.db-journal"] == 11
    assert count["data_sync", "base.db"] + count["sync", "base.db"] == 11


def test_a_compiler_and_its_children(capture: Capture) -> None:
    (capture.here).mkdir()
    (capture.here / "main.c").write_text("int main(void) { return 0; }\n")
    run = capture("gcc", "-o", "main", "main.c")
    programs = {process.program for process in run.trace.processes}
    assert "cc1" in programs
    assert any(name.startswith("as") or "-as" in name for name in programs)
    assert moved(run, "read", "main.c") == 29
    parents = {process.parent for process in run.trace.processes}
    assert parents & {process.process for process in run.trace.processes}


def test_python_with_threads_and_forks(capture: Capture) -> None:
    run = python(
        capture,
        "import multiprocessing, threading\n"
        "def write(name):\n"
        "    with open(name, 'wb', buffering=0) as file:\n"
        "        for _ in range(100): file.write(bytes(512))\n"
        "def work(number):\n"
        "    names = [f'{number}.{i}' for i in range(4)]\n"
        "    threads = [threading.Thread(target=write, args=(name,)) for name in names]\n"
        "    for thread in threads: thread.start()\n"
        "    for thread in threads: thread.join()\n"
        "if __name__ == '__main__':\n"
        "    with multiprocessing.get_context('fork').Pool(2) as pool: pool.map(work, range(3))\n",
    )
    count = run.count()
    assert {count["write", f"{n}.{i}"] for n in range(3) for i in range(4)} == {100}


def test_hdf5_datasets_have_shapes(capture: Capture) -> None:
    run = python(
        capture,
        "import h5py, numpy\n"
        "with h5py.File('x.h5', 'w') as file:\n"
        "    data = file.create_dataset('group/data', (64, 32), 'f8', chunks=(8, 32))\n"
        "    for i in range(0, 64, 8): data[i : i + 8] = numpy.ones((8, 32))\n"
        "with h5py.File('x.h5') as file: file['group/data'][4:6, 3:5]\n",
    )
    [data] = [file for file in run.trace.files if file.path == "/group/data"]
    assert (data.shape, data.chunk, data.element_bytes) == ([64, 32], [8, 32], 8)
    assert data.within is not None
    assert run.trace.files[data.within].path == f"{capture.here}/x.h5"
    rows = [row for row in run.rows() if row[0] == "hdf5_dataset"]
    writes = [row[3:5] for row in rows if row[1] == "write"]
    assert writes == [(2048 * i, 2048) for i in range(8)]
    assert [row[3:5] for row in rows if row[1] == "read"] == [(8 * (4 * 32 + 3), 32)]
    assert run.count("hdf5_file") == {("open", "x.h5"): 2, ("close", "x.h5"): 2}
    assert run.count("hdf5_dataset")["close", "data"] == 2


def test_the_cache_of_chunks_is_the_one_that_the_program_has(capture: Capture) -> None:
    run = python(
        capture,
        "import h5py\n"
        "for name, cache in (('own', {'rdcc_nbytes': 3 << 20}), ('default', {})):\n"
        "    with h5py.File(f'{name}.h5', 'w', **cache) as file:\n"
        "        data = file.create_dataset(name, (64, 32), 'f8', chunks=(8, 32))\n"
        "        data[0] = 1\n"
        "        file.create_dataset(f'{name}_plain', (64,), 'f8')[0] = 1\n"
        "        print(data.id.get_access_plist().get_chunk_cache()[1])\n",
    )
    own, default = map(int, run.done.stdout.split())
    found = {file.path: file.chunk_cache_bytes for file in run.trace.files}
    assert (found["/own"], own) == (3 << 20, 3 << 20)
    assert found["/default"] == default
    assert found["/own_plain"] is found["/default_plain"] is None


def test_attributes_and_scattered_selections_of_hdf5_are_told(capture: Capture) -> None:
    run = python(
        capture,
        "import h5py\n"
        "with h5py.File('x.h5', 'w') as file:\n"
        "    file.attrs['title'] = 'run'\n"
        "    data = file.create_dataset('data', (64, 32), 'f8')\n"
        "    data[...] = 1\n"
        "    for part in (data[3:5], data[::2], data[[1, 5]], data[...]): pass\n"
        "    file.attrs['title']\n",
    )
    assert run.count("hdf5_file")["attribute", "x.h5"] == 2
    operations = run.captured.operations
    assert operations is not None
    reads = operations.is_kind(Kind.READ) & operations.is_layer(Layer.HDF5_DATASET)
    scattered = operations.detail[reads] & SCATTERED > 0
    assert scattered.tolist() == [False, True, True, False]


def test_hdf5_through_a_descriptor_is_the_descriptor_s_file(capture: Capture) -> None:
    run = python(
        capture,
        "import h5py, os\n"
        "place = os.open('x.h5', os.O_RDWR | os.O_CREAT, 0o644)\n"
        "with h5py.File(f'/proc/self/fd/{place}', 'w') as file: file['data'] = [1.0, 2.0]\n",
    )
    assert run.count("hdf5_file") == {("open", "x.h5"): 1, ("close", "x.h5"): 1}
    [data] = [file for file in run.trace.files if file.path == "/data"]
    assert data.within is not None
    assert run.trace.files[data.within].path == f"{capture.here}/x.h5"


def test_datasets_without_a_name_and_those_made_anew_are_told_apart(capture: Capture) -> None:
    run = python(
        capture,
        "import h5py, numpy\n"
        "for size in (10, 20):\n"
        "    with h5py.File('x.h5', 'w') as file:\n"
        "        file['one'] = numpy.ones(size)\n"
        "        file['two'] = numpy.ones(size, 'i2')\n"
        "        file.create_dataset('three', data=numpy.ones((size, 2)))\n",
    )
    rows = [row for row in run.rows() if row[0] == "hdf5_dataset" and row[1] == "write"]
    assert [row[4] for row in rows] == [80, 20, 160, 160, 40, 320]
    shapes = {(file.path, *file.shape) for file in run.trace.files if file.shape}
    assert {("/one", 10), ("/two", 10), ("/one", 20), ("/two", 20)} <= shapes
    assert {("/three", 10, 2), ("/three", 20, 2)} <= shapes
    unnamed = {"<unnamed 0>", "<unnamed 1>", "<unnamed 2>", "<unnamed 3>"}
    assert {path for path, *_ in shapes} == {"/one", "/two", "/three"} | unnamed


def test_netcdf4_is_seen_through_its_hdf5(capture: Capture) -> None:
    run = python(
        capture,
        "import netCDF4, numpy\n"
        "data = netCDF4.Dataset('x.nc', 'w')\n"
        "data.createDimension('time', None); data.createDimension('x', 100)\n"
        "value = data.createVariable('value', 'f4', ('time', 'x'))\n"
        "for step in range(5): value[step] = numpy.ones(100)\n"
        "data.close()\n",
    )
    rows = [row for row in run.rows() if row[0] == "hdf5_dataset" and row[1] == "write"]
    assert [row[2:5] for row in rows] == [("value", 400 * step, 400) for step in range(5)]


WORKLOAD = """
workload: 1
name: collective
parameters: {np: {default: 2, role: ranks}}
groups: {g: {ranks: np}}
files:
  f: {path: data, interface: mpiio}
program:
  g:
    - phase: write
      do:
        - create: f
        - write:
            {to: f, pattern: segmented, transfer: 1 KiB, block: 4 KiB, segments: 3,
             collective: true}
        - {sync: {"on": f}}
        - close: f
"""


MEETING = """
#include <mpi.h>
int main(int argc, char** argv) {
  int sum = 1;
  MPI_Init(&argc, &argv);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return sum != 2;
}
"""


@pytest.mark.parametrize("mpi", ROOT_MAY)
def test_where_ranks_wait_for_each_other(capture: Capture, mpi: str) -> None:
    run = capture.two_ranks(mpi, MEETING)
    operations = run.captured.operations
    assert operations is not None
    meetings = operations.take(operations.is_kind(Kind.BARRIER))
    assert meetings.detail.tolist() == [2, 2, 2, 2]
    ranks = [run.trace.processes[process].rank for process in meetings.process]
    assert sorted(ranks) == [0, 0, 1, 1]


@pytest.mark.parametrize("mpi", ["openmpi", "mpich"])
def test_ranks_and_mpiio_of_each_mpi(capture: Capture, mpi: str, tmp_path: Path) -> None:
    workload = tmp_path / "workload.yaml"
    workload.write_text(WORKLOAD)
    capture.here.mkdir()
    command = [sys.executable, "-m", "venturi", "run", str(workload), "-d", str(capture.here)]
    store = ("--store", str(tmp_path / "store"))
    run = capture(
        *command,
        "-n",
        "2",
        "--on",
        mpi,
        "--repeat",
        "1",
        "-q",
        *store,
        options=("--only", f"{capture.here}/*"),
    )
    trace, operations = run.trace, run.captured.operations
    assert operations is not None
    assert trace.job.ranks == 2
    of_mpiio = operations.take(operations.is_layer(Layer.MPIIO))
    writes = of_mpiio.take(of_mpiio.is_kind(Kind.WRITE))
    assert set(writes.detail.tolist()) == {COLLECTIVE}
    rank_of = [process.rank for process in trace.processes]
    for rank in range(2):
        mine = [rank_of[process] == rank for process in writes.process]
        expected = [s * 8192 + rank * 4096 + t * 1024 for s in range(3) for t in range(4)]
        assert writes.offset[mine].tolist() == expected
    opens = of_mpiio.take(of_mpiio.is_kind(Kind.OPEN))
    assert all(detail & OPENED_TOGETHER for detail in opens.detail.tolist())
    posix = operations.take(operations.is_layer(Layer.POSIX) & operations.is_kind(Kind.WRITE))
    assert posix.bytes.sum() >= 24 * 1024, "what the library below does is seen, too"
