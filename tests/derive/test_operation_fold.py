"""Programs that repeat themselves only nearly: what is derived is short, and exact in total."""

from __future__ import annotations

import random

import pytest
from traced_run import (
    MS,
    REOPEN,
    TracedRun,
    check_exact,
    check_one_by_one,
    derived,
    moves_of,
    steps_of,
)

from venturi.derive.workload import derive
from venturi.derive.yaml_text import to_yaml
from venturi.model.operation import Kind
from venturi.model.plan import SyncMode
from venturi.model.trace import Layer
from venturi.model.workload import StepSpec, SyncStep, Workload
from venturi.plan.make import make_plan
from venturi.plan.setting import RunSettings

MOST_LINES = 60


def lines_of(workload: Workload) -> int:
    """Lines without what is said about them."""
    return len(to_yaml(workload.model_copy(update={"origin": None})).splitlines())


def verbs_of(workload: Workload) -> list[str]:
    """The verbs at the top of the program, and within the loop there, if there is one."""
    steps = [s for s in next(iter(workload.program.values())) if isinstance(s, StepSpec)]
    return [step.verb for step in steps]


def checkpoint(run: TracedRun, dump: int, sizes: list[int]) -> None:
    """Every rank writes a header and its particles into one new file, one behind the other."""
    run.meet(pause=60 * MS)
    path = f"dump.{dump:03d}"
    begin = 0
    for rank, size in enumerate(sizes):
        run.open(rank, path)
        run.move(rank, Kind.WRITE, path, [(begin, 96), (begin + 96, size)])
        run.close(rank, path)
        begin += 96 + size


def test_dumps_of_one_rank_keep_their_sizes() -> None:
    run, chance = TracedRun(1), random.Random(1)
    for dump in range(12):
        checkpoint(run, dump, [chance.randint(10_000_000, 10_400_000)])
    check_one_by_one(run, derived(run))


@pytest.mark.parametrize("ranks", [2, 4])
def test_dumps_of_nearly_equal_sizes_are_a_loop(ranks: int) -> None:
    run, chance = TracedRun(ranks), random.Random(ranks)
    for dump in range(12):
        checkpoint(run, dump, [chance.randint(10_000_000, 10_400_000) for _ in range(ranks)])
    workload = derived(run)
    check_one_by_one(run, workload)
    (loop,) = [step for step in steps_of(workload) if step.for_]
    assert loop.in_ == 12
    assert lines_of(workload) < MOST_LINES


def test_dumps_of_unlike_sizes_are_no_loop_of_means() -> None:
    run = TracedRun(1)
    for dump, size in enumerate([1_000_000, 30_000_000]):
        checkpoint(run, dump, [size])
    workload = derived(run)
    check_exact(run, workload, 2)
    assert not [step for step in steps_of(workload) if step.for_]


def test_sizes_that_grow_evenly_follow_the_loop() -> None:
    run = TracedRun(2)
    for dump in range(6):
        run.meet(pause=60 * MS)
        for rank in range(2):
            path = f"grow{dump}.{rank}"
            run.open(rank, path)
            requests = [(i * 4096, 4096) for i in range(10 + 5 * dump)]
            run.move(rank, Kind.WRITE, path, requests)
            run.close(rank, path)
    workload = derived(run)
    check_exact(run, workload, 12)
    (write,) = moves_of(workload)
    assert (write.transfer, write.size) == ("4 KiB", "40 KiB + 20 KiB * i")


def test_lines_of_text_vary_within_a_loop_of_dumps() -> None:
    run, chance = TracedRun(1), random.Random(8)
    run.open(0, "log")
    end = 0
    for _ in range(9):
        run.meet(pause=60 * MS)
        sizes = [4096] * chance.randint(184, 187) + [chance.randint(1, 4095)]
        run.move(0, Kind.WRITE, "log", [(end + sum(sizes[:i]), s) for i, s in enumerate(sizes)])
        end += sum(sizes)
    run.close(0, "log")
    workload = derived(run)
    check_exact(run, workload, 1)
    (loop,) = [step for step in steps_of(workload) if step.for_]
    assert loop.in_ == 9
    assert lines_of(workload) < 40


def test_dumps_and_rarer_restarts_are_nested_loops() -> None:
    run, chance = TracedRun(2), random.Random(3)
    for step in range(1, 21):
        size = chance.randint(2_000_000, 2_050_000)
        run.meet(pause=50 * MS)
        run.open(0, f"traj.{step}")
        run.move(0, Kind.WRITE, f"traj.{step}", [(0, size)])
        run.close(0, f"traj.{step}")
        if step % 5:
            continue
        run.meet()
        for rank in range(2):
            path = f"rst_{step}_{rank}"
            run.open(rank, path)
            run.move(rank, Kind.WRITE, path, [(0, chance.randint(900_000, 930_000))])
            run.close(rank, path)
    workload = derived(run)
    check_one_by_one(run, workload)
    assert lines_of(workload) < MOST_LINES


