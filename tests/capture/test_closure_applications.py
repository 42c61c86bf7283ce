"""Real applications on a small scale: their proxies stay short and do what the applications did."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from venturi.analyse.fidelity_report import fidelity
from venturi.capture.proxy import capture_proxy, machine_for
from venturi.derive.operation.walk import LEAST_LISTS
from venturi.derive.workload import derive
from venturi.derive.yaml_text import to_yaml
from venturi.model.fidelity_report import FidelityReport, Match
from venturi.model.workload import Workload
from venturi.sources.open import read_capture

TREE = (
    "for i in 1 2 3 4 5 6; do mkdir -p source/d$i; for j in 1 2 3 4; do "
    "head -c $((j * 3000)) /dev/zero > source/d$i/file.$j; done; done"
)
SQL = """import sqlite3
base = sqlite3.connect("base.db")
base.execute("create table t (id integer primary key, name text)")
base.execute("create index by_name on t (name)")
for turn in range(30):
    with base:
        base.executemany(
            "insert into t (name) values (?)",
            [(f"n{(turn * 40 + i) * 7919 % 1200}",) for i in range(40)],
        )
"""
H5 = """import h5py, numpy
for dump in range(3):
    with h5py.File(f"dump_{dump}.h5", "w") as file:
        for name in ("density", "pressure"):
            data = file.create_dataset(name, (32, 64, 64), "f8", chunks=(8, 64, 64))
            for part in range(0, 32, 8):
                data[part : part + 8] = numpy.full((8, 64, 64), dump, "f8")
"""
POOL = """import multiprocessing, time
def task(number):
    with open(f"part{number}.bin", "wb", buffering=0) as file:
        for _ in range(4):
            file.write(bytes(65536))
    time.sleep(0.005 * (number * number % 7))
    with open(f"part{number}.bin", "rb", buffering=0) as file:
        while file.read(131072):
            pass
if __name__ == "__main__":
    with multiprocessing.Pool(3) as pool:
        list(pool.imap_unordered(task, range(24)))
"""
THREADS = """from concurrent.futures import ThreadPoolExecutor
import time
def task(number):
    with open(f"part{number}.bin", "wb", buffering=0) as file:
        for _ in range(4):
            file.write(bytes(65536))
            time.sleep(0.001 * (number * number % 7))
with ThreadPoolExecutor(3) as pool:
    list(pool.map(task, range(25)))
"""
INPUTS = """import multiprocessing, time
def task(number):
    with open(f"in{number}.bin", "rb", buffering=0) as file:
        while file.read(65536):
            pass
    time.sleep(0.004 * (number * number % 7))
    with open(f"out{number}.bin", "wb", buffering=0) as file:
        file.write(bytes(100000))
if __name__ == "__main__":
    for number in range(25):
        with open(f"in{number}.bin", "wb", buffering=0) as file:
            file.write(bytes(262144))
    with multiprocessing.Pool(3) as pool:
        list(pool.imap_unordered(task, range(25)))
"""
SAVED = """import os
for turn in range(40):
    with open("state", "rb") as file:
        file.read()
    with open("state.tmp", "wb") as file:
        file.write(bytes(20000))
        file.flush()
        os.fsync(file.fileno())
    os.replace("state.tmp", "state")
"""
KEPT = """import os
for number in range(24):
    with open(f"part{number}", "wb", buffering=0) as file:
        file.write(bytes(20000))
        os.utime(file.fileno(), (1, 2))
    os.chmod(f"part{number}", 0o600)
for number in range(24):
    os.chown(f"part{number}", -1, -1)
"""
LINKED = """import os
with open("target", "wb", buffering=0) as file:
    for _ in range(9):
        file.write(bytes(20000))
for number in range(24):
    os.symlink("target", f"symbolic{number}")
for number in range(24):
    os.link("target", f"hard{number}")
for number in range(24):
    os.unlink(f"symbolic{number}")
