"""Where the memory of requests is: seen in a capture, and the same of the proxy's own requests."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from command_line import venturi
from venturi.model.operation import FRESH, LOOKED_AT, MEMORY_SHIFT, MEMORY_UNIT, Column, Kind
from venturi.model.trace_folder import Captured, read_trace
from venturi.model.workload import DataStep, Workload
from venturi.model.yaml_text import load_yaml

PROGRAM = """
import mmap, os
SIZE, COUNT = 65536, 128

def memory():
    made = mmap.mmap(-1, SIZE * COUNT)
    made.madvise(mmap.MADV_NOHUGEPAGE)
    return made

def read(name, views):
    fd = os.open(name, os.O_RDONLY)
    for at, view in enumerate(views):
        os.preadv(fd, [view], at % COUNT * SIZE)
    os.close(fd)

one = memoryview(memory())
read("hot.in", [one[:SIZE]] * COUNT)
turns = [one[at * SIZE : (at + 1) * SIZE] for at in range(COUNT)]
read("turns.in", turns * 3)
for _ in range(3):
    new = memoryview(memory())
    read("new.in", [new[at * SIZE : (at + 1) * SIZE] for at in range(COUNT)])
fd = os.open("out", os.O_WRONLY | os.O_CREAT)
for at in range(COUNT):
    os.write(fd, turns[at])
os.close(fd)
"""
SIZE, COUNT = 65536, 128


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a capture, the proxy that it makes, and a capture of that."""
    made = tmp_path_factory.mktemp("memory")
    (made / "app.py").write_text(PROGRAM, "utf-8")
    for name in ("hot.in", "turns.in", "new.in"):
        (made / name).write_bytes(bytes(SIZE * COUNT))
    (made / "io").mkdir()
    only = ("--only", f"{made}/*.in", "--only", f"{made}/out")
    for words in (
        ("capture", "-q", "-o", "app.trace", *only, "--", sys.executable, "app.py"),
        ("derive", "app.trace", "--check", "-d", "io", "-o", "app.yaml"),
    ):
        done = venturi(made, *words)
        assert done.returncode in (0, 4), done.stderr
    return made


def details(captured: Captured, kind: Kind, path: str) -> Column:
    """`detail` of the calls of a kind on a file, in the order of time."""
    ops = captured.operations
    assert ops is not None
    files = [at for at, file in enumerate(captured.trace.files) if path in file.path]
    return ops.detail[ops.is_kind(kind) & np.isin(ops.file, files)]


def places(detail: Column) -> Column:
    return (detail >> MEMORY_SHIFT).astype(np.int64) * MEMORY_UNIT


def test_a_capture_sees_where_memory_is_and_whether_it_is_new(place: Path) -> None:
    app = read_trace(place / "app.trace")
    hot, turns, new = (details(app, Kind.READ, f"{n}.in") for n in ("hot", "turns", "new"))
    assert (len(hot), len(turns), len(new)) == (COUNT, 3 * COUNT, 3 * COUNT)
    for detail in (hot, turns, new):
        assert np.all(detail & LOOKED_AT)
    assert len(np.unique(places(hot))) == 1
    assert np.all(np.diff(places(turns)[:COUNT]) % (1 << 29) == SIZE)
    assert np.count_nonzero(hot & FRESH) == 1
    assert np.all(turns[1:COUNT] & FRESH)
    assert not np.any(turns[COUNT:] & FRESH)
    assert np.all(new & FRESH)
    wrote = details(app, Kind.WRITE, "/out")
    assert np.array_equal(places(wrote), places(turns)[:COUNT])
    assert not np.any(wrote & (LOOKED_AT | FRESH))


def test_a_proxy_uses_memory_as_its_application_does(place: Path) -> None:
    workload = load_yaml(place / "app.yaml", Workload)
    names = {Path(file.about).name: name for name, file in workload.files.items()}
    proxy = read_trace(place / "app-proxy.trace")
    paths = {name: workload.files[names[name]].path for name in names}
    hot, turns, new = (
        details(proxy, Kind.READ, paths[f"{name}.in"]) for name in ("hot", "turns", "new")
    )
    wrote = details(proxy, Kind.WRITE, paths["out"])
    assert (len(hot), len(turns), len(new)) == (COUNT, 3 * COUNT, 3 * COUNT)
    assert len(np.unique(places(hot))) == 1
    assert not np.any(hot & FRESH)
    for detail in (turns, wrote):
        assert len(np.unique(places(detail))) == COUNT
    assert 0.25 < np.count_nonzero(turns & FRESH) / len(turns) < 0.4, "a third of its reads"
    assert np.all(new & FRESH)


def test_what_is_usual_is_not_said() -> None:
    assert DataStep(to="f").memory == 0
    assert DataStep(to="f").fresh == 0
