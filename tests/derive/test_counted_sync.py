"""Syncs that a log only counts stand where the program made them, and take what they took."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from darshan_log import log_of
from venturi.analyse.characterization import characterization_of
from venturi.derive.counted_sync import MOST_EACH, with_counted_syncs
from venturi.derive.workload import derive
from venturi.model.operation import KIND_CODES, LAYER_CODES, Column, Kind, Operations, operations_of
from venturi.model.trace import (
    CounterRecord,
    Layer,
    Process,
    Trace,
    TracedFile,
    TracedJob,
    TraceSource,
)
from venturi.model.trace_folder import Captured
from venturi.plan.make import make_plan
from venturi.plan.setting import RunSettings
from venturi.sources.counting import counters_of
from venturi.sources.darshan_log import read_whole_log

RANKS = 2
WRITE_NS, SYNC_NS, PAUSE_NS = 10_000, 4_000_000, 1_000
SYNCS = (Kind.SYNC, Kind.DATA_SYNC)


def program(behind: list[int], kind: Kind = Kind.SYNC, layer: Layer = Layer.POSIX) -> Operations:
    """Return what two ranks do to a file each: writes of uneven sizes, each with so many syncs."""
    rows = []
    for rank in range(RANKS):
        now, place = 1_000_000 + rank, 0
        for turn, syncs in enumerate(behind):
            size = 1000 + 37 * (turn % 5)
            rows.append((rank, Kind.WRITE, place, size, now, now + WRITE_NS))
            now, place = now + WRITE_NS, place + size
            for _ in range(syncs):
                rows.append((rank, kind, -1, 0, now, now + SYNC_NS))
                now += SYNC_NS
            now += PAUSE_NS
    process, kinds, offset, size_, start, end = zip(*rows, strict=True)
    return operations_of(
        process=process,
        file=process,
        layer=np.full(len(rows), LAYER_CODES[layer]),
        kind=[KIND_CODES[one] for one in kinds],
        offset=offset,
        bytes=size_,
        start_ns=start,
        end_ns=end,
    )


def log_of_program(operations: Operations, is_reduced: bool = False) -> Captured:
    """Return what Darshan keeps of it: counters, and the reads and writes as DXT."""
    if is_reduced:
        operations = replace(operations, file=np.zeros_like(operations.file))
    files = [TracedFile(path=f"/scratch/f{rank}") for rank in range(RANKS)]
    processes = [Process(rank=rank) for rank in range(RANKS)]
    spent_s = {
        (int(file), int(rank)): float((operations.end_ns - operations.start_ns)[mine].sum()) / 1e9
        for file, rank in {*zip(operations.file.tolist(), operations.process.tolist(), strict=True)}
        for mine in [(operations.file == file) & (operations.process == rank)]
    }
    records = [
        record.model_copy(
            update={
                "times": record.times | {"F_WRITE_TIME": spent_s[int(record.identity), record.rank]}
            }
        )
        for record in counters_of(operations, files, processes)
    ]
    if is_reduced:
        records = [reduced(records)]
    kept = operations.take(~operations.is_kind(*SYNCS))
    trace = Trace(
        source=TraceSource(format="darshan", file="made.darshan"),
        job=TracedJob(ranks=RANKS, seconds=float(operations.end_ns.max()) / 1e9),
        layers=[Layer.POSIX],
        records=records,
        record_count=len(records),
        files=files,
        processes=processes,
        operation_count=len(kept),
    )
    return Captured(trace, kept)


def reduced(records: list[CounterRecord]) -> CounterRecord:
    """Return the record of a file that all ranks used, as Darshan reduces it."""
    counters = {
        name: sum(record.counters.get(name, 0) for record in records)
        for name in records[0].counters
    }
    times = {
        name: sum(record.times.get(name, 0.0) for record in records) for name in records[0].times
    }
    return records[0].model_copy(update={"rank": -1, "counters": counters, "times": times})


def calls(operations: Operations) -> list[tuple[int, int, int, int]]:
    """Return rank, kind, start and duration of each call, rank by rank."""
    order = np.lexsort((operations.start_ns, operations.process))
    columns: tuple[Column, ...] = (
        operations.process,
        operations.kind,
        operations.start_ns,
        operations.end_ns - operations.start_ns,
    )
    return list(zip(*(column[order].tolist() for column in columns), strict=True))


@pytest.mark.parametrize("is_reduced", [False, True])
@pytest.mark.parametrize(
    "behind",
    [
        [1] * 20,
        [2] * 20,
        [0] * 19 + [1],
        ([0] * 4 + [1]) * 6,
        ([0] * 4 + [1]) * 6 + [0, 1],
        [1, 0, 0, 1, 0, 1, 1, 0, 0, 0, 0, 1],
    ],
)
def test_syncs_stand_where_they_were(behind: list[int], is_reduced: bool) -> None:
    truth = program(behind)
    found = with_counted_syncs(log_of_program(truth, is_reduced))
    operations = found.captured.operations
    assert operations is not None
    assert found.captured.trace.operation_count == len(truth)
    for (rank, kind, start, lasts), one in zip(calls(operations), calls(truth), strict=True):
        assert (rank, kind) == one[:2]
        assert abs(start - one[2]) <= 2 * PAUSE_NS
        assert abs(lasts - one[3]) <= 2 * PAUSE_NS
    assert len(found.assumed) == 1


def test_fdatasync_and_mpiio_syncs_are_of_their_kind_and_layer() -> None:
    for kind, layer in ((Kind.DATA_SYNC, Layer.POSIX), (Kind.SYNC, Layer.MPIIO)):
        operations = with_counted_syncs(log_of_program(program([1] * 5, kind, layer))).captured
        assert operations.operations is not None
        syncs = operations.operations.take(operations.operations.is_kind(*SYNCS))
        assert len(syncs) == 5 * RANKS
        assert syncs.is_kind(kind).all()
        assert syncs.is_layer(layer).all()


def test_syncs_without_a_place_stay_counted() -> None:
    captured = log_of_program(program([MOST_EACH + 1] * 3))
    assert with_counted_syncs(captured).captured is captured


def test_what_holds_syncs_or_no_counters_is_left_alone() -> None:
    captured = log_of_program(program([1] * 5))
    whole = Captured(captured.trace, program([1] * 5))
    assert with_counted_syncs(whole).captured is whole
    bare = Captured(captured.trace.model_copy(update={"records": []}), captured.operations)
    assert with_counted_syncs(bare).captured is bare


def test_the_proxy_syncs_as_often_and_the_time_is_that_of_the_log() -> None:
    behind = [1, 0, 0, 1, 0, 1, 1, 0, 0, 0, 0, 1] * 4
    captured = log_of_program(program(behind))
    workload = derive(captured, "synced")
    origin = workload.origin
    assert origin is not None
    assert origin.observed is not None
    assert origin.method == "dxt"
    assert origin.observed.operations["sync"] == sum(behind) * RANKS
    spent_s = sum(behind) * SYNC_NS * 1e-9
    assert origin.observed.io_seconds == pytest.approx(spent_s, rel=0.1)
    assert "sync-time" in {finding.id for finding in origin.findings}
    assert any("which the log only counts" in text for text in origin.assumed)
    make_plan(workload, RunSettings())


def test_a_run_that_spends_its_time_in_fsync_is_called_so() -> None:
    activity = characterization_of(read_whole_log(log_of("ior_fsync_each")), "f").activity
    assert activity.operations == {"open": 2, "seek": 64, "write": 64, "sync": 128}
    assert activity.seconds_by["names"] > 0
    assert activity.seconds_by["sync"] > 100 * activity.seconds_by["write"]
    assert activity.io_share > 0.7
