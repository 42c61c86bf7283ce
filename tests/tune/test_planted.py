"""Planted problems, run on this machine: the cause comes first; where there is none, nothing does.

What is wrong takes a time that the storage is made to take: no busy machine can hide it.
"""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

from tune.slow_storage import slowed
from venturi.derive.workload import derive
from venturi.execute.launcher import machine_named
from venturi.model.record import Record
from venturi.model.tuning import Durability, Effect, Tuning
from venturi.model.workload import Workload
from venturi.model.yaml_text import parse_yaml
from venturi.plan.setting import RunSettings
from venturi.sources.open import read_capture
from venturi.tune import bench, search
from venturi.tune.bench import BenchSetup
from venturi.tune.session import TuningRequest, tune

HEAD = "workload: 1\nname: planted\n"
PROGRAM = "program:\n  g:\n    - phase: work\n      do:\n"
PROBLEMS = {
    "small writes, each with a sync": (
        "files: {f: {path: f, shared: rank}}\n",
        "        - create: f\n"
        "        - write: {to: f, transfer: 512, count: 60, sync: fsync}\n"
        "        - close: f\n",
        {"sync", "transfer"},
        "sync",
    ),
    "a storm of stats": (
        "files: {f: {path: f, shared: rank}, g: {path: g, shared: rank}}\n",
        "        - create: f\n        - create: g\n"
        "        - for: i\n          in: 100\n          do: [{stat: f}]\n"
        "        - write: {to: g, size: 64 KiB}\n",
        {"stats"},
        "stat",
    ),
    "too many opens": (
        "files: {f: {path: f, shared: rank, prestage: 256 KiB}}\n",
        "        - for: i\n          in: 100\n          do:\n            - open: f\n"
        "            - read: {from: f, size: 64, at: 64 * i}\n            - close: f\n",
        {"opens"},
        "open",
    ),
    "tiny strided writes to a shared file": (
        "files: {f: {path: f}}\n",
        "        - create: f\n"
        "        - write: {to: f, pattern: strided, transfer: 16, count: 12000}\n"
        "        - close: f\n",
        {"order"},
        "",
    ),
}


@pytest.fixture(autouse=True)
def _short_final(monkeypatch: pytest.MonkeyPatch) -> None:
    """No more final pairs than are needed: the gains are large."""
    monkeypatch.setattr(search, "_MOST_ROUNDS", 4)


def tuned(workload: Workload, where: Path, what_if: str | None = None) -> Tuning:
    """A tuning with a budget that does not end it; nothing may be left of it."""
    target = where / "target"
    target.mkdir()
    place = BenchSetup(
        target, where / "store", machine_named("local"), RunSettings(), ["venturi", "tune"]
    )
    result = tune(TuningRequest(workload, place, 3600, what_if), lambda state: None)
    assert not list(target.iterdir())
    assert not list((where / "store").glob("*/*"))
    return result


def planted(files: str, steps: str) -> Workload:
    ranks = 1 if "shared: rank" in files else 2
    text = f"{HEAD}groups: {{g: {{ranks: {ranks}}}}}\n{files}{PROGRAM}{steps}"
    return parse_yaml(text, "planted.yaml", Workload)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_the_cause_comes_first(problem: str, tmp_path: Path) -> None:
    files, steps, causes, slow = PROBLEMS[problem]
    workload = planted(files, steps)
    result = tuned(slowed(workload, slow) if slow else workload, tmp_path)
    first = result.trials[0]
    assert first.effect is Effect.HELPS, result.headline
    assert first.key in causes
    assert first.gain is not None
    assert first.gain.high < 1
    assert result.headline.startswith(first.name)
    if "sync" in causes:
        assert first.meaning.durability is Durability.WEAKER
        assert "weakens persistence" in result.headline


def test_where_nothing_is_wrong_nothing_helps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Time follows from the bytes alone, and runs differ by less than a gain: none can help."""
    jitter = random.Random(1)

    def seconds(record: Record) -> float:
        return sum(row.bytes for row in record.phases) * 1e-6 * jitter.uniform(0.98, 1.02)

    monkeypatch.setattr(bench, "_io_seconds", seconds)
    monkeypatch.setattr(bench, "repetitions_for", lambda once_s, cost_s: 1)
    steps = "        - create: f\n        - write: {to: f, size: 64 KiB}\n        - close: f\n"
    result = tuned(planted("files: {f: {path: f, shared: rank}}\n", steps), tmp_path)
    assert result.headline.startswith("Nothing ")
    assert not any(trial.effect is Effect.HELPS for trial in result.trials)


def test_a_captured_application_is_tuned_and_its_run_foretold(tmp_path: Path) -> None:
    """What the capture knows of computing tells what a change means for the whole run."""
    program = (
        "import os, time\n"
        "with open('log', 'wb', buffering=0) as f:\n"
        "    for i in range(60):\n"
        "        f.write(bytes(512)); os.fsync(f.fileno())\n"
        "    time.sleep(0.3)\n"
    )
    trace = tmp_path / "app.trace"
    subprocess.run(
        [
            sys.executable,
            "-m",
            "venturi",
            "capture",
            "-q",
            "-o",
            str(trace),
            "--",
            sys.executable,
            "-c",
            program,
        ],
        cwd=tmp_path,
        check=True,
        timeout=600,
    )
    workload = slowed(derive(read_capture(trace), "app"), "sync")
    result = tuned(workload, tmp_path, "sync=end")
    (trial,) = result.trials
    assert trial.effect is Effect.HELPS
    assert result.computing.source == "capture"
    assert result.computing.seconds >= 0.3
    assert trial.whole is not None
    assert trial.whole.after_s >= 0.3
    assert trial.whole.after_s < trial.whole.before_s
