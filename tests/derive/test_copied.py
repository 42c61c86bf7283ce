"""Copies within the kernel are copies in the proxy, whichever way the capture's storage had."""

from __future__ import annotations

import random

import numpy as np
import pytest
from traced_run import TracedRun, derived, planned, steps_of

from venturi.analyse.characterization_data import characterization_data_of
from venturi.derive.footprint import with_copies_alike
from venturi.model.operation import KIND_CODES, Kind
from venturi.model.plan import CopyWay
from venturi.model.workload import CopyStep, Workload

MAKE = 0o100 | 0o200 | 0o2


def copy(run: TracedRun, number: int, size: int, *kinds: Kind) -> None:
    """As cp: the last of `kinds` moves the file, the others nothing."""
    source, target = f"from/{number}.dat", f"to/{number}.dat"
    run.open(0, source, 0)
    run.open(0, target, MAKE)
    for kind in kinds[:-1]:
        run.call(0, kind, source, 0, 0, run.paths[target])
    run.call(0, kinds[-1], source, 0, size, run.paths[target])
    if kinds[-1] is not Kind.CLONE:
        run.call(0, kinds[-1], source, size, 0, run.paths[target])
    run.close(0, target)
    run.close(0, source)


def copies(workload: Workload) -> list[CopyStep]:
    return [step.copy_ for step in steps_of(workload) if step.copy_ is not None]


@pytest.mark.parametrize(
    ("kinds", "way"),
    [
        ((Kind.CLONE,), CopyWay.CLONE),
        ((Kind.CLONE, Kind.COPY), CopyWay.CLONE),
        ((Kind.COPY,), CopyWay.RANGE),
        ((Kind.SEND,), CopyWay.SEND),
    ],
)
def test_the_first_way_that_was_tried_is_the_proxy_s(kinds: tuple[Kind, ...], way: CopyWay) -> None:
    run = TracedRun(1)
    for number in range(20):
        copy(run, number, 300_000, *kinds)
    workload = derived(run)
    [found] = copies(workload)
    assert found.by is way
    assert {step.verb for step in steps_of(workload)} <= {"for_", "phase", "copy_"}
    totals = planned(workload).totals
    assert (totals.bytes_written, totals.bytes_read) == (6_000_000, 6_000_000)
    assert totals.operations["copy"] == 20
    assert run.captured().operations is not None
    counted = with_copies_alike(run.captured().operations)
    assert np.count_nonzero(counted.is_kind(Kind.COPY)) == 20


@pytest.mark.parametrize("seed", range(6))
def test_what_is_copied_was_read_of_one_file_and_written_to_the_other(seed: int) -> None:
    """In what the page tells, among reads and writes of other files, whichever way was taken."""
    draw = random.Random(seed)
    run, sizes = TracedRun(1), []
    for number in range(draw.randint(1, 30)):
        sizes.append(draw.randint(1, 10**7))
        ways = draw.sample([Kind.CLONE, Kind.COPY, Kind.SEND], draw.randint(1, 3))
        copy(run, number, sizes[-1], *ways)
        if draw.random() < 0.5:
            run.open(0, "log", MAKE)
            run.call(0, Kind.WRITE, "log", 0, 100)
            run.close(0, "log")
    found = characterization_data_of(run.captured(), "copies")
    logs = 100 * sum(row[1] == KIND_CODES[Kind.WRITE] for row in run.rows)
    assert (found.bytes_read, found.bytes_written) == (sum(sizes), sum(sizes) + logs)
    assert (found.storage_read, found.storage_written) == (sum(sizes), sum(sizes) + logs)
    assert found.seconds_by["write"] < found.seconds_by["read"]


def test_sizes_that_differ_are_those_of_the_files_there_before() -> None:
    run = TracedRun(1)
    sizes = [300_000 if number < 8 else 5_000 for number in range(20)]
    for number, size in enumerate(sizes):
        copy(run, number, size, Kind.COPY)
    workload = derived(run)
    assert len(copies(workload)) == 1
    assert planned(workload).totals.bytes_written == sum(sizes)


def test_a_part_of_a_file_stays_a_read_and_a_write() -> None:
    run = TracedRun(1)
    run.open(0, "whole", 0)
    run.open(0, "part", MAKE)
    run.call(0, Kind.COPY, "whole", 0, 300_000, run.paths["part"])
    run.move(0, Kind.WRITE, "part", [(300_000, 700_000)])
    run.close(0, "part")
    run.close(0, "whole")
    workload = derived(run)
    assert not copies(workload)
    assert planned(workload).totals.bytes_written == 1_000_000
    assert workload.origin is not None
    assert any("said as reads and writes" in text for text in workload.origin.assumed)


def test_files_in_an_order_of_their_own_are_copied_one_by_one() -> None:
    run = TracedRun(1)
    order = [(7 * number) % 20 for number in range(20)]
    for number in range(20):
        run.open(0, f"from/{number}.dat", MAKE)
        run.move(0, Kind.WRITE, f"from/{number}.dat", [(0, 300_000)])
        run.close(0, f"from/{number}.dat")
    for number in order:
        copy(run, number, 300_000, Kind.SEND)
    workload = derived(run)
    [found] = copies(workload)
    assert found.by is CopyWay.SEND
    assert [step.create for step in steps_of(workload) if step.create] == [found.from_]
    totals = planned(workload).totals
    assert (totals.files, totals.operations["copy"]) == (40, 20)
