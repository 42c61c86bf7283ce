"""Our own engine, captured in random shapes: what is derived is the shape that was run."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from venturi.capture.proxy import capture_proxy
from venturi.derive.workload import derive
from venturi.derive.yaml_text import to_yaml
from venturi.model.plan import SyncMode
from venturi.model.units import size_text
from venturi.model.workload import DataStep, PatternKind, StepSpec, Workload
from venturi.model.yaml_text import parse_yaml
from venturi.plan.make import make_plan
from venturi.plan.setting import RunSettings

SHAPES = int(os.environ.get("VENTURI_SHAPES", "12"))
"""So many of them here; `VENTURI_SHAPES=30` runs more."""

MOST_LINES = 60

HEAD = """
workload: 1
name: shape
repeat: 1
parameters:
  np: {{default: {ranks}, role: ranks}}
groups:
  all: {{ranks: np}}
files:
  data: {{path: "data{index}", shared: {sharing}}}
program:
  all:
    - for: dump
      in: {dumps}
      do:
        - phase: write
          do:
            - create: data
            - write: {{to: data, {keys}{sync}}}
            - close: data
    - for: dump
      in: {dumps}
      do:
        - phase: read
          do:
            - {{open: data, from: shift {shift}}}
            - {{read: {{from: data, {keys}}}, from: shift {shift}}}
            - {{close: data, from: shift {shift}}}
