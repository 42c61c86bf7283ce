"""What tells that a file is as it was: its size, its times and its number on the disk.

Times are as fine as the clock of the file system, so a file that changed just now may change again
and look the same. Such a file is young: nothing tells that it is as it was but what it holds.
"""

from __future__ import annotations

import os
import stat
import time

YOUNG = ""
ABSENT = "-"
_SETTLED_NS = 2 * 10**9
"""The coarsest clock of a file system that is in use counts two seconds."""


def settled_ns() -> int:
    """Files that changed before this moment, and not since, are not young."""
    return time.time_ns() - _SETTLED_NS


def mark_of(path: str, before_ns: int) -> str:
    """What is another text once the file has changed; ABSENT: there is none.

    YOUNG for one that changed after `before_ns` of `settled_ns`, taken before the file is read.
    """
    try:
        found = os.lstat(path)
    except OSError:
        return ABSENT
    if not stat.S_ISREG(found.st_mode):
        return ABSENT if stat.S_ISDIR(found.st_mode) else YOUNG
    changed_ns, modified_ns = found.st_ctime_ns, found.st_mtime_ns
    if changed_ns > before_ns or modified_ns > before_ns:
        return YOUNG
    return f"{found.st_size}-{modified_ns}-{changed_ns}-{found.st_ino}"
