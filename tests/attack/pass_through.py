"""A file system of FUSE that passes everything on to a folder, and knows no times of birth.

`python pass_through.py FOLDER MOUNT [no-attributes|in-parts]`; in the end it is unmounted.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from mfusepy import FUSE, Operations

_STATUS = (
    "st_atime",
    "st_ctime",
    "st_gid",
    "st_ino",
    "st_mode",
    "st_mtime",
    "st_nlink",
    "st_size",
    "st_uid",
    "st_blocks",
)
_SPACE = (
    "f_bavail",
    "f_bfree",
    "f_blocks",
    "f_bsize",
    "f_favail",
    "f_ffree",
    "f_files",
    "f_frsize",
    "f_namemax",
)


class PassThrough(Operations):
    """Each call is that of the folder below."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def _at(self, path: str) -> str:
        return self._folder + path

    def getattr(self, path: str, fh: int | None = None) -> dict[str, Any]:
        found = os.fstat(fh) if fh else os.lstat(self._at(path))
        return {name: getattr(found, name) for name in _STATUS}

    def readdir(self, path: str, fh: int) -> list[str]:
        return [".", "..", *os.listdir(self._at(path))]

    def mkdir(self, path: str, mode: int) -> None:
        os.mkdir(self._at(path), mode)

    def rmdir(self, path: str) -> None:
        os.rmdir(self._at(path))

    def unlink(self, path: str) -> None:
        os.unlink(self._at(path))

    def rename(self, old: str, new: str) -> None:
        os.rename(self._at(old), self._at(new))

    def truncate(self, path: str, length: int, fh: int | None = None) -> None:
        os.truncate(self._at(path), length)

    def statfs(self, path: str) -> dict[str, int]:
        found = os.statvfs(self._at(path))
        return {name: getattr(found, name) for name in _SPACE}

    def open(self, path: str, flags: int) -> int:
        return os.open(self._at(path), flags & ~os.O_DIRECT)

    def create(self, path: str, mode: int, fi: object = None) -> int:
        return os.open(self._at(path), os.O_RDWR | os.O_CREAT | os.O_EXCL, mode)

    def read(self, path: str, size: int, offset: int, fh: int) -> bytes:
        return os.pread(fh, size, offset)

    def write(self, path: str, data: bytes, offset: int, fh: int) -> int:
        return os.pwrite(fh, data, offset)

    def flush(self, path: str, fh: int) -> None:
        os.fsync(fh)

    def fsync(self, path: str, datasync: int, fh: int) -> None:
        os.fsync(fh)

    def release(self, path: str, fh: int) -> None:
        os.close(fh)


class WithAttributes(PassThrough):
    """The same with extended attributes."""

    def getxattr(self, path: str, name: str, position: int = 0) -> bytes:
        return os.getxattr(self._at(path), name, follow_symlinks=False)

    def setxattr(self, path: str, name: str, value: bytes, options: int, position: int = 0) -> int:
        os.setxattr(self._at(path), name, value, options, follow_symlinks=False)
        return 0

    def listxattr(self, path: str) -> list[str]:
        return os.listxattr(self._at(path), follow_symlinks=False)


class InParts(WithAttributes):
    """The same, but a directory is read in many answers; the first has none of its names."""

    def readdir_with_offset(
        self, path: str, offset: int, fh: int
    ) -> list[tuple[str, dict[str, int], int]]:
        names = [".", "..", *os.listdir(self._at(path))]
        part = names[:2] if offset == 0 else names[offset : offset + 1]
        return [(name, {}, offset + 1 + index) for index, name in enumerate(part)]


KINDS = {"attributes": WithAttributes, "no-attributes": PassThrough, "in-parts": InParts}

if __name__ == "__main__":
    kind = KINDS[sys.argv[3]]
    FUSE(kind(sys.argv[1]), sys.argv[2], foreground=True, use_ino=True, fsname="pass-through")
