"""What a workload reproduces and what it says that it leaves out are all that the source holds."""

from __future__ import annotations

import random
from collections import defaultdict

import pytest
from simulated_log import RankLog, record_of

from venturi.derive.workload import derive
from venturi.model.operation import KIND_CODES, LAYER_CODES, Kind, operations_of
from venturi.model.trace import (
    CounterRecord,
    Gap,
    Layer,
    Process,
    Trace,
    TracedFile,
    TracedJob,
    TraceSource,
)
from venturi.model.trace_folder import Captured
from venturi.model.workload import Observed
from venturi.sources.counter import unread_modules
from venturi.sources.counting import counters_of

CREATE = 0o100 | 0o1000 | 0o2
SMALL_BYTES = 3000

Row = tuple[int, Layer, Kind, str, int, int, int]
"""Rank, layer, kind, path, detail, offset, bytes."""


def captured_of(rows: list[Row], ranks: int, gaps: list[Gap] | None = None) -> Captured:
    """The capture of these calls, one after the other."""
    paths = list(dict.fromkeys(row[3] for row in rows))
    number = {path: place for place, path in enumerate(paths)}
    starts = [1_000_000 + 20_000 * place for place in range(len(rows))]
    operations = operations_of(
        process=[row[0] for row in rows],
        layer=[LAYER_CODES[row[1]] for row in rows],
        kind=[KIND_CODES[row[2]] for row in rows],
        file=[number[row[3]] for row in rows],
        detail=[row[4] for row in rows],
        offset=[row[5] for row in rows],
        bytes=[row[6] for row in rows],
        start_ns=starts,
        end_ns=[start + 5_000 for start in starts],
    )
    trace = Trace(
        source=TraceSource(format="capture", file="run.trace"),
        job=TracedJob(ranks=ranks, seconds=1.0),
        layers=[Layer.POSIX, Layer.MPIIO, Layer.STDIO],
        records=[],
        record_count=0,
        files=[TracedFile(path=path) for path in paths],
        processes=[Process(rank=rank, program="app", process=100 + rank) for rank in range(ranks)],
        operation_count=len(rows),
        gaps=gaps or [],
    )
    return Captured(trace, operations)


def whole_file(rank: int, layer: Layer, path: str, requests: list[int], kind: Kind) -> list[Row]:
    """One file from its opening to its close; what MPI-IO does, POSIX does below it."""
    rows: list[Row] = [(rank, layer, Kind.OPEN, path, CREATE, -1, 0)]
    place = 0
    for size in requests:
        rows.append((rank, layer, kind, path, 0, place, size))
        if layer is Layer.MPIIO:
            rows.append((rank, Layer.POSIX, kind, path, 0, place, size))
        place += size
    rows.append((rank, layer, Kind.CLOSE, path, 0, -1, 0))
    return rows


def mixed_run(chance: random.Random) -> tuple[list[Row], int]:
    """Files of several layers, sizes and purposes, among them such that are none of the run's."""
    ranks = chance.randint(1, 4)
    rows: list[Row] = []
    for group in range(chance.randint(1, 4)):
        layer = chance.choice([Layer.POSIX, Layer.STDIO, Layer.MPIIO])
        size = chance.choice([1, 40, SMALL_BYTES, 4096, 2**16, 2**20])
        kind = chance.choice([Kind.WRITE, Kind.READ])
        for number in range(chance.choice([1, 2, 30, 200])):
            path = f"/scratch/g{group}/f.{number}"
            requests = [size] * chance.choice([0, 1, 1, 3])
            rows += whole_file(number % ranks, layer, path, requests, kind)
    for number in range(chance.randint(0, 30)):
        where = chance.choice(["/usr/lib/x", "/proc/self", "/scratch/env/lib/python3.11/site"])
        rows += whole_file(0, Layer.POSIX, f"{where}/m{number}.py", [500], Kind.READ)
    for number in range(chance.randint(0, 30)):
        rows.append((0, Layer.POSIX, Kind.STAT, f"/scratch/seen{number}", 0, -1, 0))
    return rows, ranks


def is_own(path: str) -> bool:
    return path.startswith("/scratch") and "site" not in path


