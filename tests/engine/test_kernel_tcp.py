"""TCP between pairs of ranks: what is measured, what it is called, and what refuses it."""

from __future__ import annotations

import itertools
import json
import math
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from analyse.phase import phase as phase_row
from engine.node_network import NodeNetwork, node_network
from engine.plans import phase, plan
from engine.running import Engine, Outcome, on_nodes
from engine.test_kernel_compute import facts
from engine.test_kernel_form import SMALL, failed, result, run, series
from venturi.health.fault import named_faults
from venturi.model.event import KernelResult
from venturi.model.kernel import KERNELS
from venturi.model.plan import Kernel, Option, Plan
from venturi.model.record import Record

NAME = "tcp_pairs"
FIGURES = {"bandwidth": "B/s", "slowest pair": "B/s", "total": "B/s", "round trip": "s"}
OF_STREAMS = (
    "bandwidth of pair",
    "retransmits",
    "smoothed round trip",
    "congestion window",
    "delivery rate",
)


def check(kernel: dict[str, Any], kind: str, pairs: list[tuple[int, int]], samples: int) -> None:
    """The figures and series of one kind, and none of another."""
    found = series(kernel)
    assert {name.split()[0] for name in found} == {kind}
    for figure, unit in FIGURES.items():
        one = found[f"{kind} {figure}"]
        assert one["unit"] == unit
        assert [point["figure"] for point in one["points"]] == [f"{kind} {figure}"]
        assert min(one["points"][0]["samples"]) > 0.0
    both = sorted([*pairs, *((to, start) for start, to in pairs)])
    for name in OF_STREAMS:
        points = found[f"{kind} {name}"]["points"]
        assert [tuple(point["at"]) for point in points] == both
        assert {len(point["samples"]) for point in points} == {samples}
        assert min(min(point["samples"]) for point in points) >= 0.0
    trips = found[f"{kind} round trip of pair"]["points"]
    assert [tuple(point["at"]) for point in trips] == pairs
    assert {len(point["samples"]) for point in trips} == {5}
    assert min(min(point["samples"]) for point in trips) > 0.0


def step(**options: str) -> Kernel:
    chosen = {**SMALL[NAME], **options}
    return Kernel(name=NAME, options=[Option(name=k, value=v) for k, v in chosen.items()])


def planned(tmp_path: Path, ranks: int, **options: str) -> Plan:
    return plan(tmp_path, [], [phase("machine", step(**options))], ranks=ranks)


@pytest.mark.parametrize("way", ["turns", "both"])
@pytest.mark.parametrize("streams", ["1", "3"])
def test_two_ranks_of_one_machine_are_loopback(
    engine: Engine, tmp_path: Path, way: str, streams: str
) -> None:
    kernel = result(run(engine, tmp_path, "forked", 2, NAME, way=way, streams=streams))
    check(kernel, "loopback", [(0, 1)], 2)
    assert facts(kernel)["address of each pair"].startswith("0-1 127.0.0.1 (lo)")


def test_under_each_mpi(engine: Engine, tmp_path: Path, mpi: str) -> None:
    check(result(run(engine, tmp_path, mpi, 3, NAME)), "loopback", [(0, 1)], 2)


def test_nodes_by_name_alone_are_no_network(engine: Engine, tmp_path: Path, mpi: str) -> None:
    """Two ranks on each node: one of them measures. The nodes differ in their name alone."""
    made = planned(tmp_path, 4)
    kernel = result(on_nodes(engine, mpi, made, "rank / 2"))
    check(kernel, "loopback", [(0, 2)], 2)
    assert kernel["ranks"] == 2


@pytest.mark.parametrize("ranks", [4, 5])
def test_all_ranks_meet_each_other(engine: Engine, tmp_path: Path, ranks: int) -> None:
    kernel = result(run(engine, tmp_path, "forked", ranks, NAME, ranks="all", steps="9"))
    check(kernel, "loopback", list(itertools.combinations(range(ranks), 2)), 2)
    totals = series(kernel)["loopback total"]["points"][0]["samples"]
    assert len(totals) == 2 * 2 * (ranks - 1 + ranks % 2)