def test_what_an_opening_writes_and_then_reads_are_two_phases() -> None:
    run = TracedRun(2)
    for rank in range(2):
        path = f"scratch.{rank}"
        run.open(rank, path)
        run.move(rank, Kind.WRITE, path, [(i * 2**16, 2**16) for i in range(20)])
        run.move(rank, Kind.READ, path, [(i * 2**16, 2**16) for i in range(20)])
        run.close(rank, path)
    workload = derived(run)
    check_exact(run, workload, 2)
    phases = [step for step in steps_of(workload) if step.phase]
    assert [step.phase for step in phases] == ["write", "read"]
    assert [[inner.verb for inner in step.do or []] for step in phases] == [
        ["create", "write"],
        ["read", "close"],
    ]


def test_what_all_ranks_read_alike_says_so() -> None:
    run = TracedRun(3)
    for rank in range(3):
        run.open(rank, "mesh", REOPEN)
        run.move(rank, Kind.READ, "mesh", [(i * 2**20, 2**20) for i in range(40)])
        run.close(rank, "mesh")
    workload = derived(run)
    check_exact(run, workload, 1)
    (read,) = moves_of(workload)
    assert (read.apart, read.at, read.size) == (False, None, "40 MiB")
    assert "* rank" not in to_yaml(workload)


def test_one_rank_that_writes_for_all_needs_no_place() -> None:
    run = TracedRun(3)
    for rank in range(3):
        run.open(rank, "result")
    run.move(0, Kind.WRITE, "result", [(i * 2**20, 2**20) for i in range(40)])
    run.meet(60 * MS)
    for rank in range(3):
        run.move(rank, Kind.READ, "result", [(0, 2**20)])
        run.close(rank, "result")
    workload = derived(run)
    check_exact(run, workload, 1)
    assert "* rank" not in to_yaml(workload)
    write, *reads = moves_of(workload)
    assert (write.at, write.apart) == (None, True)
    assert {read.apart for read in reads} == {True, False}
    assert all(read.at is None for read in reads)


def test_configuration_is_left_out_and_said() -> None:
    run = TracedRun(2)
    for name in ("input.nml", "table.txt"):
        run.open(0, name, REOPEN)
        run.move(0, Kind.READ, name, [(0, 700)])
        run.close(0, name)
    for rank in range(2):
        run.open(rank, f"out.{rank}")
        run.move(rank, Kind.WRITE, f"out.{rank}", [(i * 2**20, 2**20) for i in range(400)])
        run.close(rank, f"out.{rank}")
    workload = derived(run)
    assert list(workload.files) == ["stream1"]
    assert workload.origin is not None
    assert workload.origin.observed is not None
    assert workload.origin.observed.bytes_read == 0
    assert any(text.startswith("2 small streams are left out") for text in workload.origin.assumed)


def test_small_files_stay_where_there_is_nothing_else() -> None:
    run = TracedRun(1)
    names = [f"{word}/{word}" for word in ("ash", "birch", "cedar", "elm")]
    for name in names:
        run.open(0, name)
        run.move(0, Kind.WRITE, name, [(0, 64)])
        run.close(0, name)
    check_exact(run, derived(run), 4)


def renamed(run: TracedRun, rank: int, path: str, to: str) -> None:
    """One rename."""
    run.call(rank, Kind.RENAME, path, detail=run.paths.setdefault(to, len(run.paths)))


def test_a_checkpoint_that_is_renamed_is_the_file_that_is_read() -> None:
    run = TracedRun(1)
    for dump in range(5):
        run.meet(pause=60 * MS)
        run.open(0, "state.tmp")
        run.move(0, Kind.WRITE, "state.tmp", [(i * 2**16, 2**16) for i in range(8)])
        run.call(0, Kind.SYNC, "state.tmp")
        run.close(0, "state.tmp")
        renamed(run, 0, "state.tmp", f"state.{dump}")
    run.meet(pause=60 * MS)
    run.open(0, "state.4", REOPEN)
    run.move(0, Kind.READ, "state.4", [(i * 2**16, 2**16) for i in range(8)])
    run.close(0, "state.4")
    workload = derived(run)
    made = check_exact(run, workload)
    (loop,) = [step for step in steps_of(workload) if step.for_]
    assert loop.in_ == 5
    verbs = [step.verb for step in steps_of(workload)]
    assert verbs[3:8] == ["create", "write", "sync", "close", "rename"]
    assert made.totals.operations["rename"] == 5


def test_a_copy_in_the_kernel_is_a_read_and_a_write() -> None:
    run = TracedRun(1)
    for number in range(20):
        run.open(0, f"from/{number}", 0)
        run.open(0, f"to/{number}")
        target = run.paths[f"to/{number}"]
        run.call(0, Kind.COPY, f"from/{number}", 0, 300_000, target)
        run.close(0, f"from/{number}")
        run.close(0, f"to/{number}")
    workload = derived(run)
    assert workload.origin is not None
    observed = workload.origin.observed
    assert observed is not None
    assert (observed.bytes_read, observed.bytes_written) == (6_000_000, 6_000_000)
    assert make_plan(workload, RunSettings()).totals.bytes_written == 6_000_000
    assert [step.in_ for step in steps_of(workload) if step.for_] == [20]


