"""The directory where the I/O happens: what it is, and whether a run may start there."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from venturi.model.error import TargetProblem
from venturi.model.record import FileSystem

_MOUNTS = Path("/proc/self/mountinfo")
_SILENT = (errno.ENOTCONN, errno.EIO, errno.ESTALE, errno.ETIMEDOUT, errno.EHOSTDOWN)
"""What a mount says whose server is gone."""
_OF_THE_KERNEL = (
    "proc",
    "sysfs",
    "cgroup",
    "cgroup2",
    "devpts",
    "securityfs",
    "debugfs",
    "tracefs",
    "bpf",
    "configfs",
    "mqueue",
    "pstore",
    "efivarfs",
    "fusectl",
    "binfmt_misc",
    "selinuxfs",
    "autofs",
)
"""File systems that show what the kernel knows and hold no files of users."""


def check_directory(directory: Path) -> None:
    """Raise TargetProblem unless a run can make its own directory there."""
    try:
        str(directory).encode("utf-8")
        exists = directory.exists()
    except PermissionError:
        raise TargetProblem(
            f"{directory}: it cannot be looked at (permission)", "choose another with -d DIR"
        ) from None
    except (OSError, UnicodeEncodeError) as error:
        if isinstance(error, OSError) and error.errno in _SILENT:
            raise TargetProblem(
                f"{directory}: {error.strerror}: the file system there does not answer",
                "mount it again, or choose another directory",
            ) from None
        raise TargetProblem(
            f"{str(directory)[:80]!r}: this is not the name of a directory", "choose another"
        ) from None
    if not exists:
        raise TargetProblem(f"{directory}: there is no such directory", f"mkdir -p {directory}")
    if not directory.is_dir():
        raise TargetProblem(f"{directory}: this is not a directory", "choose another with -d DIR")
    kind = file_system_of(directory).type
    if kind in _OF_THE_KERNEL:
        raise TargetProblem(
            f"{directory}: a kernel pseudo file system ({kind}), not storage",
            "choose another directory with -d DIR",
        )
    if not os.access(directory, os.W_OK | os.X_OK) or is_read_only(directory):
        raise TargetProblem(
            f"{directory}: nothing can be written there (permission or read-only file system)",
            "choose another directory with -d DIR",
        )
    marker = next((p for p in (directory, *directory.parents) if (p / ".venturi").exists()), None)
    if marker is not None:
        raise TargetProblem(
            f"{directory}: it belongs to another run of Venturi ({marker})",
            "choose a directory outside of it",
        )


def check_type(directory: Path, expected: str) -> None:
    """Raise TargetProblem unless the directory lies on this type of file system (empty: any)."""
    found = file_system_of(directory)
    if expected and found.type != expected:
        raise TargetProblem(
            f"{directory}: it is on {found.type} (mounted on {found.mount}), but the machine's "
            f"'expect_fstype' is {expected}",
            "mount the file system that is meant, or choose another directory",
        )


def is_read_only(directory: Path) -> bool:
    """Whether the file system is mounted read-only."""
    return bool(os.statvfs(directory).f_flag & os.ST_RDONLY)


def check_room(directory: Path, needed_bytes: int, needed_files: int) -> None:
    """Raise TargetProblem if the file system has too little space or too few inodes."""
    space = os.statvfs(directory)
    if space.f_blocks == 0:
        raise TargetProblem(f"{directory}: this is no storage (it has no blocks)", "choose another")
    free_bytes = space.f_bavail * space.f_frsize
    if needed_bytes > free_bytes:
        raise TargetProblem(
            f"{directory}: the run writes {_size(needed_bytes)}, but only {_size(free_bytes)} are "
            "free",
            "choose a smaller scale or another directory; 'venturi plan' shows the totals",
        )
    free_inodes, _ = inodes_of(space)
    if free_inodes is not None and needed_files > free_inodes:
        raise TargetProblem(
            f"{directory}: the run makes {needed_files} files, but only {free_inodes} inodes "
            "are free",
            "choose a smaller scale or another directory",
        )


def _size(count_bytes: int) -> str:
    """`400 KiB`, `1.5 GiB` or `19.8 TiB`: what people compare."""
    number, units = float(count_bytes), ["B", "KiB", "MiB", "GiB", "TiB", "PiB"]
    while number >= 1000 and len(units) > 1:
        number /= 1024
        del units[0]
    return f"{number:.3g} {units[0]}"


def inodes_of(space: os.statvfs_result) -> tuple[int | None, int]:
    """Free inodes and all of them; None and 0 where the file system does not count them.

    btrfs says that it has none, CephFS that -1 of those that there are is free.
    """
    if space.f_files <= 0 or space.f_favail < 0:
        return None, 0
    return space.f_favail, space.f_files


def file_system_of(directory: Path) -> FileSystem:
    """What a directory lies on, from the kernel's mount table."""
    mount, kind, source, options = _mount_of(directory.resolve())
    space = os.statvfs(directory)
    free_inodes, total_inodes = inodes_of(space)
    return FileSystem(
        type=kind,
        source=source,
        mount=mount,
        total_bytes=space.f_blocks * space.f_frsize,
        free_bytes=space.f_bavail * space.f_frsize,
        free_inodes=free_inodes or 0,
        total_inodes=total_inodes,
        options=options,
    )


def identity_of(directory: Path) -> str:
    """What must stay the same during a run: device and directory."""
    status = directory.stat()
    mount, kind, source, _ = _mount_of(directory.resolve())
    return f"{kind} from {source} on {mount}, device {status.st_dev}, inode {status.st_ino}"


def _mount_of(directory: Path) -> tuple[str, str, str, str]:
    """Mount point, type, source and options of the last mount that holds a directory."""
    best = ("/", "unknown", "unknown", "")
    try:
        lines = _MOUNTS.read_text().splitlines()
    except OSError:
        return best
    for line in lines:
        left, _, right = line.partition(" - ")
        point = left.split()[4].encode().decode("unicode_escape")
        kind, source, options = right.split()[:3]
        inside = directory == Path(point) or Path(point) in directory.parents
        if inside and len(point) >= len(best[0]):
            best = (point, kind, source, options)
    return best
