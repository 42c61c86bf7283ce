"""Steps whose commands' I/O is logged: by Venturi's tracer, and by Darshan."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

import warm_start
from venturi.model.result import Result

EXAMPLE = Path(__file__).parents[2] / "examples" / "darshan" / "serial_app" / "serial_app.darshan"
STEP = """
campaign: 1
name: logged
space: {product: {count: [4, 16]}}
repeat: 2
steps:
  copy:
    command: |
      dd if=/dev/zero of={dir}/{run} bs=64K count={count} 2>err
      test ! -e {dir}/fails || exit 7
      echo rate: {count}
    metrics: {rate: {regex: "rate: (.*)", unit: MB/s}}
"""


def _run(folder: Path, text: str, *words: str) -> tuple[subprocess.CompletedProcess[str], Any]:
    (folder / "c.yaml").write_text(text)
    (folder / "data").mkdir(exist_ok=True)
    environment = os.environ | {"VENTURI_STORE": str(folder / "store")}
    line = ("campaign", "run", "c.yaml", "-d", "data", "--json", "-q", *words)
    done = warm_start.venturi(*line, folder=folder, environment=environment)
    return done, json.loads(done.stdout) if done.stdout else None


def test_a_captured_command_is_characterized(tmp_path: Path) -> None:
    """Its row, its metrics, its history and its threshold have what it did; its log can be read."""
    limit = (
        '    thresholds: {capture.written: {at_most: 0.5 MiB}}\n    capture: {skip: ["*/err"]}\n'
    )
    done, result = _run(tmp_path, STEP + limit)
    assert done.returncode == 4, done.stderr
    for row, count in zip(result["rows"], (4, 16), strict=True):
        traced = row["traced"]
        assert (traced["by"], traced["bytes_written"]) == ("capture", count * 65536)
        metrics = {metric["name"]: metric for metric in row["metrics"]}
        assert metrics["capture.written"]["values"] == [count * 65536.0] * 2
        assert metrics["capture.io_time"]["better"] == "lower"
        assert [one["outcome"] for one in row["thresholds"]] == ["FAIL" if count > 8 else "PASS"]
        shown = warm_start.venturi(
            "report", f"logged.campaign/{traced['log']}", "--format", "md", folder=tmp_path
        )
        assert shown.returncode == 0, shown.stderr
        assert "dd" in shown.stdout
    stored = sorted((tmp_path / "store" / "runs").glob("*/result.json"))
    kept = [Result.model_validate_json(path.read_text()) for path in stored]
    assert len(kept) == 4
    assert {one.facts["I/O log"] for one in kept} == {"capture"}
    assert all("capture.io_time" in one.metrics for one in kept)
    page = warm_start.venturi("report", "logged.campaign", "--format", "md", folder=tmp_path)
    assert "What runs did to storage" in page.stdout
    assert "tasks/copy-0001/r1/capture.trace" in page.stdout


def test_a_captured_command_ends_as_itself(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "fails").touch()
    done, result = _run(tmp_path, STEP + "    capture: true\n")
    assert done.returncode == 3
    assert result["rows"][0]["states"] == {"failed": 2}
    assert "exit code 7" in result["rows"][0]["reasons"][0]


def test_darshans_logs_are_read(tmp_path: Path) -> None:
    """Where Darshan puts them by date; here the command stands in for its library."""
    made = f'cp {EXAMPLE} "$DARSHAN_LOGPATH/$(date +%Y/%-m/%-d)/0_app_id1.darshan"'
    text = STEP.replace("echo rate", f"{made}; echo $LD_PRELOAD $DARSHAN_ENABLE_NONMPI; echo rate")
    done, result = _run(tmp_path, text + "    darshan: true\n", "--on", str(_machine(tmp_path)))
    assert done.returncode == 0, done.stderr
    traced = result["rows"][0]["traced"]
    assert traced["by"] == "darshan"
    assert traced["bytes_written"] > 0
    assert traced["log"].startswith("tasks/copy-0001/r1/darshan/")
    said = (tmp_path / "logged.campaign" / "tasks" / "copy-0001" / "r1" / "stdout").read_text()
    assert said.startswith("/nowhere/libdarshan.so 1\n")


def _machine(folder: Path) -> Path:
    path = folder / "m.yaml"
    line = "export DARSHAN_LIBRARY=/nowhere/libdarshan.so"
    path.write_text(
        f'schema: venturi.machine/2\nname: site\nsoftware: {{darshan: {{setup: ["{line}"]}}}}\n'
    )
    return path


def test_a_log_that_is_missing_is_said(tmp_path: Path) -> None:
    """It fails no run: what it measured holds."""
    done, result = _run(tmp_path, STEP + "    darshan: true\n", "--on", str(_machine(tmp_path)))
    assert done.returncode == 0, done.stderr
    row = result["rows"][0]
    assert row["untraced"] == "copy-0001/r1: darshan wrote no log"
    assert row["traced"] is None
    page = warm_start.venturi("report", "logged.campaign", "--format", "md", folder=tmp_path)
    assert "No log: copy-0001/r1: darshan wrote no log." in page.stdout


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ("    capture: true\n    darshan: true\n", "choose one"),
        ("    capture: {counter: true}\n", "counter"),
        ("    thresholds: {capture.written: {at_most: 1 MiB}}\n", "there is no such metric"),
    ],
)
def test_what_no_step_can_say(tmp_path: Path, lines: str, why: str) -> None:
    done, _ = _run(tmp_path, STEP + lines)
    assert done.returncode == 2
    assert why in done.stderr
