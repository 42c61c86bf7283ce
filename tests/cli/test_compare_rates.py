"""`venturi compare --check` on simulated storage: found in the direction that is worse."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.test_compare import venturi


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs of 38 metrics: latencies of 0.1 and 1 ms on a simulated clock."""
    folder = tmp_path_factory.mktemp("rates")
    for latency, repetitions in (("0.0001", "6"), ("0.001", "4")):
        done = venturi(
            "run",
            "tsmp-a",
            "-d",
            ".",
            "--store",
            "store",
            "--repeat",
            repetitions,
            "-q",
            "--set",
            "interface=simulated",
            "--set",
            f"interface.latency_s={latency}",
            *(f"--set={model}_gap=0" for model in ("cosmo", "clm", "parflow")),
            cwd=folder,
        )
        assert done.returncode == 0, done.stderr
    return folder


def test_slower_storage_fails_the_gate_and_faster_does_not(place: Path) -> None:
    slower = venturi(
        "compare", "@last~1", "@last", "--store", "store", "--check", "--json", cwd=place
    )
    assert slower.returncode == 4, slower.stderr
    rows = json.loads(slower.stdout)["rows"]
    assert len(rows) == 38
    changes = {row["name"]: (row["unit"], row["change"], row["is_worse"]) for row in rows}
    rates = {name: found for name, found in changes.items() if found[0] == "B/s"}
    assert len(rates) >= 5
    assert set(rates.values()) == {("B/s", "lower", True)}
    assert changes["T_IO"] == ("s", "higher", True)
    assert changes["written"] == ("B", "equal", False)
    faster = venturi("compare", "@last", "@last~1", "--store", "store", "--check", cwd=place)
    assert faster.returncode == 0, faster.stderr
    assert "significantly higher in the second run" in " ".join(faster.stdout.split()) or (
        "significantly lower in the second run" in " ".join(faster.stdout.split())
    )
    assert "WORSE" not in faster.stdout


def test_a_run_beside_itself_is_equal(place: Path) -> None:
    done = venturi("compare", "@last", "@last", "--store", "store", "--check", cwd=place)
    assert done.returncode == 0, done.stderr
    assert "WORSE" not in done.stdout
    assert "significantly higher" not in done.stdout
