"""Fields of `--json` and exit codes that scripts rely on: none may vanish, or change its name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cli.conftest import Cli

EXAMPLES = Path(__file__).parents[2] / "examples"
ANY: dict[str, Any] = {}
TIMES = {"open": ANY, "transfer": ANY, "close": ANY, "total": ANY}
LATENCIES = {name: ANY for name in ("min", "p50", "p90", "p99", "p99_9", "max")}
OPERATION = {
    "bytes": ANY,
    "operations": ANY,
    "errors": ANY,
    "seconds": ANY,
    "latency_ns": LATENCIES,
}
PHASE = {
    "path": ANY,
    "group": ANY,
    "instance": ANY,
    "iteration": ANY,
    "repetition": ANY,
    "bytes": ANY,
    "operations": ANY,
    "errors": ANY,
    "ranks": ANY,
    "seconds": TIMES,
    "bytes_per_second": ANY,
    "by_operation": {"write": OPERATION},
    "stopped_by": ANY,
    "cache": ANY,
    "flushed": ANY,
}
METRIC = {name: ANY for name in ("value", "unit", "median", "low", "high", "n", "labels")}
RECORD = {
    "schema": ANY,
    "id": ANY,
    "name": ANY,
    "verdict": {
        "level": ANY,
        "reasons": [],
        "valid": ANY,
        "suspicions": [],
        "notes": [],
        "use": [{"what": ANY, "allowed": ANY, "rule_set": ANY, "broken": []}],
        "thresholds": [],
    },
    "labels": ANY,
    "run_labels": [],
    "host_samples": [],
    "phases": [PHASE],
    "metrics": {"rate": METRIC},
    "scores": ANY,
    "substituted": [],
    "environment": ANY,
}
PLAN = {
    "schema": ANY,
    "name": ANY,
    "ranks": ANY,
    "totals": {
        "bytes_written": ANY,
        "bytes_read": ANY,
        "files": ANY,
        "operations": ANY,
        "operations_by_kind": {"write": ANY},
    },
    "expect": [{"name": ANY, "expected": ANY, "planned": ANY, "holds": ANY}],
}
DERIVED = {
    "workload": ANY,
    "name": ANY,
    "program": ANY,
    "ior": ANY,
    "findings": [{"id": ANY, "severity": ANY, "what": ANY, "evidence": ANY, "advice": ANY}],
}
WORKLOAD = """
workload: 1
name: small
files: {f: {path: f}}
groups: {g: {ranks: 1}}
program:
  g:
    - for: dump
      in: 2
      do:
        - phase: write
          do:
            - {when: dump == 0, do: [{create: f}]}
            - {write: {to: f, transfer: 4 KiB, count: 2}}
            - {when: dump == 1, do: [{close: f}]}
metrics: {rate: {value: bytes(write) / time(write), unit: B/s}}
expect: {bytes_written: 16 KiB}
"""


def missing(shape: Any, data: Any, where: str = "") -> Iterator[str]:
    """Where a document lacks what a shape has; of a list all elements must have it."""
    if isinstance(shape, list):
        if not isinstance(data, list) or (shape and not data):
            yield f"{where}[]"
        for element in data if shape else ():
            yield from missing(shape[0], element, f"{where}[]")
    for name, below in shape.items() if isinstance(shape, dict) else ():
        if not isinstance(data, dict) or name not in data:
            yield f"{where}.{name}"
        else:
            yield from missing(below, data[name], f"{where}.{name}")


@pytest.fixture
def workload(cli: Cli) -> str:
    path = cli.target.parent / "small.yaml"
    path.write_text(WORKLOAD)
    return str(path)


def test_a_field_that_vanished_is_seen() -> None:
    assert list(missing({"a": [{"b": ANY}]}, {"a": [{"b": 1}, {"c": 1}]})) == [".a[].b"]
    assert list(missing({"a": [ANY]}, {"a": []})) == [".a[]"]


def test_fields_of_a_plan(cli: Cli, workload: str) -> None:
    found = cli.json("plan", workload)
    assert list(missing(PLAN, found)) == []
    assert found["schema"] == "venturi.plan-summary/1"


def test_fields_of_a_record(cli: Cli, workload: str) -> None:
    found = cli.json("run", workload, "-d", str(cli.target), "--repeat", "1")
    assert list(missing(RECORD, found)) == []
    assert found["schema"] == "venturi.record/2"
    assert [row["iteration"] for row in found["phases"]] == [{"dump": 0}, {"dump": 1}]
    assert cli.records() == [found]


def test_fields_of_a_derived_workload(cli: Cli) -> None:
    found = cli.json("derive", str(EXAMPLES / "darshan" / "ior_small_4k" / "ior_small_4k.darshan"))
    assert list(missing(DERIVED, found)) == []
    assert found["ior"].startswith("ior ")


def test_each_exit_code_of_a_run(cli: Cli, workload: str) -> None:
    here = ("-d", str(cli.target), "--repeat", "1")
    assert cli("run", workload, *here).returncode == 0
    assert cli("run", workload, *here, "--set", "nothing=1").returncode == 2
    failing = cli.target.parent / "failing.yaml"
    failing.write_text(WORKLOAD.replace("{create: f}", "{create: f}, {exec: {command: exit 7}}"))
    assert cli("run", str(failing), *here).returncode == 3
    assert cli("run", workload, "-d", f"{cli.target}/none").returncode == 5
    assert [row["verdict"]["level"] for row in cli.records()] == ["INDICATIVE", "INVALID"]


def test_changed_bytes_of_the_store_are_one_document(cli: Cli, workload: str) -> None:
    cli("run", workload, "-d", str(cli.target), "--repeat", "1")
    assert cli.json("results", "verify") == {"runs": 1, "unsealed": 0, "changed": {}}
    (record,) = cli.store.glob("runs/*/record.json")
    record.chmod(0o600)
    record.write_text(record.read_text().replace("small", "large", 1))
    found = cli.json("results", "verify", code=3)
    assert list(found["changed"]) == [record.parent.name]
    assert any("record.json" in fault for fault in found["changed"][record.parent.name])
