"""The closure test on programs with datasets: shapes come back, and the proxy moves the same."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import warm_start
from venturi.analyse.fidelity_report import fidelity
from venturi.model.fidelity_report import FidelityReport, Match
from venturi.model.operation import Kind
from venturi.model.trace import Layer
from venturi.model.trace_folder import read_trace
from venturi.model.workload import Workload
from venturi.model.yaml_text import load_yaml

JUDGED = ("ranks", "bytes written", "bytes read", "write operations", "read operations")

WRITER = """
import h5py, numpy
with h5py.File('out.h5', 'w') as file:
    file.attrs['title'] = 'run'
    for name in ('density', 'pressure', 'energy'):
        field = file.create_dataset(f'fields/{name}', (64, 32, 32), 'f8', chunks=(8, 32, 32))
        for i in range(0, 64, 8):
            field[i : i + 8] = numpy.ones((8, 32, 32))
    file.create_dataset('ids', data=numpy.arange(5000, dtype='i4'))
with h5py.File('out.h5') as file:
    for name in ('density', 'pressure', 'energy'):
        file[f'fields/{name}'][...]
    file['ids'][...]
"""

READER = """
import h5py
with h5py.File('input.h5') as file:
    data = file['data']
    for i in range(0, 64, 4):
        data[i, ::2]
    data[[1, 5, 9], 0]
"""


def venturi(place: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A command as its user types it, in the folder `place`; it must succeed."""
    done = warm_start.venturi(
        *words,
        folder=place,
        environment={**os.environ, "VENTURI_STORE": str(place / "store")},
        limit_s=240,
    )
    assert done.returncode in (0, 4), done.stderr
    return done


def checked(place: Path) -> tuple[Workload, FidelityReport]:
    """What is derived from `app.trace`, and how its proxy compares."""
    (place / "io").mkdir()
    venturi(place, "derive", "app.trace", "--check", "-d", "io", "-o", "app.yaml")
    captures = [read_trace(place / name) for name in ("app.trace", "app-proxy.trace")]
    return load_yaml(place / "app.yaml", Workload), fidelity(captures[0], captures[1])


def differences(card: FidelityReport) -> dict[str, Match]:
    """The judged fields of the whole that are not equal."""
    fields = {field.name: field.match for field in card.total.fields if field.name in JUDGED}
    assert "bytes written" in fields
    return {name: match for name, match in fields.items() if match is not Match.EQUAL}


def captured(place: Path, program: str) -> None:
    (place / "app.py").write_text(program, "utf-8")
    only = ("--only", f"{place}/*.h5")
    venturi(place, "capture", "-q", "-o", "app.trace", *only, "--", sys.executable, "app.py")


def test_chunked_and_contiguous_datasets_of_a_python_program(tmp_path: Path) -> None:
    captured(tmp_path, WRITER)
    workload, card = checked(tmp_path)
    [file] = workload.files.values()
    found: Counter[str] = Counter()
    for dataset in file.datasets.values():  # a busy machine may pause between two of them
        found[f"{dataset.shape} in {dataset.chunks}"] += int(str(dataset.count))
    assert found == {"[64, 32, 32] in [8, 32, 32]": 3, "[5000] in []": 1}
    assert differences(card) == {}
    assert any("attribute" in text for text in workload.origin.assumed)


def test_selections_of_a_file_that_was_there(tmp_path: Path) -> None:
    make = (
        "import h5py; h5py.File('input.h5', 'w').create_dataset('data', (64, 512), 'f8')[...] = 1"
    )
    subprocess.run([sys.executable, "-c", make], cwd=tmp_path, check=True)
    captured(tmp_path, READER)
    workload, card = checked(tmp_path)
    # A workload reads only datasets that it wrote, so the 17 HDF5 reads are told by what they were
    # at POSIX, with those of HDF5's own data.
    operations = read_trace(tmp_path / "app.trace").operations
    assert operations is not None
    reads = operations.is_kind(Kind.READ) & (operations.bytes > 0)
    assert int(np.count_nonzero(reads & operations.is_layer(Layer.HDF5_DATASET))) == 17
    below = int(np.count_nonzero(reads & operations.is_layer(Layer.POSIX)))
    assert workload.origin.observed is not None
    assert workload.origin.observed.operations["read"] == below
    assert card.total.layer == "posix"
    assert differences(card) == {}


@pytest.mark.needs("openmpi")
def test_a_checkpoint_of_two_ranks_comes_back_as_it_was(tmp_path: Path) -> None:
    zones = 8
    (tmp_path / "out").mkdir()
    run = (
        "run",
        "flash3",
        "--set",
        "interface=hdf5",
        "--set",
        f"zones={zones}",
        "--set",
        "dumps=1",
        "-d",
        "out",
        "--on",
        "openmpi",
        "-n",
        "2",
        "--repeat",
        "1",
        "--store",
        "store",
        "-q",
    )
    only = ("--only", f"{tmp_path}/out/*/flash_hdf5_chk_????")
    line = (sys.executable, "-m", "venturi", *run)
    venturi(tmp_path, "capture", "-q", "-o", "app.trace", *only, "--", *line)
    workload, card = checked(tmp_path)
    [file] = workload.files.values()
    made = list(file.datasets.values())
    assert sum(int(str(dataset.count)) for dataset in made) == 20
    for dataset in made:
        assert (dataset.shape, dataset.split) == (["np", *[zones] * 3], ["np", 1, 1, 1])
    assert differences(card) == {}
    [stream] = [one for one in card.streams if "flash_hdf5_chk" in one.name]
    alike = {field.name: field.match for field in stream.fields}
    for name in ("files", "files of several ranks", "request sizes, exactly", "open operations"):
        assert alike[name] is Match.EQUAL


COLUMNS = """
import h5py, numpy as np
with h5py.File("field.h5", "w", rdcc_nbytes=96 * 1024) as file:
    field = file.create_dataset("field", (96, 60), "f8", chunks=(8, 10))
    for first in range(0, 60, 20):
        field[:, first : first + 20] = np.full((96, 20), 2.0)
with h5py.File("field.h5", "r") as file:
    for first in range(0, 60, 15):
        file["field"][:, first : first + 15]
"""


def test_columns_that_are_moved_in_turn_keep_their_chunks_and_cache(tmp_path: Path) -> None:
    captured(tmp_path, COLUMNS)
    workload, card = checked(tmp_path)
    [file] = workload.files.values()
    [dataset] = file.datasets.values()
    assert (dataset.shape, dataset.chunks) == ([96, 60], [8, 10])
    assert file.options == {"chunk_cache": "96 KiB"}
    text = (tmp_path / "app.yaml").read_text("utf-8")
    assert "split: [1, 3], part: i" in text
    assert "split: [1, 4], part: i" in text
    assert differences(card) == {}
