"""Known programs, traced: derive gives their shape back, and all bytes and requests."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from traced_run import (
    APPEND,
    MS,
    REOPEN,
    US,
    TracedRun,
    check_exact,
    derived,
    moves_of,
    steps_of,
)

from venturi.derive.yaml_text import to_yaml
from venturi.model.operation import Kind
from venturi.model.plan import ItemVerb, SyncMode
from venturi.model.trace import Layer
from venturi.model.units import size_text
from venturi.model.workload import PatternKind, Workload

TRANSFERS = [1000, 4096, 47008, 2**16, 2**20]
FEW = 25
"""So few requests in any order may look like some order."""


def nest(
    rank: int, ranks: int, transfer: int, per_block: int, segments: int
) -> list[tuple[int, int]]:
    """IOR's nest: places and sizes of one rank."""
    block = transfer * per_block
    return [
        ((segment * ranks + rank) * block + i * transfer, transfer)
        for segment in range(segments)
        for i in range(per_block)
    ]


def write_and_read(
    run: TracedRun,
    requests: Callable[[int], list[tuple[int, int]]],
    path: Callable[[int], str],
    shift: int = 0,
) -> None:
    """Every rank writes its part; then it reads that of the one `shift` ranks further."""
    for rank in range(run.ranks):
        run.open(rank, path(rank))
        run.move(rank, Kind.WRITE, path(rank), requests(rank))
        run.close(rank, path(rank))
    run.meet()
    for rank in range(run.ranks):
        other = (rank + shift) % run.ranks
        run.open(rank, path(other), REOPEN)
        run.move(rank, Kind.READ, path(other), requests(other))
        run.close(rank, path(other))


@settings(max_examples=120, deadline=None)
@given(
    ranks=st.integers(2, 9),
    transfer=st.sampled_from(TRANSFERS),
    per_block=st.integers(1, 7),
    segments=st.integers(1, 9),
    shift=st.integers(0, 3),
    is_shared=st.booleans(),
    seed=st.integers(0, 99),
)
def test_nests(
    ranks: int,
    transfer: int,
    per_block: int,
    segments: int,
    shift: int,
    is_shared: bool,
    seed: int,
) -> None:
    run = TracedRun(ranks, seed=seed)
    if is_shared:
        write_and_read(
            run, lambda r: nest(r, ranks, transfer, per_block, segments), lambda r: "data", shift
        )
    else:
        write_and_read(
            run,
            lambda r: nest(0, 1, transfer, per_block, segments),
            lambda r: f"data.{r:04d}",
            shift,
        )
    workload = derived(run)
    check_exact(run, workload, 1 if is_shared else ranks)
    assert workload.origin is not None
    bare = workload.origin.model_copy(update={"findings": []})
    assert len(to_yaml(workload.model_copy(update={"origin": bare})).splitlines()) < 60
    write, read = moves_of(workload)
    assert write.transfer == read.transfer == size_text(transfer)
    assert next(iter(workload.files.values())).shared == ("all" if is_shared else "rank")
    if not is_shared or segments == 1:
        assert write.pattern is PatternKind.CONTIGUOUS
        assert write.size == size_text(transfer * per_block * segments)
    elif per_block == 1:
        assert (write.pattern, write.count) == (PatternKind.STRIDED, segments)
    else:
        assert write.pattern is PatternKind.SEGMENTED
        assert (write.block, write.segments) == (size_text(transfer * per_block), segments)
    wanted = f"shift {shift % ranks}" if shift % ranks else "self"
    assert [step.from_ for step in steps_of(workload) if step.read] == [wanted]


