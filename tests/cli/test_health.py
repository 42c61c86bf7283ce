"""A session of health from end to end: the page, what is kept, what is left out, the baseline."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import warm_start
from venturi import library
from venturi.cli.health import command as health_command
from venturi.health.keep import keep_session, learn, sessions
from venturi.model.error import UserError
from venturi.model.health import Health, HealthState
from venturi.model.kernel import KERNELS


def venturi(*words: str, where: Path) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "venturi", *words, "--store", str(where / "store")]
    return warm_start.run(line, capture_output=True, text=True, check=False, cwd=where)


def session(where: Path, *words: str) -> Health:
    done = venturi("health", "quick", "--on", "local", "-n", "1", "--json", *words, where=where)
    assert done.returncode == 0, done.stderr
    return Health.model_validate_json(done.stdout, by_alias=True)


def test_session_is_kept_and_compared(tmp_path: Path) -> None:
    first = session(tmp_path, "--skip", "memory", "--skip", "data")
    assert {part.name: part.says for part in first.parts if part.state.value == "NOT RUN"} == {
        "memory": "left out by --skip",
        "data": "left out by --skip",
        "messages": "needs MPI ranks: --on openmpi or --on mpich",
        "tcp": "needs two ranks: -n 2",
    }
    assert {row.metric for row in first.rows} == {
        "core_arithmetic: multiply-add",
        "arithmetic: multiply-add",
        "multiplication: multiply",
        "equations: solve",
        "gradients: iterate",
        "gradients: sum",
    }
    second = session(tmp_path, "--skip", "memory", "--skip", "data")
    assert second.series == first.series
    assert second.drift_since == first.id
    assert not second.drift
    assert [kept.id for kept in sessions(tmp_path / "store", first.series)] == [first.id, second.id]


def test_tcp_on_one_node_is_loopback(tmp_path: Path) -> None:
    parts = ("memory", "compute", "solvers", "data")
    skipped = [word for part in parts for word in ("--skip", part)]
    words = ("health", "quick", "--on", "local", "-n", "3", *skipped, "-o", "page.html")
    done = venturi(*words, where=tmp_path)
    assert done.returncode == 0, done.stderr
    [kept] = (tmp_path / "store" / "health").glob("*.json")
    health = Health.model_validate_json(kept.read_text("utf-8"), by_alias=True)
    figures = ("bandwidth", "slowest pair", "total", "round trip")
    assert [row.metric for row in health.rows] == [f"tcp: loopback {name}" for name in figures]
    page = (tmp_path / "page.html").read_text()
    assert "tcp: loopback round trip between each two ranks" in page
    assert "network bandwidth" not in page


def test_page_is_written(tmp_path: Path) -> None:
    words = ("health", "quick", "--on", "local", "-n", "1", "--skip", "memory", "-o", "page.html")
    done = venturi(*words, where=tmp_path)
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "page.html").read_text()
    assert "What the node is" in page
    assert "arithmetic: every sample" in page
    assert "Kernels of big data" in page
    kernels = [name for name in KERNELS if name.startswith("data_")]
    assert len(kernels) == 8
    for kernel in kernels:
        assert kernel in page
    for rate in ("components: process", "fourier: transform", "product: multiply"):
        assert rate in page
    assert "page.html" in done.stdout


def test_wrong_use_is_one_sentence(tmp_path: Path) -> None:
    done = venturi("health", "quick", "--on", "local", "--skip", "disk", where=tmp_path)
    assert done.returncode == 2
    assert "there is no part 'disk'" in done.stderr
    done = venturi("health", "baseline", where=tmp_path)
    assert done.returncode == 2
    assert "there is no session of health" in done.stderr


def test_changed_setting_is_drift_and_five_sessions_are_a_baseline(tmp_path: Path) -> None:
    store = tmp_path / "store"
    first = session(tmp_path, "--skip", "memory", "--skip", "data")
    path = store / "health" / f"{first.id}.json"
    kept = json.loads(path.read_text())
    kept["noise"] = ""
    for entry in kept["audit"]:
        if entry["key"] == "swappiness":
            entry["value"] = "of another day"
    path.write_text(json.dumps(kept))
    second = session(tmp_path, "--skip", "memory", "--skip", "data")
    assert [(drift.key, drift.before) for drift in second.drift] == [
        ("swappiness", "of another day")
    ]
    quiet = Health.model_validate_json(path.read_text(), by_alias=True)
    with pytest.raises(UserError, match="needs 5 quiet sessions"):
        learn(store, [quiet])
    for index in range(5):
        keep_session(store, quiet.model_copy(update={"id": f"copy{index}"}))
    baseline = json.loads(learn(store, sessions(store, quiet.series)).read_text())
    assert baseline["references"]["arithmetic: multiply-add"]["unit"] == "flop/s"


def test_failed_kernel_has_no_number_and_the_others_are_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The suite with one value that is spoilt before its check."""
    text = library.text_of("health-quick").replace("repeat: 3", "repeat: 2")
    spoilt = text.replace(
        "compute_lu, options: {n: 2000", "compute_lu, options: {damage: true, n: 50"
    )
    assert spoilt != text
    monkeypatch.setattr(library, "text_of", lambda name: spoilt)
    monkeypatch.chdir(tmp_path)
    store, page = tmp_path / "store", tmp_path / "page.html"
    skipped = [word for part in ("memory", "data") for word in ("--skip", part)]
    line = ["quick", "--on", "local", "-n", "2", *skipped, "-q", "-o", str(page)]
    code = health_command.main([*line, "--store", str(store)], "venturi", standalone_mode=False)
    assert code == 3
    [kept] = (store / "health").glob("*.json")
    found = Health.model_validate_json(kept.read_text(), by_alias=True)
    parts = {part.name: part for part in found.parts}
    assert parts["solvers"].state is HealthState.FAILED
    assert "compute_lu FAILED: compute_lu: the scaled residual is" in parts["solvers"].says
    assert parts["compute"].state is not HealthState.FAILED
    names = {row.metric for row in found.rows}
    assert "equations: solve" not in names
    assert {"gradients: iterate", "arithmetic: multiply-add"} <= names
    assert {(one.phase, one.rank) for one in found.ranks} == {
        ("arithmetic", 0),
        ("arithmetic", 1),
        ("multiplication", 0),
        ("multiplication", 1),
    }
    assert "FAILED: compute_lu: the scaled residual is" in page.read_text()
