"""Our own engine, captured in known shapes: what is derived moves the same, and is a plan."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from venturi.derive.workload import derive
from venturi.derive.yaml_text import to_yaml
from venturi.model.trace_folder import read_trace
from venturi.model.workload import Workload
from venturi.model.yaml_text import load_yaml
from venturi.plan.make import make_plan
from venturi.plan.setting import Settings

RANKS = 2
SHAPES = os.environ.get("VENTURI_SHAPES", "6")
"""So many of them here; `VENTURI_SHAPES=30` runs more."""

HEAD = """
workload: 1
name: shape
repeat: 1
parameters:
  np: {{default: {ranks}, role: ranks}}
groups:
  all: {{ranks: np}}
files:
  data: {{path: data, shared: {shared}}}
program:
  all:
    - phase: write
      do:
        - create: data
        - write: {{to: data, {keys}{sync}}}
        - close: data
    - phase: read
      do:
        - {{open: data, from: shift {shift}}}
        - {{read: {{from: data, {keys}}}, from: shift {shift}}}
        - {{close: data, from: shift {shift}}}
"""


def shape_of(number: int) -> str:
    """The text of a random workload; the same for the same number."""
    chance = random.Random(number)
    transfer = chance.choice([1000, 4096, 47008, 65536])
    per_block, segments = chance.randint(2, 5), chance.randint(2, 6)
    count = 8 * per_block
    forms = [
        f"transfer: {transfer}, size: {transfer * count}",
        f"pattern: strided, transfer: {transfer}, count: {count}",
        f"pattern: segmented, transfer: {transfer}, block: {transfer * per_block}, "
        f"segments: {segments}",
        f"pattern: random, transfer: {transfer}, size: {transfer * count}",
        f"mix: [{{bytes: 512, weight: 3}}, {{bytes: {transfer}, weight: 1}}], count: {4 * count}",
        f"table: [[0, 100], [8192, {transfer}], [200, 512]], pattern: table, at: rank * 1 MiB",
    ]
    form = number % len(forms)
    shared = chance.choice(["all", "rank"])
    return HEAD.format(
        ranks=RANKS,
        shared=shared,
        keys=forms[form],
        sync=chance.choice(["", ", sync: fsync"]),
        shift=0 if form == 4 and shared == "all" else chance.choice([0, 1]),
    )


def counts_of(workload: Workload) -> tuple[int, int, int, int, int]:
    """Planned bytes and requests both ways, and files."""
    totals = make_plan(workload, Settings()).totals
    return (
        totals.bytes_written,
        totals.operations["write"],
        totals.bytes_read,
        totals.operations["read"],
        totals.files,
    )


@pytest.mark.parametrize("number", range(int(SHAPES)))
def test_captured_and_derived_shapes_agree(number: int, tmp_path: Path) -> None:
    file, out, folder = tmp_path / "shape.yaml", tmp_path / "out", tmp_path / "shape.trace"
    file.write_text(shape_of(number), "utf-8")
    out.mkdir()
    venturi = [sys.executable, "-c", "from venturi.cli.main import main; main()"]
    run = [*venturi, "run", str(file), "-d", str(out), "--on", "openmpi", "-n", str(RANKS)]
    run += ["--store", str(tmp_path / "store")]
    only = ["--only", f"{out}/*/data*"]
    done = subprocess.run(
        [*venturi, "capture", "-q", "-o", str(folder), *only, "--", *run],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert folder.exists(), done.stderr
    assert "ended with exit code 3" not in done.stderr, done.stdout
    derived = derive(read_trace(folder), "shape")
    assert counts_of(derived) == counts_of(load_yaml(file, Workload)), to_yaml(derived)