@settings(max_examples=60, deadline=None)
@given(
    ranks=st.integers(1, 6),
    transfer=st.sampled_from(TRANSFERS),
    count=st.integers(16, 60),
    is_shared=st.booleans(),
    seed=st.integers(0, 99),
)
def test_random_order(ranks: int, transfer: int, count: int, is_shared: bool, seed: int) -> None:
    run = TracedRun(ranks, seed=seed)
    is_shared = is_shared and ranks > 1
    chance = random.Random(seed)
    if is_shared:
        places = list(range(ranks * count))
        chance.shuffle(places)
        dealt = [places[rank::ranks] for rank in range(ranks)]
    else:
        dealt = [chance.sample(range(count), count) for _ in range(ranks)]
    path = (lambda r: "data") if is_shared else (lambda r: f"data.{r}")
    write_and_read(run, lambda r: [(p * transfer, transfer) for p in dealt[r]], path)
    workload = derived(run)
    check_exact(run, workload, 1 if is_shared else ranks)
    steps = moves_of(workload)
    if count < FEW and any(step.pattern is not PatternKind.RANDOM for step in steps):
        assert workload.origin is not None
        assert workload.origin.likeness is not None
        assert workload.origin.likeness.is_equal  # so few are listed, each in its place
        return
    write, read = steps
    for step in (write, read):
        assert step.pattern is PatternKind.RANDOM
        assert step.transfer == size_text(transfer)
        assert step.size == size_text(transfer * count)
        assert not step.replacement


@settings(max_examples=40, deadline=None)
@given(
    split=st.sampled_from([(2, 2), (1, 4), (3, 2), (2, 1)]),
    tile=st.tuples(st.integers(2, 6), st.integers(1, 5)),
    element=st.sampled_from([8, 4096]),
)
def test_tiles(split: tuple[int, int], tile: tuple[int, int], element: int) -> None:
    ranks = split[0] * split[1]
    width = split[1] * tile[1] * element
    run = TracedRun(ranks)

    def requests(rank: int) -> list[tuple[int, int]]:
        row, column = divmod(rank, split[1])
        begin = row * tile[0] * width + column * tile[1] * element
        return [(begin + i * width, tile[1] * element) for i in range(tile[0])]

    write_and_read(run, requests, lambda r: "array")
    workload = derived(run)
    check_exact(run, workload, 1)
    write, _ = moves_of(workload)
    if split[1] == 1:
        return  # whole rows: contiguous
    assert write.pattern is (PatternKind.STRIDED if split[0] == 1 else PatternKind.TILED)
    if split[0] > 1:
        assert write.shape == [split[0] * tile[0], width]
        assert write.tile == [tile[0], tile[1] * element]


def test_three_dimensional_tiles() -> None:
    run = TracedRun(8)
    edge, part = 8, 4

    def requests(rank: int) -> list[tuple[int, int]]:
        z, y, x = rank // 4, rank // 2 % 2, rank % 2
        begin = ((z * part * edge + y * part) * edge + x * part) * 8
        return [
            (begin + (i * edge + j) * edge * 8, part * 8) for i in range(part) for j in range(part)
        ]

    write_and_read(run, requests, lambda r: "cube")
    workload = derived(run)
    check_exact(run, workload, 1)
    write, _ = moves_of(workload)
    assert write.pattern is PatternKind.TILED
    assert (write.shape, write.tile) == ([8, 8, 64], [4, 4, 32])


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("sync", [None, Kind.SYNC, Kind.DATA_SYNC])
def test_appends(ranks: int, sync: Kind | None) -> None:
    run = TracedRun(ranks)
    for rank in range(ranks):
        run.open(rank, f"log.{rank}", APPEND)
        requests = [(i * 100, 100) for i in range(25)]
        run.move(rank, Kind.WRITE, f"log.{rank}", requests, sync=sync)
        run.close(rank, f"log.{rank}")
    workload = derived(run)
    made = check_exact(run, workload, ranks)
    (write,) = moves_of(workload)
    assert (write.pattern, write.transfer, write.count) == (PatternKind.APPEND, "100 B", 25)
    modes = {None: SyncMode.NONE, Kind.SYNC: SyncMode.FSYNC, Kind.DATA_SYNC: SyncMode.FDATASYNC}
    assert write.sync is modes[sync]
    assert made.totals.operations["sync"] == (25 * ranks if sync else 0)


@pytest.mark.parametrize("ranks", [1, 4])
def test_mixes(ranks: int) -> None:
    run = TracedRun(ranks)
    sizes = [4096] * 700 + [65536] * 300
    for rank in range(ranks):
        random.Random(rank).shuffle(sizes)
        begin = rank * sum(sizes)
        places = [begin + sum(sizes[:i]) for i in range(1000)]
        run.open(rank, "mixed")
        run.move(rank, Kind.WRITE, "mixed", list(zip(places, sizes, strict=True)))
        run.close(rank, "mixed")
    workload = derived(run, simplify=True)
    check_exact(run, workload, 1)
    (write,) = moves_of(workload)
    assert {(part.bytes, part.weight) for part in write.mix} == {("4 KiB", 7), ("64 KiB", 3)}
    assert write.count == 1000


