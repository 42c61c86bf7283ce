"""DXT of every version and byte order gives the operations that were made."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from darshan_log import OURS, dxt_text_of, log_of
from outside_data import data_folder
from sources.made_log import MadeLog, Record
from venturi.model.error import UserError
from venturi.model.operation import COLLECTIVE, Kind, Operations
from venturi.model.trace import Layer, Trace
from venturi.sources.counting import counters_of
from venturi.sources.dxt import FULL, TORN, container_of, read_dxt
from venturi.sources.dxt_text import TORN as TEXT_TORN
from venturi.sources.open import read_capture

WITH_DXT = [name for name in OURS if name != "mdtest_empty_dirs"]

TRUTH = {  # from the command lines: ranks, writes, reads, bytes of a request
    "dd": (1, 128, 0, 65536),
    "ior_4rank_shared": (4, 64, 64, 131072),
    "ior_fpp_1m": (2, 32, 32, 1048576),
    "ior_fsync_each": (2, 64, 0, 65536),
    "ior_hard_47008": (2, 200, 200, 47008),
    "ior_random_z": (2, 512, 512, 16384),
    "ior_random_zz_read": (2, 0, 512, 16384),
    "ior_shared_seg": (2, 64, 64, 262144),
    "ior_small_4k": (2, 2048, 2048, 4096),
    "mdtest_3901": (2, 400, 400, 3901),
}

VERSIONS = [
    ("3.10", "<", {"DXT_POSIX": 1, "DXT_MPIIO": 1}),
    ("3.10", ">", {"DXT_POSIX": 1, "DXT_MPIIO": 1}),
    ("3.21", "<", {"DXT_POSIX": 1, "DXT_MPIIO": 2}),
    ("3.41", "<", {"DXT_POSIX": 1, "DXT_MPIIO": 2}),
    ("3.41", "<", {"DXT_POSIX": 2, "DXT_MPIIO": 3}),
    ("3.41", ">", {"DXT_POSIX": 2, "DXT_MPIIO": 3}),
]

FIRST = Record(
    identity=2**63 + 5,
    rank=0,
    writes=[(0, 100, 0.1, 0.2, 77), (100, 50, 0.3, 0.4, 66), (7, 1, 0.5, 0.6, 77)],
    reads=[(0, 10, 0.7, 0.8, 55)],
)
SECOND = Record(identity=9, rank=1, writes=[], reads=[(4096, 1, 0.25, 0.26, 77)], host="node2")
NAMES = {2**63 + 5: "/scratch/a", 9: "/scratch/ä", 11: "heatmap:POSIX"}


def rows(operations: Operations, *names: str) -> list[tuple[int, ...]]:
    return list(zip(*(getattr(operations, name).tolist() for name in names), strict=True))


@pytest.mark.parametrize(("version", "order", "modules"), VERSIONS)
@pytest.mark.parametrize("compression", [0, 1, 2])
def test_made_logs_of_all_versions(
    version: str, order: str, modules: dict[str, int], compression: int
) -> None:
    made = MadeLog(
        version=version,
        order=order,
        compression=compression,
        names=NAMES,
        dxt={name: (number, [FIRST, SECOND]) for name, number in modules.items()},
    )
    content = read_dxt(container_of(made.bytes()))
    assert content is not None
    assert not content.gaps
    assert [file.path for file in content.files] == ["/scratch/a", "/scratch/ä"]
    assert [(p.rank, p.host) for p in content.processes] == [(0, "node1"), (1, "node2")]
    posix = content.operations.take(content.operations.is_layer(Layer.POSIX))
    assert rows(posix, "process", "file", "offset", "bytes", "start_ns", "end_ns") == [
        (0, 0, 0, 100, 100_000_000, 200_000_000),
        (1, 1, 4096, 1, 250_000_000, 260_000_000),
        (0, 0, 100, 50, 300_000_000, 400_000_000),
        (0, 0, 7, 1, 500_000_000, 600_000_000),
        (0, 0, 0, 10, 700_000_000, 800_000_000),
    ]
    assert posix.is_kind(Kind.WRITE).tolist() == [True, False, True, True, False]
    threads = [0, 0, 1, 0, 2] if modules["DXT_POSIX"] > 1 else [0] * 5
    assert posix.thread.tolist() == threads
    mpiio = content.operations.take(content.operations.is_layer(Layer.MPIIO))
    assert len(mpiio) == 5
    if modules["DXT_MPIIO"] == 1:
        assert set(mpiio.offset.tolist()) == {-1}


def test_a_newer_version_is_a_gap_and_no_guess() -> None:
    made = MadeLog(names=NAMES, dxt={"DXT_POSIX": (3, [FIRST])})
    content = read_dxt(container_of(made.bytes()))
    assert content is not None
    assert not len(content.operations)
    assert "version 3" in content.gaps[0].what


def test_a_full_buffer_is_said() -> None:
    made = MadeLog(names=NAMES, dxt={"DXT_POSIX": (2, [FIRST])}, partial=("DXT_POSIX",))
    content = read_dxt(container_of(made.bytes()))
    assert content is not None
    assert [gap.what for gap in content.gaps] == [FULL]


def test_a_torn_log_is_used_as_far_as_it_goes() -> None:
    made = MadeLog(compression=2, names=NAMES, dxt={"DXT_POSIX": (2, [SECOND, FIRST])})
    content = read_dxt(container_of(made.bytes()[:-50]))
    assert content is not None
    assert [gap.what for gap in content.gaps] == [TORN]
    assert len(content.operations) == 3


def test_impossible_segments_are_left_out_and_counted() -> None:
    damaged = Record(7, 0, [(0, -5, 0.1, 0.2, 0), (0, 5, 0.3, 0.1, 0), (0, 5, 0.1, 0.2, 0)], [])
    made = MadeLog(names=NAMES, dxt={"DXT_POSIX": (2, [damaged])})
    content = read_dxt(container_of(made.bytes()))
    assert content is not None
    assert len(content.operations) == 1
    assert content.gaps[0].what.startswith("2 damaged")


@pytest.mark.parametrize("name", TRUTH)
def test_our_logs_hold_what_was_run(name: str) -> None:
    captured = read_capture(log_of(name))
    ranks, writes, reads, size = TRUTH[name]
    operations = captured.operations
    assert operations is not None
    assert captured.trace.operation_count == len(operations)
    assert {p.rank for p in captured.trace.processes} == set(range(ranks))
    assert int(operations.is_kind(Kind.WRITE).sum()) == writes
    assert int(operations.is_kind(Kind.READ).sum()) == reads
    assert set(operations.bytes.tolist()) == {size}


_SAME = ("READS", "WRITES", "BYTES_READ", "BYTES_WRITTEN", "RW_SWITCHES")
_SAME_STARTS = ("SEQ_", "CONSEC_", "SIZE_READ_", "SIZE_WRITE_", "MAX_BYTE_")


def _sums(trace: Trace) -> dict[str, Counter[str]]:
    """Sums (extents: the largest) of counters per POSIX file, over all ranks."""
    sums: dict[str, Counter[str]] = {}
    for record in trace.records:
        if record.layer is Layer.POSIX:
            mine = sums.setdefault(record.file, Counter())
            for name, value in record.counters.items():
                if name.startswith("MAX_BYTE_"):
                    mine[name] = max(mine[name], value)
                elif name in _SAME or name.startswith(_SAME_STARTS):
                    mine[name] += value
    return sums


@pytest.mark.parametrize("name", WITH_DXT)
def test_counters_from_operations_are_darshans_own(name: str) -> None:
    captured = read_capture(log_of(name))
    trace = captured.trace
    assert captured.operations is not None
    records = counters_of(captured.operations, trace.files, trace.processes)
    mine = _sums(trace.model_copy(update={"records": records}))
    theirs = _sums(trace)
    assert mine
    for file, counters in mine.items():
        wrong = {n: (v, theirs[file][n]) for n, v in counters.items() if v != theirs[file][n]}
        assert not wrong, file


def test_strides_and_sizes_are_darshans_own() -> None:
    captured = read_capture(log_of("ior_4rank_shared"))
    trace = captured.trace
    assert captured.operations is not None
    records = counters_of(captured.operations, trace.files, trace.processes)
    assert len(records) == 4
    [theirs] = [r for r in trace.records if r.layer is Layer.POSIX]
    for what in ("ACCESS", "STRIDE"):
        assert {r.counters[f"{what}1_{what}"] for r in records} == {
            theirs.counters[f"{what}1_{what}"]
        }
        counts = sum(r.counters[f"{what}1_COUNT"] for r in records)
        assert counts == theirs.counters[f"{what}1_COUNT"]


@pytest.mark.parametrize("name", WITH_DXT)
def test_text_and_log_give_the_same_operations(name: str) -> None:
    text = read_capture(dxt_text_of(name))
    log = read_capture(log_of(name))
    assert text.operations is not None
    assert log.operations is not None
    assert text.trace.source.format == "darshan-dxt-parser"
    for column in ("kind", "layer", "offset", "bytes"):
        mine = sorted(getattr(text.operations, column).tolist())
        assert mine == sorted(getattr(log.operations, column).tolist())
    assert {f.path for f in text.trace.files} == {f.path for f in log.trace.files}
    assert not text.trace.gaps


@pytest.mark.nightly
@pytest.mark.parametrize(
    "name", ["miniapp", "h5slab", "ior_mpiio_coll", "ior_random_z", "mdtest_3901"]
)
def test_newest_versions_are_read_where_the_library_is_silent(name: str) -> None:
    log = read_capture(data_folder(f"darshan/ours-newest/{name}/{name}.darshan"))
    text = read_capture(data_folder(f"darshan/ours-newest/{name}/dxt.txt"))
    assert log.operations is not None
    assert text.operations is not None
    assert len(log.operations) == len(text.operations) > 0
    assert sorted(log.operations.offset.tolist()) == sorted(text.operations.offset.tolist())
    assert not log.trace.gaps


def test_collective_requests_are_marked_where_counters_prove_it() -> None:
    captured = read_capture(log_of("ior_mpiio_coll"))
    operations = captured.operations
    assert operations is not None
    mpiio = operations.take(operations.is_layer(Layer.MPIIO))
    assert set(mpiio.detail.tolist()) == {COLLECTIVE}
    alone = read_capture(log_of("ior_mpiio_indep")).operations
    assert alone is not None
    assert not alone.detail.any()


def test_heatmaps_hold_the_bytes_that_were_moved() -> None:
    trace = read_capture(log_of("miniapp")).trace
    [posix] = [h for h in trace.heatmaps if h.layer is Layer.POSIX]
    assert [row.rank for row in posix.rows] == [0, 1]
    moved = sum(sum(row.written) for row in posix.rows)
    assert moved == sum(
        r.counters["BYTES_WRITTEN"] for r in trace.records if r.layer is Layer.POSIX
    )
    assert {len(row.read) for row in posix.rows} == {len(posix.rows[0].read)}
    assert len(posix.rows[0].read) * posix.bin_seconds >= trace.job.seconds


def test_a_text_torn_at_its_end_is_used(tmp_path: Path) -> None:
    text = dxt_text_of("dd").read_text()
    path = tmp_path / "torn.txt"
    path.write_text(text[: text.rindex("X_POSIX") + 30])
    captured = read_capture(path)
    assert captured.operations is not None
    assert len(captured.operations) == 127
    assert [gap.what for gap in captured.trace.gaps] == [TEXT_TORN]


def test_a_wrong_line_is_named(tmp_path: Path) -> None:
    lines = dxt_text_of("dd").read_text().splitlines(keepends=True)
    place = next(n for n, line in enumerate(lines) if "X_POSIX" in line)
    lines[place + 3] = lines[place + 3].replace("write", "wrote")
    path = tmp_path / "wrong.txt"
    path.write_text("".join(lines))
    with pytest.raises(UserError, match=r"wrong\.txt.* behind line \d+"):
        read_capture(path)


@pytest.mark.nightly
def test_partial_public_log_is_whole_and_labelled() -> None:
    captured = read_capture(data_folder("darshan/public/partial_data_dxt-partial_data_dxt.darshan"))
    operations = captured.operations
    assert operations is not None
    assert len(operations) == 65_536 + 65_529
    assert np.array_equal(np.unique(operations.bytes), [1])
    assert [gap.what for gap in captured.trace.gaps].count(FULL) == 2


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("log", "count"),
    [
        ("release_logs-mpi-io-test-x86_64-3.1.3", 16),
        ("release_logs-mpi-io-test-ppc64-3.1.3", 16),
        (
            "mpi_io_test_with_dxt-treddy_mpi-io-test_id4373053_6-2-60198-9815401321915095332_1",
            576,
        ),
    ],
)
def test_public_logs_of_old_versions(log: str, count: int) -> None:
    captured = read_capture(data_folder(f"darshan/public/{log}.darshan"))
    assert captured.operations is not None
    assert len(captured.operations) == count
    assert captured.operations.bytes.max() == 16 * 2**20