def test_a_flush_of_a_stream_is_no_fsync() -> None:
    run = TracedRun(1, layer=Layer.STDIO)
    run.open(0, "log")
    run.move(0, Kind.WRITE, "log", [(i * 90, 90) for i in range(30)], sync=Kind.SYNC)
    run.close(0, "log")
    run.open(0, "dump")
    run.move(0, Kind.WRITE, "dump", [(i * 2**16, 2**16) for i in range(30)])
    run.call(0, Kind.SYNC, "dump")
    run.close(0, "dump")
    workload = derived(run)
    check_exact(run, workload, 2)
    modes = [step.sync.mode for step in steps_of(workload) if isinstance(step.sync, SyncStep)]
    assert [move.sync for move in moves_of(workload)] == [SyncMode.FLUSH, SyncMode.NONE]
    assert modes == [SyncMode.FLUSH]


def test_a_first_turn_before_the_loop_and_a_stall_within_do_not_break_it() -> None:
    run = TracedRun(1)
    for step in range(21):
        run.meet(pause=300 * MS)
        run.open(0, f"traj.{step}")
        run.move(0, Kind.WRITE, f"traj.{step}", [(i * 2**16, 2**16) for i in range(4)])
        run.close(0, f"traj.{step}")
        if step == 0 or step % 5:
            continue
        path = f"rst.{step}"
        run.open(0, path)
        run.move(0, Kind.WRITE, path, [(i * 4096, 4096) for i in range(6)])
        run.meet(pause=250 * MS if step == 5 else 0)
        run.move(0, Kind.WRITE, path, [(24576 + i * 4096, 4096) for i in range(6)])
        run.close(0, path)
    workload = derived(run)
    check_exact(run, workload, 25)
    assert [step.in_ for step in steps_of(workload) if step.for_] == [4, 5]
    assert lines_of(workload) < MOST_LINES


def test_idle_times_of_all_lengths_are_computing_where_they_hold_most_of_the_run() -> None:
    run, chance = TracedRun(1), random.Random(2)
    for dump in range(10):
        run.meet(pause=chance.randint(400, 1200) * MS)
        for part, pause in (("a", 12), ("b", 55), ("c", 160)):
            run.meet(pause=pause * MS)
            run.open(0, f"{part}.{dump}")
            run.move(0, Kind.WRITE, f"{part}.{dump}", [(0, 2**20)])
            run.close(0, f"{part}.{dump}")
    workload = derived(run)
    check_exact(run, workload, 30)
    (loop,) = [step for step in steps_of(workload) if step.for_]
    assert loop.in_ == 10
    assert any(isinstance(step, StepSpec) and step.compute for step in loop.do or [])


def test_processes_that_do_different_work_are_no_ranks() -> None:
    run = TracedRun(3)
    run.open(0, "pack")
    run.move(0, Kind.WRITE, "pack", [(i * 2**16, 2**16) for i in range(20)])
    for rank in (1, 2):
        run.open(rank, f"head.{rank}")
        run.move(rank, Kind.WRITE, f"head.{rank}", [(0, 23)])
        run.close(rank, f"head.{rank}")
    run.close(0, "pack")
    workload = derive(run.captured(with_ranks=False), "tool")
    assert workload.origin is not None
    assert any("act as one rank" in text for text in workload.origin.assumed)


def test_few_requests_of_many_sizes_are_listed_even_if_they_jump() -> None:
    run = TracedRun(1)
    sizes = [96, 2**20, 544, 2**20, 3408, 235_375, 96, 1848, 235_352, 2**20, 328, 512]
    offsets = [sum(sizes[:i]) for i in range(len(sizes))]
    places = [offsets[i] for i in (3, 0, 7, 1, 9, 4, 2, 11, 5, 8, 6, 10)]
    run.open(0, "file.h5")
    run.move(0, Kind.WRITE, "file.h5", list(zip(places, sizes, strict=True)))
    run.close(0, "file.h5")
    workload = derived(run)
    check_exact(run, workload, 1)
    (write,) = moves_of(workload)
    assert [row[1] for row in write.table] == sizes
    assert lines_of(workload) < 30


def test_many_small_files_of_unlike_sizes_are_read_whole() -> None:
    run, chance = TracedRun(1), random.Random(4)
    for item in range(60):
        run.open(0, f"src/{item}.txt", 0)
        run.move(0, Kind.READ, f"src/{item}.txt", [(0, chance.randint(200, 20_000))])
        run.close(0, f"src/{item}.txt")
    check_exact(run, derived(run), 60)
