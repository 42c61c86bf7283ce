"""MPI programs whose ranks read and write as chance has it: proxies make the same calls."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from command_line import venturi
from venturi.library import load
from venturi.model.document import parse_json
from venturi.model.fidelity_report import FidelityReport, Match

PROGRAM = Path(__file__).with_name("mpi_program") / "irregular.c"
LAUNCHERS = {"openmpi": ("--allow-run-as-root", "--oversubscribe"), "mpich": ()}
TIMED = "time between operations, all ranks"
"""More ranks than there are processors wait for each other longer or not."""


@pytest.mark.parametrize(
    ("mpi", "seed", "ranks"), [("openmpi", 1, 2), ("openmpi", 2, 5), ("mpich", 3, 3)]
)
def test_the_proxy_makes_the_calls_of_each_rank(
    tmp_path: Path, mpi: str, seed: int, ranks: int
) -> None:
    subprocess.run((f"mpicc.{mpi}", "-o", "app", str(PROGRAM)), cwd=tmp_path, check=True)
    (tmp_path / "input").write_bytes(bytes(1_000_000))
    launch = (f"mpirun.{mpi}", *LAUNCHERS[mpi], "-n", str(ranks))
    program = ("./app", str(seed), "3", "300")
    for words in (
        ("capture", "-q", "-o", "app.trace", "--", *launch, *program),
        ("derive", "app.trace", "-o", "app.yaml"),
    ):
        done = venturi(tmp_path, *words)
        assert done.returncode == 0, done.stdout + done.stderr
    workload = load(str(tmp_path / "app.yaml"))
    assert workload.tables
    assert workload.origin is not None
    likeness = workload.origin.likeness
    assert likeness is not None
    assert likeness.ranks == ranks
    assert likeness.placed >= 0.99 * likeness.application
    assert likeness.ordered >= 0.95 * likeness.application
    (tmp_path / "io").mkdir()
    for on in ("local", mpi):
        ran = venturi(tmp_path, "run", "app.yaml", "-d", "io", "--on", on, "--repeat", "2", "-q")
        assert ran.returncode == 0, ran.stdout + ran.stderr
        assert not list((tmp_path / "io").iterdir())
    done = venturi(tmp_path, "derive", "app.trace", "--check", "-d", "io", "-o", "again.yaml")
    assert done.returncode == 0, done.stdout + done.stderr
    done = venturi(tmp_path, "compare", "app.trace", "app-proxy.trace", "--json")
    card = parse_json(FidelityReport, done.stdout)
    fields = [
        (field.name, field) for stream in (card.total, *card.streams) for field in stream.fields
    ]
    off = {name for name, field in fields if field.match is Match.OFF}
    assert off <= {TIMED}
