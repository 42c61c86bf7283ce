"""Thresholds and rules in a campaign: exit code 4, PASS and FAIL in JSON, text and JUnit."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import warm_start

COMMAND = """
campaign: 1
name: gated
space: {product: {size: [1, 2]}}
repeat: 2
steps:
  run:
    command: "echo rate: {size}.5"
    metrics: {rate: {regex: "rate: (.*)", unit: MiB/s, better: higher}}
    thresholds: {rate: {%s}}
"""
WORKLOAD = """
workload: 1
name: written
files: {data: {path: data}}
%s
program:
  all:
    - phase: write
      do: [{create: data}, {write: {to: data, size: 64 KiB}}, {sync: {on: data}}, {close: data}]
"""
OF_WORKLOAD = """
campaign: 1
name: gated
repeat: 2
steps:
  run: {workload: written.yaml, ranks: 1%s}
"""


def run(folder: Path, campaign: str, workload: str = "") -> tuple[int, dict[str, Any], str]:
    """Exit code, result and JUnit file of a campaign."""
    (folder / "gated.yaml").write_text(campaign)
    (folder / "written.yaml").write_text(workload)
    (folder / "target").mkdir()
    line = [sys.executable, "-m", "venturi", "campaign", "run", "gated.yaml", "-d", "target"]
    done = warm_start.run(
        [*line, "-q", "--json", "--junit", "junit.xml"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"VENTURI_STORE": str(folder / "store")},
    )
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout), (folder / "junit.xml").read_text("utf-8")


def outcomes(result: dict[str, Any]) -> list[str]:
    """What became of all thresholds, in the order of points."""
    return [one["outcome"] for row in result["rows"] for one in row["thresholds"]]


@pytest.mark.parametrize(
    ("threshold", "code", "said"),
    [
        ("at_least: 1", 0, ["PASS", "PASS"]),
        ("at_least: 2 MiB/s", 4, ["FAIL", "PASS"]),
        ("at_most: 0.002 GiB/s", 4, ["PASS", "FAIL"]),
        ("within: [1.5, 2.5]", 0, ["PASS", "PASS"]),
    ],
)
def test_a_command_s_metric_is_judged(
    tmp_path: Path, threshold: str, code: int, said: list[str]
) -> None:
    exit_code, result, junit = run(tmp_path, COMMAND % threshold)
    assert (exit_code, outcomes(result)) == (code, said)
    suite = ElementTree.fromstring(junit)
    assert suite.get("tests") == str(len(suite)) == "4"
    assert suite.get("failures") == str(said.count("FAIL"))
    assert len(suite.findall("testcase/failure")) == said.count("FAIL")


def test_a_workload_s_own_threshold_is_judged_over_all_repetitions(tmp_path: Path) -> None:
    exit_code, result, junit = run(
        tmp_path, OF_WORKLOAD % "", WORKLOAD % "thresholds: {write: {at_least: 1 EB/s}}"
    )
    assert exit_code == 4
    [row] = result["rows"]
    assert row["states"] == {"done": 2}, "a missed threshold is a measurement, no failure"
    [gate] = row["thresholds"]
    assert (gate["outcome"], gate["n"]) == ("FAIL", 2)
    assert 'failures="1"' in junit


def test_a_step_s_threshold_stands_in_place_of_its_workload_s(tmp_path: Path) -> None:
    exit_code, result, _ = run(
        tmp_path,
        OF_WORKLOAD % ", thresholds: {write: {at_least: 1 B/s}}",
        WORKLOAD % "thresholds: {write: {at_least: 1 EB/s}}",
    )
    assert exit_code == 0
    assert outcomes(result)[0] in ("PASS", "UNDECIDED"), "undecided where the host is busy"


def test_a_broken_rule_is_no_success(tmp_path: Path) -> None:
    rule = 'rules: {enough: {holds: bytes(write) > 1e12, says: "{bytes(write)} bytes are few"}}'
    exit_code, result, junit = run(tmp_path, OF_WORKLOAD % "", WORKLOAD % rule)
    assert exit_code == 4
    assert result["rows"][0]["broken_rules"] == ["6.554e+04 bytes are few"]
    assert "6.554e+04 bytes are few" in junit


def test_a_rule_that_is_kept_is_a_success(tmp_path: Path) -> None:
    rule = 'rules: {enough: {holds: bytes(write) > 1, says: "few"}}'
    exit_code, result, _ = run(tmp_path, OF_WORKLOAD % "", WORKLOAD % rule)
    assert exit_code == 0
    assert result["rows"][0]["broken_rules"] == []