def test_sizes_of_every_kind_keep_their_sum() -> None:
    run = TracedRun(1)
    chance = random.Random(5)
    sizes = [chance.randint(1, 100_000) for _ in range(500)]
    places = [sum(sizes[:i]) for i in range(500)]
    run.open(0, "odd")
    run.move(0, Kind.WRITE, "odd", list(zip(places, sizes, strict=True)))
    run.close(0, "odd")
    check_exact(run, derived(run), 1)


def test_a_header_and_a_body_are_listed() -> None:
    run = TracedRun(2)
    for rank in range(2):
        begin = rank * 2**20
        run.open(rank, "out")
        run.move(rank, Kind.WRITE, "out", [(begin, 96), (begin + 4096, 65536), (begin + 512, 40)])
        run.close(rank, "out")
    workload = derived(run)
    check_exact(run, workload, 1)
    (write,) = moves_of(workload)
    assert write.pattern is PatternKind.TABLE
    assert write.table == [[0, 96], [4096, 65536], [512, 40]]
    assert write.at == "1 MiB * rank"


def test_think_time_is_a_pause_before_each_request() -> None:
    run = TracedRun(2)
    for rank in range(2):
        run.open(rank, "slow")
        requests = nest(rank, 2, 4096, 1, 20)
        run.move(rank, Kind.WRITE, "slow", requests, think=3 * MS)
        run.close(rank, "slow")
    workload = derived(run)
    check_exact(run, workload, 1)
    (write,) = moves_of(workload)
    assert write.pattern is PatternKind.STRIDED
    amount, unit = str(write.think).split()
    assert unit == "ms"
    assert 2.9 < float(amount) < 3.2


@settings(max_examples=30, deadline=None)
@given(
    ranks=st.integers(1, 5),
    dumps=st.integers(2, 9),
    is_shared=st.booleans(),
    seed=st.integers(0, 99),
)
def test_checkpoints_are_a_loop(ranks: int, dumps: int, is_shared: bool, seed: int) -> None:
    run = TracedRun(ranks, seed=seed)
    is_shared = is_shared and ranks > 1
    for dump in range(dumps):
        run.meet(pause=50 * MS)
        for rank in range(ranks):
            path = f"chk_{dump:04d}" if is_shared else f"chk_{dump:04d}.{rank}"
            run.open(rank, path)
            run.move(rank, Kind.WRITE, path, nest(rank if is_shared else 0, ranks, 2**16, 4, 1))
            run.close(rank, path)
    workload = derived(run)
    check_exact(run, workload, dumps * (1 if is_shared else ranks))
    (loop,) = [step for step in steps_of(workload) if step.for_]
    assert (loop.in_, [step.verb for step in loop.do or []]) == (dumps, ["compute", "phase"])
    seconds = str((loop.do or [])[0].compute).split()
    assert seconds[1] == "ms"
    assert 49 < float(seconds[0]) < 51


@pytest.mark.parametrize("ranks", [1, 3])
def test_dumps_into_one_file_move_on_with_the_loop(ranks: int) -> None:
    run = TracedRun(ranks)
    part = 2**18
    for rank in range(ranks):
        run.open(rank, "trajectory")
    for dump in range(6):
        run.meet(pause=80 * MS)
        for rank in range(ranks):
            begin = (dump * ranks + rank) * part
            requests = [(begin + i * 2**16, 2**16) for i in range(4)]
            run.move(rank, Kind.WRITE, "trajectory", requests)
    run.meet(pause=80 * MS)
    for rank in range(ranks):
        run.close(rank, "trajectory")
    workload = derived(run)
    check_exact(run, workload, 1)
    (write,) = moves_of(workload)
    assert write.at == f"{size_text(part * ranks)} * i"
    (loop,) = [step for step in steps_of(workload) if step.for_]
    assert loop.in_ == 6