"""


@dataclass(frozen=True)
class Shape:
    """What is run, drawn from a seed."""

    ranks: int
    form: str
    is_shared: bool
    transfer: int
    per_block: int
    segments: int
    dumps: int
    sync: bool
    shift: int

    @property
    def count(self) -> int:
        return 8 * self.per_block

    @property
    def is_spread(self) -> bool:
        """Whether several ranks share a file."""
        return self.is_shared and self.ranks > 1

    def keys(self) -> str:
        """The keys of the data steps."""
        transfer, count = self.transfer, self.count
        block = transfer * self.per_block
        return {
            "contiguous": f"transfer: {transfer}, size: {transfer * count}",
            "strided": f"pattern: strided, transfer: {transfer}, count: {count}",
            "segmented": f"pattern: segmented, transfer: {transfer}, block: {block}, "
            f"segments: {self.segments}",
            "random": f"pattern: random, transfer: {transfer}, size: {transfer * count}",
            "mix": f"mix: [{{bytes: 512, weight: 3}}, {{bytes: {transfer}, weight: 1}}], "
            f"count: {4 * count}",
            "table": f"table: [[0, 100], [8192, {transfer}], [200, 512]], pattern: table, "
            "at: rank * 1 MiB",
        }[self.form]

    def text(self) -> str:
        """The workload."""
        return HEAD.format(
            ranks=self.ranks,
            index=".{dump}" if self.dumps > 1 else "",
            sharing="all" if self.is_shared else "rank",
            dumps=self.dumps,
            keys=self.keys(),
            sync=", sync: fsync" if self.sync else "",
            shift=self.shift,
        )

    def expected(self) -> dict[str, Any]:
        """Fields that a derived data step must have. Alone in a file there are no segments."""
        transfer = size_text(self.transfer)
        whole = self.transfer * self.count
        if self.form == "mix":
            return {"pattern": PatternKind.CONTIGUOUS, "count": 4 * self.count}
        if self.form == "table":
            rows = [[0, 100], [8192, self.transfer], [200, 512]]
            return {"pattern": PatternKind.TABLE, "table": rows}
        if self.form == "random":
            pattern = PatternKind.RANDOM
            return {"pattern": pattern, "transfer": transfer, "size": size_text(whole)}
        if self.is_spread and self.form == "strided":
            return {"pattern": PatternKind.STRIDED, "transfer": transfer, "count": self.count}
        if self.form == "segmented":
            block = self.transfer * self.per_block
            whole = block * self.segments
            if self.is_spread:
                return {
                    "pattern": PatternKind.SEGMENTED,
                    "transfer": transfer,
                    "block": size_text(block),
                    "segments": self.segments,
                }
        return {"pattern": PatternKind.CONTIGUOUS, "transfer": transfer, "size": size_text(whole)}


def shape_of(seed: int) -> Shape:
    """A random shape; the same for the same seed. Forms take turns so that few seeds have all."""
    chance = random.Random(seed)
    forms = ("contiguous", "strided", "segmented", "random", "mix", "table")
    ranks = chance.choice([1, 2, 2, 3, 4])
    form, is_shared = forms[seed % len(forms)], chance.choice([True, False])
    is_fixed = form == "mix" and is_shared
    return Shape(
        ranks=ranks,
        form=form,
        is_shared=is_shared,
        transfer=chance.choice([1000, 4096, 47008, 65536]),
        per_block=chance.randint(2, 5),
        segments=chance.randint(2, 6),
        dumps=chance.choice([1, 1, 2, 3, 5]),
        sync=chance.choice([True, False]),
        shift=0 if is_fixed else chance.randrange(ranks),
    )


def counts_of(workload: Workload) -> tuple[int, int, int, int, int, int]:
    """Planned bytes and requests both ways, syncs, and files."""
    totals = make_plan(workload, RunSettings()).totals
    return (
        totals.bytes_written,
        totals.operations["write"],
        totals.bytes_read,
        totals.operations["read"],
        totals.operations.get("sync", 0),
        totals.files,
    )


def walked(steps: list[Any], loops: tuple[Any, ...] = ()) -> Iterator[tuple[StepSpec, Any]]:
    """All steps, with the turns of the loops around each."""
    for step in steps:
        if isinstance(step, StepSpec):
            yield step, loops
            yield from walked(list(step.do or []), (*loops, step.in_) if step.for_ else loops)


def captured(shape: Shape, place: Path) -> tuple[Workload, Workload]:
    """The workload that is run under capture, and the one that is derived from it."""
    out = place / "out"
    out.mkdir()
    workload = parse_yaml(shape.text(), "shape.yaml", Workload)
    trace = capture_proxy(workload, shape.text(), out, place / "shape.trace")
    # What chance drew would be kept exactly, in a table; here its rule is looked for.
    return workload, derive(trace, "shape", simplify=shape.form in ("mix", "random"))


@pytest.mark.parametrize("seed", range(SHAPES))
def test_the_derived_shape_is_the_one_that_was_run(seed: int, tmp_path: Path) -> None:
    shape = shape_of(seed)
    run, derived = captured(shape, tmp_path)
    text = f"{shape}\n{to_yaml(derived)}"
    assert counts_of(derived) == counts_of(run), text
    (file,) = derived.files.values()
    assert file.shared == ("all" if shape.is_spread else "rank"), text
    moves = []
    for step, loops in walked(list(next(iter(derived.program.values())))):
        data = step.write or step.read
        if isinstance(data, DataStep):
            moves.append((step, data))
            assert loops == ((shape.dumps,) if shape.dumps > 1 else ()), text
    assert [step.verb for step, _ in moves] == ["write", "read"], text
    for _, data in moves:
        assert {key: getattr(data, key) for key in shape.expected()} == shape.expected(), text
        if shape.form == "mix":
            sizes = {(part.bytes, part.weight) for part in data.mix}
            assert sizes == {("512 B", 3), (size_text(shape.transfer), 1)}, text
    assert moves[0][1].sync is (SyncMode.FSYNC if shape.sync else SyncMode.NONE), text
    if shape.form != "random" or not shape.is_spread:  # there all ranks' places are one region
        wanted = f"shift {shape.shift}" if shape.shift else "self"
        assert moves[1][0].from_ == wanted, text
    assert derived.origin is not None
    bare = derived.model_copy(update={"origin": None})
    assert len(to_yaml(bare).splitlines()) < MOST_LINES, text
