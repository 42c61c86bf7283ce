"""Findings from counters: one kind is told once, and the layer below refutes what it refutes."""

from __future__ import annotations

import random

import pytest

from derive.simulated_log import RankLog, trace_of_files
from venturi.derive.counts import BUCKETS
from venturi.derive.workload import derive
from venturi.model.trace import CounterRecord, Gap, Layer, Trace, TracedJob, TraceSource
from venturi.model.workload import Finding, request_class

MIB = 2**20


def findings(trace: Trace) -> list[Finding]:
    origin = derive(trace, "x").origin
    assert origin is not None
    return origin.findings


@pytest.mark.parametrize("seed", range(6))
def test_one_kind_in_several_groups_of_files_is_one_finding(seed: int) -> None:
    chance = random.Random(seed)
    files = []
    for name in ("field", "mesh", "restart")[: chance.choice((2, 3))]:
        log = RankLog()
        log.open(0.0)
        size = chance.choice((512, 4096, 65536))
        count = chance.randint(1100, 1500)
        log.run("write", [(size * n, size) for n in range(count)], 1.0)
        files.append((name, {0: log}))
    small = [one for one in findings(trace_of_files(files, 1)) if one.id == "small-requests"]
    assert len(small) == 1
    word = "group" if len(files) == 2 else "groups"
    assert f"the same in {len(files) - 1} more {word} of files" in small[0].evidence


def test_what_a_capture_lost_is_told_gap_by_gap() -> None:
    trace = layered(4 * MIB, 4 * MIB, 64 * MIB)
    gaps = [Gap(layer="POSIX", what=f"{count} files are left out") for count in (3, 8)]
    lost = [
        one.evidence
        for one in findings(trace.model_copy(update={"gaps": gaps}))
        if one.id == "partial-capture"
    ]
    assert sorted(lost) == ["3 files are left out", "8 files are left out"]


def sizes(prefix: str, size: int, count: int) -> dict[str, int]:
    return {f"{prefix}{BUCKETS[request_class(size)][0]}": count}


def layered(asked: int, below: int, total: int) -> Trace:
    """Requests of `asked` bytes at MPI-IO that reach POSIX in pieces of `below` bytes."""
    records = [
        CounterRecord(layer=layer, file="/s/f", identity="1", rank=-1, counters=counters, times={})
        for layer, counters in (
            (
                Layer.MPIIO,
                {
                    "INDEP_WRITES": total // asked,
                    "BYTES_WRITTEN": total,
                    "INDEP_OPENS": 4,
                    **sizes("SIZE_WRITE_AGG_", asked, total // asked),
                },
            ),
            (
                Layer.POSIX,
                {
                    "WRITES": total // below,
                    "BYTES_WRITTEN": total,
                    "OPENS": 4,
                    "MAX_BYTE_WRITTEN": total - 1,
                    **sizes("SIZE_WRITE_", below, total // below),
                },
            ),
        )
    ]
    return Trace(
        source=TraceSource(format="darshan", file="x.darshan"),
        job=TracedJob(ranks=4, seconds=100.0),
        layers=[Layer.MPIIO, Layer.POSIX],
        records=records,
        record_count=2,
    )


@pytest.mark.parametrize("seed", range(6))
def test_small_requests_that_a_library_joins_are_none(seed: int) -> None:
    chance = random.Random(seed)
    asked = chance.randint(1, 200) * 1024
    total = asked * chance.randint(1500, 3000) // MIB * MIB
    joined = layered(asked, chance.choice((2, 8, 64)) * MIB, total)
    assert "small-requests" not in {one.id for one in findings(joined)}
    as_asked = layered(asked, asked, total)
    assert "small-requests" in {one.id for one in findings(as_asked)}
