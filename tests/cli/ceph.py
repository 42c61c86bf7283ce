"""Ceph on this host: a monitor, a manager, object stores in memory; for files a mount, too.

All of it listens on free ports of the loopback address and is gone with its folder.
"""

from __future__ import annotations

import base64
import os
import shutil
import socket
import struct
import subprocess
import uuid
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from cli.conftest import wait_for

OF_OBJECTS = ("ceph", "ceph-mon", "ceph-mgr", "ceph-osd", "monmaptool", "rados")
OF_FILES = (*OF_OBJECTS, "ceph-mds", "ceph-fuse", "setfattr")
STORE_BYTES = 1 << 30
_CHECK_S = "20"


def refuse_where_missing(programs: tuple[str, ...]) -> None:
    """Fail the test, in words, where a cluster cannot be started."""
    lacking = [name for name in programs if shutil.which(name) is None]
    if lacking:
        pytest.fail(f"missing: {', '.join(lacking)} (packaging/prepare nightly installs them)")
    needs_fuse = "ceph-fuse" in programs
    if needs_fuse and (os.geteuid() != 0 or not Path("/dev/fuse").exists()):
        pytest.fail("missing: CephFS needs root and /dev/fuse")


def key_of(name: str) -> str:
    """Return a section of a keyring: a new key of a server or user, and all rights."""
    secret = base64.b64encode(struct.pack("<hiih", 1, 0, 0, 16) + os.urandom(16)).decode()
    rights = "".join(f'\tcaps {what} = "allow *"\n' for what in ("mon", "mgr", "osd", "mds"))
    return f"[{name}]\n\tkey = {secret}\n{rights}"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@dataclass
class Ceph:
    """A cluster with its folder."""

    folder: Path
    stores: int = 3
    daemons: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def mount(self) -> Path:
        return self.folder / "mount"

    @property
    def settings(self) -> Path:
        """The configuration that clients read."""
        return self.folder / "ceph.conf"

    def start(self) -> None:
        """Servers of objects, where clients need a key; no pool."""
        for name in ("mon", "mgr", "run"):
            (self.folder / name).mkdir(parents=True)
        monitor = f"[v2:127.0.0.1:{_free_port()}/0]"
        cluster = str(uuid.uuid4())
        self._write_settings(cluster, monitor)
        self._write_keys()
        monitors = self.folder / "monmap"
        self._run("monmaptool", "--create", "--addv", "a", monitor, "--fsid", cluster, monitors)
        self._run("ceph-mon", "--mkfs", "-i", "a", "--monmap", monitors)
        self._daemon("ceph-mon", "a")
        wait_for(lambda: self._asked("-s") is not None)
        self._daemon("ceph-mgr", "x")
        for number in range(self.stores):
            (self.folder / f"osd{number}").mkdir()
            own = str(uuid.uuid4())
            self._run("ceph", "osd", "new", own, str(number))
            self._run("ceph-osd", "-i", str(number), "--mkfs", "--osd-uuid", own)
            self._daemon("ceph-osd", str(number))

    def start_files(self) -> None:
        """A file system on these servers, and its mount once the metadata server is active."""
        for name in ("mds", "mount"):
            (self.folder / name).mkdir()
        self._daemon("ceph-mds", "a")
        self.make_pool("data", groups=16)
        self.make_pool("names", groups=8)
        self._run("ceph", "fs", "new", "files", "names", "data")
        wait_for(lambda: "up:active" in (self._asked("mds", "stat") or ""))
        self._begin("mount", ["ceph-fuse", "--client_fs=files", "-f", self.mount])
        wait_for(self.mount.is_mount)

    def make_pool(self, name: str, groups: int = 8) -> None:
        """A pool without replicas, in so many placement groups."""
        self._run("ceph", "osd", "pool", "create", name, str(groups), str(groups))

    def rados(self, pool: str, *words: str | Path, check: bool = True) -> str:
        """What Ceph's own command says about a pool, with the administrator's key."""
        line = ["rados", "-c", self.settings, "-p", pool, *words]
        done = subprocess.run(line, check=check, capture_output=True, text=True)
        return done.stdout

    def stripe(self, place: Path, count: int, unit_bytes: int) -> None:
        """New files of a directory go in turn to so many objects."""
        for name, value in (("stripe_unit", unit_bytes), ("stripe_count", count)):
            attribute = f"ceph.dir.layout.{name}"
            subprocess.run(["setfattr", "-n", attribute, "-v", str(value), place], check=True)

    def stop(self) -> None:
        """All processes, the mount and the folder."""
        subprocess.run(["umount", "-l", self.mount], check=False, capture_output=True)
        for daemon in reversed(self.daemons):
            daemon.kill()
            daemon.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _write_settings(self, cluster: str, monitor: str) -> None:
        here = self.folder
        lines = {
            "fsid": cluster,
            "mon host": monitor,
            "public addr": "127.0.0.1",
            "cluster addr": "127.0.0.1",
            "run dir": here / "run",
            "admin socket": here / "run" / "$name.$pid.asok",
            "pid file": here / "run" / "$name.pid",
            "log file": here / "run" / "$name.log",
            "keyring": here / "keyring",
            "crash dir": here / "run",
            "mon data": here / "mon",
            "mgr data": here / "mgr",
            "mds data": here / "mds",
            "osd data": here / "osd$id",
            "osd objectstore": "memstore",
            "memstore device bytes": STORE_BYTES,
            "osd class dir": "/usr/lib/x86_64-linux-gnu/rados-classes",
            "osd pool default size": 1,
            "osd pool default min size": 1,
            "osd pool default pg autoscale mode": "off",
            "osd crush chooseleaf type": 0,
            "mon allow pool size one": "true",
            "mgr initial modules": "",
        }
        text = "\n".join(f"{name} = {value}" for name, value in lines.items())
        self.settings.write_text(f"[global]\n{text}\n")

    def _write_keys(self) -> None:
        servers = ["mon.", "mgr.x", "mds.a", *(f"osd.{number}" for number in range(self.stores))]
        text = "".join(map(key_of, [*servers, "client.admin"]))
        (self.folder / "keyring").write_text(text, "utf-8")

    def _daemon(self, program: str, name: str) -> None:
        self._begin(f"{program}.{name}", [program, "-i", name, "-f"])

    def _begin(self, log: str, line: list[str | Path]) -> None:
        words = [*line, "-c", self.settings]
        with (self.folder / "run" / f"{log}.out").open("wb") as out:
            self.daemons.append(subprocess.Popen(words, stdout=out, stderr=out))

    def _run(self, program: str, *words: str | Path) -> None:
        settings = [] if program == "monmaptool" else ["-c", self.settings]
        subprocess.run([program, *settings, *words], check=True, capture_output=True)

    def _asked(self, *words: str) -> str | None:
        line = ["ceph", "-c", self.settings, "--connect-timeout", _CHECK_S, *words]
        done = subprocess.run(line, check=False, capture_output=True, text=True)
        return done.stdout if done.returncode == 0 else None
