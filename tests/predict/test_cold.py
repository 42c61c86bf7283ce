"""Input that is staged for a proxy is read from storage, once, as its application's is."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import warm_start
from venturi.derive.yaml_text import to_yaml
from venturi.model.workload import Workload
from venturi.model.yaml_text import parse_yaml
from venturi.predict.cold import PHASE, with_cold_input

READER = """
workload: 1
name: reader
groups: {tasks: {ranks: 2}}
files:
  input: {path: input, shared: rank, prestage: 1 MiB}
  output: {path: output, shared: rank}
program:
  tasks:
    - phase: write
      do: [{create: output}, {write: {to: output, transfer: 64 KiB, count: 4}}, {close: output}]
    - for: step
      in: 2
      do:
        - phase: read
          do: [{open: input}, {read: {from: input, transfer: 64 KiB, count: 16}}, {close: input}]
"""


COPIER = """
workload: 1
name: copier
groups: {tasks: {ranks: 1}}
files:
  input: {path: "input.{i}", shared: rank, prestage: 1 MiB}
  output: {path: "output.{i}", shared: rank}
  tree: {path: tree, tree: {items: 8, size: 64 KiB}, prestage: 64 KiB}
  twin: {path: twin, tree: {items: 8, size: 64 KiB}}
program:
  tasks:
    - phase: files
      do: [{for: i, in: 3, do: [{copy: {from: input, to: output}}]}]
    - phase: tree
      do: [{copy: {from: tree, to: twin}}]
"""


CHOOSER = """
workload: 1
name: chooser
groups: {tasks: {ranks: 1}}
files:
  input: {path: "input.{i}", shared: rank, prestage: 1 MiB}
  output: {path: "output.{i}", shared: rank}
program:
  tasks:
    - phase: calls
      do:
        - for: i
          in: 4
          do:
            - for: k
              in: 6
              do:
                - choose:
                    by: k
                    of:
                      - open: input
                      - create: output
                      - read: {from: input, size: 1 MiB}
                      - write: {to: output, size: 1 MiB}
                      - close: input
                      - close: output
"""


def test_without_input_nothing_changes() -> None:
    workload = parse_yaml(READER.replace(", prestage: 1 MiB", ""), "reader", Workload)
    assert with_cold_input(workload) is workload


def record_of(text: str, tmp_path: Path) -> dict[str, Any]:
    """What a run of a workload with cold input says."""
    workload = with_cold_input(parse_yaml(text, "cold", Workload))
    (tmp_path / "cold.yaml").write_text(to_yaml(workload), "utf-8")
    words = ("run", "cold.yaml", "-d", ".", "--repeat", "1", "-q", "--json")
    done = warm_start.venturi(
        *words,
        folder=tmp_path,
        environment={**os.environ, "VENTURI_STORE": str(tmp_path / "store")},
    )
    assert done.stdout, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_what_is_copied_is_cold_at_first(tmp_path: Path) -> None:
    record = record_of(COPIER, tmp_path)
    kind = record["environment"]["file_system"]["type"]
    found = {row["path"]: row["cache"] for row in record["phases"] if row["path"] != PHASE}
    said = "warm" if kind == "tmpfs" else "cold"
    assert found == {"files": said, "tree": said}


def test_what_was_staged_is_cold_at_first_and_warm_then(tmp_path: Path) -> None:
    record = record_of(READER, tmp_path)
    rows = {(row["path"], str(row["iteration"])): row for row in record["phases"]}
    reads = [row for (path, _), row in rows.items() if path == "read"]
    assert [row["bytes"] for row in reads] == [2**21, 2**21]
    assert sum(row["operations"] for (path, _), row in rows.items() if path == PHASE) == 0
    kind = record["environment"]["file_system"]["type"]
    assert [row["cache"] for row in reads] == (
        ["warm", "warm"] if kind == "tmpfs" else ["cold", "warm"]
    )


def test_what_a_choice_reads_is_cold_too(tmp_path: Path) -> None:
    record = record_of(CHOOSER, tmp_path)
    rows = {row["path"]: row for row in record["phases"]}
    kind = record["environment"]["file_system"]["type"]
    assert rows["calls"]["cache"] == ("warm" if kind == "tmpfs" else "cold")
    assert rows["calls"]["bytes"] == 8 * 2**20
    assert PHASE not in rows or rows[PHASE]["operations"] == 0
