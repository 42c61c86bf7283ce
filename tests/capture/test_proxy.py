"""The closure test on real programs: captured, derived, its proxy captured, compared."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import warm_start
from venturi.analyse.fidelity_report import fidelity
from venturi.capture.proxy import ProxyRun, run_proxy
from venturi.derive.yaml_text import to_yaml
from venturi.model.fidelity_report import FidelityReport, Match
from venturi.model.operation import Kind
from venturi.model.trace_folder import read_trace
from venturi.model.workload import Workload
from venturi.model.yaml_text import parse_yaml

WRITER = """
import os
for dump in range(3):
    fd = os.open(f"dump{dump}", os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o644)
    for _ in range(40):
        os.write(fd, b"x" * 65536)
    os.fsync(fd)
    os.close(fd)
"""

READER = """
import os
fd = os.open("input", os.O_RDONLY)
for i in range(64):
    os.pread(fd, 65536, i * 65536)
os.close(fd)
"""

FOLDERS = """
import os
for number in range(24):
    fd = os.open(f"source/{number // 8}/part{number}", os.O_RDONLY)
    os.read(fd, 65536)
    os.close(fd)
"""

JUDGED = (
    "bytes written",
    "bytes read",
    "write operations",
    "read operations",
    "sync operations",
    "ranks",
    "unlink operations",
)


def venturi(place: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A command as its user types it, in the folder `place`."""
    return warm_start.venturi(
        *words,
        folder=place,
        environment={**os.environ, "VENTURI_STORE": str(place / "store")},
        limit_s=180,
    )


def closed(place: Path, program: str) -> FidelityReport:
    """The card of a Python program and its proxy, by the commands that a user types."""
    (place / "app.py").write_text(program, "utf-8")
    done = venturi(place, "capture", "-o", "app.trace", "--", sys.executable, "app.py")
    assert done.returncode == 0, done.stderr
    (place / "io").mkdir()
    done = venturi(place, "derive", "app.trace", "--check", "-d", "io", "-o", "app.yaml")
    assert done.returncode == 0, done.stderr
    assert "ALL IN ALL" in done.stderr
    assert list((place / "io").iterdir()) == []
    captures = [read_trace(place / name) for name in ("app.trace", "app-proxy.trace")]
    return fidelity(captures[0], captures[1])


@pytest.mark.parametrize("program", [WRITER, READER], ids=["writer", "reader"])
def test_the_proxy_moves_what_the_application_moved(tmp_path: Path, program: str) -> None:
    (tmp_path / "input").write_bytes(bytes(64 * 65536))
    card = closed(tmp_path, program)
    fields = {field.name: field for field in card.total.fields if field.name in JUDGED}
    assert {name: f.match for name, f in fields.items()} == dict.fromkeys(fields, Match.EQUAL)
    assert fields["bytes written" if program == WRITER else "bytes read"].application > 0
    streams = [s for s in card.streams if any(f.name == "files" for f in s.fields)]
    data = [s for s in streams if next(f for f in s.fields if f.name == "files").application > 0]
    sizes = [f.match for s in data for f in s.fields if f.name == "request sizes, exactly"]
    assert set(sizes) == {Match.EQUAL}


def test_a_proxy_that_cannot_run_says_why(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(WRITER, "utf-8")
    venturi(tmp_path, "capture", "-o", "app.trace", "--", sys.executable, "app.py")
    done = venturi(tmp_path, "derive", "app.trace", "--check", "-d", "none", "-o", "app.yaml")
    assert done.returncode == 5
    assert "no such directory" in done.stderr
    assert not (tmp_path / "app-proxy.trace").exists()


def test_what_is_there_before_is_not_the_program_s_also_in_folders(tmp_path: Path) -> None:
    for number in range(24):
        path = tmp_path / f"source/{number // 8}/part{number}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * 65536)
    card = closed(tmp_path, FOLDERS)
    found = {field.name: (field.application, field.proxy) for field in card.total.fields}
    assert found["bytes read"] == (24 * 65536, 24 * 65536)
    for name in ("bytes written", "sync operations", "unlink operations", "mkdir operations"):
        assert found.get(name, (0, 0)) == (0, 0), name
    source = next(stream for stream in card.streams if "part" in stream.name)
    opens = [field for field in source.fields if field.name == "open operations"]
    assert [(field.application, field.proxy) for field in opens] == [(24, 24)]


LIMITED = """
import resource, sys
from pathlib import Path
from venturi.capture.proxy import ProxyRun, run_proxy
from venturi.model.error import RunFailed
from venturi.model.workload import Workload
from venturi.model.yaml_text import load_yaml
resource.setrlimit(resource.RLIMIT_FSIZE, (32 << 20, resource.RLIM_INFINITY))
text = Path("large.yaml")
try:
    run_proxy(ProxyRun(load_yaml(text, Workload), text.read_text(), Path("target")), Path("place"))
except RunFailed as error:
    print(error.message)
"""


def test_a_proxy_that_fails_says_why(tmp_path: Path) -> None:
    (tmp_path / "large.yaml").write_text(
        "workload: 1\nname: large\nparameters: {np: {default: 1, role: ranks}}\n"
        "groups: {g: {ranks: np}}\nfiles: {f: {path: f}}\nprogram:\n  g:\n    - phase: p\n"
        "      do: [{create: f}, {write: {to: f, transfer: 1 MiB, size: 64 MiB}}, {close: f}]\n"
    )
    for folder in ("target", "place"):
        (tmp_path / folder).mkdir()
    done = subprocess.run(
        [sys.executable, "-c", LIMITED],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        timeout=600,
    )
    assert "the proxy did not come to its end: " in done.stdout
    assert "File too large" in done.stdout


def test_a_proxy_that_is_no_valid_benchmark_is_still_what_it_did(tmp_path: Path) -> None:
    """Its rate is above a bound of the machine; a phase that is too short would do the same."""
    (tmp_path / "machine.yaml").write_text(
        "schema: venturi.machine/2\nname: slow\n"
        "bounds: [{operation: write, bytes_per_second: 1.0}]\n"
    )
    workload = parse_yaml(
        "workload: 1\nname: small\nparameters: {np: {default: 1, role: ranks}}\n"
        "groups: {g: {ranks: np}}\nfiles: {f: {path: f}}\nprogram:\n  g:\n    - phase: p\n"
        "      do: [{create: f}, {write: {to: f, transfer: 1 MiB, size: 4 MiB}}, {close: f}]\n",
        "small.yaml",
        Workload,
    )
    for folder in ("target", "place"):
        (tmp_path / folder).mkdir()
    machine = str(tmp_path / "machine.yaml")
    run = ProxyRun(workload, to_yaml(workload), tmp_path / "target", machine=machine)
    found = run_proxy(run, tmp_path / "place").operations
    assert found is not None
    assert np.count_nonzero(found.is_kind(Kind.WRITE)) == 4
