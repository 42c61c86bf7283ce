"""`venturi compare` and the report of a capture, as typed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import warm_start
from analyse.test_run_comparison import metric
from capture_factory import shared_file
from report.record_factory import record
from venturi.model.trace_folder import Captured, write_trace
from venturi.sources.counting import counters_of


def venturi(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """The command as a user types it."""
    command = [sys.executable, "-m", "venturi", *words]
    return warm_start.run(
        command, cwd=cwd, capture_output=True, text=True, timeout=600, check=False
    )


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with a capture, its twin, one with a dump more, and one of counters."""
    write_trace(tmp_path / "app.trace", shared_file().captured())
    write_trace(tmp_path / "twin.trace", shared_file(path="/elsewhere/x").captured())
    write_trace(tmp_path / "more.trace", shared_file(dumps=4).captured())
    captured = shared_file().captured()
    assert captured.operations is not None
    trace = captured.trace.model_copy(update={"operation_count": 0})
    write_trace(tmp_path / "empty.trace", Captured(trace))
    records = counters_of(captured.operations, trace.files, trace.processes)
    trace = trace.model_copy(update={"records": records, "record_count": len(records)})
    write_trace(tmp_path / "counters.trace", Captured(trace))
    (tmp_path / "empty").mkdir()
    for name, ranks, factor in (("run", 4, 1.0), ("slow", 4, 0.5), ("other", 8, 1.0)):
        (tmp_path / name).mkdir()
        rates = {"checkpoint": metric([factor * (100.0 + i) for i in range(6)])}
        text = record(id=name, ranks=ranks, metrics=rates).to_json()
        (tmp_path / name / "record.json").write_text(text, "utf-8")
    return tmp_path


def test_a_twin_is_equal(place: Path) -> None:
    done = venturi("compare", "app.trace", "twin.trace", "--check", cwd=place)
    assert done.returncode == 0, done.stderr
    assert "EQUAL" in done.stdout
    assert "/scratch/dump.# beside /elsewhere/x.#" in done.stdout


def test_a_difference_is_named_and_gates(place: Path) -> None:
    done = venturi("compare", "app.trace", "more.trace", "--check", "-o", "c.json", cwd=place)
    assert done.returncode == 4
    assert "+33 %" in done.stdout
    assert json.loads((place / "c.json").read_text("utf-8"))["match"] == "off"
    done = venturi("compare", "app.trace", "more.trace", "--json", cwd=place)
    assert done.returncode == 0
    assert json.loads(done.stdout)["schema"] == "venturi.fidelity-report/1"


def test_counters_are_compared_with_operations(place: Path) -> None:
    done = venturi("compare", "counters.trace", "twin.trace", "--check", cwd=place)
    assert done.returncode == 0, done.stderr
    assert "EQUAL" in done.stdout
    done = venturi("compare", "counters.trace", "more.trace", "--check", cwd=place)
    assert done.returncode == 4
    done = venturi("report", "counters.trace", cwd=place)
    assert done.returncode == 0, done.stderr
    assert "add up a run" in (place / "report-counters.html").read_text("utf-8")


def test_runs_are_compared(place: Path) -> None:
    done = venturi("compare", "run", "slow", "--check", cwd=place)
    assert done.returncode == 4, done.stderr
    said = "checkpoint is significantly lower in the second run (0.5 times the first)"
    assert said in " ".join(done.stdout.split())
    done = venturi("compare", "slow", "run", "--check", "--json", cwd=place)
    assert done.returncode == 0
    found = json.loads(done.stdout)
    assert (found["schema"], found["rows"][0]["change"]) == ("venturi.run-comparison/2", "higher")


@pytest.mark.parametrize(
    ("words", "say"),
    [
        (("compare", "app.trace", "none.trace"), "none.trace"),
        (("compare", "none.trace", "app.trace"), "none.trace"),
        (("compare", "app.trace", "run"), "'run' is the record of a run"),
        (("compare", "app.trace", "empty"), "empty is a directory without a run or a capture"),
        (("compare", "run", "other"), "the number of ranks is 4 in the first and 8"),
        (("report", "empty.trace", "-o", "x.html"), "no counters"),
        (("report", "app.trace", "more.trace"), "one capture"),
        (("report", "app.trace", "-o", "x.csv"), "csv"),
        (("report", "app.trace", "-o", "none/x.html"), "none/x.html"),
        (("derive", "app.trace", "--check", "-o", "x.yaml"), "-d DIR"),
    ],
)
def test_wrong_use_is_one_clear_error(place: Path, words: tuple[str, ...], say: str) -> None:
    before = sorted(os.listdir(place))
    done = venturi(*words, cwd=place)
    assert done.returncode == 2, done.stderr
    assert say in done.stderr
    assert "Traceback" not in done.stderr
    assert sorted(os.listdir(place)) == before


def test_the_report_of_a_capture(place: Path) -> None:
    done = venturi("report", "app.trace", cwd=place)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "report-app.html"
    assert "What hurts" in (place / "report-app.html").read_text("utf-8")
    done = venturi("report", "app.trace", "--proxy", "twin.trace", "--format", "md", cwd=place)
    assert "The proxy equals the application" in done.stdout


def test_two_programs_are_no_application_and_proxy(place: Path) -> None:
    done = venturi("compare", "app.trace", "twin.trace", cwd=place)
    assert "The second equals the first in all" in done.stdout
    assert "times are shown and not judged" in done.stdout
    assert "proxy" not in done.stdout.lower()
    done = venturi("compare", "app.trace", "counters.trace", cwd=place)
    assert "proxy" not in done.stdout.lower(), done.stdout


def test_a_workload_is_held_against_a_capture_without_a_run(place: Path) -> None:
    done = venturi("derive", "app.trace", "-o", "app.yaml", cwd=place)
    assert done.returncode == 0, done.stderr
    done = venturi("compare", "app.trace", "app.yaml", "--check", cwd=place)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 off" in done.stdout or "equals the application" in done.stdout
    text = (place / "app.yaml").read_text("utf-8")
    (place / "less.yaml").write_text(text.replace("in: 3\n", "in: 2\n"), "utf-8")
    done = venturi("compare", "app.trace", "less.yaml", "--check", cwd=place)
    assert done.returncode == 4, done.stdout
    assert "bytes written" in done.stdout
    (place / "ranks.yaml").write_text(text.replace("np: {default: 4", "np: {default: 5"), "utf-8")
    done = venturi("compare", "app.trace", "ranks.yaml", cwd=place)
    assert done.returncode == 2
    assert "ranks.yaml: 5 ranks, and the application has 4" in done.stderr
    (place / "torn.yaml").write_text("workload: 1\nname: [", "utf-8")
    assert venturi("compare", "app.trace", "torn.yaml", cwd=place).returncode == 2