def test_two_streams_in_one_loop() -> None:
    run = TracedRun(2)
    for rank in range(2):
        run.open(rank, f"log.{rank}", APPEND)
    for dump in range(5):
        run.meet(pause=50 * MS)
        for rank in range(2):
            run.open(rank, f"chk_{dump}")
            run.move(rank, Kind.WRITE, f"chk_{dump}", nest(rank, 2, 2**20, 1, 1))
            run.close(rank, f"chk_{dump}")
        run.meet()
        for rank in range(2):
            run.move(
                rank, Kind.WRITE, f"log.{rank}", [(dump * 300 + i * 100, 100) for i in range(3)]
            )
    for rank in range(2):
        run.close(rank, f"log.{rank}")
    workload = derived(run)
    check_exact(run, workload, 7)
    (loop,) = [step for step in steps_of(workload) if step.for_]
    assert loop.in_ == 5


@settings(max_examples=40, deadline=None)
@given(
    ranks=st.integers(2, 8),
    base=st.integers(1, 5),
    slope=st.integers(0, 3),
    is_shared=st.booleans(),
)
def test_affine_imbalance(ranks: int, base: int, slope: int, is_shared: bool) -> None:
    run = TracedRun(ranks)
    counts = [base + slope * rank for rank in range(ranks)]
    for rank in range(ranks):
        begin = sum(counts[:rank]) * 4096 if is_shared else 0
        path = "data" if is_shared else f"data.{rank}"
        run.open(rank, path)
        run.move(rank, Kind.WRITE, path, [(begin + i * 4096, 4096) for i in range(counts[rank])])
        run.close(rank, path)
    workload = derived(run)
    check_exact(run, workload, 1 if is_shared else ranks)
    assert len(moves_of(workload)) == 1


@pytest.mark.parametrize("is_shared", [True, False])
def test_dealt_and_classed_imbalance(is_shared: bool) -> None:
    for counts in ([4, 4, 3, 3], [9, 2, 2, 2], [1, 5, 1, 5], [2, 2, 7, 7]):
        run = TracedRun(4)
        for rank in range(4):
            begin = sum(counts[:rank]) * 4096 if is_shared else 0
            path = "data" if is_shared else f"data.{rank}"
            run.open(rank, path)
            requests = [(begin + i * 4096, 4096) for i in range(counts[rank])]
            run.move(rank, Kind.WRITE, path, requests)
            run.close(rank, path)
        workload = derived(run)
        check_exact(run, workload, 1 if is_shared else 4)
        assert len(moves_of(workload)) == 1


def test_collective_calls_on_mpi_io() -> None:
    run = TracedRun(4, layer=Layer.MPIIO)
    for rank in range(4):
        run.open(rank, "shared")
        run.move(rank, Kind.WRITE, "shared", nest(rank, 4, 2**20, 1, 5), together=True)
        run.close(rank, "shared")
    workload = derived(run)
    check_exact(run, workload, 1)
    (write,) = moves_of(workload)
    assert write.collective
    assert workload.files["stream1"].interface.value == "mpiio"


@pytest.mark.parametrize("ranks", [1, 4])
def test_many_small_files_are_a_tree(ranks: int) -> None:
    run = TracedRun(ranks)
    count = 40

    def path(rank: int, item: int) -> str:
        return f"items/f.{rank}.{item}"

    for rank in range(ranks):
        for item in range(count):
            run.open(rank, path(rank, item))
            run.move(rank, Kind.WRITE, path(rank, item), [(0, 3901)])
            run.close(rank, path(rank, item))
    run.meet()
    for rank in range(ranks):
        for item in range(count):
            run.call(rank, Kind.STAT, path((rank + 1) % ranks, item))
    run.meet()
    for rank in range(ranks):
        for item in range(count):
            run.open(rank, path(rank, item), 0)
            run.move(rank, Kind.READ, path(rank, item), [(0, 3901)])
            run.close(rank, path(rank, item))
    run.meet()
    for rank in range(ranks):
        for item in range(count):
            run.call(rank, Kind.UNLINK, path(rank, item))
    workload = derived(run)
    made = check_exact(run, workload, ranks * count)
    (spec,) = workload.files.values()
    assert spec.tree is not None
    assert (spec.tree.items, spec.tree.size) == (count, "3901 B")
    done = [step.each.do for step in steps_of(workload) if step.each]
    assert done == [
        [ItemVerb.CREATE, ItemVerb.WRITE, ItemVerb.CLOSE],
        [ItemVerb.STAT],
        [ItemVerb.OPEN, ItemVerb.READ, ItemVerb.CLOSE],
        [ItemVerb.UNLINK],
    ]
    assert made.totals.operations["stat"] == made.totals.operations["unlink"] == ranks * count


