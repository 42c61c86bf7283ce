"""Programs with known parameters, counted as Darshan would: derive gives the parameters back."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from simulated_log import RankLog, trace_of_files
from test_ours import check_totals

from venturi.derive.ior import ior_size
from venturi.derive.workload import derive
from venturi.model.workload import Origin, Workload

TRANSFERS = [1000, 4096, 47008, 2**16, 2**20]


def ior_requests(rank: int, ranks: int, shape: tuple[int, int, int]) -> list[tuple[int, int]]:
    """Offsets and sizes of IOR's nest for one rank; 1 rank stands for its own file."""
    transfer, per_block, segments = shape
    block = transfer * per_block
    return [
        ((segment * ranks + rank) * block + i * transfer, transfer)
        for segment in range(segments)
        for i in range(per_block)
    ]


def run_ior(ranks: int, shape: tuple[int, int, int], kinds: list[str], is_shared: bool) -> Workload:
    """Derives from the counters of an IOR run."""
    logs = {}
    for rank in range(ranks):
        log = RankLog()
        requests = ior_requests(rank, ranks, shape) if is_shared else ior_requests(0, 1, shape)
        for step, kind in enumerate(kinds):
            log.open(1.0 + step)
            log.run(kind, requests, 1.0 + step)
        logs[rank] = log
    if is_shared:
        return derive(trace_of_files([("data", logs)], ranks), "ior")
    files = [(f"data.{rank:08d}", {rank: log}) for rank, log in logs.items()]
    return derive(trace_of_files(files, ranks), "ior")


def origin_of(workload: Workload) -> Origin:
    """The origin, which derived workloads always have."""
    assert workload.origin is not None
    return workload.origin


@settings(max_examples=200, deadline=None)
@given(
    ranks=st.integers(2, 9),
    transfer=st.sampled_from(TRANSFERS),
    per_block=st.integers(1, 9),
    segments=st.integers(1, 12),
    kinds=st.sampled_from([["write"], ["read"], ["write", "read"]]),
)
def test_shared_files(
    ranks: int, transfer: int, per_block: int, segments: int, kinds: list[str]
) -> None:
    workload = run_ior(ranks, (transfer, per_block, segments), kinds, is_shared=True)
    check_totals(workload)
    words = " ".join(f"-{kind[0]}" for kind in kinds)
    block = ior_size(transfer * per_block)
    expected = f"ior -a POSIX {words} -t {ior_size(transfer)} -b {block} -s {segments}"
    assert origin_of(workload).ior == expected


@settings(max_examples=100, deadline=None)
@given(
    ranks=st.integers(1, 9),
    transfer=st.sampled_from(TRANSFERS),
    per_block=st.integers(2, 9),
    segments=st.integers(1, 12),
)
def test_own_files(ranks: int, transfer: int, per_block: int, segments: int) -> None:
    workload = run_ior(ranks, (transfer, per_block, segments), ["write", "read"], is_shared=False)
    check_totals(workload)
    own = "-F " if ranks > 1 else ""
    volume = ior_size(transfer * per_block * segments)
    expected = f"ior -a POSIX {own}-w -r -t {ior_size(transfer)} -b {volume} -s 1"
    assert origin_of(workload).ior == expected


@settings(max_examples=100, deadline=None)
@given(
    ranks=st.integers(1, 6), slots=st.integers(64, 300), run=st.integers(1, 4), seed=st.integers()
)
def test_random_order_is_seen(ranks: int, slots: int, run: int, seed: int) -> None:
    """Random runs of requests, each rank over its own part of one file."""
    transfer = 4096
    logs = {}
    for rank in range(ranks):
        order = list(range(rank * slots, (rank + 1) * slots))
        random.Random(f"{seed} {rank}").shuffle(order)
        log = RankLog()
        log.open(1.0)
        log.run(
            "write", [((s * run + i) * transfer, transfer) for s in order for i in range(run)], 1
        )
        logs[rank] = log
    workload = derive(trace_of_files([("data", logs)], ranks), "random")
    check_totals(workload)
    found = {c.field: c.value for c in origin_of(workload).confidence}
    assert (found["random"], found["block"]) == ("yes", "unknown")


