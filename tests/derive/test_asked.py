"""Names that are asked for again and again: the proxy asks as often, also for what is missing."""

from __future__ import annotations

from dataclasses import replace
from errno import ENOENT

import numpy as np
import pytest
from traced_run import TracedRun, planned

from venturi.derive.operation.asked import LEAST_ASKS
from venturi.derive.operation.workload import derive_operations
from venturi.model.operation import Kind
from venturi.model.trace_folder import Captured


def polled(times: int, *, missing: bool, before: int = 0) -> Captured:
    """A program that looks for a file before each piece that it writes, and lists its folder."""
    run = TracedRun(1)
    run.open(0, "out")
    for _ in range(before):
        run.call(0, Kind.LIST, "d")
    for turn in range(times):
        run.call(0, Kind.STAT, "d/STOP")
        run.move(0, Kind.WRITE, "out", [(turn * 100, 100)])
    run.close(0, "out")
    captured = run.captured()
    assert captured.operations is not None
    stop = run.paths["d/STOP"]
    error = np.where(captured.operations.file == stop, ENOENT if missing else 0, 0)
    return replace(captured, operations=replace(captured.operations, error=error))


@pytest.mark.parametrize("missing", [True, False])
def test_looks_at_a_name_that_nothing_else_is_done_to_are_repeated(missing: bool) -> None:
    found = derive_operations(polled(300, missing=missing), "app")
    operations = planned(found).totals.operations
    assert operations["miss" if missing else "stat"] == 300
    assert ("stat" if missing else "miss") not in operations


@pytest.mark.parametrize(("times", "before"), [(LEAST_ASKS - 1, 0), (300, 1)])
def test_a_few_looks_and_those_of_a_walk_are_left(times: int, before: int) -> None:
    found = derive_operations(polled(times, missing=True, before=before), "app")
    assert planned(found).totals.operations.get("stat", 0) == 0