def totals_of(rows: list[Row], *, own: bool) -> tuple[int, int, int]:
    """Files, calls and bytes in the highest layer of each file."""
    of_file: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        if is_own(row[3]) == own:
            of_file[row[3]].append(row)
    calls = moved = 0
    for mine in of_file.values():
        top = Layer.MPIIO if any(row[1] is Layer.MPIIO for row in mine) else mine[0][1]
        calls += sum(row[1] is top for row in mine)
        moved += sum(row[6] for row in mine if row[1] is top)
    return len(of_file), calls, moved


def sums_of(observed: Observed, *, own: bool) -> tuple[int, int, int]:
    """What is reproduced and said to be left out, of the application or of others."""
    entries = [entry for entry in observed.left_out if entry.is_application == own]
    files = sum(entry.files or 0 for entry in entries)
    calls = sum(entry.operations or 0 for entry in entries)
    moved = sum(entry.bytes or 0 for entry in entries)
    if not own:
        return files, calls, moved
    files += observed.files or 0
    moved += observed.bytes_read + observed.bytes_written
    return files, calls + sum(observed.operations.values()), moved


def is_all(observed: Observed) -> bool:
    shares = (observed.coverage_bytes, observed.coverage_operations, observed.coverage_files)
    return all(share == 1.0 for share in shares)


def observed_in(captured: Captured) -> Observed:
    origin = derive(captured, "run").origin
    assert origin is not None
    assert origin.observed is not None
    return origin.observed


@pytest.mark.parametrize("seed", range(60))
def test_operations_derived_and_left_out_are_all_there_were(seed: int) -> None:
    rows, ranks = mixed_run(random.Random(seed))
    observed = observed_in(captured_of(rows, ranks))
    assert sums_of(observed, own=True) == totals_of(rows, own=True)
    assert sums_of(observed, own=False) == totals_of(rows, own=False)
    own_left = [entry for entry in observed.left_out if entry.is_application]
    assert is_all(observed) == (not own_left)


@pytest.mark.parametrize("seed", range(60))
def test_counters_derived_and_left_out_are_all_there_were(seed: int) -> None:
    rows, ranks = mixed_run(random.Random(seed))
    rows = [row for row in rows if row[2] is not Kind.STAT]
    captured = captured_of(rows, ranks)
    assert captured.operations is not None
    records = counters_of(captured.operations, captured.trace.files, captured.trace.processes)
    trace = captured.trace.model_copy(
        update={"records": records, "files": [], "operation_count": 0}
    )
    observed = observed_in(Captured(trace))
    files, _, moved = totals_of(rows, own=True)
    found_files, _, found_moved = sums_of(observed, own=True)
    assert (found_files, found_moved) == (files, moved)
    assert sums_of(observed, own=False)[::2] == totals_of(rows, own=False)[::2]
    own_left = [entry for entry in observed.left_out if entry.is_application]
    assert is_all(observed) == (not own_left)


def small_files_beside_mpiio() -> list[Row]:
    rows = whole_file(0, Layer.MPIIO, "/scratch/big", [2**20] * 8, Kind.WRITE)
    for number in range(1000):
        path = f"/scratch/part/f.{number}"
        rows += whole_file(number % 2, Layer.POSIX, path, [SMALL_BYTES], Kind.WRITE)
    return rows


def test_small_files_beside_mpiio_stay() -> None:
    observed = observed_in(captured_of(small_files_beside_mpiio(), 2))
    assert observed.files == 1001
    assert observed.bytes_written == 8 * 2**20 + 1000 * SMALL_BYTES
    assert is_all(observed)


def test_small_files_beside_mpiio_stay_in_counters() -> None:
    captured = captured_of(small_files_beside_mpiio(), 2)
    assert captured.operations is not None
    records = counters_of(captured.operations, captured.trace.files, captured.trace.processes)
    observed = observed_in(Captured(captured.trace.model_copy(update={"records": records})))
    assert observed.files == 1001
    assert observed.bytes_written == 8 * 2**20 + 1000 * SMALL_BYTES


def test_empty_files_of_a_program_with_mpi_stay() -> None:
    rows: list[Row] = [(rank, Layer.MPIIO, Kind.BARRIER, "", 0, -1, 0) for rank in range(2)]
    for number in range(200):
        rows += whole_file(number % 2, Layer.POSIX, f"/scratch/t/f.{number}", [], Kind.WRITE)
    captured = captured_of(rows, 2)
    observed = observed_in(captured)
    assert observed.files == 200
    assert is_all(observed)


