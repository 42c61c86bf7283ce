"""`shared: node` on several nodes of this machine: ranks with host names of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.running import Engine, is_gone, kinds, on_nodes
from venturi.model.plan import Plan
from venturi.model.workload import Workload
from venturi.model.yaml_text import parse_yaml
from venturi.plan.make import make_plan
from venturi.plan.setting import RunSettings

pytestmark = pytest.mark.needs("root")

WORKLOAD = """
workload: 1
name: by_node
parameters: {{np: {{default: 5, role: ranks}}}}
groups: {{g: {{ranks: np}}}}
repeat: 1
files:
  data: {{path: data, shared: node, interface: {interface}, content: {{verify: true}}}}
  log: {{path: log, shared: rank}}
program:
  g:
    - phase: write
      do:
        - create: data
        - write: {{to: data, transfer: 4 KiB, size: 10 KiB{collective}}}
        - write: {{to: data, transfer: 1 KiB, total: 9, at: 1 MiB{collective}}}
        - close: data
    - {{phase: own, do: [{{open: data}}, {{read: {{from: data, {random}}}}}, {{close: data}}]}}
    - phase: next
      do:
        - {{open: data, from: next node}}
        - {{read: {{from: data, {random}}}, from: next node}}
        - {{close: data, from: next node}}
    - phase: log
      do:
        - when: node_rank == 0
          do:
            - create: log
            - write: {{to: log, transfer: 1 KiB, size: 1 KiB * node_ranks}}
            - close: log
    - {{phase: remove, do: [{{unlink: data}}]}}
"""


def made_for(place: Path, nodes: int, interface: str = "posix") -> Plan:
    """The plan of the workload for so many nodes."""
    text = WORKLOAD.format(
        interface=interface,
        collective=", collective: true" if interface in ("mpiio", "hdf5") else "",
        random="pattern: random, transfer: 1 KiB, size: 10 KiB",
    )
    journal = place / "journal"
    journal.mkdir()
    workload = parse_yaml(text, "by_node.yaml", Workload)
    settings = RunSettings(nodes=nodes, run_directory=str(place / "run"), journal=str(journal))
    made = make_plan(workload, settings).plan
    (journal / "plan.json").write_text(made.to_json())
    return made


@pytest.mark.parametrize("interface", ["posix", "mpiio", "hdf5"])
@pytest.mark.parametrize("comm", ["openmpi", "mpich"])
@pytest.mark.parametrize("node", ["rank / 3", "rank % 2"])
def test_each_node_has_its_file(
    engine: Engine, tmp_path: Path, comm: str, node: str, interface: str
) -> None:
    made = made_for(tmp_path, 2, interface)
    outcome = on_nodes(engine, comm, made, node)
    assert outcome.code == 0, outcome.stderr
    own = [0, 0, 0, 1, 1] if node == "rank / 3" else [0, 1, 0, 1, 0]
    assert outcome.of("hello")[0]["node_of_rank"] == own
    write = outcome.phase("write")
    # Of 9 requests a node of 3 gives each of its ranks 3, and a node of 2 gives them 5 and 4.
    dealt = [3 if mine == own[0] else 4 for mine in own]
    dealt[own.index(1)] = 5
    assert write["per_rank"]["bytes"] == [10240 + 1024 * count for count in dealt]
    assert kinds(write)["create"] == 2
    for phase in ("own", "next"):
        assert outcome.phase(phase)["errors"] == 0
        assert outcome.phase(phase)["bytes"] == 5 * 10240
    assert outcome.phase("log")["per_rank"]["bytes"] == [
        1024 * own.count(mine) if own.index(mine) == rank else 0 for rank, mine in enumerate(own)
    ]
    assert kinds(outcome.phase("remove"))["unlink"] == 2
    assert is_gone(made)


def test_one_node_has_one_file(engine: Engine, tmp_path: Path) -> None:
    made = made_for(tmp_path, 1)
    outcome = engine.run(made, "forked")
    assert outcome.code == 0, outcome.stderr
    assert kinds(outcome.phase("write"))["create"] == 1
    assert outcome.phase("next")["errors"] == 0
    assert outcome.phase("log")["per_rank"]["bytes"] == [5120, 0, 0, 0, 0]