@pytest.mark.parametrize("sizes", [[100, 5000, 2**20], [7, 8, 9, 10, 11, 12, 13, 14, 15]])
@pytest.mark.parametrize("is_shared", [True, False])
def test_mixes_of_sizes_add_up(sizes: list[int], is_shared: bool) -> None:
    """More sizes than Darshan keeps, and different ones on each rank."""
    ranks = 3
    logs = {}
    for rank in range(ranks):
        log, at, requests = RankLog(), 0, []
        for number in range(40 + rank):
            requests.append((at, sizes[(number * 7 + rank) % len(sizes)]))
            at += requests[-1][1]
        log.open(1.0)
        log.run("write", requests, 1.0)
        logs[rank] = log
    files = [("data", logs)] if is_shared else [(f"data.{r}", {r: log}) for r, log in logs.items()]
    check_totals(derive(trace_of_files(files, ranks), "mix"))


def test_gaps_in_an_own_file_are_kept() -> None:
    log = RankLog()
    log.open(1.0)
    log.run("read", [(block * 65536 + i * 4096, 4096) for block in range(30) for i in range(2)], 1)
    workload = derive(trace_of_files([("data", {0: log})], 1), "gaps")
    check_totals(workload)
    step = workload.model_dump(by_alias=True)["program"]["application"][0]["do"][1]
    assert (step["in"], step["do"][0]["read"]["at"]) == (30, "i * 64 KiB")
    assert step["do"][0]["read"]["size"] == "8 KiB"


def test_every_rank_reading_all_is_not_a_repetition() -> None:
    requests = [(i * 4096, 4096) for i in range(20)]
    logs = {}
    for rank in range(4):
        logs[rank] = RankLog()
        logs[rank].open(1.0)
        logs[rank].run("read", requests, 1.0)
    workload = derive(trace_of_files([("input", logs)], 4), "input")
    check_totals(workload)
    found = {c.field: c.value for c in origin_of(workload).confidence}
    assert found["passes"] == "whole file by each rank"
    assert "redundant-reads" in {finding.id for finding in origin_of(workload).findings}


@pytest.mark.parametrize("times", [1, 3])
def test_bytes_that_are_written_over_are_found(times: int) -> None:
    log = RankLog()
    log.open(1.0)
    for turn in range(times):
        log.run("write", [(i * 4096, 4096) for i in range(20)], 1.0 + turn)
    found = {
        one.id for one in origin_of(derive(trace_of_files([("f", {0: log})], 1), "f")).findings
    }
    assert ("redundant-writes" in found) == (times > 1)


def test_repetitions_open_the_file_again() -> None:
    logs = {}
    for rank in range(2):
        logs[rank] = RankLog()
        for turn in range(3):
            logs[rank].open(1.0 + turn)
            logs[rank].run("write", ior_requests(rank, 2, (4096, 4, 5)), 1.0 + turn)
    workload = derive(trace_of_files([("data", logs)], 2), "again")
    check_totals(workload)
    assert origin_of(workload).ior == "ior -a POSIX -w -t 4k -b 16k -s 5 -i 3"


def test_roles_of_ranks_become_conditions() -> None:
    """Rank 0 writes a large file of its own, the others small ones."""
    files = []
    for rank in range(4):
        log = RankLog()
        log.open(1.0)
        log.run("write", [(i * 4096, 4096) for i in range(100 if rank == 0 else 10)], 1.0)
        files.append((f"part.{rank}", {rank: log}))
    workload = derive(trace_of_files(files, 4), "roles")
    check_totals(workload)
    steps = workload.to_data()["program"]["application"]
    assert [step["do"][0]["when"] for step in steps] == ["rank == 0", "rank >= 1"]


def test_many_files_that_were_there_become_parts_of_one() -> None:
    """Prestaged files cannot depend on a loop."""
    files = []
    for rank in range(3):
        for number in range(4):
            log = RankLog()
            log.open(1.0)
            log.run("read", [(i * 4096, 4096) for i in range(10)], 1.0)
            files.append((f"in.{number}.{rank}", {rank: log}))
    workload = derive(trace_of_files(files, 3), "parts")
    check_totals(workload)
    assert workload.files["stream1"].path == "stream1"
    assert workload.files["stream1"].prestage == "160 KiB"
    loop = workload.to_data()["program"]["application"][0]["do"][0]
    assert (loop["in"], loop["do"][1]["read"]["at"]) == (4, "k * 40 KiB")
