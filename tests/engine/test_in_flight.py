"""Several requests of a rank in flight: counts, times, limits, and what goes wrong among them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from engine.plans import (
    RANK,
    ClockKind,
    Content,
    Plan,
    SyncMode,
    fault,
    file,
    manage,
    nest,
    phase,
    plan,
    random,
    read,
    times,
    write,
)
from engine.running import Engine, is_gone, kinds, size_of_group
from engine.test_conformance import check_sums

BLOCK = 4096
INTERFACES = ["uring", "null", "simulated"]


def in_flight(
    place: Path,
    ranks: int,
    interface: str = "uring",
    *,
    depth: int = 8,
    count: int = 50,
    **rest: Any,
) -> Plan:
    """Every rank writes and reads `count` blocks of a shared file, `depth` at a time."""
    pattern = nest(times(RANK, count * BLOCK), (count, BLOCK))
    return plan(
        place,
        [file(interface=interface, content=Content(verify=True), **rest)],
        [
            phase("write", manage("create"), write(BLOCK, pattern, depth=depth), manage("close")),
            phase("read", manage("open"), read(BLOCK, pattern, depth=depth), manage("close")),
        ],
        ranks=ranks,
        clock=ClockKind.SIMULATED if interface == "simulated" else ClockKind.REAL,
    )


@pytest.mark.parametrize("interface", INTERFACES)
def test_totals(engine: Engine, tmp_path: Path, comm: str, interface: str) -> None:
    ranks = size_of_group(comm)
    made = in_flight(tmp_path, ranks, interface)
    outcome = engine.run(made, comm)
    assert outcome.code == 0, (outcome.events, outcome.stderr)
    for name in ("write", "read"):
        event = outcome.phase(name)
        check_sums(event)
        assert event["bytes"] == ranks * 50 * BLOCK
        assert event["request_sizes"] == [{"kind": name, "bytes": BLOCK, "count": ranks * 50}]
        assert event["seconds"]["transfer"] <= event["seconds"]["total"]
    assert is_gone(made)


@pytest.mark.parametrize("depth", [2, 3, 4, 16])
def test_simulated_requests_overlap_exactly(engine: Engine, tmp_path: Path, depth: int) -> None:
    count, latency, move = 40, 0.008, 0.004
    pattern = nest(0, (count, 4000))
    options = {"latency_s": str(latency), "bandwidth_bytes_per_s": "1e6"}
    made = plan(
        tmp_path,
        [file(interface="simulated", options=options)],
        [manage("create"), phase("w", write(4000, pattern, depth=depth))],
        clock=ClockKind.SIMULATED,
    )
    ends: list[float] = []
    for i in range(count):
        begin = ends[i - depth] if i >= depth else 0.0
        ends.append(max(ends[-1] if ends else 0.0, begin + latency) + move)
    event = engine.run(made, "alone").phase("w")
    assert event["seconds"]["total"] == pytest.approx(ends[-1], abs=1e-9)
    assert event["seconds"]["transfer"] == pytest.approx(ends[-1], abs=1e-9)
    latencies = [end - (ends[i - depth] if i >= depth else 0.0) for i, end in enumerate(ends)]
    found = event["by_operation"][0]["latency"]
    assert found["min_ns"] == pytest.approx(min(latencies) * 1e9, abs=1)
    assert found["max_ns"] == pytest.approx(max(latencies) * 1e9, abs=1)


@pytest.mark.parametrize("depth", [2, 32, 4096])
@pytest.mark.parametrize(
    "options",
    [{}, {"registered_buffers": "true", "registered_files": "true"}, {"direct": "true"}],
    ids=["plain", "registered", "direct"],
)
def test_every_block_is_moved_once(
    engine: Engine, tmp_path: Path, depth: int, options: dict[str, str]
) -> None:
    made = plan(
        tmp_path,
        [file(interface="uring", options=options, keep=True, content=Content(verify=True))],
        [
            manage("create"),
            phase("w", write(BLOCK, random(5000, 5000), depth=depth)),
            phase("r", read(BLOCK, random(5000, 5000), depth=depth)),
            manage("close"),
        ],
    )
    outcome = engine.run(made, "alone")
    assert outcome.code == 0, (outcome.events, outcome.stderr)
    assert (outcome.phase("r")["errors"], outcome.phase("r")["operations"]) == (0, 5000)
    blob = (Path(made.directory) / "data").read_bytes()
    assert len(blob) == 5000 * BLOCK
    assert all(any(blob[i * BLOCK : (i + 1) * BLOCK]) for i in range(5000))


@pytest.mark.parametrize("interface", ["uring", "simulated"])
@pytest.mark.parametrize("operation", ["write", "read"])
def test_one_failure_lets_the_others_land(
    engine: Engine, tmp_path: Path, comm: str, interface: str, operation: str
) -> None:
    ranks = size_of_group(comm)
    sick = fault("eio", operation, rank=ranks - 1, nth=5)
    made = in_flight(tmp_path, ranks, interface, faults=[sick])
    outcome = engine.run(made, comm)
    assert outcome.code == 3
    event = outcome.phase(operation)
    assert (event["errors"], event["stopped_by"]) == (1, "error")
    detail = event["details"][0]
    assert (detail["rank"], detail["errno"]) == (ranks - 1, 5)
    assert detail["offset"] == ((ranks - 1) * 50 + 4) * BLOCK
    done = event["per_rank"]["bytes"]
    # The others stop when they see it, or have done all by then.
    assert all(each % BLOCK == 0 and each <= 50 * BLOCK for each in done[:-1])
    # What was in flight beside the failed one ended well, and nothing was begun after it.
    assert 4 * BLOCK <= done[-1] <= 11 * BLOCK
    assert is_gone(made)


def test_short_transfers_are_continued(engine: Engine, tmp_path: Path) -> None:
    sick = [fault("short", "write", nth=3, every=7), fault("short", "read", nth=2, every=5)]
    made = in_flight(tmp_path, 2, faults=sick)
    outcome = engine.run(made)
    assert outcome.code == 0, outcome.events
    assert outcome.phase("write")["short_transfers"] > 0
    assert outcome.phase("read")["short_transfers"] > 0
    assert outcome.phase("read")["errors"] == 0
    assert outcome.phase("read")["bytes"] == 2 * 50 * BLOCK


@pytest.mark.parametrize("operation", ["write", "read"])
def test_a_flipped_bit_is_found(engine: Engine, tmp_path: Path, comm: str, operation: str) -> None:
    ranks = size_of_group(comm)
    made = in_flight(tmp_path, ranks, faults=[fault("flip", operation, rank=ranks - 1, nth=5)])
    outcome = engine.run(made, comm)
    assert outcome.code == 3
    detail = outcome.phase("read")["details"][0]
    assert detail["what"].startswith("flipped bit: 1 bit(s) differ")
    assert detail["offset"] == ((ranks - 1) * 50 + 4) * BLOCK + BLOCK // 2
    assert outcome.phase("read")["errors"] == 1


def test_the_end_of_the_file_is_an_error(engine: Engine, tmp_path: Path) -> None:
    made = plan(
        tmp_path,
        [file(interface="uring")],
        [
            phase("w", manage("create"), write(BLOCK, nest(0, (10, BLOCK)), depth=4)),
            phase("r", read(BLOCK, nest(0, (11, BLOCK)), depth=4)),
        ],
    )
    outcome = engine.run(made, "alone")
    assert outcome.code == 3
    assert outcome.phase("r")["details"][0]["what"] == "the file ends here"
    assert outcome.phase("r")["details"][0]["offset"] == 10 * BLOCK
    assert kinds(outcome.phase("r"))["read"] == 10


def test_a_limit_ends_at_the_same_count(engine: Engine, tmp_path: Path, comm: str) -> None:
    ranks = size_of_group(comm)
    wrapped = write(BLOCK, nest(times(RANK, 1 << 20), (10**9, 0), (256, BLOCK)), depth=16)
    made = plan(
        tmp_path,
        [file(interface="uring")],
        [manage("create"), phase("p", wrapped, limit_s=0.3, bound_s=20.0), manage("close")],
        ranks=ranks,
    )
    event = engine.run(made, comm).phase("p")
    assert event["stopped_by"] == "limit"
    assert len(set(event["per_rank"]["operations"])) == 1
    assert event["seconds"]["total"] > 0.3


def test_a_limit_in_virtual_time(engine: Engine, tmp_path: Path) -> None:
    options = {"latency_s": "0.001", "bandwidth_bytes_per_s": "1e6"}
    body = write(1000, nest(0, (10**6, 0)), depth=4)
    made = plan(
        tmp_path,
        [file(interface="simulated", options=options)],
        [manage("create"), phase("p", body, limit_s=0.1, bound_s=10)],
        clock=ClockKind.SIMULATED,
    )
    event = engine.run(made, "alone").phase("p")
    # A request ends each millisecond from 2 ms on. At 100 ms none begins any more, and the three
    # that are in flight end.
    assert event["operations"] == 102
    assert event["seconds"]["total"] == pytest.approx(0.103, abs=1e-9)


@pytest.mark.parametrize(
    ("interface", "change", "where"),
    [
        ("posix", {}, "requests in flight"),
        ("stdio", {}, "requests in flight"),
        ("mmap", {}, "requests in flight"),
        ("uring", {"sync": SyncMode.FSYNC}, "no room for syncs"),
        ("uring", {"think_s": 0.1}, "pauses"),
    ],
)
def test_what_cannot_be_in_flight_is_refused(
    engine: Engine, tmp_path: Path, interface: str, change: dict[str, Any], where: str
) -> None:
    body = write(BLOCK, nest(0, (2, BLOCK)), depth=2, **change)
    made = plan(tmp_path, [file(interface=interface)], [phase("p", manage("create"), body)])
    outcome = engine.run(made)
    assert outcome.code == 2
    assert outcome.failed["where"] == "groups[0].program[0].body[1].depth"
    assert where in outcome.failed["message"]


@pytest.mark.unsanitized("the address sanitizer ends a program that asks for too much")
def test_more_than_memory_is_refused(engine: Engine, tmp_path: Path) -> None:
    body = read(1 << 40, nest(0, (4096, 0)), depth=4096)
    made = plan(tmp_path, [file(interface="uring")], [phase("p", manage("create"), body)])
    outcome = engine.run(made, "alone")
    assert outcome.code == 3  # found when the phase has begun
    assert "memory" in outcome.failed["message"]


COUNTER = """
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>
static unsigned long calls;
void* malloc(size_t bytes) {
  static void* (*next)(size_t);
  if (!next) next = (void* (*)(size_t))dlsym(RTLD_NEXT, "malloc");
  ++calls;
  return next(bytes);
}
__attribute__((destructor)) static void tell(void) {
  char text[32];
  int length = snprintf(text, sizeof text, "calls %lu\\n", calls);
  if (write(2, text, (size_t)length) < 0) return;
}
"""


@pytest.mark.parametrize(
    ("interface", "depth"), [("null", 1), ("null", 32), ("uring", 32), ("posix", 1)]
)
def test_no_operation_allocates(engine: Engine, tmp_path: Path, interface: str, depth: int) -> None:
    source, library = tmp_path / "counter.c", tmp_path / "counter.so"
    source.write_text(COUNTER)
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", library, source], check=True)
    calls = []
    for count in (1000, 20_000):
        place = tmp_path / str(count)
        place.mkdir()
        body = write(512, nest(0, (count, 0)), depth=depth)
        made = plan(place, [file(interface=interface)], [phase("p", manage("create"), body)])
        done = subprocess.run(
            engine.command(made, "alone"),
            env=os.environ | {"LD_PRELOAD": str(library)},
            capture_output=True,
            text=True,
            check=True,
            timeout=600,
        )
        calls.append(int(done.stderr.split("calls ")[1]))
    # What is reported may differ in length by some progress events, not by 19 000 operations.
    assert abs(calls[1] - calls[0]) < 5000, calls
