"""What a test needs beside the project's own installation, and which tier of tests runs.

The whole tier runs every test; a need that is not met fails it and names what is missing. The
fast tier (`--fast`) leaves out each test that has a need or takes more than a second (thorough.txt,
which packaging/list-thorough makes from the times of a run), and says how many it left out for
which reason.

A test states its needs by `@pytest.mark.needs("slurm")`. A parameter or a fixture that bears the
name of a need states it, too.
"""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from accessibility import source_file


@dataclass(frozen=True)
class Need:
    """Something that a machine may lack."""

    what: str
    is_met: Callable[[], bool]


def _programs(*names: str) -> Callable[[], bool]:
    return lambda: all(shutil.which(name) is not None for name in names)


def _is_root() -> bool:
    return os.geteuid() == 0


NEEDS = {
    "root": Need("root (mounts, name spaces)", _is_root),
    "network": Need("ip and tc (iproute2)", _programs("ip", "tc")),
    "openmpi": Need("Open MPI", _programs("mpirun.openmpi", "mpicxx.openmpi")),
    "mpich": Need("MPICH", _programs("mpirun.mpich", "mpicxx.mpich")),
    "mpi": Need("an MPI", _programs("mpirun", "mpicc")),
    "slurm": Need("Slurm, as root", lambda: _is_root() and _programs("slurmctld", "munged")()),
    "glusterfs": Need(
        "GlusterFS, as root",
        lambda: _is_root() and Path("/dev/fuse").exists() and _programs("glusterfsd", "tc")(),
    ),
    "ceph": Need("Ceph's servers", _programs("ceph-mon", "ceph-osd", "ceph", "rados")),
    "cephfs": Need(
        "CephFS, as root",
        lambda: _is_root() and Path("/dev/fuse").exists() and _programs("ceph-mon", "ceph-fuse")(),
    ),
    "browser": Need("Chromium", lambda: any(map(shutil.which, ("chromium", "google-chrome")))),
    "firefox": Need("Firefox", lambda: any(map(shutil.which, ("firefox-esr", "firefox")))),
    "strace": Need("strace", _programs("strace")),
    "fortran": Need("gfortran", _programs("gfortran")),
    "promtool": Need("promtool (Prometheus)", _programs("promtool")),
    "roff": Need("groff and mandoc", _programs("groff", "mandoc")),
    "fio": Need("fio", _programs("fio")),
    "hdf5": Need("HDF5 with its headers", lambda: any(Path("/usr/include").glob("hdf5*"))),
    "netcdf": Need("netCDF with its headers", Path("/usr/include/netcdf.h").exists),
    "pnetcdf": Need("PnetCDF with its headers", Path("/usr/include/pnetcdf.h").exists),
    "debootstrap": Need("debootstrap", _programs("debootstrap")),
    "axe": Need("axe-core (npm)", lambda: source_file() is not None),
    "runner": Need("gitlab-ci-local", _programs("gitlab-ci-local")),
    "sanitizers": Need("engines built with sanitizers", lambda: True),
}

_THOROUGH = Path(__file__).with_name("thorough.txt")
_ALSO = {
    "mpi_spies": ("openmpi", "mpich"),
    "volume": ("glusterfs",),
    "file_cluster": ("cephfs",),
    "mpiio": ("mpi",),
    "cdf5": ("netcdf",),
}
"""Fixtures and parameters that need something of another name."""


def needs_of(item: pytest.Item) -> set[str]:
    """Return the names of a test's needs."""
    names = {str(name) for mark in item.iter_markers("needs") for name in mark.args}
    unknown = names - set(NEEDS)
    if unknown:
        raise pytest.UsageError(f"{item.nodeid}: unknown needs {sorted(unknown)}")
    words = set(getattr(item, "fixturenames", ()))
    callspec = getattr(item, "callspec", None)
    if callspec is not None:
        words |= set(_words(callspec.params.values()))
    for word in words:
        names |= {word} & set(NEEDS) | set(_ALSO.get(word, ()))
    return names


def _words(values: Iterable[object]) -> Iterable[str]:
    for value in values:
        if isinstance(value, str):
            yield from value.replace("-", " ").split()
        elif isinstance(value, list | tuple | set | frozenset):
            yield from _words(value)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--fast",
        action="store_true",
        help="only tests that need nothing but the installation and take little time",
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    needs = {item: needs_of(item) for item in items}
    if not config.getoption("--fast"):
        return
    thorough = set(_THOROUGH.read_text("utf-8").splitlines())
    left_out = Counter[str]()
    kept, dropped = [], []
    for item in items:
        reasons = [NEEDS[name].what for name in needs[item]]
        if item.nodeid.split("[")[0] in thorough:
            reasons.append("more than a second")
        left_out.update(reasons)
        (dropped if reasons else kept).append(item)
    config.hook.pytest_deselected(items=dropped)
    items[:] = kept
    config.stash[_LEFT_OUT] = left_out


_LEFT_OUT = pytest.StashKey[Counter[str]]()


def pytest_runtest_setup(item: pytest.Item) -> None:
    missing = [NEEDS[name].what for name in sorted(needs_of(item)) if not NEEDS[name].is_met()]
    if missing:
        pytest.fail(f"missing: {', '.join(missing)}", pytrace=False)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Tell the process that prints the summary what this worker left out."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["left_out"] = dict(session.config.stash.get(_LEFT_OUT, Counter[str]()))


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take what a worker left out; all workers collect, and so leave out, the same."""
    left_out = getattr(node, "workeroutput", {}).get("left_out")
    if left_out:
        node.config.stash[_LEFT_OUT] = Counter[str](left_out)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    for what, count in config.stash.get(_LEFT_OUT, Counter[str]()).most_common():
        terminalreporter.write_line(f"left out: {count} tests that need {what}")
