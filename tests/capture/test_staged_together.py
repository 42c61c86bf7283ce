"""What several ranks stage of one file is not what their program does."""

from __future__ import annotations

from pathlib import Path

import pytest

from venturi.capture.proxy import capture_proxy
from venturi.model.operation import Kind
from venturi.model.workload import Workload
from venturi.model.yaml_text import parse_yaml

TEXT = """
workload: 1
name: together
parameters: {np: {default: 3, role: ranks}}
groups: {readers: {ranks: np}}
files:
  samples: {path: samples, prestage: 100 KiB}
program:
  readers:
    - phase: move
      do: STEPS
"""
READS = "[{read: {from: samples, pattern: random, transfer: 4 KiB, size: 100 KiB}}]"
WRITES = "[{write: {to: samples, transfer: 4 KiB, size: 100 KiB}}, {sync: {on: samples}}]"


@pytest.mark.parametrize("steps", [READS, WRITES], ids=["reads", "writes"])
def test_only_the_program_counts(tmp_path: Path, steps: str) -> None:
    text = TEXT.replace("STEPS", steps)
    (tmp_path / "io").mkdir()
    workload = parse_yaml(text, "together", Workload)
    found = capture_proxy(workload, text, tmp_path / "io", tmp_path / "proxy.trace", "local")
    assert found.operations is not None
    moved = {
        kind: int(found.operations.bytes[found.operations.is_kind(kind)].sum())
        for kind in (Kind.READ, Kind.WRITE)
    }
    asked = Kind.READ if steps == READS else Kind.WRITE
    assert moved.pop(asked) == 3 * 100 * 1024
    assert set(moved.values()) == {0}
