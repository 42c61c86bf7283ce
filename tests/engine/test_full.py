"""A file system that is really full: every interface says so, ends, and leaves nothing."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.running import Engine
from venturi.model.plan import Plan
from venturi.model.workload import Workload
from venturi.model.yaml_text import parse_yaml
from venturi.plan.make import make_plan
from venturi.plan.setting import RunSettings

FULL = "No space left on device"
GUESSED = "(the file system is full)"
"""What is said where a library keeps the cause for itself."""
ROOM = 4 << 20
BLOCK = 65_536
RANKS = {"alone": 1, "forked": 2, "openmpi": 2, "mpich": 2}
BYTES = "{to: f, pattern: segmented, transfer: 65536, block: 8388608, segments: 1}"
TOGETHER = BYTES.replace("}", ", collective: true}")
BOXES = "{to: f.u, transfer: 65536}"
BOXES_TOGETHER = "{to: f.u, transfer: 65536, collective: true}"
SHAPE = "datasets: {u: {type: f64, shape: [np, 1048576], split: [np, 1]}}"
CHUNKS = "datasets: {u: {type: f64, shape: [np, 1048576], split: [np, 1], chunks: [1, 8192]}}"
KINDS = {
    "posix": ("interface: posix", BYTES),
    "uring": ("interface: uring", BYTES),
    "stdio": ("interface: stdio", BYTES),
    "mmap": ("interface: mmap", BYTES),
    "mpiio": ("interface: mpiio", BYTES),
    "mpiio-together": ("interface: mpiio", TOGETHER),
    "bundle": ("interface: bundle", "{to: f, transfer: 65536, count: 128}"),
    "fieldstore": ("interface: fieldstore", BYTES),
    "lime": ("interface: lime", BYTES),
    "hdf5": ("interface: hdf5", BYTES),
    "hdf5-boxes": (f"interface: hdf5, {SHAPE}", BOXES),
    "hdf5-chunks": (f"interface: hdf5, {CHUNKS}", BOXES_TOGETHER),
    "hdf5-own": (f"interface: hdf5, shared: rank, {SHAPE.replace('np', '1')}", BOXES),
    "netcdf": (f"interface: netcdf, {SHAPE}", BOXES),
    "netcdf4": (f"interface: netcdf, options: {{format: netcdf4}}, {CHUNKS}", BOXES),
    "pnetcdf": (f"interface: pnetcdf, {SHAPE}", BOXES),
    "pnetcdf-together": (f"interface: pnetcdf, {SHAPE}", BOXES_TOGETHER),
}
CELLS = [
    (comm, kind)
    for comm in RANKS
    for kind in KINDS
    if not (comm in ("alone", "forked") and kind.startswith(("mpiio", "pnetcdf")))
    and not (comm == "mpich" and kind.startswith("pnetcdf"))
]


@pytest.fixture
def little(tmp_path: Path) -> Iterator[Path]:
    """A file system of 4 MiB."""
    mount = tmp_path / "little"
    mount.mkdir()
    options = f"size={ROOM}"
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", str(mount)], check=True)
    yield mount
    # A launcher does not wait until the ranks that it killed are gone.
    until_s = time.monotonic() + 600
    while subprocess.run(["umount", str(mount)], check=False).returncode != 0:
        assert time.monotonic() < until_s, f"{mount} is still in use"
        time.sleep(0.05)


def planned(place: Path, directory: Path, ranks: int, kind: str) -> Plan:
    """All ranks write more than there is room for."""
    file, step = KINDS[kind]
    text = (
        f"workload: 1\nname: t\nparameters: {{np: {{default: {ranks}, role: ranks}}}}\n"
        f"groups: {{g: {{ranks: np}}}}\nfiles:\n  f: {{path: f, {file}}}\n"
        f"program:\n  g:\n    - phase: p\n      do:\n        - create: f\n"
        f"        - write: {step}\n        - close: f\n"
    )
    journal = place / "journal"
    journal.mkdir()
    chosen = RunSettings(repetitions=1, run_directory=str(directory), journal=str(journal))
    made = make_plan(parse_yaml(text, "t.yaml", Workload), chosen).plan
    (journal / "plan.json").write_text(made.to_json())
    return made


@pytest.mark.needs("root")
@pytest.mark.parametrize(("comm", "kind"), CELLS)
def test_every_interface_says_that_it_is_full(
    engine: Engine, tmp_path: Path, little: Path, comm: str, kind: str
) -> None:
    outcome = engine.run(planned(tmp_path, little / "run", RANKS[comm], kind), comm)
    told = outcome.failed["message"]
    assert outcome.code == 3, told
    assert FULL in told or GUESSED in told
    assert list(little.iterdir()) == []
