"""MPI programs whose ranks read and write as chance has it: proxies make the same calls."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from command_line import venturi
from venturi.library import load
from venturi.model.document import parse_json
from venturi.model.fidelity_report import FidelityReport, Match
from venturi.model.likeness import Likeness

PROGRAMS = Path(__file__).with_name("mpi_program")
LAUNCHERS = {"openmpi": ("--allow-run-as-root", "--oversubscribe"), "mpich": ()}
TIMED = "time between operations, all ranks"
"""More ranks than there are processors wait for each other longer or not."""


def derived(place: Path, mpi: str, program: str, seed: int, ranks: int) -> Likeness:
    """How like a program its proxy is, `app.yaml` in the folder `place`."""
    source = str(PROGRAMS / f"{program}.c")
    subprocess.run((f"mpicc.{mpi}", "-o", "app", source), cwd=place, check=True)
    (place / "input").write_bytes(bytes(1_000_000))
    launch = (f"mpirun.{mpi}", *LAUNCHERS[mpi], "-n", str(ranks))
    for words in (
        ("capture", "-q", "-o", "app.trace", "--", *launch, "./app", str(seed), "3", "300"),
        ("derive", "app.trace", "-o", "app.yaml"),
    ):
        done = venturi(place, *words)
        assert done.returncode == 0, done.stdout + done.stderr
    workload = load(str(place / "app.yaml"))
    assert workload.tables
    assert workload.origin is not None
    assert workload.origin.likeness is not None
    return workload.origin.likeness


def check_run(place: Path, on: str) -> None:
    """The proxy runs twice, and leaves nothing."""
    (place / "io").mkdir(exist_ok=True)
    ran = venturi(place, "run", "app.yaml", "-d", "io", "--on", on, "--repeat", "2", "-q")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert not list((place / "io").iterdir())


@pytest.mark.parametrize(
    ("mpi", "seed", "ranks"), [("openmpi", 1, 2), ("openmpi", 2, 5), ("mpich", 3, 3)]
)
def test_the_proxy_makes_the_calls_of_each_rank(
    tmp_path: Path, mpi: str, seed: int, ranks: int
) -> None:
    likeness = derived(tmp_path, mpi, "irregular", seed, ranks)
    assert likeness.ranks == ranks
    assert likeness.placed >= 0.99 * likeness.application
    assert likeness.ordered >= 0.95 * likeness.application
    for on in ("local", mpi):
        check_run(tmp_path, on)
    done = venturi(tmp_path, "derive", "app.trace", "--check", "-d", "io", "-o", "again.yaml")
    assert done.returncode == 0, done.stdout + done.stderr
    done = venturi(tmp_path, "compare", "app.trace", "app-proxy.trace", "--json")
    card = parse_json(FidelityReport, done.stdout)
    fields = [field for stream in (card.total, *card.streams) for field in stream.fields]
    assert {field.name for field in fields if field.match is Match.OFF} <= {TIMED}


@pytest.mark.parametrize(("mpi", "seed", "ranks"), [("openmpi", 4, 3), ("mpich", 5, 2)])
def test_what_a_library_does_together_stands_between(
    tmp_path: Path, mpi: str, seed: int, ranks: int
) -> None:
    likeness = derived(tmp_path, mpi, "irregular_file", seed, ranks)
    assert likeness.is_equal
    check_run(tmp_path, mpi)