def test_directories_and_sizes_of_trees() -> None:
    run = TracedRun(1)
    for directory in range(4):
        for item in range(600):
            path = f"store/d{directory}/f{item}"
            run.open(0, path)
            run.move(0, Kind.WRITE, path, [(0, 1000 if item % 5 else 50_000)])
            run.close(0, path)
    workload = derived(run, simplify=True)
    check_exact(run, workload, 2400)
    (spec,) = workload.files.values()
    assert spec.tree is not None
    assert (spec.tree.depth, spec.tree.branch, spec.tree.items) == (1, 4, 600)
    assert {(size.bytes, size.weight) for size in spec.tree.sizes} == {("1 kB", 4), ("50 kB", 1)}


def test_files_that_were_there_are_prestaged() -> None:
    run = TracedRun(3)
    for rank in range(3):
        run.open(rank, "input", 0)
        run.move(rank, Kind.READ, "input", [(i * 8192, 8192) for i in range(12)])
        run.close(rank, "input")
    workload = derived(run)
    made = check_exact(run, workload, 1)
    assert made.totals.bytes_prestaged >= 12 * 8192


def test_one_rank_writes_for_all() -> None:
    run = TracedRun(4)
    run.open(2, "result")
    run.move(2, Kind.WRITE, "result", [(i * 2**20, 2**20) for i in range(8)])
    run.close(2, "result")
    for rank in range(4):
        run.open(rank, f"own.{rank}")
        run.move(rank, Kind.WRITE, f"own.{rank}", [(0, 4096)])
        run.close(rank, f"own.{rank}")
    check_exact(run, derived(run), 5)


def test_reads_and_writes_that_take_turns() -> None:
    run = TracedRun(1)
    run.open(0, "base")
    run.move(0, Kind.WRITE, "base", [(i * 4096, 4096) for i in range(50)])
    for i in range(40):
        run.move(0, Kind.READ, "base", [(i * 4096, 4096)])
        run.move(0, Kind.WRITE, "base", [(i * 4096, 4096)])
        run.call(0, Kind.SYNC, "base")
    run.close(0, "base")
    workload = derived(run)
    made = check_exact(run, workload, 1)
    assert made.totals.operations["sync"] == 40
    (loop,) = [step for step in steps_of(workload) if step.for_]
    assert (loop.in_, [step.verb for step in loop.do or []]) == (40, ["read", "write", "sync"])


def test_processes_without_ranks_are_one_rank() -> None:
    run = TracedRun(1)
    run.open(0, "out")
    run.move(0, Kind.WRITE, "out", [(0, 4096)])
    run.close(0, "out")
    from venturi.derive.workload import derive

    workload: Workload = derive(run.captured(with_ranks=False), "shell")
    check_exact(run, workload, 1)


def test_workers_at_a_time_are_ranks() -> None:
    from venturi.derive.workload import derive

    run = TracedRun(3)
    for rank in range(3):
        for item in range(4):
            path = f"object{rank}_{item}"
            run.open(rank, path)
            run.move(rank, Kind.WRITE, path, [(0, 4096 * (1 + item))])
            run.close(rank, path)
    workload = derive(run.captured(with_ranks=False), "make")
    check_exact(run, workload, 12)
    assert workload.origin is not None
    assert any("act as 3 ranks" in text for text in workload.origin.assumed)


def test_think_of_microseconds_is_the_programs_own() -> None:
    run = TracedRun(1)
    run.open(0, "fast")
    run.move(0, Kind.WRITE, "fast", [(i * 512, 512) for i in range(100)], think=5 * US)
    run.close(0, "fast")
    (write,) = moves_of(derived(run))
    assert write.think == 0
