"""How files are opened: past the page cache, persistent at each write, allocated beforehand."""

from __future__ import annotations

import random

import pytest
from traced_run import CREATE, MS, REOPEN, TracedRun, check_exact, derived

from venturi.model.operation import Kind
from venturi.model.workload import Workload

O_DIRECT, O_DSYNC, O_SYNC = 0o40000, 0o10000, 0o4010000
KEEP_SIZE = 1
MIB = 1 << 20


def written(detail: int, sizes: list[int], files: int = 1) -> TracedRun:
    """Files of requests one behind the other."""
    run = TracedRun(1)
    for number in range(files):
        path = f"out_{number}"
        run.open(0, path, detail)
        ends = [sum(sizes[: i + 1]) for i in range(len(sizes))]
        places = [(end - size, size) for end, size in zip(ends, sizes, strict=True)]
        run.move(0, Kind.WRITE, path, places)
        run.close(0, path)
        run.meet(50 * MS)
    return run


def options(workload: Workload) -> dict[str, object]:
    """Those of the only entry."""
    (spec,) = workload.files.values()
    return dict(spec.options)


@pytest.mark.parametrize(
    ("detail", "expected"),
    [
        (0, {}),
        (O_DIRECT, {"direct": True}),
        (O_DSYNC, {"open_sync": "dsync"}),
        (O_SYNC, {"open_sync": "sync"}),
        (O_DIRECT | O_DSYNC, {"direct": True, "open_sync": "dsync"}),
    ],
)
def test_the_flags_of_opening_are_options(detail: int, expected: dict[str, object]) -> None:
    run = written(CREATE | detail, [65536] * 40, files=3)
    found = derived(run)
    check_exact(run, found, files=3)
    assert options(found) == expected


def test_one_opening_of_several_says_nothing() -> None:
    run = written(CREATE, [65536] * 8, files=1)
    for detail in (O_DIRECT, 0):
        run.open(0, "out_0", REOPEN | detail)
        run.move(0, Kind.READ, "out_0", [(65536 * i, 65536) for i in range(8)])
        run.close(0, "out_0")
        run.meet(50 * MS)
    found = derived(run)
    check_exact(run, found)
    assert not any(spec.options for spec in found.files.values())


@pytest.mark.parametrize("seed", range(12))
def test_the_way_of_most_writes_counts_not_that_of_most_openings(seed: int) -> None:
    drawn = random.Random(seed)
    run = TracedRun(1)
    openings = [(drawn.choice([0, O_DSYNC]), drawn.choice([0, 1, 3, 40])) for _ in range(5)]
    openings.append((O_DSYNC * (seed % 2), 300))
    drawn.shuffle(openings)
    run.open(0, "log")
    run.close(0, "log")
    at = 0
    for detail, writes in openings:
        run.open(0, "log", REOPEN | detail)
        run.move(0, Kind.WRITE, "log", [(at + 512 * i, 512) for i in range(writes)])
        run.close(0, "log")
        at += 512 * writes
    found = derived(run)
    ways = {spec.options.get("open_sync", "") for spec in found.files.values()}
    assert ways == {"dsync" if seed % 2 else ""}


def test_files_that_are_opened_in_two_ways_are_two_streams() -> None:
    run = TracedRun(1)
    for number in range(8):
        path = f"part_{number}"
        run.open(0, path, CREATE | (O_DIRECT if number < 4 else 0))
        run.move(0, Kind.WRITE, path, [(65536 * i, 65536) for i in range(8)])
        run.close(0, path)
        run.meet(50 * MS)
    found = derived(run)
    check_exact(run, found, files=8)
    assert sorted(bool(spec.options.get("direct")) for spec in found.files.values()) == [
        False,
        True,
    ]


def test_means_do_not_go_past_the_cache() -> None:
    """No device takes requests of 70 001 bytes."""
    run = TracedRun(1)
    for number in range(3):
        sizes = [512 * run.p_value.randint(1, 900) for _ in range(400)]
        path = f"out_{number}"
        run.open(0, path, CREATE | O_DIRECT)
        run.move(0, Kind.WRITE, path, [(sum(sizes[:i]), size) for i, size in enumerate(sizes)])
        run.close(0, path)
        run.meet(50 * MS)
    found = derived(run, simplify=True)
    check_exact(run, found, files=3)
    assert not any(spec.options for spec in found.files.values())
    assert found.origin is not None
    assert any("page cache" in text for text in found.origin.assumed)


def allocated(mode: int, times: int, late: bool = False, offset: int = 0) -> Workload:
    """Files that are given 4 MiB so often."""
    run = TracedRun(1)
    for number in range(4):
        path = f"out_{number}"
        run.open(0, path)
        for _ in range(0 if late else times):
            run.call(0, Kind.ALLOCATE, path, offset, 4 * MIB, mode)
        run.move(0, Kind.WRITE, path, [(65536 * i, 65536) for i in range(20)])
        if late:
            run.call(0, Kind.ALLOCATE, path, offset, 4 * MIB, mode)
        run.close(0, path)
        run.meet(50 * MS)
    found = derived(run)
    check_exact(run, found, files=4)
    return found


def test_what_is_allocated_at_once_is_an_option() -> None:
    found = allocated(0, 1)
    assert options(found) == {"preallocate": "4 MiB"}
    assert found.origin is not None
    assert not any("allocate" in text for text in found.origin.assumed)


@pytest.mark.parametrize(
    "found",
    [
        {"mode": KEEP_SIZE, "times": 1},
        {"mode": 0, "times": 2},
        {"mode": 0, "times": 1, "late": True},
        {"mode": 0, "times": 1, "offset": MIB},
    ],
)
def test_other_allocations_are_left_out_and_said_so(found: dict[str, int]) -> None:
    workload = allocated(**found)  # type: ignore[arg-type]
    assert options(workload) == {}
    assert workload.origin is not None
    assert any("4 allocate" in t or "8 allocate" in t for t in workload.origin.assumed)
