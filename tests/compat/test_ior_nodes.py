"""-C, -Q and -Z on two nodes: whose data a task reads, by IOR's rule and the real nodes."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from compat.conftest import Tool

pytestmark = pytest.mark.needs("root")

RANK_VARIABLE = {"openmpi": "OMPI_COMM_WORLD_RANK", "mpich": "PMI_RANK"}
START = {
    "openmpi": ["mpirun.openmpi", "--oversubscribe", "-n", "{ranks}"],
    "mpich": ["mpirun.mpich", "-n", "{ranks}"],
}
RANKS, PER_NODE = 4, 2


def machine_of_nodes(path: Path, mpi: str) -> Path:
    """A machine file whose ranks have the host name of their node: two ranks on each."""
    wrapper = path / "on_its_node"
    name = f"hostname node$(({RANK_VARIABLE[mpi]} / {PER_NODE}))"
    wrapper.write_text(f'#!/bin/sh\nexec unshare -u sh -c \'{name}; exec "$@"\' sh "$@"\n')
    wrapper.chmod(0o755)
    command = ", ".join(f'"{word}"' for word in [*START[mpi], str(wrapper)])
    machine = path / "nodes.yaml"
    machine.write_text(
        "schema: venturi.machine/2\nname: nodes\n"
        f"launcher: {{kind: mpirun, mpi: {mpi}, command: [{command}]}}\n"
    )
    return machine


def reads_of(tool: Tool, mpi: str, words: str) -> dict[int, int]:
    """By rank, whose file it read."""
    machine = machine_of_nodes(tool.target, mpi)
    own = ["-q", "-n", str(RANKS), "--nodes", "2", "--on", str(machine)]
    line = ["ior", *own, "--", "-w", "-r", "-F", "-b", "8k", "-t", "4k", "-o", "./f"]
    found = {}
    for calls in tool.traced(*line, *shlex.split(words)):
        wrote, read = (int(name.rpartition(".")[2]) for name in calls.names)
        found[wrote] = read
    return found


@pytest.mark.parametrize("mpi", ["openmpi", "mpich"])
def test_constant_order(tool: Tool, mpi: str) -> None:
    assert reads_of(tool, mpi, "-C") == {r: (r + PER_NODE) % RANKS for r in range(RANKS)}


def test_a_distance_in_nodes(tool: Tool) -> None:
    assert reads_of(tool, "openmpi", "-C -Q 2") == {r: r for r in range(RANKS)}


def test_random_readers_read_from_another_node(tool: Tool) -> None:
    found = reads_of(tool, "openmpi", "-Z")
    assert sorted(found) == list(range(RANKS))
    assert all(rank // PER_NODE != owner // PER_NODE for rank, owner in found.items())


def test_permuted_readers_read_each_file_once(tool: Tool) -> None:
    found = reads_of(tool, "openmpi", "-ZZ")
    assert sorted(found.values()) == list(range(RANKS))
