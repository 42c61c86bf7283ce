"""The directory where the I/O happens: what it is, and whether a run may start there."""

from __future__ import annotations

import os
from pathlib import Path

from venturi.model.error import TargetProblem
from venturi.model.record import FileSystem

_MOUNTS = Path("/proc/self/mountinfo")


def check_directory(directory: Path) -> None:
    """Raise TargetProblem unless a run can make its own directory there."""
    try:
        str(directory).encode("utf-8")
        exists = directory.exists()
    except (OSError, UnicodeEncodeError):
        raise TargetProblem(
            f"{str(directory)[:80]!r}: this is not the name of a directory", "choose another"
        ) from None
    if not exists:
        raise TargetProblem(f"{directory}: there is no such directory", f"mkdir -p {directory}")
    if not directory.is_dir():
        raise TargetProblem(f"{directory}: this is not a directory", "choose another with -d DIR")
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
            f"{directory}: the run writes {needed_bytes / 2**30:.3g} GiB, but only "
            f"{free_bytes / 2**30:.3g} GiB are free",
            "choose a smaller scale or another directory; 'venturi plan' shows the totals",
        )
    if space.f_files and needed_files > space.f_favail:
        raise TargetProblem(
            f"{directory}: the run makes {needed_files} files, but only {space.f_favail} inodes "
            "are free",
            "choose a smaller scale or another directory",
        )


def file_system_of(directory: Path) -> FileSystem:
    """What a directory lies on, from the kernel's mount table."""
    mount, kind, source, options = _mount_of(directory.resolve())
    space = os.statvfs(directory)
    return FileSystem(
        type=kind,
        source=source,
        mount=mount,
        total_bytes=space.f_blocks * space.f_frsize,
        free_bytes=space.f_bavail * space.f_frsize,
        free_inodes=space.f_favail,
        total_inodes=space.f_files,
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
