"""Which bytes of a file are in memory, as reads bring them there."""

from __future__ import annotations

_PAGE = 4096
READ_AHEAD = 32 * _PAGE
"""The most that comes at once where nothing is in memory (Linux, `read_ahead_kb`)."""


def brought_by(request_bytes: int) -> int:
    """What a read of so many bytes brings where none went before it (Linux, mm/readahead.c)."""
    pages = 1 << max(0, -(-request_bytes // _PAGE) - 1).bit_length()
    if pages * 32 * _PAGE <= READ_AHEAD:
        return 4 * pages * _PAGE
    return min(2 * pages * _PAGE, READ_AHEAD)


def windows_of(begin: int, end: int, request_bytes: int, file_bytes: int) -> list[int]:
    """Bytes that come one after the other as a file is read from `begin` to before `end`.

    The first window is what the first request brings, each further one is twice the one before.
    """
    found, at, window = [], begin, max(brought_by(request_bytes), _PAGE)
    while at < min(end, file_bytes):
        found.append(min(window, file_bytes - at))
        at += found[-1]
        window = min(2 * window, READ_AHEAD)
    return found


class Warm:
    """Parts of a file, in bytes, each from its begin to before its end."""

    def __init__(self) -> None:
        self._parts: list[tuple[int, int]] = []

    def add(self, begin: int, end: int) -> None:
        """These bytes, too."""
        if end <= begin:
            return
        kept = []
        for first, last in self._parts:
            if last < begin or first > end:
                kept.append((first, last))
            else:
                begin, end = min(begin, first), max(end, last)
        self._parts = [*kept, (begin, end)]

    def share(self, begin: int, end: int) -> float:
        """How much of these bytes is in memory, from 0 to 1; of no bytes, nothing."""
        if end <= begin:
            return 0.0
        there = sum(max(0, min(end, last) - max(begin, first)) for first, last in self._parts)
        return there / (end - begin)

    def goes_on(self, begin: int) -> bool:
        """Whether a read that begins there finds what was read ahead behind an earlier one."""
        return any(first < begin <= last + READ_AHEAD for first, last in self._parts)
