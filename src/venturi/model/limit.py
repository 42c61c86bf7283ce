"""Limits of this process (`ulimit`) that can stop a command, in words."""

from __future__ import annotations

import errno
import resource

_KINDS = (
    (resource.RLIMIT_NOFILE, 1, "open files (ulimit -n)", 1024),
    (resource.RLIMIT_NPROC, 1, "processes and threads of this user (ulimit -u)", 1024),
    (resource.RLIMIT_AS, 1024, "KiB of address space (ulimit -v)", 2**40),
    (resource.RLIMIT_DATA, 1024, "KiB of data (ulimit -d)", 2**40),
    (resource.RLIMIT_FSIZE, 1024, "KiB in a file (ulimit -f)", 2**40),
)
"""The limit, its unit in bytes, its name, and below what it is worth to be named."""

_EXHAUSTED = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN, errno.EFBIG})
_NO_THREAD = "can't start new thread"
"""What Python says, without an error number, where the system has no thread for it."""


def low_limits() -> list[str]:
    """The limits that are lower than usual: `8 open files (ulimit -n)`."""
    found = []
    for kind, unit_bytes, name, usual in _KINDS:
        limit = soft_limit(kind)
        if limit is not None and limit < usual:
            found.append(f"{limit // unit_bytes} {name}")
    return found


def soft_limit(kind: int) -> int | None:
    """A limit of this process; None where there is none."""
    limit = resource.getrlimit(kind)[0]
    return None if limit == resource.RLIM_INFINITY else limit


def is_exhausted(error: BaseException) -> bool:
    """Whether an error says that memory, files, processes or a file's size ran out."""
    if isinstance(error, OSError):
        return error.errno in _EXHAUSTED
    return isinstance(error, MemoryError) or str(error) == _NO_THREAD