def test_steps_and_ways_are_those_that_were_asked_for(engine: Engine, tmp_path: Path) -> None:
    wanted = {"ranks": "all", "steps": "2", "way": "one"}
    found = series(result(run(engine, tmp_path, "forked", 6, NAME, **wanted)))
    points = found["loopback bandwidth of pair"]["points"]
    assert len(points) == 2 * 3
    assert all(point["at"][0] < point["at"][1] for point in points)


def test_slowest_pairs_are_measured_again_alone(engine: Engine, tmp_path: Path) -> None:
    wanted = {"ranks": "all", "steps": "3", "slowest": "2"}
    found = series(result(run(engine, tmp_path, "forked", 4, NAME, **wanted)))
    again = {tuple(point["at"]) for point in found["loopback bandwidth of pair alone"]["points"]}
    assert len(again) == 4
    assert {(to, start) for start, to in again} == again
    medians: dict[tuple[int, ...], float] = {}
    for point in found["loopback bandwidth of pair"]["points"]:
        pair = tuple(sorted(point["at"]))
        medians[pair] = min(medians.get(pair, math.inf), max(point["samples"]))
    assert {pair for pair in again if pair[0] < pair[1]} == set(
        sorted(medians, key=lambda pair: medians[pair])[:2]
    )


def test_total_is_the_sum_of_pairs(engine: Engine, tmp_path: Path) -> None:
    wanted = {"ranks": "all", "steps": "1", "way": "one", "samples": "3"}
    found = series(result(run(engine, tmp_path, "forked", 4, NAME, **wanted)))
    of_pairs = [point["samples"] for point in found["loopback bandwidth of pair"]["points"]]
    totals = found["loopback total"]["points"][0]["samples"]
    assert totals == pytest.approx([sum(one) for one in zip(*of_pairs, strict=True)])


@pytest.mark.parametrize("way", ["turns", "both", "one"])
def test_spoilt_block_is_no_number(engine: Engine, tmp_path: Path, way: str) -> None:
    kernel = failed(run(engine, tmp_path, "forked", 3, NAME, damage="true", way=way))
    assert "tcp_pairs: block from rank" in kernel["failure"]
    assert "not" in kernel["failure"]


def test_spoilt_block_is_no_number_under_mpi(engine: Engine, tmp_path: Path, mpi: str) -> None:
    kernel = failed(run(engine, tmp_path, mpi, 2, NAME, damage="true"))
    assert "tcp_pairs: block from rank" in kernel["failure"]


def test_an_address_that_is_not_there(engine: Engine, tmp_path: Path) -> None:
    for wanted in ("ib7", "203.0.113.9", "203.0.113.0/24", "2001:db8::/32", "10.0.0.0/33"):
        kernel = failed(run(engine, tmp_path / wanted[:2], "forked", 2, NAME, address=wanted))
        assert f"has no interface, address or network '{wanted}'" in kernel["failure"]
        assert "127.0.0.1 (lo)" in kernel["failure"]


@pytest.mark.parametrize("wanted", ["lo", "127.0.0.1", "127.0.0.0/8"])
def test_an_address_that_was_asked_for(engine: Engine, tmp_path: Path, wanted: str) -> None:
    kernel = result(run(engine, tmp_path, "forked", 2, NAME, address=wanted))
    assert facts(kernel)["address of each pair"] == "0-1 127.0.0.1 (lo)"


def test_one_rank_has_nobody(engine: Engine, tmp_path: Path) -> None:
    found = run(engine, tmp_path, "alone", 1, NAME)
    assert found.code == 2
    assert "tcp_pairs needs at least 2 ranks, not 1" in found.failed["message"]
    assert KERNELS[NAME].least_ranks == 2


@pytest.fixture
def nodes(tmp_path: Path) -> Iterator[NodeNetwork]:
    """Four nodes with a network between them."""
    with node_network(tmp_path, 4) as network:
        yield network


