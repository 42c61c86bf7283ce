"""File systems to measure on: made afresh below a folder, mounted till a block ends."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_PASS = ["-extpass", "echo venturi"]

IMAGES = {
    "xfs": ["mkfs.xfs", "-q"],
    "btrfs": ["mkfs.btrfs", "-q"],
    "ext4": ["mkfs.ext4", "-q", "-E", "lazy_itable_init=0,lazy_journal_init=0"],
}
"""What makes the file system in an image, which is then mounted through a loop device."""

NEEDS = {
    **{name: command[0] for name, command in IMAGES.items()},
    "tmpfs": "mount",
    "disk": "true",
    "gocryptfs": "gocryptfs",
    "bindfs": "bindfs",
    "fuse-overlayfs": "fuse-overlayfs",
}
"""The program that each needs."""

ABOUT = {
    "xfs": "on a loop device, its image on the disk of this machine",
    "btrfs": "on a loop device, its image on the disk of this machine",
    "ext4": "on a loop device, its image on the disk of this machine",
    "tmpfs": "in memory",
    "disk": "a folder on the disk of this machine",
    "gocryptfs": "FUSE, encrypts; its files lie on tmpfs",
    "bindfs": "FUSE, passes on; its files lie on tmpfs",
    "fuse-overlayfs": "FUSE, layers; its files lie on tmpfs",
}


def missing(name: str) -> str:
    """The program that a file system lacks here; empty: it can be made."""
    return "" if shutil.which(NEEDS[name]) else NEEDS[name]


@contextmanager
def mounted(name: str, place: Path, size: str) -> Iterator[Path]:
    """A file system of this kind below `place`, of at most `size`, till the block ends."""
    clear(place)
    mount, under = place / name, place / f"{name}.under"
    mount.mkdir(parents=True)
    try:
        if name in IMAGES:
            image = place / f"{name}.img"
            _run("truncate", "-s", size, image)
            _run(*IMAGES[name], image)
            _run("mount", "-o", "loop", image, mount)
        elif name != "disk":
            target = mount if name == "tmpfs" else under
            target.mkdir(exist_ok=True)
            _run("mount", "-t", "tmpfs", "-o", f"size={size}", "none", target)
            _fuse(name, under, mount)
        yield mount
    finally:
        clear(place)


def _fuse(name: str, under: Path, mount: Path) -> None:
    """Mounts a FUSE file system over a folder; nothing for others."""
    if name == "gocryptfs":
        _run("gocryptfs", "-q", "-init", "-scryptn", "10", *_PASS, under)
        _run("gocryptfs", "-q", "-allow_other", *_PASS, under, mount)
    elif name == "bindfs":
        _run("bindfs", "-o", "allow_other", under, mount)
    elif name == "fuse-overlayfs":
        parts = {key: under / key for key in ("lowerdir", "upperdir", "workdir")}
        for part in parts.values():
            part.mkdir()
        words = ",".join(f"{key}={part}" for key, part in parts.items())
        _run("fuse-overlayfs", "-o", words, mount)


def clear(place: Path) -> None:
    """Unmounts all below `place`, also what a killed run left, and removes it."""
    lines = Path("/proc/self/mounts").read_text("utf-8").splitlines()
    points = [line.split()[1] for line in lines if line.split()[1].startswith(f"{place}/")]
    for point in reversed(points):
        for _ in range(20):
            if subprocess.run(["umount", point], capture_output=True, check=False).returncode == 0:
                break
            time.sleep(0.2)
        else:
            raise RuntimeError(f"{point} cannot be unmounted")
    shutil.rmtree(place, ignore_errors=True)


def _run(*words: str | Path) -> None:
    subprocess.run([str(word) for word in words], check=True, stdout=subprocess.DEVNULL)
