"""A volume of GlusterFS on this host, without its management daemon: bricks and one mount.

With `Network` its bricks are in a network of their own, in which each has a known bandwidth.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

import pytest

PROGRAMS = (
    "glusterfs",
    "glusterfsd",
    "setfattr",
    "mkfs.ext4",
    "mount",
    "umount",
    "ip",
    "tc",
    "nsenter",
)
_LIMIT_S = 120.0
"""Of a start: no test waits so long unless it hangs."""
_PATIENCE_S = 1000
"""Of the client with a request or a ping, about the most that it takes: after 30 s, a request that
a busy machine leaves waiting fails, and with it the run."""
_ID = "trusted.glusterfs.volume-id"


def refuse_where_missing() -> None:
    """Fails the test, in words, where a volume cannot be started."""
    lacking = [name for name in PROGRAMS if shutil.which(name) is None]
    if lacking:
        pytest.fail(f"missing: {', '.join(lacking)} (packaging/prepare test installs them)")
    if os.geteuid() != 0 or not Path("/dev/fuse").exists():
        pytest.fail("missing: a volume of GlusterFS needs root and /dev/fuse")


@contextlib.contextmanager
def volume_in_memory() -> Iterator[Volume]:
    """A volume that is gone afterwards; where others fill a disk, syncs of bricks take minutes."""
    refuse_where_missing()
    made = Volume(Path(tempfile.mkdtemp(prefix="gluster", dir="/dev/shm")) / "v")
    try:
        yield made
    finally:
        made.stop()
        made.folder.parent.rmdir()


def _section(name: str, kind: str, options: dict[str, object], below: Sequence[str] = ()) -> str:
    """One translator of a volume file."""
    lines = [f"volume {name}", f"  type {kind}"]
    lines += [f"  option {key} {value}" for key, value in options.items()]
    lines += [f"  subvolumes {' '.join(below)}"] if below else []
    return "\n".join([*lines, "end-volume", ""])


def _free_port(address: str) -> int:
    with socket.socket() as probe:
        probe.bind((address, 0))
        port: int = probe.getsockname()[1]
        return port


class Layout(Enum):
    """How a volume spreads files over its bricks."""

    DEALT = "dealt"
    """A whole file on one brick, by its name."""
    SHARDED = "sharded"
    """Pieces of 4 MiB, each on one."""
    TWOFOLD = "twofold"
    """Dealt to pairs of bricks, which both hold it."""


@dataclass
class Network:
    """A loopback interface of its own on which addresses have bandwidths."""

    name: str
    mbit: dict[str, int]
    """Of what goes to an address, and as much of what comes from it."""

    @property
    def enter(self) -> list[str]:
        """What a command in it begins with."""
        return ["nsenter", f"--net=/run/netns/{self.name}"]

    def start(self) -> None:
        subprocess.run(["ip", "netns", "add", self.name], check=True)
        self._run("ip link set lo up")
        self._run("ip link set lo mtu 16384")
        self._run("tc qdisc add dev lo root handle 1: htb default 99")
        self._run("tc class add dev lo parent 1: classid 1:99 htb rate 100gbit")
        for number, (address, mbit) in enumerate(self.mbit.items()):
            for way, base in (("dst", 10), ("src", 50)):
                to = f"1:{base + number}"
                rate = f"htb rate {mbit}mbit burst 256k cburst 256k"
                self._run(f"tc class add dev lo parent 1: classid {to} {rate}")
                match = f"u32 match ip {way} {address}/32"
                self._run(f"tc filter add dev lo parent 1: protocol ip {match} flowid {to}")

    def _run(self, line: str) -> None:
        subprocess.run([*self.enter, *line.split()], check=True)

    def stop(self) -> None:
        subprocess.run(["ip", "netns", "del", self.name], check=False)


def address_of(number: int) -> str:
    """Where the brick of a number listens: on an address that other processes do not use."""
    return f"127.{100 + os.getpid() // 256}.{os.getpid() % 256}.{number + 1}"


@dataclass
class Brick:
    """One server with its folder; it listens on a loopback address of its own."""

    folder: Path
    number: int
    image_bytes: int
    """Of a file system of its own; 0: a plain folder."""
    enter: list[str] = field(default_factory=list)
    """What its commands begin with; empty: they run in this network."""
    port: int = 0
    process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        return address_of(self.number)

    @property
    def data(self) -> Path:
        return self.folder / "mounted" / "data"

    def prepare(self) -> None:
        """Its file system, its folder with the mark that the server asks for, its volume file."""
        mounted = self.folder / "mounted"
        mounted.mkdir(parents=True)
        if self.image_bytes:
            image = self.folder / "image"
            with image.open("wb") as file:
                file.truncate(self.image_bytes)
            subprocess.run(["mkfs.ext4", "-qF", "-m0", "-I512", image], check=True)
            subprocess.run(["mount", "-o", "loop", image, mounted], check=True)
        (self.data / ".glusterfs").mkdir(parents=True)
        identity = uuid.uuid4()
        value = f"0x{identity.hex}"
        subprocess.run(["setfattr", "-n", _ID, "-v", value, self.data], check=True)
        self.port = _free_port(self.address)
        parts = [
            _section("disk", "storage/posix", {"directory": self.data, "volume-id": identity}),
            _section("locks", "features/locks", {}, ["disk"]),
            _section(
                "index",
                "features/index",
                {
                    "index-base": self.data / ".glusterfs" / "indices",
                    "xattrop-dirty-watchlist": "trusted.afr.dirty",
                    "xattrop-pending-watchlist": "trusted.afr.v-",
                },
                ["locks"],
            ),
            _section("work", "performance/io-threads", {"thread-count": 4}, ["index"]),
            _section(
                "server",
                "protocol/server",
                {
                    "transport-type": "tcp",
                    "transport.socket.bind-address": self.address,
                    "transport.socket.listen-port": self.port,
                    "auth.addr.work.allow": "127.*",
                    "auth.addr.server.allow": "127.*",
                },
                ["work"],
            ),
        ]
        (self.folder / "brick.vol").write_text("\n".join(parts))

    def start(self) -> None:
        """The server, once it listens."""
        files = ["-f", self.folder / "brick.vol", "-l", self.folder / "log"]
        self.process = subprocess.Popen([*self.enter, "glusterfsd", "-N", *files])
        end = time.monotonic() + _LIMIT_S
        look = ["bash", "-c", f"exec 3<>/dev/tcp/{self.address}/{self.port}"]
        while time.monotonic() < end:
            if (
                subprocess.run([*self.enter, *look], capture_output=True, check=False).returncode
                == 0
            ):
                return
            time.sleep(0.02)
        raise RuntimeError((self.folder / "log").read_text()[-2000:])

    def kill(self) -> None:
        """As a crash would."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def halt(self) -> None:
        """It goes on to be there, and does nothing more."""
        assert self.process is not None
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        """After `halt`."""
        assert self.process is not None
        self.process.send_signal(signal.SIGCONT)

    def remove(self) -> None:
        self.kill()
        if self.image_bytes:
            subprocess.run(["umount", self.folder / "mounted"], check=False)


