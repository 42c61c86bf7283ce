"""What a program computes between its calls is in its proxy, wherever and however rarely."""

from __future__ import annotations

import random

import numpy as np
import pytest
from traced_run import MS, REOPEN, US, TracedRun, planned

from venturi.derive.workload import derive
from venturi.model.operation import Kind


def visits(run: TracedRun, rank: int, chance: random.Random, files: int, requests: int) -> None:
    """Writes files, in turns or one by one, now and then stopped for milliseconds; reads them."""
    share, most = chance.choice([0.003, 0.02, 0.1, 0.6]), chance.choice([2, 8]) * MS
    usual = chance.choice([0, 5 * US, 40 * US])
    is_in_turns, is_mixed = chance.random() < 0.5, chance.random() < 0.3

    def stop() -> None:
        run.now[rank] += usual + (chance.random() < share) * chance.randrange(MS // 5, most)

    names = [f"r{rank}_{number}.dat" for number in range(files)]
    for kind, way in ((Kind.WRITE, 0), (Kind.READ, REOPEN)):
        order = [(turn, name) for turn in range(requests) for name in names]
        if not is_in_turns:
            order.sort(key=lambda pair: names.index(pair[1]))
        for turn, name in order:
            if turn == 0:
                stop()
                run.open(rank, name, way) if way else run.open(rank, name)
            stop()
            size = chance.randrange(200, 5000) if is_mixed else 4096
            run.move(rank, kind, name, [(turn * 5000, size)])
            if turn == requests - 1:
                stop()
                run.close(rank, name)
    run.now[rank] += MS


def computed_s(rows: np.ndarray) -> float:
    """What is between these calls, whoever made them."""
    rows = rows[np.argsort(rows[:, 6], kind="stable")]
    way = rows[1:, 6] - np.maximum.accumulate(rows[:, 7])[:-1]
    return float(np.maximum(way, 0).sum()) / 1e9


def check_kept(run: TracedRun, expected_s: float, with_ranks: bool = True) -> None:
    """Each rank of the proxy computes as long, if the run was captured by the tracer; less only
    where the proxy says that pauses are left out."""
    found = derive(run.captured(with_ranks, source="venturi"), "run")
    told_s = planned(found).totals.seconds_computing
    # From call to call a program and its recording take up to 2 us, which is no computing.
    near_s = 0.03 * expected_s + 2e-6 * len(run.rows) / (run.ranks if with_ranks else 1)
    assert found.origin is not None
    if any("pauses" in said and "left out" in said for said in found.origin.assumed):
        assert told_s <= expected_s + near_s
    else:
        assert told_s == pytest.approx(expected_s, abs=near_s)


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("seed", range(8))
def test_stops_at_random_calls_are_kept(seed: int, ranks: int) -> None:
    chance = random.Random(1000 * ranks + seed)
    run = TracedRun(ranks, seed=seed)
    files, requests = chance.choice([(2, 60), (20, 12), (60, 6), (3, 90)])
    for rank in range(ranks):
        visits(run, rank, random.Random(seed), files, requests)
    rows = np.array(run.rows, np.int64)
    each_s = [computed_s(rows[rows[:, 0] == rank]) for rank in range(ranks)]
    check_kept(run, sum(each_s) / ranks)


@pytest.mark.parametrize("seed", range(2))
def test_processes_that_work_at_once_compute_while_the_others_do(seed: int) -> None:
    """Of a pipe the one rank of the proxy computes what is between the calls of all."""
    run = TracedRun(2, seed=seed)
    visits(run, 0, random.Random(10 * seed), 4, 60)
    visits(run, 1, random.Random(10 * seed + 1), 1, 20)
    expected_s = computed_s(np.array(run.rows, np.int64))
    check_kept(run, expected_s, with_ranks=False)
