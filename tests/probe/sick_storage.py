"""A FUSE file system that passes all through to a folder, but as rules say.

    python sick_storage.py BELOW MOUNT RULES.json

A rule: {"operation": "read|write", "errno": "EIO"} fails, {"operation": "unlink", "hang": true}
waits until the rule is gone, and {"operation": "open", "delay_ms": 50} waits first.
"""

from __future__ import annotations

import errno
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from mfusepy import FUSE, FuseOSError, Operations

_STATUS = ("atime", "ctime", "gid", "mode", "mtime", "nlink", "size", "uid", "ino", "blocks")
_SPACE = ("bavail", "bfree", "blocks", "bsize", "favail", "ffree", "files", "frsize", "namemax")
_PAUSE_S = 0.01


class SickPassThrough(Operations):
    """Calls on the folder below, after the rules."""

    def __init__(self, below: str, rules: str) -> None:
        self._below = below
        self._rules = Path(rules)

    def _at(self, path: str) -> str:
        return self._below + path

    def _obey(self, operation: str) -> None:
        for rule in json.loads(self._rules.read_text()):
            if operation not in rule["operation"].split("|"):
                continue
            while rule.get("hang") and rule in json.loads(self._rules.read_text()):
                time.sleep(_PAUSE_S)
            time.sleep(rule.get("delay_ms", 0) / 1000)
            if "errno" in rule:
                raise FuseOSError(getattr(errno, rule["errno"]))

    def getattr(self, path: str, fh: int | None = None) -> dict[str, Any]:
        self._obey("getattr")
        status = os.lstat(self._at(path))
        return {f"st_{name}": getattr(status, f"st_{name}") for name in _STATUS}

    def readdir(self, path: str, fh: int) -> list[str]:
        return [".", "..", *os.listdir(self._at(path))]

    def mkdir(self, path: str, mode: int) -> None:
        os.mkdir(self._at(path), mode)

    def rmdir(self, path: str) -> None:
        os.rmdir(self._at(path))

    def unlink(self, path: str) -> None:
        self._obey("unlink")
        os.unlink(self._at(path))

    def statfs(self, path: str) -> dict[str, Any]:
        space = os.statvfs(self._at(path))
        return {f"f_{name}": getattr(space, f"f_{name}") for name in _SPACE}

    def open(self, path: str, flags: int) -> int:
        self._obey("open")
        return os.open(self._at(path), flags & ~os.O_DIRECT)

    def create(self, path: str, mode: int, fi: Any = None) -> int:
        self._obey("create")
        return os.open(self._at(path), os.O_RDWR | os.O_CREAT | os.O_TRUNC, mode)

    def read(self, path: str, size: int, offset: int, fh: int) -> bytes:
        self._obey("read")
        return os.pread(fh, size, offset)

    def write(self, path: str, data: bytes, offset: int, fh: int) -> int:
        self._obey("write")
        return os.pwrite(fh, data, offset)

    def fsync(self, path: str, datasync: int, fh: int) -> None:
        self._obey("fsync")
        os.fsync(fh)

    def release(self, path: str, fh: int) -> None:
        os.close(fh)


if __name__ == "__main__":
    # Else a file that was just closed would be renamed in place of being removed.
    FUSE(SickPassThrough(sys.argv[1], sys.argv[3]), sys.argv[2], foreground=True, hard_remove=True)