@dataclass
class Volume:
    """A mount of bricks."""

    folder: Path
    bricks: list[Brick] = field(default_factory=list)
    client: subprocess.Popen[bytes] | None = None
    network: Network | None = None

    @property
    def mount(self) -> Path:
        return self.folder / "volume"

    def start(
        self,
        bricks: int,
        image_bytes: int = 0,
        layout: Layout = Layout.DEALT,
        mbit: Sequence[int] = (),
        ping_s: int = _PATIENCE_S,
    ) -> None:
        """Bricks and mount; RuntimeError with the log's end where that fails.

        `mbit` are bandwidths of the bricks. After `ping_s` the client takes a silent one for dead,
        which a brick of a busy machine must not be taken for.
        """
        self.mount.mkdir(parents=True)
        if mbit:
            rates = {address_of(number): rate for number, rate in enumerate(mbit)}
            self.network = Network(f"venturi-{os.getpid()}", rates)
            self.network.start()
        enter = self.network.enter if self.network else []
        for number in range(bricks):
            brick = Brick(self.folder / f"brick{number}", number, image_bytes, enter)
            self.bricks.append(brick)
            brick.prepare()
            brick.start()
        (self.folder / "client.vol").write_text("\n".join(self._graph(layout, ping_s)))
        log = self.folder / "client.log"
        files = ["-f", self.folder / "client.vol", "-l", log]
        self.client = subprocess.Popen([*enter, "glusterfs", "-N", *files, self.mount])
        end = time.monotonic() + _LIMIT_S
        while not (self.mount.is_mount() and self._answers()):
            if time.monotonic() > end:
                raise RuntimeError(log.read_text()[-2000:] if log.exists() else "no mount")
            time.sleep(0.02)

    def _graph(self, layout: Layout, ping_s: int) -> list[str]:
        """The client's translators, the lowest first."""
        names = [f"v-client-{brick.number}" for brick in self.bricks]
        parts = [
            _section(
                name,
                "protocol/client",
                {
                    "transport-type": "tcp",
                    "remote-host": brick.address,
                    "remote-port": brick.port,
                    "remote-subvolume": "work",
                    "ping-timeout": ping_s,
                    "frame-timeout": _PATIENCE_S,
                },
            )
            for name, brick in zip(names, self.bricks, strict=True)
        ]
        if layout is Layout.TWOFOLD:
            pairs = [names[i : i + 2] for i in range(0, len(names), 2)]
            names = [f"pair{number}" for number in range(len(pairs))]
            parts += [
                _section(
                    name,
                    "cluster/replicate",
                    {"afr-pending-xattr": ",".join(pair), "volume-id": uuid.uuid4()},
                    pair,
                )
                for name, pair in zip(names, pairs, strict=True)
            ]
        top = "dealt"
        parts.append(_section(top, "cluster/distribute", {}, names))
        if layout is Layout.SHARDED:
            top = "sharded"
            parts.append(_section(top, "features/shard", {"shard-block-size": "4MB"}, ["dealt"]))
        parts.append(_section("whole", "performance/write-behind", {}, [top]))
        return parts

    def _answers(self) -> bool:
        try:
            return not list(self.mount.iterdir())
        except OSError:
            return False

    def stop(self) -> None:
        """Everything that was started ends, and the folder is gone."""
        if self.client is not None:
            self.client.kill()
            self.client.wait()
            subprocess.run(["umount", "-l", self.mount], check=False)
        for brick in self.bricks:
            brick.remove()
        if self.network is not None:
            self.network.stop()
        shutil.rmtree(self.folder, ignore_errors=True)
