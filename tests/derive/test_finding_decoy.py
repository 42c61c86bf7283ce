"""Programs that look like a problem and are none: no finding is raised for them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from capture_factory import (
    ENOENT,
    MIB,
    O_APPEND,
    O_CREAT,
    O_TRUNC,
    O_WRONLY,
    CaptureFactory,
)
from venturi.derive.finding import operation_findings
from venturi.model.operation import Kind
from venturi.model.trace import Layer
from venturi.model.workload import Severity

Decoy = Callable[[CaptureFactory], None]


def one_open_of_each_of_many_files(made: CaptureFactory) -> None:
    for i in range(300):
        made.whole(0, Kind.READ, f"/s/part{i}", 4 * MIB, 1, s=0.02)


def all_ranks_open_one_file_once(made: CaptureFactory) -> None:
    for rank in range(made.ranks):
        made.whole(rank, Kind.READ, "/s/in", 4 * MIB, 20, first=rank * 80 * MIB, s=0.02)


def small_appends_without_sync(made: CaptureFactory) -> None:
    made.call(0, Kind.OPEN, "/s/log", detail=O_WRONLY | O_CREAT | O_APPEND)
    made.run(0, Kind.WRITE, "/s/log", 80, 500, s=2e-6)
    made.run(0, Kind.WRITE, "/s/out", 4 * MIB, 100, s=0.02)
    made.call(0, Kind.SYNC, "/s/log", s=0.01)


def one_sync_of_each_large_checkpoint(made: CaptureFactory) -> None:
    for i in range(12):
        made.call(0, Kind.OPEN, f"/s/chk{i}", detail=O_WRONLY | O_CREAT)
        made.run(0, Kind.WRITE, f"/s/chk{i}", 64 * MIB, 4, s=0.3)
        made.call(0, Kind.SYNC, f"/s/chk{i}", s=0.01)
        made.call(0, Kind.CLOSE, f"/s/chk{i}")


def imports_of_few_modules(made: CaptureFactory) -> None:
    for rank in range(made.ranks):
        for i in range(20):
            name = f"/home/u/venv/lib/python3.11/site-packages/m{i}/__init__.py"
            made.call(rank, Kind.STAT, name, s=1e-5)
            made.call(rank, Kind.OPEN, name, s=1e-5)
            made.call(rank, Kind.CLOSE, name, s=1e-5)
        made.run(rank, Kind.WRITE, f"/s/out{rank}", 4 * MIB, 50, s=0.05)


def few_failed_lookups(made: CaptureFactory) -> None:
    for i in range(12):
        made.call(0, Kind.OPEN, f"/home/u/config{i}", error=ENOENT, s=1e-5)
    made.run(0, Kind.READ, "/s/in", 4 * MIB, 100, s=0.02)


def a_header_before_each_large_block(made: CaptureFactory) -> None:
    for i in range(200):
        made.call(0, Kind.WRITE, "/s/f", 4096, i * (8 * MIB + 4096), s=2e-6)
        made.call(0, Kind.WRITE, "/s/f", 8 * MIB, i * (8 * MIB + 4096) + 4096, s=0.02)


def a_few_lines_through_a_stream(made: CaptureFactory) -> None:
    made.run(0, Kind.WRITE, "/s/run.log", 80, 300, s=1e-6, layer=Layer.STDIO)
    made.run(0, Kind.WRITE, "/s/out", 4 * MIB, 100, s=0.02)


def two_files_read_in_turns(made: CaptureFactory) -> None:
    for i in range(100):
        for name in ("/s/a", "/s/b"):
            made.call(0, Kind.READ, name, 2 * MIB, i * 2 * MIB, s=0.01)


def a_copy_from_file_to_file(made: CaptureFactory) -> None:
    for i in range(100):
        made.call(0, Kind.READ, "/s/from", 4 * MIB, i * 4 * MIB, s=0.01)
        made.call(0, Kind.WRITE, "/s/to", 4 * MIB, i * 4 * MIB, s=0.01)


def an_old_file_is_begun_anew(made: CaptureFactory) -> None:
    made.call(0, Kind.OPEN, "/s/f", detail=O_WRONLY | O_CREAT | O_TRUNC)
    made.run(0, Kind.WRITE, "/s/f", 4 * MIB, 100, s=0.02)


def what_was_allocated_too_much_is_cut(made: CaptureFactory) -> None:
    made.call(0, Kind.OPEN, "/s/f", detail=O_WRONLY | O_CREAT)
    made.call(0, Kind.TRUNCATE, "/s/f", offset=1000 * MIB)
    made.run(0, Kind.WRITE, "/s/f", 4 * MIB, 100, s=0.02)
    made.call(0, Kind.TRUNCATE, "/s/f", offset=400 * MIB)


def an_input_is_read_and_removed(made: CaptureFactory) -> None:
    made.whole(0, Kind.READ, "/s/spooled", 4 * MIB, 100, s=0.02)
    made.call(0, Kind.UNLINK, "/s/spooled")


def one_look_at_each_file(made: CaptureFactory) -> None:
    for i in range(200):
        made.call(0, Kind.STAT, f"/s/part{i}", s=1e-5)
        made.whole(0, Kind.READ, f"/s/part{i}", 4 * MIB, 2, s=0.02)


def few_tiny_files(made: CaptureFactory) -> None:
    for i in range(10):
        made.whole(0, Kind.READ, f"/s/setting{i}", 2000, 1, s=1e-5)
    made.run(0, Kind.READ, "/s/in", 4 * MIB, 100, s=0.02)


def a_file_for_each_of_few_ranks(made: CaptureFactory) -> None:
    for rank in range(made.ranks):
        made.whole(rank, Kind.WRITE, f"/s/f{rank}", 4 * MIB, 50, s=0.02)


def one_rank_has_five_per_cent_more(made: CaptureFactory) -> None:
    for rank in range(made.ranks):
        made.run(rank, Kind.WRITE, f"/s/f{rank}", 4 * MIB, 42 if rank == 0 else 40, s=0.02)


def one_call_of_one_rank_is_slow(made: CaptureFactory) -> None:
    for rank in range(made.ranks):
        made.run(rank, Kind.WRITE, f"/s/f{rank}", 4 * MIB, 100, s=0.05)
    made.call(2, Kind.WRITE, "/s/f2", 4 * MIB, 400 * MIB, s=0.15)


def a_larger_file_takes_longer(made: CaptureFactory) -> None:
    for i in range(8):
        made.run(0, Kind.WRITE, f"/s/part{i}", 4 * MIB, 40 if i == 5 else 10, s=0.05)


def one_rank_reads_a_short_input(made: CaptureFactory) -> None:
    made.run(0, Kind.READ, "/s/input", 4096, 1, s=0.001)
    made.pause(0.001)
    for rank in range(made.ranks):
        made.run(rank, Kind.WRITE, f"/s/f{rank}", 4 * MIB, 50, s=0.05)


def large_blocks_of_all_ranks_in_turns(made: CaptureFactory) -> None:
    for rank in range(made.ranks):
        first, stride = rank * 8 * MIB, made.ranks * 8 * MIB
        made.run(rank, Kind.WRITE, "/s/f", 8 * MIB, 50, first=first, stride=stride, s=0.02)


def each_rank_appends_to_its_own_log(made: CaptureFactory) -> None:
    for rank in range(made.ranks):
        made.call(rank, Kind.OPEN, f"/s/log{rank}", detail=O_WRONLY | O_CREAT | O_APPEND)
        made.run(rank, Kind.WRITE, f"/s/log{rank}", 4 * MIB, 50, s=0.02)


def all_ranks_read_a_short_table(made: CaptureFactory) -> None:
    for rank in range(made.ranks):
        made.run(rank, Kind.READ, "/s/table", 4096, 4, s=1e-5)
        made.run(rank, Kind.WRITE, f"/s/f{rank}", 4 * MIB, 50, s=0.02)


def one_seek_before_each_read(made: CaptureFactory) -> None:
    for i in range(200):
        made.call(0, Kind.SEEK, "/s/f", offset=i * 8 * MIB, s=1e-6)
        made.call(0, Kind.READ, "/s/f", 4 * MIB, i * 8 * MIB, s=0.02)


def one_file_is_read_while_another_is_written(made: CaptureFactory) -> None:
    for rank in range(made.ranks):
        layer = Layer.MPIIO
        first = rank * 200 * MIB
        made.run(rank, Kind.WRITE, "/s/f", 4 * MIB, 50, first=first, layer=layer, detail=1, s=0.02)
        made.run(rank, Kind.WRITE, "/s/f", 4 * MIB, 50, first=first, s=0.02)
        made.run(rank, Kind.READ, f"/s/in{rank}", 4 * MIB, 20, s=0.02)


def whole_chunks_are_read(made: CaptureFactory) -> None:
    made.file("/s/f.h5")
    made.file("field", within=0, shape=[1280, 8192], element_bytes=8, chunk=[128, 8192])
    made.run(0, Kind.READ, "field", 8 * MIB, 10, layer=Layer.HDF5_DATASET, s=0.05)
    made.run(0, Kind.READ, "/s/f.h5", 8 * MIB, 10, s=0.04)


def a_header_is_looked_at_before_the_rest(made: CaptureFactory) -> None:
    for i in range(60):
        made.call(0, Kind.OPEN, f"/s/part{i}")
        made.call(0, Kind.READ, f"/s/part{i}", 4096, 0, s=0.01)
        made.call(0, Kind.READ, f"/s/part{i}", 400_000, 128, s=0.01)
        made.call(0, Kind.CLOSE, f"/s/part{i}")


def streams_are_made_of_open_descriptors(made: CaptureFactory) -> None:
    for i in range(60):
        for kind, flags in ((Kind.WRITE, O_WRONLY | O_CREAT | O_TRUNC), (Kind.READ, 0)):
            made.call(0, Kind.OPEN, f"/s/part{i}", detail=flags, s=0.01)
            made.call(0, Kind.OPEN, f"/s/part{i}", detail=flags, s=0.01, layer=Layer.STDIO)
            made.call(0, kind, f"/s/part{i}", 400_000, 128, s=0.01, layer=Layer.STDIO)
            made.call(0, Kind.CLOSE, f"/s/part{i}", layer=Layer.STDIO)
            made.call(0, Kind.CLOSE, f"/s/part{i}")


def one_request_of_one_file_waits(made: CaptureFactory) -> None:
    for i in range(60):
        made.call(0, Kind.OPEN, f"/s/part{i}")
        for place in range(4):
            s = 0.5 if (i, place) == (20, 2) else 1e-3
            made.call(0, Kind.READ, f"/s/part{i}", MIB, place * MIB, s=s)
        made.call(0, Kind.CLOSE, f"/s/part{i}")


def small_files_are_read_again_and_again(made: CaptureFactory) -> None:
    for turn in range(160):
        name = f"/s/conf{turn % 8}"
        made.call(0, Kind.OPEN, name, s=1e-3)
        made.call(0, Kind.READ, name, 300, 0, s=1e-3)
        made.call(0, Kind.READ, name, 0, 300, s=1e-4)
        made.call(0, Kind.CLOSE, name)


def datasets(made: CaptureFactory) -> list[str]:
    """Three of them in one file."""
    holder = made.file("/s/f.h5")
    names = ["u", "v", "w"]
    for name in names:
        made.file(name, within=holder, shape=[100, 8192], element_bytes=8)
    return names


def variables_are_written_step_by_step(made: CaptureFactory) -> None:
    names = datasets(made)
    for step in range(100):
        for name in names:
            made.call(0, Kind.WRITE, name, 65536, step * 65536, layer=Layer.HDF5_DATASET)


def columns_are_read_one_after_the_other(made: CaptureFactory) -> None:
    for name in datasets(made):
        for column in range(4):
            place, size = column * 65536 // 4, 100 * 65536 // 4
            made.call(0, Kind.READ, name, size, place, layer=Layer.HDF5_DATASET, s=0.5)


def an_old_output_is_removed_first(made: CaptureFactory) -> None:
    made.call(0, Kind.UNLINK, "/s/old")
    made.call(0, Kind.UNLINK, "/s/new", error=ENOENT)
    for name in ("/s/old", "/s/new"):
        made.whole(0, Kind.WRITE, name, 4 * MIB, 20, s=0.02)


def a_queue_is_read_and_emptied(made: CaptureFactory) -> None:
    for _ in range(50):
        made.call(0, Kind.WRITE, "/s/queue", MIB, 0, s=0.02)
        made.call(0, Kind.READ, "/s/queue", MIB, 0, s=0.02)
        made.call(0, Kind.TRUNCATE, "/s/queue", offset=0)


def a_state_is_replaced_each_time(made: CaptureFactory) -> None:
    for _ in range(20):
        made.call(0, Kind.OPEN, "/s/state.new", detail=O_WRONLY | O_CREAT | O_TRUNC)
        made.run(0, Kind.WRITE, "/s/state.new", MIB, 4, s=0.02)
        made.call(0, Kind.RENAME, "/s/state.new", detail=made.file("/s/state"))
        made.run(0, Kind.READ, "/s/state", MIB, 4, s=0.02)


def a_log_is_opened_for_each_line(made: CaptureFactory) -> None:
    """Each stream counts its places from its own beginning."""
    for line in range(60):
        made.call(0, Kind.OPEN, "/s/log", detail=O_WRONLY | O_CREAT | O_APPEND)
        made.call(0, Kind.WRITE, "/s/log", 50 + line % 7, 0, s=0.02)
        made.call(0, Kind.CLOSE, "/s/log")


UNNOTED: tuple[tuple[str, Decoy], ...] = (
    ("redundant-writes", a_log_is_opened_for_each_line),
    ("random-access", variables_are_written_step_by_step),
    ("redundant-writes", variables_are_written_step_by_step),
    ("redundant-reads", columns_are_read_one_after_the_other),
    ("temporary-files", an_old_output_is_removed_first),
    ("write-then-truncate", a_queue_is_read_and_emptied),
    ("redundant-writes", a_queue_is_read_and_emptied),
    ("redundant-writes", a_state_is_replaced_each_time),
    ("redundant-reads", a_state_is_replaced_each_time),
    ("write-then-truncate", a_state_is_replaced_each_time),
    ("too-many-opens", a_state_is_replaced_each_time),
    ("random-access", a_header_is_looked_at_before_the_rest),
    ("too-many-opens", streams_are_made_of_open_descriptors),
    ("slow-file", one_request_of_one_file_waits),
    ("random-access", small_files_are_read_again_and_again),
)


def test_programs_of_a_script_are_no_ranks() -> None:
    """They move what they move, one after the other."""
    made = CaptureFactory(1, programs=("seq", "sort", "paste", "od"))
    for program in range(4):
        slow = 0.5 if program == 3 else 0.01
        made.call(program, Kind.OPEN, "/s/log", detail=O_WRONLY | O_CREAT | O_APPEND)
        made.run(program, Kind.WRITE, "/s/log", 4096, 10 + program, s=slow)
        made.run(program, Kind.WRITE, "/s/table", 4096, 20, first=program * 4096, s=slow)
    found = {one.id for one in operation_findings(made.captured())}
    of_ranks = {"imbalance", "straggler", "shared-file-contention", "append-contention"}
    assert not found & (of_ranks | {"no-collective", "serial-io"})


@pytest.mark.parametrize(("programs", "word"), [((), "ranks"), (("cat", "od"), "programs")])
def test_who_reads_is_called_by_what_it_is(programs: tuple[str, ...], word: str) -> None:
    made = CaptureFactory(2, programs=programs)
    for one in range(2):
        made.run(one, Kind.READ, "/s/table", MIB, 20, s=0.05)
    [found] = [f for f in operation_findings(made.captured()) if f.id == "redundant-reads"]
    assert f"2 {word} read each file" in found.evidence


DECOYS: tuple[tuple[str, Decoy], ...] = (
    ("too-many-opens", one_open_of_each_of_many_files),
    ("metadata-heavy", one_open_of_each_of_many_files),
    ("too-many-opens", all_ranks_open_one_file_once),
    ("redundant-reads", all_ranks_open_one_file_once),
    ("sync-each-write", small_appends_without_sync),
    ("sync-time", small_appends_without_sync),
    ("append-contention", small_appends_without_sync),
    ("small-requests", small_appends_without_sync),
    ("sync-each-write", one_sync_of_each_large_checkpoint),
    ("sync-time", one_sync_of_each_large_checkpoint),
    ("import-storm", imports_of_few_modules),
    ("metadata-heavy", imports_of_few_modules),
    ("failed-lookups", few_failed_lookups),
    ("small-requests", a_header_before_each_large_block),
    ("stdio-bulk", a_few_lines_through_a_stream),
    ("random-access", two_files_read_in_turns),
    ("read-write-switches", a_copy_from_file_to_file),
    ("write-then-truncate", an_old_file_is_begun_anew),
    ("write-then-truncate", what_was_allocated_too_much_is_cut),
    ("temporary-files", an_input_is_read_and_removed),
    ("repeated-stats", one_look_at_each_file),
    ("metadata-heavy", one_look_at_each_file),
    ("tiny-files", few_tiny_files),
    ("file-per-process", a_file_for_each_of_few_ranks),
    ("imbalance", one_rank_has_five_per_cent_more),
    ("straggler", one_call_of_one_rank_is_slow),
    ("slow-file", a_larger_file_takes_longer),
    ("serial-io", one_rank_reads_a_short_input),
    ("shared-file-contention", large_blocks_of_all_ranks_in_turns),
    ("misaligned", large_blocks_of_all_ranks_in_turns),
    ("append-contention", each_rank_appends_to_its_own_log),
    ("redundant-reads", all_ranks_read_a_short_table),
    ("small-requests", all_ranks_read_a_short_table),
    ("too-many-seeks", one_seek_before_each_read),
    ("random-access", one_seek_before_each_read),
    ("read-modify-write", one_file_is_read_while_another_is_written),
    ("no-collective", one_file_is_read_while_another_is_written),
    ("chunk-cuts", whole_chunks_are_read),
)


@pytest.mark.parametrize(
    ("finding", "decoy"), DECOYS, ids=[f"{name}-{decoy.__name__}" for name, decoy in DECOYS]
)
def test_what_only_looks_like_a_problem_is_none(finding: str, decoy: Decoy) -> None:
    made = CaptureFactory(4)
    decoy(made)
    raised = {f.id: f for f in operation_findings(made.captured())}
    grave = raised.get(finding)
    assert grave is None or grave.severity is Severity.NOTE, grave


@pytest.mark.parametrize("decoy", dict.fromkeys(decoy for _, decoy in DECOYS))
def test_nothing_grave_is_said_of_a_decoy(decoy: Decoy) -> None:
    made = CaptureFactory(4)
    decoy(made)
    grave = {f.id for f in operation_findings(made.captured()) if f.severity is not Severity.NOTE}
    assert grave <= {"serial-io", "imbalance"}, grave


@pytest.mark.parametrize(("finding", "decoy"), UNNOTED)
def test_what_is_no_problem_is_not_even_noted(finding: str, decoy: Decoy) -> None:
    made = CaptureFactory(1)
    decoy(made)
    assert finding not in {one.id for one in operation_findings(made.captured())}
