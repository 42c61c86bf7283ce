"""A run on a partition of a real Slurm: it waits for nodes, says so, and can be ended there."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

from slurm_daemon import SlurmDaemon

WORKLOAD = """
workload: 1
name: shared-file
parameters: {np: {default: 2, role: ranks}}
groups: {all: {ranks: np}}
files: {data: {path: data, shared: all}}
program:
  all:
    - phase: write
      do: [{create: data}, {write: {to: data, transfer: 64 KiB, size: 1 MiB}}, {close: data}]
"""


def start(slurm: SlurmDaemon, folder: Path, *words: str) -> subprocess.Popen[str]:
    """A run on the partition `debug`."""
    (folder / "w.yaml").write_text(WORKLOAD)
    (folder / "target").mkdir(exist_ok=True)
    place = ["-d", str(folder / "target"), "--store", str(folder / "store")]
    return subprocess.Popen(
        [sys.executable, "-m", "venturi", "run", "w.yaml", *place, "--on", "slurm:debug", *words],
        env=slurm.environment,
        cwd=folder,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def test_ranks_of_a_partition(slurm: SlurmDaemon, tmp_path: Path) -> None:
    run = start(slurm, tmp_path, "-n", "2", "--repeat", "2", "--json")
    out, errors = run.communicate(timeout=600)
    assert run.returncode == 0, errors
    record = json.loads(out)
    assert record["ranks"] == 2
    assert [row["bytes"] for row in record["phases"]] == [2 * 2**20] * 2

    waiting = start(slurm, tmp_path, "-n", "2", "-N", "2")
    assert waiting.stderr is not None
    said = waiting.stderr.readline()
    assert "queued and waiting" in said, said + waiting.stderr.read()
    waiting.send_signal(signal.SIGINT)
    waiting.communicate(timeout=600)
    assert waiting.returncode == 130
    assert slurm.asked("squeue", "-h") == ""
    assert list((tmp_path / "target").iterdir()) == []
    assert len(list((tmp_path / "store" / "runs").iterdir())) == 1