for number in range(1, 25):
    os.rmdir(f"tree/d{number}")
"""
MANY = (
    "for i in $(seq 10); do mkdir -p top/d$i; for j in $(seq 30); do echo $i > top/d$i/f$j; done; "
    "done"
)
MAPPED = """import mmap
with open("field.bin", "w+b") as file:
    file.truncate(8 << 20)
    with mmap.mmap(file.fileno(), 0) as field:
        for place in range(0, 8 << 20, 1 << 16):
            field[place : place + (1 << 16)] = bytes(1 << 16)
            if place % (1 << 20) == 0:
                field.flush()
with open("sums.bin", "wb") as file:
    file.write(bytes(1 << 20))
"""
MPI = """#include <mpi.h>
#include <stdlib.h>
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  char* data = calloc(1, 65536);
  for (int dump = 0; dump < 3; ++dump) {
    char name[16] = {'d', (char)('0' + dump)};
    MPI_File file;
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    for (int i = 0; i < 8; ++i)
      MPI_File_write_at_all(file, (MPI_Offset)65536 * (i * ranks + rank), data, 65536, MPI_BYTE,
                            MPI_STATUS_IGNORE);
    MPI_File_close(&file);
  }
  free(data);
  return MPI_Finalize();
}
"""
C = (
    'for n in 0 1 2 3; do printf "int f$n(int x) { return x + $n; }\\n" > p$n.c; done; '
    'printf "int main(void) { return 0; }\\n" > main.c'
)
MPIRUN = "mpirun --allow-run-as-root --oversubscribe -n 2"


@dataclass(frozen=True)
class Application:
    """What is prepared and done in a folder of its own, and how near its proxy must come."""

    command: str
    most_lines: int
    """Of the workload without its origin."""
    prepare: str = ":"
    needs: tuple[str, ...] = ()
    files: dict[str, str] = field(default_factory=dict)
    near: dict[str, float] = field(default_factory=dict)
    """Fields that may differ by so much of the application's; all others are equal."""


APPLICATIONS = {
    "cp": Application("cp -r source copy", 42, TREE),
    "tar": Application("tar cf all.tar source", 75, TREE),
    "git": Application(
        "git init -q . && git add source && git -c user.name=n -c user.email=e commit -qm one",
        410,
        TREE,
        ("git",),
        near={
            "stat operations": 0.1,  # its 8 looks at a link; the engine looks at what it removes
            "link operations": 1.0,  # its one link is left out, and named
            "unlink operations": 1.0,  # of three at most: one removes the link
        },
    ),
    "gcc": Application(
        "for n in 0 1 2 3; do gcc -c p$n.c; done; gcc -o main *.o main.c",
        300,
        C,
        ("gcc",),
        # Of what is read, not all is seen to be written; streams ask for their files' lengths.
        near={"bytes written": 0.001, "stat operations": 0.5},
    ),
    "sqlite": Application(
        f"{sys.executable} program.py",
        80,
        files={"program.py": SQL},
        near={"open operations": 0.02, "close operations": 0.02},
    ),
    "gzip": Application(
        "gzip -1 source/d*/file.*",
        50,
        TREE,
        ("gzip",),
        near={"stat operations": 1.0},  # the engine looks at what it removes
    ),
    "mapped": Application(
        f"{sys.executable} program.py",
        35,
        files={"program.py": MAPPED},
        near={"stat operations": 0.5},  # the engine asks for the length of what it maps
    ),
    "listed": Application(
        "ls -lR top > /dev/null; cp top/d1/f1 copy",
        35,
        MANY,
        near={"stat operations": 0.01},  # what cp asks about its folder
    ),
    "saved": Application(
        f"{sys.executable} program.py",
        40,
        "head -c 20000 /dev/zero > state",
        files={"program.py": SAVED},
    ),
    "attributes": Application(
        f"{sys.executable} program.py",
        40,
        files={"program.py": KEPT},
        near={"stat operations": 1.0},  # behind a create they are taken for the engine's looks
    ),
    "links": Application(
        f"{sys.executable} program.py",
        50,
        "mkdir tree; for i in $(seq 24); do mkdir tree/d$i; done",
        files={"program.py": LINKED},
    ),
    "inputs": Application(
        f"{sys.executable} program.py",
        85,  # 62 where workers take turns; what they took is told in stretches where they do not
        files={"program.py": INPUTS},
    ),
    "h5py": Application(f"{sys.executable} program.py", 28, files={"program.py": H5}),
    "pool": Application(f"{sys.executable} program.py", 40, files={"program.py": POOL}),
    "threads": Application(f"{sys.executable} program.py", 45, files={"program.py": THREADS}),
    "mpi": Application(
        f"{MPIRUN} ./writer",
        22,
        "mpicc -o writer writer.c",
        ("mpirun", "mpicc"),
        {"writer.c": MPI},
    ),
}

