"""The engine's log of a run beside the stream of operations that Python makes of the plan."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import numpy as np

from venturi.model import plan as p
from venturi.plan.stream import RequestStream

_BY_THE_KERNEL = {"clone": "copy"}
"""Whether blocks are shared is the file system's choice."""


class Row(NamedTuple):
    """One operation as both can tell it; an offset of -1 is none."""

    serial: int
    phase: str
    kind: str
    file: int
    offset: int
    bytes: int


def logged(path: Path, rank: int) -> list[Row]:
    """What the engine logged of a rank, in order."""
    found = np.load(path)
    names, kinds = found["phase_names"], [str(kind) for kind in found["kind_names"]]
    mine = found["rank"] == rank
    columns = [found[name][mine].tolist() for name in ("phase", "kind", "file", "offset", "bytes")]
    return [
        Row(serial, str(names[serial - 1]), _BY_THE_KERNEL.get(kinds[kind], kinds[kind]), *rest)
        for serial, kind, *rest in zip(*columns, strict=True)
    ]


def streamed(plan: p.Plan, rank: int, nodes: int = 1) -> list[Row]:
    """What Python makes of the plan, in order."""
    trees = {index for index, file in enumerate(plan.files) if file.tree is not None}
    rows = []
    for one in RequestStream(plan, rank, nodes=nodes).operations():
        # The engine logs no places in items: each begins at 0.
        is_placed = one.offset is not None and one.file not in trees
        offset = one.offset if is_placed else -1
        size = -1 if one.bytes is None else one.bytes
        rows.append(Row(one.serial, one.phase, one.kind.value, one.file, offset or 0, size))
    return [row for row in rows if row.serial > 0]


def _by_phase(rows: list[Row]) -> Iterator[tuple[str, list[Row]]]:
    for (_, phase), part in groupby(rows, key=lambda row: (row.serial, row.phase)):
        yield phase, list(part)


def assert_same(
    path: Path, plan: p.Plan, rank: int, *, nodes: int = 1, unordered: bool = False
) -> None:
    """Fail where the operations differ: in order, or, with several in flight, as a collection.

    Where the stream leaves an offset to the run (the end of a file that ranks share), or says
    nothing of it, the log's is not looked at.
    """
    ours, theirs = list(_by_phase(streamed(plan, rank, nodes))), list(_by_phase(logged(path, rank)))
    assert [phase for phase, _ in ours] == [phase for phase, _ in theirs], rank
    arrange = sorted if unordered else list
    for (phase, stream), (_, log) in zip(ours, theirs, strict=True):
        assert len(stream) == len(log), (rank, phase)
        pairs = zip(arrange(stream), arrange(log), strict=True)
        for number, (one, other) in enumerate(pairs):
            at = other.offset if one.offset != -1 else -1
            seen = other._replace(offset=at, serial=one.serial)
            assert one == seen, (rank, phase, number)