def test_what_an_mpiio_library_keeps_beside_a_file_is_named() -> None:
    rows = whole_file(0, Layer.MPIIO, "/scratch/big", [2**20] * 8, Kind.WRITE)
    for side in (".big.shfp.17", "big-4711-3.lock", "big.locktest.0", "other/big_cid--3-99.sm"):
        rows += whole_file(0, Layer.POSIX, f"/scratch/{side}", [8], Kind.WRITE)
    rows += whole_file(0, Layer.POSIX, "/scratch/other-4711-3.lock", [8], Kind.WRITE)
    observed = observed_in(captured_of(rows, 1))
    [others] = [entry for entry in observed.left_out if not entry.is_application]
    assert (others.files, others.bytes) == (4, 32)
    assert sums_of(observed, own=True)[0] == 2


def dxt_with_stdio(stdio: int) -> Captured:
    """DXT's requests on one file, and counters also of as many requests of stdio."""
    rows = [
        (0, Layer.POSIX, Kind.WRITE, "/scratch/data", 0, 4096 * place, 4096) for place in range(100)
    ]
    captured = captured_of(rows, 1)
    log = RankLog()
    log.open(0.1)
    log.run("write", [(4096 * place, 4096) for place in range(100)], 0.2)
    counted = record_of(log, "data", 0)
    streamed = CounterRecord(
        layer=Layer.STDIO,
        file="/scratch/log.txt",
        identity="77",
        rank=0,
        counters={"OPENS": 1, "WRITES": stdio, "BYTES_WRITTEN": stdio},
        times={"F_OPEN_START_TIMESTAMP": 0.5},
    )
    source = captured.trace.source.model_copy(update={"format": "darshan"})
    update = {"records": [counted, streamed], "record_count": 2, "source": source}
    return Captured(captured.trace.model_copy(update=update), captured.operations)


@pytest.mark.parametrize("stdio", [1, 10, 200, 30000])
def test_stdio_beside_dxt_is_reproduced_or_said(stdio: int) -> None:
    observed = observed_in(dxt_with_stdio(stdio))
    moved = sums_of(observed, own=True)[2]
    assert moved == 100 * 4096 + stdio
    assert sums_of(observed, own=True)[0] == 2
    own_left = [entry for entry in observed.left_out if entry.is_application]
    assert is_all(observed) == (not own_left)


def test_most_calls_in_counters_only_are_derived_from_counters() -> None:
    assert observed_in(dxt_with_stdio(30000)).operations["write"] == 30100


@pytest.mark.parametrize("module", ["DFS", "DAOS", "SOMETHING_NEW"])
def test_a_module_that_cannot_be_read_makes_the_share_unknown(module: str) -> None:
    rows = whole_file(0, Layer.POSIX, "/scratch/data", [2**20] * 8, Kind.WRITE)
    observed = observed_in(captured_of(rows, 1, gaps=unread_modules(["POSIX", module, "LUSTRE"])))
    assert [entry.what.split(":")[0] for entry in observed.left_out] == [module]
    shares = (observed.coverage_bytes, observed.coverage_operations, observed.coverage_files)
    assert shares == (None, None, None)


@pytest.mark.parametrize(
    "folder",
    [
        "/home/me/env/lib/python3.11",
        "/home/me/env/lib64/python3.12/encodings",
        "/w/.venv/share",
        "/w/conda/lib/python3.13/site-packages/numpy",
        "/w/pkg/__pycache__",
    ],
)
def test_python_modules_and_their_folders_are_not_the_applications(folder: str) -> None:
    rows = whole_file(0, Layer.POSIX, "/scratch/data", [2**20] * 8, Kind.WRITE)
    rows += [(0, Layer.POSIX, Kind.STAT, folder, 0, -1, 0)] * 50
    rows += [(0, Layer.POSIX, Kind.LIST, folder, 0, -1, 40)] * 20
    rows += whole_file(0, Layer.POSIX, f"{folder}/os.py", [9000], Kind.READ)
    observed = observed_in(captured_of(rows, 1))
    assert (observed.files, observed.bytes_read) == (1, 0)
    assert is_all(observed)
