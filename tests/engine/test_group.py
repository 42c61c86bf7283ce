"""Groups of groups of processes, under every way to start ranks."""

from __future__ import annotations

import subprocess

import pytest

from engine.running import LAUNCHERS, built


def probe(comm: str, ranks: int, *words: str) -> subprocess.CompletedProcess[str]:
    """Runs the probe, sanitized."""
    engine = comm if comm in LAUNCHERS else "plain"
    program = built("asan", f"group_probe_{engine}")
    start = [*LAUNCHERS[comm], str(ranks)] if comm in LAUNCHERS else []
    forked = ["--forked"] if comm == "forked" else []
    return subprocess.run(
        [*start, str(program), *forked, str(ranks), *words],
        check=False,
        capture_output=True,
        text=True,
        timeout=600,
    )


@pytest.mark.needs("sanitizers")
@pytest.mark.parametrize("ranks", [2, 7])
def test_every_collective_on_parts_of_the_ranks(comm: str, ranks: int) -> None:
    done = probe(comm, 1 if comm == "alone" else ranks)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == ""
    assert "fine" in done.stderr


@pytest.mark.needs("sanitizers")
@pytest.mark.parametrize("comm", ["forked", "openmpi", "mpich"])
def test_a_rank_that_gives_up_ends_the_waits_of_all_groups(comm: str) -> None:
    done = probe(comm, 5, "abort")
    assert done.returncode == 3, done.stdout + done.stderr
    # OpenMPI may end the job before it has passed on what rank 0 printed.
    said = done.stdout.count("the last rank gives up")
    assert said == 1 or (comm == "openmpi" and said == 0)
