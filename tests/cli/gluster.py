"""A volume of GlusterFS on this host, without its management daemon: bricks and one mount."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

PROGRAMS = ("glusterfs", "glusterfsd", "setfattr", "mkfs.ext4", "mount", "umount")
_LIMIT_S = 10.0
_ID = "trusted.glusterfs.volume-id"


def refuse_where_missing() -> None:
    """Fails the test, in words, where a volume cannot be started."""
    lacking = [name for name in PROGRAMS if shutil.which(name) is None]
    if lacking:
        pytest.fail(f"missing: {', '.join(lacking)} (packaging/prepare test installs them)")
    if os.geteuid() != 0 or not Path("/dev/fuse").exists():
        pytest.fail("missing: a volume of GlusterFS needs root and /dev/fuse")


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


@dataclass
class Brick:
    """One server with its folder; it listens on a loopback address of its own."""

    folder: Path
    number: int
    image_bytes: int
    """Of a file system of its own; 0: a plain folder."""
    port: int = 0
    process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        return f"127.0.9.{self.number + 1}"

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
            _section("work", "performance/io-threads", {"thread-count": 4}, ["locks"]),
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
        self.process = subprocess.Popen(["glusterfsd", "-N", *files])
        end = time.monotonic() + _LIMIT_S
        while time.monotonic() < end:
            with socket.socket() as probe:
                if probe.connect_ex((self.address, self.port)) == 0:
                    return
            time.sleep(0.02)
        raise RuntimeError((self.folder / "log").read_text()[-2000:])

    def kill(self) -> None:
        """As a crash would."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def remove(self) -> None:
        self.kill()
        if self.image_bytes:
            subprocess.run(["umount", self.folder / "mounted"], check=False)


@dataclass
class Volume:
    """Files are dealt to the bricks by their names; none is there twice."""

    folder: Path
    bricks: list[Brick] = field(default_factory=list)
    client: subprocess.Popen[bytes] | None = None

    @property
    def mount(self) -> Path:
        return self.folder / "volume"

    def start(self, bricks: int, image_bytes: int = 0) -> None:
        """Bricks and mount; RuntimeError with the log's end where that fails."""
        self.mount.mkdir(parents=True)
        for number in range(bricks):
            brick = Brick(self.folder / f"brick{number}", number, image_bytes)
            self.bricks.append(brick)
            brick.prepare()
            brick.start()
        names = [f"client{brick.number}" for brick in self.bricks]
        parts = [
            _section(
                name,
                "protocol/client",
                {
                    "transport-type": "tcp",
                    "remote-host": brick.address,
                    "remote-port": brick.port,
                    "remote-subvolume": "work",
                    "ping-timeout": 3,
                },
            )
            for name, brick in zip(names, self.bricks, strict=True)
        ]
        parts.append(_section("dealt", "cluster/distribute", {}, names))
        parts.append(_section("whole", "performance/write-behind", {}, ["dealt"]))
        (self.folder / "client.vol").write_text("\n".join(parts))
        log = self.folder / "client.log"
        files = ["-f", self.folder / "client.vol", "-l", log]
        self.client = subprocess.Popen(["glusterfs", "-N", *files, self.mount])
        end = time.monotonic() + _LIMIT_S
        while not (self.mount.is_mount() and self._answers()):
            if time.monotonic() > end:
                raise RuntimeError(log.read_text()[-2000:] if log.exists() else "no mount")
            time.sleep(0.02)

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
        shutil.rmtree(self.folder, ignore_errors=True)
