"""Nodes of their own: name spaces with a network between them, for runs under Open MPI."""

from __future__ import annotations

import contextlib
import os
import subprocess
import uuid
from collections.abc import Iterator
from pathlib import Path

from engine.running import LAUNCHERS, RANK_VARIABLE, Engine, Outcome, parse
from venturi.model.plan import Plan

BOOT = "/proc/sys/kernel/random/boot_id"


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)


class NodeNetwork:
    """Nodes node0, node1, ... with the addresses 10.77.0.1, ... behind one switch."""

    def __init__(self, folder: Path, nodes: int) -> None:
        self.folder = folder
        self.nodes = nodes
        self.switch = f"venturi-{os.getpid()}"

    def space(self, node: int) -> str:
        """The name space of a node."""
        return f"{self.switch}-{node}"

    def make(self) -> None:
        _ip("netns", "add", self.switch)
        _ip("-n", self.switch, "link", "add", "switch", "type", "bridge")
        _ip("-n", self.switch, "addr", "add", "10.77.0.254/24", "dev", "switch")
        for device in ("lo", "switch"):
            _ip("-n", self.switch, "link", "set", device, "up")
        for node in range(self.nodes):
            space = self.space(node)
            _ip("netns", "add", space)
            _ip(
                *("link", "add", "eth0", "netns", space, "type", "veth"),
                *("peer", "name", f"port{node}", "netns", self.switch),
            )
            _ip("-n", space, "addr", "add", f"10.77.0.{node + 1}/24", "dev", "eth0")
            for device in ("lo", "eth0"):
                _ip("-n", space, "link", "set", device, "up")
            _ip("-n", self.switch, "link", "set", f"port{node}", "master", "switch", "up")
            (self.folder / f"boot{node}").write_text(f"{uuid.uuid4()}\n")

    def remove(self) -> None:
        for space in (*map(self.space, range(self.nodes)), self.switch):
            subprocess.run(["ip", "netns", "del", space], check=False, capture_output=True)

    def limit(self, node: int, rate: str) -> None:
        """What a node sends is no quicker than this."""
        device = ["-n", self.space(node), "qdisc", "add", "dev", "eth0", "root"]
        limit = ["tbf", "rate", rate, "burst", "64kb", "latency", "50ms"]
        subprocess.run(["tc", *device, *limit], check=True, capture_output=True)

    def route(self, node: int, kind: str, other: int) -> None:
        """How a node sends to another one: `blackhole` nothing comes, `prohibit` it is refused."""
        _ip("-n", self.space(node), "route", "add", kind, f"10.77.0.{other + 1}/32")

    def sent_bytes(self, node: int) -> int:
        """What a node has sent so far."""
        statistics = "/sys/class/net/eth0/statistics/tx_bytes"
        done = subprocess.run(
            ["ip", "netns", "exec", self.space(node), "cat", statistics],
            check=True,
            capture_output=True,
        )
        return int(done.stdout)

    def run(self, engine: Engine, made: Plan) -> Outcome:
        """Runs a plan with rank i on node i, each a machine of its own by its boot."""
        run = f"exec {engine.path('venturi-engine-openmpi')} run {made.journal}/plan.json"
        boot = f"mount --bind {self.folder}/boot$rank {BOOT}"
        within = f"{boot}; hostname node$rank; {run}"
        script = (
            f"export rank=${RANK_VARIABLE['openmpi']}; "
            f"exec ip netns exec {self.switch}-$rank unshare -u -m sh -c '{within}'"
        )
        done = subprocess.run(
            [
                *("ip", "netns", "exec", self.switch, "env"),
                *(f"PMIX_MCA_ptl_{kind}_remote_connections=1" for kind in ("base", "tcp")),
                *(f"PMIX_MCA_ptl_{kind}_if_include=switch" for kind in ("base", "tcp")),
                *(*LAUNCHERS["openmpi"], str(made.ranks), "sh", "-c", script),
            ],
            check=False,
            capture_output=True,
            text=True,
            timeout=600,
        )
        own = Path(made.journal) / "events.0.jsonl"
        more = parse(own.read_text()) if own.exists() else []
        return Outcome(done.returncode, [*more, *parse(done.stdout)], done.stderr)


@contextlib.contextmanager
def node_network(folder: Path, nodes: int) -> Iterator[NodeNetwork]:
    """So many nodes, removed at the end."""
    network = NodeNetwork(folder, nodes)
    try:
        network.make()
        yield network
    finally:
        network.remove()
