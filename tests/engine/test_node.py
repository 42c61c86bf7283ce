"""Several nodes on one machine: each pair of ranks gets a host name of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.plans import (
    RANK,
    RANKS,
    Content,
    Operator,
    PathPart,
    Phase,
    Sharing,
    binary,
    fault,
    file,
    manage,
    nest,
    number,
    phase,
    plan,
    read,
    slot,
    times,
    write,
)
from engine.running import Engine, is_gone, kinds, on_nodes

pytestmark = pytest.mark.needs("root")


@pytest.mark.parametrize("comm", ["openmpi", "mpich"])
def test_two_nodes(engine: Engine, tmp_path: Path, comm: str) -> None:
    own = [PathPart(text="node."), PathPart(value=slot(4))]
    pattern = nest(times(RANK, 1 << 20), (20, 4096))
    across = binary(Operator.MODULO, binary(Operator.ADD, RANK, number(2)), RANKS)
    made = plan(
        tmp_path,
        [file(content=Content(verify=True)), file("node", path=own, sharing=Sharing.NODE)],
        [
            phase("w", manage("create"), manage("create", 1), write(4096, pattern)),
            phase("r", read(4096, pattern, owner=across)),
        ],
        ranks=4,
    )
    outcome = on_nodes(engine, comm, made, "rank / 2")
    assert outcome.code == 0, outcome.stderr
    hello = outcome.of("hello")[0]
    assert hello["hosts"] == ["node0", "node1"]
    assert hello["node_of_rank"] == [0, 0, 1, 1]
    assert hello["clock"]["offset_uncertainty_s"] > 0
    first, second = hello["clock"]["offset_of_host_ns"]
    assert first == 0
    assert abs(second) < 10**9  # both count from when this machine was started
    assert kinds(outcome.phase("w")) == {"create": 3, "open": 5, "write": 80}
    # Both nodes are this machine, so clocks agree: nobody starts before the phase or after it.
    of_ranks = outcome.phase("w")["per_rank"]
    assert min(of_ranks["start_s"]) == 0
    assert max(of_ranks["start_s"]) < outcome.phase("w")["seconds"]["total"]
    reads = outcome.phase("r")
    # Both nodes are this machine, so what the other one wrote is in this one's memory: seen.
    assert (reads["errors"], reads["cache"]) == (0, "warm")
    assert reads["cached_share"] > 0.9
    assert is_gone(made)


@pytest.mark.parametrize("comm", ["openmpi", "mpich"])
def test_readers_of_uneven_nodes(engine: Engine, tmp_path: Path, comm: str) -> None:
    # Ranks 0, 1 and 2 are on one node, 3 and 4 on the other. Rank r writes r + 1 blocks, so what a
    # rank reads says whose file it was.
    own = nest(0, (binary(Operator.ADD, RANK, number(1)), 4096))
    peer = binary(Operator.SAME_SLOT_NEXT_NODE, RANK, number(1))
    stranger = binary(Operator.RANDOM_REMOTE_RANK, RANK, number(11))

    def reads(name: str, owner: list) -> Phase:
        body = [manage("open", 0, owner), read(4096, own, owner=owner), manage("close", 0, owner)]
        return phase(name, *body)

    made = plan(
        tmp_path,
        [file(per_rank=True, content=Content(verify=True))],
        [
            phase("w", manage("create"), write(4096, own), manage("close")),
            reads("same_slot_next_node", peer),
            reads("random_remote_rank", stranger),
        ],
        ranks=5,
    )
    outcome = on_nodes(engine, comm, made, "rank / 3")
    assert outcome.code == 0, outcome.stderr
    assert outcome.of("hello")[0]["node_of_rank"] == [0, 0, 0, 1, 1]
    whose = {
        name: [size // 4096 - 1 for size in outcome.phase(name)["per_rank"]["bytes"]]
        for name in ("w", "same_slot_next_node", "random_remote_rank")
    }
    assert whose["w"] == [0, 1, 2, 3, 4]
    assert whose["same_slot_next_node"] == [3, 4, 3, 0, 1]
    assert all(owner > 2 for owner in whose["random_remote_rank"][:3])
    assert all(owner < 3 for owner in whose["random_remote_rank"][3:])
    for name in ("same_slot_next_node", "random_remote_rank"):
        assert "another node" in outcome.phase(name)["cache_reason"]
        assert outcome.phase(name)["errors"] == 0


@pytest.mark.parametrize("comm", ["openmpi", "mpich"])
@pytest.mark.parametrize("victim", [1, 2], ids=["first node", "second node"])
def test_a_failure_stops_the_ranks_of_the_other_node(
    engine: Engine, tmp_path: Path, comm: str, victim: int
) -> None:
    # By themselves the others would be busy for an hour.
    made = plan(
        tmp_path,
        [file(interface="null", faults=[fault("eio", "write", rank=victim, nth=5)])],
        [phase("w", manage("create"), write(4096, nest(0, (10**11, 4096))))],
        ranks=4,
    )
    outcome = on_nodes(engine, comm, made, "rank / 2")
    assert outcome.code == 3, outcome.stderr
    assert outcome.failed["message"].startswith(f"write of data failed on rank {victim}")
    event = outcome.phase("w")
    assert (event["errors"], event["stopped_by"]) == (1, "error")
