"""Several nodes on one machine: each pair of ranks gets a host name of its own."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from engine.plans import (
    RANK,
    RANKS,
    Content,
    Operator,
    PathPart,
    Sharing,
    binary,
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
from engine.running import LAUNCHERS, Engine, Outcome, is_gone, kinds, parse

RANK_VARIABLE = {"openmpi": "OMPI_COMM_WORLD_RANK", "mpich": "PMI_RANK"}


@pytest.mark.parametrize("comm", ["openmpi", "mpich"])
def test_two_nodes(engine: Engine, tmp_path: Path, comm: str) -> None:
    if subprocess.run(["unshare", "-u", "true"], check=False, capture_output=True).returncode != 0:
        pytest.skip("host names of its own need `unshare --uts`, which is not allowed here")
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
    run = f"exec {engine.path(f'venturi-engine-{comm}')} run {made.journal}/plan.json"
    script = f'exec unshare -u sh -c "hostname node$(({RANK_VARIABLE[comm]} / 2)); {run}"'
    done = subprocess.run(
        [*LAUNCHERS[comm], "4", "sh", "-c", script],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    outcome = Outcome(done.returncode, parse(done.stdout), done.stderr)
    assert outcome.code == 0, outcome.stderr
    hello = outcome.of("hello")[0]
    assert hello["hosts"] == ["node0", "node1"]
    assert hello["node_of_rank"] == [0, 0, 1, 1]
    # Both nodes are this machine, so the offset is within its own bound of nothing.
    assert 0 < hello["clock"]["offset_uncertainty_s"] < 0.01
    assert kinds(outcome.phase("w")) == {"create": 3, "open": 5, "write": 80}
    assert max(outcome.phase("w")["per_rank"]["start_s"]) < 0.1
    reads = outcome.phase("r")
    assert (reads["errors"], reads["cache"]) == (0, "unknown")
    assert "another node" in reads["cache_reason"]
    assert is_gone(made)
