"""Faults of a session are named from what its kernels measured, by phase and part."""

from __future__ import annotations

import random

from analyse.phase import phase
from venturi.analyse.kernel import figures_of, kernel_failures
from venturi.health.fault import named_faults, rank_times
from venturi.model.event import (
    Fact,
    KernelAxis,
    KernelPoint,
    KernelResult,
    KernelSeries,
    KernelStatistic,
)
from venturi.model.health import Health
from venturi.model.output import Better
from venturi.model.record import PhaseRow, Record


def series(name: str, points: dict[tuple[int, ...], list[float]]) -> KernelSeries:
    width = len(next(iter(points)))
    return KernelSeries(
        name=name,
        unit="s",
        better=Better.LOWER,
        statistic=KernelStatistic.MEDIAN,
        axes=[KernelAxis(name=f"rank{axis}") for axis in range(width)],
        points=[KernelPoint(at=list(at), samples=samples) for at, samples in points.items()],
    )


def result(path: str, *found: KernelSeries, failure: str = "", repetition: int = 0) -> PhaseRow:
    facts = [
        Fact(name="node of each rank", value="0 0 1 1"),
        Fact(name="processor of each rank", value="0 1 0 1"),
        Fact(name="host of node 0", value="alpha"),
        Fact(name="host of node 1", value="beta"),
    ]
    kernel = KernelResult(
        name="kernel", version=1, ranks=4, facts=facts, series=list(found), failure=failure
    )
    return phase(path, 1.0, repetition).model_copy(update={"kernels": [kernel]})


def record(*rows: PhaseRow) -> Record:
    return Record.model_construct(phases=list(rows))


def times(
    slow: dict[int, float], seed: int = 1, share: float = 1.0
) -> dict[tuple[int, ...], list[float]]:
    """Of four ranks, 10 samples of 20 ms; `share` of each is processor time."""
    noise = random.Random(seed)
    return {
        (rank,): [0.02 * slow.get(rank, 1.0) * share * noise.uniform(0.99, 1.01) for _ in range(10)]
        for rank in range(4)
    }


def test_slow_rank_is_named_with_its_place_and_cause() -> None:
    taken = series("time of each rank", times({3: 2.0}))
    had = series("processor time of each rank", times({3: 1.0}))
    [fault] = named_faults(record(result("triad", taken, had)), [])
    assert (fault.part, fault.phase) == ("memory", "triad")
    assert fault.says.startswith("slow rank 3 (beta, processor 1): ")
    assert "its processor did other work" in fault.says


def test_slow_node_is_named_once() -> None:
    taken = series("time of each rank", times({2: 1.6, 3: 1.6}))
    [fault] = named_faults(record(result("arithmetic", taken)), [])
    assert fault.says.startswith("slow node beta (each of its ranks: ")


def test_repetitions_are_judged_together() -> None:
    """A rank that was slow in one of three is not slow."""
    rows = [
        result("triad", series("time of each rank", times(slow, seed)), repetition=seed)
        for seed, slow in enumerate(({1: 2.0}, {}, {}))
    ]
    assert not named_faults(record(*rows), [])


def test_sessions_before_are_of_the_same_phase_and_rank() -> None:
    quiet = record(result("triad", series("time of each rank", times({}))))
    before = [Health.model_construct(noise="", ranks=rank_times(quiet)) for _ in range(5)]
    slow = record(result("triad", series("time of each rank", times(dict.fromkeys(range(4), 1.5)))))
    assert not named_faults(slow, [])
    assert not named_faults(quiet, before)
    found = named_faults(slow, before)
    assert len(found) == 4
    assert all("sessions before" in fault.says for fault in found)
    noisy = [session.model_copy(update={"noise": "others"}) for session in before]
    assert not named_faults(slow, noisy)


def test_slow_link_is_named() -> None:
    pairs = [(i, j) for i in range(6) for j in range(i + 1, 6)]
    noise = random.Random(2)
    at = {
        pair: [1e-5 * noise.uniform(0.98, 1.02) * (3.0 if pair == (1, 4) else 1.0)] * 3
        for pair in pairs
    }
    rows = result("links", series("time", at), series("retest", {(1, 4): [3e-5] * 3}))
    [fault] = named_faults(record(rows), [])
    assert (fault.part, fault.phase) == ("messages", "links")
    assert "link 1-4" in fault.says


def streams(
    slow: dict[tuple[int, int], float], name: str = "network bandwidth of pair"
) -> KernelSeries:
    """Of six ranks, three samples of about 1 GB/s; others take half of it in one of them."""
    noise = random.Random(3)
    at = {
        (i, j): [
            1e9 * noise.uniform(0.97, 1.0) / slow.get((i, j), 1.0) * took for took in (1, 0.5, 1)
        ]
        for i in range(6)
        for j in range(6)
        if i != j
    }
    return series(name, at)


def test_slow_node_and_its_way_are_named_by_tcp() -> None:
    sends = {(0, j): 9.0 for j in range(1, 6)}
    receives = {(i, 0): 9.0 for i in range(1, 6)}
    for slow, way in ((sends, "that it sends"), (receives, "that it receives"),
                      (sends | receives, "from and to it")):  # fmt: skip
        [fault] = named_faults(record(result("tcp", streams(slow))), [])
        assert (fault.part, fault.phase) == ("tcp", "tcp")
        assert fault.says.startswith(f"slow node alpha (rank 0): streams of TCP {way} take ")


def test_slow_link_is_named_by_tcp() -> None:
    [fault] = named_faults(record(result("tcp", streams({(1, 3): 4.0}))), [])
    assert fault.says.startswith("slow link alpha to beta (ranks 1 and 3): streams of TCP take ")


def test_what_only_shares_is_no_fault_of_tcp() -> None:
    assert not named_faults(record(result("tcp", streams({}))), [])
    among_others = streams({(1, 3): 4.0})
    for rate, faults in ((1e9, 0), (2.5e8, 1)):
        at: dict[tuple[int, ...], list[float]] = {(1, 3): [rate], (3, 1): [1e9]}
        alone = series("network bandwidth of pair alone", at)
        assert len(named_faults(record(result("tcp", among_others, alone)), [])) == faults
    assert not named_faults(record(result("tcp", streams({(1, 3): 1.4}))), [])


def test_loopback_is_no_link() -> None:
    slow = {(0, j): 9.0 for j in range(1, 6)}
    name = "loopback bandwidth of pair"
    assert not named_faults(record(result("tcp", streams(slow, name))), [])


def test_failed_kernel_has_no_figure_in_any_repetition() -> None:
    point = KernelPoint(at=[1], samples=[5.0], figure="triad")
    good = series("triad", {(1,): [5.0]}).model_copy(update={"points": [point]})
    rows = [result("triad", good), result("triad", failure="element 3 is 5, not 4", repetition=1)]
    rows.append(result("core", good))
    assert kernel_failures(rows) == ["triad: kernel FAILED: element 3 is 5, not 4"]
    assert list(figures_of(rows)) == ["core: triad"]
    assert not named_faults(record(rows[1]), [])
