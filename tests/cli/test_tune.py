"""`venturi tune` as its user would: the ranking, its page, ends before the end, wrong use."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from cli.conftest import Cli, wait_for

SYNCED = """
workload: 1
name: synced
parameters: {np: {default: 2, role: ranks}}
groups: {g: {ranks: np}}
files:
  log:
    path: log
    shared: rank
    faults: [{kind: delay, operation: sync, every: 1, seconds: 0.01}]
program:
  g:
    - compute: 20 ms
    - phase: write
      do:
        - create: log
        - write: {to: log, transfer: 512, count: 15, sync: fsync}
        - close: log
"""


@pytest.fixture
def synced(tmp_path: Path) -> Path:
    path = tmp_path / "synced.yaml"
    path.write_text(SYNCED)
    return path


def assert_nothing_left(cli: Cli) -> None:
    assert not list(cli.target.iterdir())
    assert not list(cli.store.glob("*/*"))


def test_one_change_is_measured_and_drawn(cli: Cli, synced: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out.tune"
    words = ["tune", str(synced), "-d", str(cli.target), "-o", str(folder), "-q"]
    tuning = cli.json(*words, "--what-if", "sync=end", "--budget", "20s")
    assert tuning["schema"] == "venturi.tuning/2"
    (trial,) = tuning["trials"]
    assert (trial["key"], trial["value"], trial["stage"]) == ("sync", "end", "final")
    assert trial["gain"]["ratio"] < 1
    assert trial["meaning"]["durability"] == "weaker"
    assert len(trial["pairs"]) == trial["gain"]["pairs"] >= 2
    assert tuning["computing"] == {"seconds": 0.02, "source": "workload"}
    assert trial["whole"]["after_s"] > 0.02
    assert_nothing_left(cli)
    assert json.loads((folder / "tuning.json").read_text()) == tuning
    assert cli("plan", str(folder / "sync=end.yaml")).returncode == 0
    page = tmp_path / "page.html"
    assert cli("report", str(folder), "-o", str(page)).returncode == 0
    text = page.read_text()
    assert "Call fsync() once" in text
    assert "persists less" in text
    assert "<svg" in text
    assert "sync=end" in cli("report", str(folder), "--format", "md").stdout
    assert cli("report", str(folder), "--format", "csv").returncode == 2


def test_ctrl_c_prints_the_ranking_so_far(cli: Cli, synced: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out.tune"
    words = ["tune", str(synced), "-d", str(cli.target), "-o", str(folder), "--budget", "1h"]
    running = cli.start(*words)
    seen: set[str] = set()

    def several() -> bool:
        seen.update(path.name for path in cli.store.glob("running/*"))
        return len(seen) >= 5

    wait_for(several)
    running.send_signal(signal.SIGINT)
    out, _ = running.communicate(timeout=600)
    assert running.returncode == 130
    assert "looked at" in out
    (line,) = [line for line in out.splitlines() if line.startswith(" report  ")]
    assert Path(line.removeprefix(" report  venturi report ")).resolve() == folder
    tuning = json.loads((folder / "tuning.json").read_text())
    assert tuning["interrupted"]
    assert any(trial["pairs"] for trial in tuning["trials"])
    assert_nothing_left(cli)


def test_what_was_killed_is_removed_later(cli: Cli, synced: Path, tmp_path: Path) -> None:
    words = ["tune", str(synced), "-d", str(cli.target), "-o", str(tmp_path / "o"), "-q"]
    running = cli.start(*words)
    wait_for(lambda: list(cli.target.glob("*/log*")))
    running.kill()
    running.communicate(timeout=600)

    def gone() -> bool:
        cli("results", "ls")
        return not list(cli.target.iterdir())

    wait_for(gone)


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["{file}", "-d", "{dir}/none"], 5, "no such directory"),
        (["nothing", "-d", "{dir}"], 2, "there is no workload 'nothing'"),
        (["{file}", "-d", "{dir}", "--budget", "fast"], 2, "a time from 1s"),
        (["{file}", "-d", "{dir}", "--what-if", "speed=11"], 2, "no such change"),
        (["{file}", "-d", "{dir}", "--what-if", "stats=once"], 2, "looked at more than once"),
        (["{file}", "-d", "{dir}", "-o", "{dir}"], 2, "exists already"),
        (["{file}", "-d", "{dir}", "--set", "nothing=1"], 2, "no such parameter"),
        (["{dir}", "-d", "{dir}"], 2, "without a capture"),
    ],
)
def test_wrong_use_is_refused(
    cli: Cli, synced: Path, words: list[str], code: int, message: str
) -> None:
    filled = [word.format(file=synced, dir=cli.target) for word in words]
    done = cli("tune", *filled)
    assert done.returncode == code, done.stderr
    assert message in done.stderr
    assert done.stderr.startswith("venturi: ")
    assert len(done.stderr.strip().splitlines()) <= 2
    assert not list(cli.target.iterdir())
    assert not list(Path.cwd().glob("synced*.tune"))
