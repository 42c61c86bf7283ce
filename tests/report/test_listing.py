"""Lists on the terminal: what they name, and that names cannot paint."""

from __future__ import annotations

import re
from typing import Any

import pytest
from test_terminal import console, said

from venturi.model.workload import Workload
from venturi.report.listing import print_archive, print_doctor, print_library
from venturi.report.quantity import Units

ENTRY: dict[str, Any] = {
    "id": "r7k2",
    "name": "quick",
    "started": "2026-11-20T09:30:12Z",
    "level": "VALID",
    "repetitions": 6,
    "ranks": 4,
    "left": 0,
}


def doctor(path: str, usable: bool) -> dict[str, Any]:
    """What `venturi doctor` finds."""
    system = {
        "type": "xfs",
        "source": "/dev/sda1",
        "mount": "/",
        "free_bytes": 2**30,
        "total_bytes": 2**31,
        "free_inodes": 1000,
    }
    return {
        "directory": {
            "path": path,
            "usable": usable,
            "problem": "it is read-only",
            "file_system": system,
        },
        "host": {
            "name": "node17",
            "system": "Debian 12",
            "kernel": "6.1",
            "cores": 2,
            "cpu": "x",
            "memory_bytes": 2**33,
        },
        "engines": [
            {
                "name": "venturi-engine",
                "built": True,
                "reason": "",
                "libraries": ["HDF5 1.10.8", "netCDF 4.9.0"],
            }
        ],
        "interfaces": [
            {"name": "hdf5", "built": False, "reason": "needs parallel HDF5"},
            {
                "name": "posix",
                "built": True,
                "reason": "needs this",
                "options": [
                    {"name": "direct", "default": "false"},
                    {"name": "lattice", "default": ""},
                ],
            },
        ],
        "tools": [{"name": "mpirun", "path": "", "use": "for ranks"}],
    }


def test_the_archive_lists_runs_and_what_they_left() -> None:
    to = console()
    print_archive([ENTRY, ENTRY | {"id": "zz", "left": 1}], "store", ["killed-one"], to)
    text = said(to)
    assert "r7k2  2026-11-20 09:30" in text
    assert "killed-one: its command was killed" in text
    assert "venturi results rm --files zz" in text
    assert "1 file" in text


def test_an_empty_archive_says_how_to_fill_it() -> None:
    to = console()
    print_archive([], "[/store]", [], to)
    assert "no runs in [/store] yet" in said(to)
    assert "venturi run quick -d DIR" in said(to)


@pytest.mark.parametrize("usable", [True, False])
def test_the_doctor_names_the_place_and_what_is_missing(usable: bool) -> None:
    to = console()
    print_doctor(doctor("/scratch/[/bold]\x1b[2J", usable), to, Units.IEC)
    text = said(to)
    assert "/scratch/[/bold]" in text
    assert "\x1b" not in text
    assert "posix  built      needs this; options: direct=false, lattice" in text
    assert "venturi-engine  built  HDF5 1.10.8, netCDF 4.9.0" in text
    assert ("1 GiB of 2 GiB free" in text) is usable
    assert ("it is read-only" in text) is not usable
    assert "not built  needs parallel HDF5" in text
    assert "mpirun (for ranks)" in text


@pytest.mark.parametrize(
    ("about", "title"),
    [
        ("A  workload\nof two lines", "A workload of two lines"),
        (
            "The shape of something well known: files. Say --set to change it.",
            "The shape of something well known",
        ),
        ("Its shape: of 1.5 large files. Say --set to change it.", "Its shape: of 1.5 large files"),
    ],
)
def test_the_library_says_what_each_is(about: str, title: str) -> None:
    program: dict[str, Any] = {"tasks": ["barrier"]}
    loaded = [Workload(workload=1, name="quick", about=about, program=program)]
    to, whole = console(), console()
    print_library(loaded, [], to)
    assert f"quick     {title}\n" in re.sub(" +\n", "\n", said(to))
    print_library(loaded, [], whole, whole=True)
    assert " ".join(about.split()) in " ".join(said(whole).split())


def test_ids_are_whole_because_people_copy_them() -> None:
    to = console()
    name = "20261122-182256-an-experiment-with-a-long-name-74cf2a1b"
    print_archive([ENTRY | {"id": name}], "store", [], to)
    assert name in said(to)
    assert "09:30" not in said(to)


def test_runs_say_where_they_did_their_io() -> None:
    place = {"directory": "/lustre/project/of-a-group/benchmark/me", "file_system": "lustre"}
    run = ENTRY | place | {"id": "20261122-182256-quick-74cf2a1b"}
    narrow, wide = console(width=80), console(width=160)
    for to in (narrow, wide):
        print_archive([run, ENTRY], "store", [], to)
        assert re.search(r"20261122-182256-quick-74cf2a1b .*lustre", said(to))
    assert place["directory"] in said(wide)
    assert place["directory"] not in said(narrow)
    assert re.search(r"\.\.\.[\w/-]*benchmark/me", said(narrow))
    assert max(len(line) for line in said(narrow).splitlines()) <= 80
