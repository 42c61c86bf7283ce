"""Findings from counters: small amounts are notes, amplification is graded, ranks stay apart."""

from __future__ import annotations

import pytest

from derive.simulated_log import RankLog, trace_of_files
from venturi.derive.workload import derive
from venturi.model.trace import CounterRecord, Layer, Trace, TracedJob, TraceSource
from venturi.model.workload import Finding, Severity

GB = 10**9
GRADES = list(Severity)


def findings(trace: Trace) -> dict[str, Finding]:
    origin = derive(trace, "x").origin
    assert origin is not None
    return {finding.id: finding for finding in origin.findings}


def read_again(size: int, times: int) -> Trace:
    log = RankLog()
    log.open(0.0)
    log.run("read", [(0, size)] * times, 1.0)
    return trace_of_files([("script", {0: log})], 1)


def test_a_small_file_that_is_read_again_is_a_note() -> None:
    assert findings(read_again(279, 3))["redundant-reads"].severity is Severity.NOTE
    assert findings(read_again(2**26, 3))["redundant-reads"].severity is Severity.HIGH


def record(layer: Layer, **counters: int) -> CounterRecord:
    is_part = layer is Layer.HDF5_DATASET
    return CounterRecord(
        layer=layer,
        file="/s/f.h5:field" if is_part else "/s/f.h5",
        identity="12"[is_part],
        within="1" if is_part else "",
        rank=-1,
        counters=counters,
        times={},
    )


def layered(asked: float, mpiio: float, posix_read: float = 0.0) -> Trace:
    """Datasets, MPI-IO and POSIX of one file, written by four ranks; amounts in GB."""
    size, calls = 2**22, 1000
    each = {"SIZE_WRITE_1M_4M": calls, "SIZE_WRITE_AGG_1M_4M": calls}
    wide = int(mpiio * GB)
    records = [
        record(Layer.HDF5_DATASET, WRITES=calls, BYTES_WRITTEN=int(asked * GB), OPENS=4),
        record(Layer.MPIIO, INDEP_WRITES=calls, BYTES_WRITTEN=wide, INDEP_OPENS=4, **each),
        record(
            Layer.POSIX,
            WRITES=calls,
            BYTES_WRITTEN=wide,
            OPENS=4,
            MAX_BYTE_WRITTEN=wide,
            READS=calls if posix_read else 0,
            BYTES_READ=int(posix_read * GB),
            ACCESS1_ACCESS=size,
            ACCESS1_COUNT=calls,
            **each,
        ),
    ]
    return Trace(
        source=TraceSource(format="darshan", file="x.darshan"),
        job=TracedJob(ranks=4, seconds=100.0),
        layers=[Layer.HDF5_DATASET, Layer.MPIIO, Layer.POSIX],
        records=records,
        record_count=3,
    )


def test_a_library_that_moves_twice_as_much_is_found() -> None:
    """MPI-IO moves 257.7 GB for 128.8 GB of datasets."""
    found = findings(layered(128.8, 257.7))
    assert found["amplification"].severity is Severity.HIGH
    assert "2 times" in found["amplification"].evidence
    assert "amplification" not in findings(layered(128.8, 128.8))


@pytest.mark.parametrize(
    ("read", "grade"),
    [(25.9, Severity.LOW), (30.0, Severity.MEDIUM), (1.0, Severity.NOTE), (300.0, Severity.HIGH)],
)
def test_reads_of_a_library_are_graded_and_have_no_cliff(read: float, grade: Severity) -> None:
    """25.9 GB are 9.7 % of what POSIX wrote: just below a threshold of 10 %."""
    assert findings(layered(257.7, 257.7, read))["read-modify-write"].severity is grade


def uneven(slowest: list[int]) -> Trace:
    """A shared file for each entry, of which that rank moved ten times as much as another."""
    files = []
    for number, rank in enumerate(slowest):
        logs = {}
        for own in range(4):
            log = RankLog()
            log.open(0.0)
            log.run("write", [(own * 10**7, 10**7 if own == rank else 10**6)], 1.0)
            logs[own] = log
        files.append((f"dump.{number:04d}", logs))
    trace = trace_of_files(files, 4)
    records = [
        one.model_copy(
            update={
                "counters": one.counters
                | {
                    "SLOWEST_RANK": rank,
                    "SLOWEST_RANK_BYTES": 10**7,
                    "FASTEST_RANK": 0 if rank else 1,
                    "FASTEST_RANK_BYTES": 10**6,
                }
            }
        )
        for one, rank in zip(trace.records, slowest, strict=True)
    ]
    return trace.model_copy(update={"records": records})


def test_ranks_that_take_turns_at_being_the_busiest_are_balanced() -> None:
    assert "imbalance" not in findings(uneven([number % 4 for number in range(320)]))
    assert "imbalance" in findings(uneven([2] * 320))
