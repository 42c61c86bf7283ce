"""Thresholds and labels of a single run, as a user meets them."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from conftest import Cli

SIMULATED = [
    "--set",
    "interface=simulated",
    "--set",
    "interface.latency_s=0.001",
    "--set",
    "interface.bandwidth_bytes_per_s=1e9",
    "--repeat",
    "6",
    "-n",
    "1",
]
"""A rate that is the same in every repetition: 64 requests of 256 KiB."""


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--at-least", "write=100 MB/s"], 0, "PASS"),
        (["--at-least", "write=1 GB/s"], 4, "FAIL"),
        (["--at-most", "read=100 MB/s"], 4, "FAIL"),
        (["--at-least", "write=100 MB/s", "--at-most", "write=1 GB/s"], 0, "PASS"),
    ],
)
def test_a_threshold_decides_on_the_exit_code(
    cli: Cli, words: list[str], code: int, said: str
) -> None:
    done = cli("run", "ior", "-d", str(cli.target), *SIMULATED, *words)
    assert done.returncode == code, done.stdout + done.stderr
    assert f" {said} " in done.stdout
    assert "VALID" in done.stdout
    assert done.stdout.count("(simulated)") >= 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--at-least", "wrote=1 GB/s"], "thresholds.wrote: there is no such metric"),
        (["--at-least", "write"], "this is not METRIC=VALUE"),
        (["--at-most", "write=fast"], "'fast' is no number with a unit"),
        (["--at-least", "write=1 GB/s", "--vary", "transfer=1 MiB"], "belong to a single run"),
        (["--at-least", "write=2 GB/s", "--at-most", "write=1 GB/s"], "no value is at least"),
    ],
)
def test_what_nothing_can_meet_is_refused_before_anything_runs(
    cli: Cli, words: list[str], said: str
) -> None:
    done = cli("run", "ior", "-d", str(cli.target), *words)
    assert done.returncode == 2
    assert said in " ".join(done.stderr.split())
    assert not list(cli.target.iterdir())


def test_tmpfs_is_called_memory_everywhere(cli: Cli) -> None:
    with tempfile.TemporaryDirectory(dir="/dev/shm") as memory:
        record = cli.json("run", "ior", "-d", memory, "-n", "1", "--repeat", "1")
    assert record["environment"]["file_system"]["type"] == "tmpfs"
    assert record["labels"] == {"write": ["in memory"], "read": ["in memory"]}
    assert record["metrics"]["write"]["labels"][0] == "in memory"
    assert {row["flushed"] for row in record["phases"]} == {"none"}
    assert {row["bytes_durable"] for row in record["phases"]} == {0}
    listed = cli("results", "ls").stdout
    assert "(in memory)" in listed
    page = Path(cli.target, "page.md")
    assert cli("report", "@last", "--format", "md", "-o", str(page)).returncode == 0
    assert "write (in memory)" in page.read_text("utf-8")
    assert record["host_samples"], "the host was observed"
