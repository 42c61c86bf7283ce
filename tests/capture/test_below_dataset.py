"""Datasets that follow no rule, in generated programs: the proxy asks the storage for as much."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from random import Random

import numpy as np
import pytest
from test_dataset_closure import captured, differences, venturi

from venturi.analyse.fidelity_report import fidelity
from venturi.analyse.planned_fidelity import planned_fidelity
from venturi.model.operation import Kind
from venturi.model.plan import Interface
from venturi.model.trace import Layer
from venturi.model.trace_folder import Captured, read_trace
from venturi.model.workload import Workload
from venturi.model.yaml_text import load_yaml

_NEAR = 0.02
"""So many of the requests may be missing or too many."""

Moved = dict[Kind, tuple[int, int]]
"""How many requests of a kind, and their bytes."""


def _columns(random: Random, rows: int, columns: int) -> list[str]:
    """Columns, in no order."""
    chosen = random.sample(range(columns), columns * 2 // 3)
    return [f":, {column}" for column in chosen]


def _rows(random: Random, rows: int, columns: int) -> list[str]:
    """Rows, some of them again."""
    return [f"{random.randrange(rows)}" for _ in range(rows)]


def _strides(random: Random, rows: int, columns: int) -> list[str]:
    """Every nth of some rows and columns."""
    found = []
    for _ in range(20):
        top, left = random.randrange(rows // 2), random.randrange(columns // 2)
        steps = random.randint(2, 4), random.randint(1, 3)
        found.append(f"{top}:{rows}:{steps[0]}, {left}:{columns}:{steps[1]}")
    return found


SELECTIONS = {"columns": _columns, "rows": _rows, "strides": _strides}


def generated(kind: str, seed: int) -> str:
    """A program that writes selections of a random dataset, and reads others of it."""
    random = Random(f"{kind} {seed}")
    rows, columns = random.randint(200, 600), random.randint(30, 90)
    chunks = random.choice([None, (random.randint(8, 50), random.randint(5, 25))])
    number = random.choice(["f8", "f4", "i2"])
    cache = random.choice([0, 4096, 1 << 20])
    written, read = (SELECTIONS[kind](random, rows, columns) for _ in range(2))
    return "\n".join(
        [
            "import h5py",
            f"with h5py.File('data.h5', 'w', rdcc_nbytes={cache}) as file:",
            f"    d = file.create_dataset('d', ({rows}, {columns}), {number!r}, chunks={chunks})",
            *(f"    d[{selection}] = 1" for selection in written),
            f"with h5py.File('data.h5', rdcc_nbytes={cache}) as file:",
            "    d = file['d']",
            *(f"    d[{selection}]" for selection in read),
        ]
    )


def appended(seed: int) -> str:
    """A program with two datasets that grow in turn, by other numbers of rows each time."""
    random = Random(seed)
    columns, chunk = random.randint(8, 40), random.randint(4, 30)
    lines = ["import h5py", "with h5py.File('data.h5', 'w') as file:", "    made = {}"]
    for name in "ab":
        shapes = f"(0, {columns}), 'f8', maxshape=(None, {columns}), chunks=({chunk}, {columns})"
        lines.append(f"    made[{name!r}] = file.create_dataset({name!r}, {shapes})")
    lengths = {"a": 0, "b": 0}
    for _ in range(60):
        name, more = random.choice("ab"), random.randint(1, 25)
        before = lengths[name]
        lengths[name] += more
        lines.append(f"    made[{name!r}].resize({lengths[name]}, axis=0)")
        lines.append(f"    made[{name!r}][{before}:] = 1")
        if random.random() < 0.1:
            lines.append("    file.flush()")
    return "\n".join(lines)


def below(capture: Captured, name: str = "") -> Moved:
    """What POSIX was asked to move of the HDF5 files that end so."""
    operations, files = capture.operations, capture.trace.files
    assert operations is not None
    ends = [one.path.endswith(f"{name}.h5") or f"{name}.h5" in one.stands_for for one in files]
    rows = np.append(ends, False)[np.minimum(operations.file, len(files))]
    rows &= operations.is_layer(Layer.POSIX) & (operations.error == 0) & (operations.bytes > 0)
    found = {}
    for kind in (Kind.READ, Kind.WRITE):
        mine = rows & operations.is_kind(kind)
        found[kind] = int(np.count_nonzero(mine)), int(operations.bytes[mine].sum())
    return found


def derived(place: Path) -> tuple[Workload, list[Captured], str]:
    """The proxy of app.trace, both captures, and what the user is told."""
    (place / "io").mkdir()
    done = venturi(place, "derive", "app.trace", "--check", "-d", "io", "-o", "app.yaml")
    captures = [read_trace(place / name) for name in ("app.trace", "app-proxy.trace")]
    return load_yaml(place / "app.yaml", Workload), captures, " ".join(done.stderr.split())


def is_near(application: Moved, proxy: Moved) -> bool:
    """Whether requests and bytes agree but for few, both of reads and of writes."""
    return all(
        abs(ours - theirs) <= _NEAR * ours
        for kind in application
        for ours, theirs in zip(application[kind], proxy[kind], strict=True)
    )


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("kind", [*SELECTIONS, "appended"])
def test_what_follows_no_rule_asks_the_storage_for_as_much(
    tmp_path: Path, kind: str, seed: int
) -> None:
    captured(tmp_path, appended(seed) if kind == "appended" else generated(kind, seed))
    workload, captures, told = derived(tmp_path)
    assert {file.interface for file in workload.files.values()} == {Interface.POSIX}
    ours, theirs = map(below, captures)
    assert sum(requests for requests, _ in ours.values()) > 10
    assert is_near(ours, theirs), (ours, theirs)
    assert "data.h5: its POSIX calls are replayed instead of its dataset accesses" in told
    report = fidelity(*captures)
    assert report.total.layer == "posix"
    assert differences(report) == {}
    assert "compared in POSIX" in told


TWO = """
import h5py, numpy
with h5py.File('even.h5', 'w') as file:
    for name in ('density', 'pressure', 'energy'):
        field = file.create_dataset(name, (64, 32, 32), 'f8', chunks=(8, 32, 32))
        for i in range(0, 64, 8):
            field[i : i + 8] = numpy.ones((8, 32, 32))
