"""What is known of a host and a target at one moment: load, free space, and its clock."""

from __future__ import annotations

import ctypes
import os
import threading
from dataclasses import dataclass
from pathlib import Path

_PATIENCE_S = 2.0
_TIME_ERROR = 5
"""What adjtimex returns where nobody disciplines the clock (adjtimex(2))."""
_MICRO = 1e-6


class _Timex(ctypes.Structure):
    """`struct timex` of Linux, as far as it is read; the rest is room (adjtimex(2))."""

    _fields_ = (
        ("modes", ctypes.c_uint),
        ("offset", ctypes.c_long),
        ("freq", ctypes.c_long),
        ("maxerror", ctypes.c_long),
        ("esterror", ctypes.c_long),
        ("status", ctypes.c_int),
        ("room", ctypes.c_char * 256),
    )


@dataclass(frozen=True)
class ClockState:
    """What the kernel says of the wall clock."""

    synchronized: bool
    """Whether a daemon (NTP, PTP) disciplines it."""
    error_s: float
    """The largest error that the kernel estimates."""


def clock_state() -> ClockState | None:
    """How well the wall clock is kept; None where this system does not say."""
    try:
        state = _Timex()
        code = ctypes.CDLL(None, use_errno=True).adjtimex(ctypes.byref(state))
    except (OSError, AttributeError):
        return None
    if code < 0:
        return None
    return ClockState(code != _TIME_ERROR, max(0.0, state.maxerror * _MICRO))


def load_average(root: Path) -> float | None:
    """Runnable and waiting processes, over the last minute; None where /proc does not say."""
    try:
        return float((root / "proc/loadavg").read_text().split()[0])
    except (OSError, ValueError, IndexError):
        return None


class FreeSpace:
    """Free bytes and inodes of a directory; a file system that hangs is asked once."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._hangs = False

    def now(self) -> tuple[int, int] | None:
        """Bytes and inodes that are free for users; None where it is not known."""
        if self._hangs:
            return None
        found: list[os.statvfs_result] = []
        asker = threading.Thread(target=self._ask, args=(found,), daemon=True)
        asker.start()
        asker.join(_PATIENCE_S)
        self._hangs = asker.is_alive()
        if not found:
            return None
        space = found[0]
        return space.f_bavail * space.f_frsize, max(0, space.f_favail)

    def _ask(self, found: list[os.statvfs_result]) -> None:
        try:
            found.append(os.statvfs(self._directory))
        except OSError:
            return
