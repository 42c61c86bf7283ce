"""The catalogue: programs that Venturi was not built beside, a file each in catalogue/.

A file says what a program does to storage (`about`), what it is written in (`language`), how
it does I/O (`style`, one of STYLES) and for whom (`field`); which packages it needs (`apt`, `pip`);
the command that makes its input in an empty folder (`prepare`, may be missing), and the command
that runs in a folder with a copy of that input (`command`). `{python}` has all the `pip`.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import yaml

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
CATALOGUE = HERE / "catalogue"
VENV = ROOT / "build" / "wild"

STYLES = {
    "posix": 5,
    "stdio": 5,
    "mmap": 2,
    "hdf5": 3,
    "netcdf": 3,
    "mpi-io": 3,
    "sqlite": 3,
    "lmdb": 1,
    "lsm": 2,
    "columns": 3,
    "zarr": 1,
    "archive": 5,
    "threads": 4,
    "processes": 3,
    "pipeline": 3,
    "async": 1,
    "io_uring": 1,
    "direct": 1,
    "append-log": 2,
    "rename-commit": 3,
    "locks": 2,
}
"""How many programs of each there are at least."""

LANGUAGES = ("c", "c++", "fortran", "go", "rust", "java", "python", "r", "d", "perl")
FIELDS = (
    "simulation",
    "analysis",
    "genomics",
    "imaging",
    "databases",
    "learning",
    "builds",
    "backup",
)


@dataclass(frozen=True)
class Entry:
    """A program and what it needs."""

    name: str
    about: str
    language: str
    style: str
    field: str
    command: str
    prepare: str = ""
    apt: tuple[str, ...] = ()
    pip: tuple[str, ...] = ()

    @property
    def case(self) -> dict[str, str]:
        """As the matrix of validation takes it."""
        words = {"name": self.name, "about": self.about, "needs": "true"}
        prepare = f"mkdir .home\n{_filled(self.prepare)}"
        # What a program keeps in a home, or for a while, is new in each run, and in its folder.
        command = f'export HOME="$PWD/.home" TMPDIR="$PWD/.home"\n{_filled(self.command)}'
        return {**words, "prepare": prepare, "command": command}


def _filled(command: str) -> str:
    return command.replace("{python}", str(VENV / "bin" / "python"))


def entries() -> list[Entry]:
    """All of them, in the order of their names. Raises ValueError for one that is not whole."""
    found = []
    for path in sorted(CATALOGUE.glob("*.yaml")):
        data = yaml.safe_load(path.read_text("utf-8"))
        for key in ("apt", "pip"):
            data[key] = tuple(data.get(key) or ())
        entry = Entry(name=path.stem, **data)
        known = ((entry.style, STYLES), (entry.language, LANGUAGES), (entry.field, FIELDS))
        for word, words in known:
            if word not in words:
                raise ValueError(f"{path.name}: '{word}' is none of {', '.join(words)}")
        found.append(entry)
    return found


def install(chosen: list[Entry]) -> dict[str, str]:
    """Install what the entries need; why it failed, by the names of entries."""
    failed: dict[str, str] = {}
    if not (VENV / "bin" / "python").exists():
        subprocess.run([sys.executable, "-m", "venv", str(VENV)], check=True)
    for entry in chosen:
        steps = []
        if wanted := [name for name in entry.apt if not _is_installed(name)]:
            steps.append(["apt-get", "install", "-y", "-q", "--no-install-recommends", *wanted])
        if entry.pip:
            python = str(VENV / "bin" / "python")
            steps.append([python, "-m", "pip", "install", "-q", *entry.pip])
        for step in steps:
            done = subprocess.run(step, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                failed[entry.name] = (done.stderr.strip() or done.stdout.strip()).split("\n")[-1]
    return failed


def _is_installed(package: str) -> bool:
    done = subprocess.run(
        ["dpkg-query", "-W", "-f", "${Status}", package],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout == "install ok installed"