JUDGED = (
    "bytes written",
    "bytes read",
    "write operations",
    "read operations",
    "open operations",
    "close operations",
    "sync operations",
    "data_sync operations",
    "list operations",
    "mkdir operations",
    "unlink operations",
    "rename operations",
    "stat operations",
    "attribute operations",
    "link operations",
    "rmdir operations",
    "streams",
    "ranks",
)


def lines_of(workload: Workload) -> int:
    """Lines of a workload without its origin, and without names, which are longer in some places
    than in others."""
    files = {name: file.model_copy(update={"about": ""}) for name, file in workload.files.items()}
    text = to_yaml(workload.model_copy(update={"origin": None, "files": files}))
    return sum(bool(line) and not line.startswith("#") for line in text.splitlines())


def closed(application: Application, place: Path) -> tuple[Workload, FidelityReport]:
    """The workload of an application, and the card of its proxy."""
    here = place / "here"
    here.mkdir()
    for name, text in application.files.items():
        (here / name).write_text(text, "utf-8")
    surroundings = {**os.environ, "HOME": str(here), "PYTHONDONTWRITEBYTECODE": "1"}
    venturi = (sys.executable, "-m", "venturi", "capture", "-q", "-o", str(place / "app.trace"))
    for words in (
        ("bash", "-c", application.prepare),
        (*venturi, "--", "bash", "--norc", "-c", application.command),
    ):
        done = subprocess.run(
            words,
            cwd=here,
            env=surroundings,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert done.returncode == 0, done.stderr
    captured = read_capture(str(place / "app.trace"))
    workload = derive(captured, "app")
    text = to_yaml(workload)
    (place / "io").mkdir()
    machine = machine_for(workload, captured.trace)
    proxy = capture_proxy(workload, text, place / "io", place / "proxy.trace", machine)
    return workload, fidelity(captured, proxy)


@pytest.mark.parametrize("name", APPLICATIONS)
def test_the_proxy_is_short_and_does_what_the_application_did(name: str, tmp_path: Path) -> None:
    application = APPLICATIONS[name]
    lacks = [program for program in application.needs if shutil.which(program) is None]
    if lacks:
        pytest.skip(f"without {', '.join(lacks)}")
    workload, card = closed(application, tmp_path)
    assert lines_of(workload) <= application.most_lines, to_yaml(workload)
    assert card.only_proxy == []
    assert [stream.name for stream in card.streams if not stream.counterpart] == []
    found = {field.name: field for field in card.total.fields if field.name in JUDGED}
    assert found["bytes written"].application > 0
    lists = found.pop("list operations", None)
    if lists is not None and lists.application >= LEAST_LISTS:  # fewer are a program's start
        found[lists.name] = lists
    off = {
        name: (field.application, field.proxy)
        for name, field in found.items()
        if field.match is not Match.EQUAL
        and abs(field.proxy - field.application)
        > application.near.get(name, 0.0) * field.application
    }
    assert off == {}