with h5py.File('odd.h5', 'w') as file:
    d = file.create_dataset('d', (500, 40), 'f8', chunks=(50, 8))
    for column in (3, 17, 8, 30, 21, 2, 39, 11, 12, 5, 29, 1):
        d[:, column] = 1
"""


def test_only_the_file_that_follows_no_rule_is_told_below(tmp_path: Path) -> None:
    captured(tmp_path, TWO)
    workload, captures, told = derived(tmp_path)
    interfaces = {Path(file.about).name: file.interface for file in workload.files.values()}
    assert interfaces == {"even.h5": Interface.HDF5, "odd.h5": Interface.POSIX}
    assert "the selections of dataset '/d' follow no rule" in told
    assert "even.h5: its POSIX" not in told
    assert is_near(*(below(capture, "odd") for capture in captures))
    report = fidelity(*captures)
    layers = {Path(stream.name).name: stream.layer for stream in report.streams}
    assert layers == {"even.h5": "hdf5_dataset", "odd.h5": "posix"}
    assert report.total.layer == "hdf5_dataset, posix"
    assert differences(report) == {}
    assert differences(planned_fidelity(captures[0], workload, ("app", "proxy"))) == {}


MAKE = """
import h5py
with h5py.File('input.h5', 'w') as file:
    file.create_dataset('table', (2000, 64), 'f4', chunks=(100, 64))[...] = 1
    file.create_dataset('packed', (2000, 64), 'f4', chunks=(40, 64), compression='gzip')[...] = 1
"""

COLUMNS_OF_INPUT = """
import h5py
with h5py.File('input.h5') as file:
    for column in range(0, 64, 4):
        file['table'][:, column]
    for row in range(0, 2000, 40):
        file['packed'][row]
"""


def test_columns_of_a_file_that_was_there(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", MAKE], cwd=tmp_path, check=True)
    captured(tmp_path, COLUMNS_OF_INPUT)
    workload, captures, told = derived(tmp_path)
    assert {file.interface for file in workload.files.values()} == {Interface.POSIX}
    assert "because the run only reads dataset" in told
    ours, theirs = map(below, captures)
    assert is_near(ours, theirs), (ours, theirs)
    assert differences(fidelity(*captures)) == {}


VIRTUAL = """
import h5py, numpy
layout = h5py.VirtualLayout((80, 64, 64), 'u2')
for part in range(4):
    with h5py.File(f'part{part}.h5', 'w') as file:
        frames = file.create_dataset('frames', (20, 64, 64), 'u2', chunks=(1, 64, 64))
        for n in range(20):
            frames[n] = numpy.full((64, 64), part, 'u2')
    source = h5py.VirtualSource(f'part{part}.h5', 'frames', (20, 64, 64))
    layout[part * 20 : part * 20 + 20] = source
with h5py.File('all.h5', 'w') as file:
    file.create_virtual_dataset('frames', layout)
with h5py.File('all.h5') as file:
    for n in range(0, 80, 8):
        file['frames'][n : n + 8, 16:32]
"""


def test_what_is_read_through_a_virtual_dataset_is_told(tmp_path: Path) -> None:
    captured(tmp_path, VIRTUAL)
    workload, captures, told = derived(tmp_path)
    assert {file.interface for file in workload.files.values()} == {Interface.POSIX}
    assert "through virtual datasets or links of other files" in told
    ours, theirs = (below(capture, "") for capture in captures)
    assert ours[Kind.READ][1] > 80 * 64 * 64 * 2
    assert is_near(ours, theirs), (ours, theirs)
    assert differences(fidelity(*captures)) == {}