def rates(found: Outcome) -> dict[tuple[int, int], float]:
    """The best sample of each pair."""
    points = series(result(found))["network bandwidth of pair"]["points"]
    return {(point["at"][0], point["at"][1]): max(point["samples"]) for point in points}


@pytest.mark.needs("root", "openmpi", "network")
def test_machines_are_a_network(engine: Engine, tmp_path: Path, nodes: NodeNetwork) -> None:
    kernel = result(nodes.run(engine, planned(tmp_path, 4)))
    check(kernel, "network", list(itertools.combinations(range(4), 2)), 2)
    assert "0-1 10.77.0.2 (eth0)" in facts(kernel)["address of each pair"]


@pytest.mark.needs("root", "openmpi", "network")
def test_limited_node_has_no_more_than_its_limit(
    engine: Engine, tmp_path: Path, nodes: NodeNetwork
) -> None:
    """40 Mbit/s are 5 MB/s; the bucket of 64 KB is more, once."""
    nodes.limit(2, "40mbit")
    found = rates(nodes.run(engine, planned(tmp_path, 4, sample_s="0.3")))
    most = 5e6 + 64e3 / 0.3
    assert all(found[2, other] < most for other in (0, 1, 3))
    others = [rate for (start, _), rate in found.items() if start != 2]
    assert min(others) > most


@pytest.mark.needs("root", "openmpi", "network")
def test_slow_node_is_named(engine: Engine, tmp_path: Path, nodes: NodeNetwork) -> None:
    for node in range(4):
        nodes.limit(node, "40mbit" if node == 2 else "400mbit")
    kernel = result(nodes.run(engine, planned(tmp_path, 4, sample_s="0.1", samples="3")))
    row = phase_row("tcp", 1.0).model_copy(
        update={"kernels": [KernelResult.model_validate_json(json.dumps(kernel))]}
    )
    found = named_faults(Record.model_construct(phases=[row]), [])
    assert [fault.part for fault in found] == ["tcp"]
    assert found[0].says.startswith("slow node node2 (rank 2): streams of TCP that it sends take")


@pytest.mark.needs("root", "openmpi", "network")
@pytest.mark.parametrize("kind", ["blackhole", "prohibit"])
def test_who_cannot_reach_whom_is_said(
    engine: Engine, tmp_path: Path, nodes: NodeNetwork, kind: str
) -> None:
    """Where answers get lost as behind a firewall, and where the way is refused."""
    start, to = (1, 0) if kind == "blackhole" else (0, 1)
    nodes.route(start, kind, to)
    kernel = failed(nodes.run(engine, planned(tmp_path, 2, limit_s="1")))
    assert "no connection to rank 1 on node1 at port" in kernel["failure"]
    said = "no answer within 1.0 s" if kind == "blackhole" else "Permission denied"
    assert f"10.77.0.2 (eth0): {said}" in kernel["failure"]


def cut_when_it_sends(nodes: NodeNetwork, over: threading.Event) -> None:
    """Takes the way from node 0 to node 1 away once megabytes have gone over it."""
    while not over.wait(0.02):
        if nodes.sent_bytes(0) > 20e6:
            nodes.route(0, "blackhole", 1)
            return


@pytest.mark.needs("root", "openmpi", "network")
def test_cut_while_it_measures_ends_in_time(
    engine: Engine, tmp_path: Path, nodes: NodeNetwork
) -> None:
    """The way is lost in the middle: no number, and no wait without an end."""
    over = threading.Event()
    cut = threading.Thread(target=cut_when_it_sends, args=(nodes, over))
    cut.start()
    try:
        wanted = {"sample_s": "5", "samples": "20", "limit_s": "1"}
        kernel = failed(nodes.run(engine, planned(tmp_path, 2, **wanted)))
    finally:
        over.set()
        cut.join()
    assert "no byte moved from or to rank" in kernel["failure"]
