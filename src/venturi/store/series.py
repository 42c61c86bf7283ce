"""A session that does not end: series that only grow, cut into windows that are sealed.

    series/NAME/lock                       held by the one writer
    series/NAME/open/begin                 when the open window began
    series/NAME/open/SERIES.jsonl          a line for each point, its CRC-32 first
    series/NAME/windows/BEGIN/             a window that is over: the same files, window.json, and
                                           the digests of all of them

A window lasts `window_ns` and begins at a multiple of it, so windows of several machines match. The
writer may be killed at any moment: a line that was not written to its end is cut off when the next
writer comes, and a window is made under another name and renamed when it is whole.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Self

from venturi.model.document import DocumentError, parse_json
from venturi.model.error import UserError
from venturi.model.series import Presence, SeriesPart, SeriesPoint, SeriesWindow
from venturi.store.seal import seal

WINDOW_NAME = "window.json"
_BEGIN_NAME = "begin"
_PRESENCE_NAME = "presence"
"""The series of writers: a point when one begins, and one when it ends."""
_CRC_CHARACTERS = 8

Clock = Callable[[], int]
"""Nanoseconds since 1970."""


class SeriesWriter:
    """The one writer of a session.

    When `append` has returned, a kill of the writer loses nothing; a crash of the node may lose
    what its kernel had not written back. A window that is over is on the disk.
    """

    def __init__(self, store: Path, name: str, window_ns: int, clock: Clock = time.time_ns) -> None:
        """Go on where the last writer stopped, or begin.

        Raises UserError where another writer is at work or the store cannot be written.
        """
        self.folder = store / "series" / name
        self._open = self.folder / "open"
        self._window_ns = window_ns
        self._clock = clock
        self._files: dict[str, int] = {}
        try:
            self._open.mkdir(parents=True, exist_ok=True)
            (self.folder / "windows").mkdir(exist_ok=True)
            self._lock = _take_lock(self.folder / "lock")
        except OSError as error:
            raise UserError(
                f"{self.folder}: the series cannot be written: {error.strerror}",
                "choose another store with --store",
            ) from None
        for path in self._open.glob("*.jsonl"):
            _cut_torn_line(path)
        self._roll(clock())
        self._note_presence(1)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def append(self, series: str, values: Mapping[str, float]) -> None:
        """Keep numbers of this moment; closes the window first where it is over.

        Raises UserError where the store has no room; the series stays as it was.
        """
        now_ns = self._clock()
        if now_ns >= self._begin_ns + self._window_ns:
            self._note_presence(0)
            self._roll(now_ns)
            self._note_presence(1)
        self._write(series, SeriesPoint(at_ns=now_ns, values=dict(values)))

    def close(self) -> None:
        """Say that this writer ends here; the window stays open for the next one."""
        if self._lock < 0:
            return
        self._note_presence(0)
        self._close_files()
        os.close(self._lock)
        self._lock = -1

    def _write(self, series: str, point: SeriesPoint) -> None:
        if series not in self._files:
            path = self._open / f"{series}.jsonl"
            self._files[series] = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        _append_line(self._files[series], line_of(point), self.folder)

    def _note_presence(self, is_there: int) -> None:
        self._write(_PRESENCE_NAME, SeriesPoint(at_ns=self._clock(), values={"is_there": is_there}))

    def _roll(self, now_ns: int) -> None:
        """Seal the open window if it is over, and begin the one of this moment if there is none."""
        begin = self._open / _BEGIN_NAME
        if begin.exists():
            self._begin_ns = int(begin.read_text("ascii"))
            if now_ns < self._begin_ns + self._window_ns:
                return
            self._close_files()
            self._seal(self._begin_ns)
            self._open.mkdir()
        self._begin_ns = now_ns - now_ns % self._window_ns
        temporary = self._open / f"{_BEGIN_NAME}.part"
        temporary.write_text(str(self._begin_ns), "ascii")
        temporary.replace(begin)

    def _seal(self, begin_ns: int) -> None:
        parts = {path.stem: list(read_points(path)) for path in _series_in(self._open)}
        presence = _presence_of(parts)
        steps = sum(
            later.at_ns < earlier.at_ns
            for points in parts.values()
            for earlier, later in pairwise(points)
        )
        window = SeriesWindow(
            begin_ns=begin_ns,
            end_ns=begin_ns + self._window_ns,
            series=[_part_of(name, points) for name, points in sorted(parts.items()) if points],
            presence=presence,
            clock_steps=steps,
        )
        (self._open / WINDOW_NAME).write_text(window.to_json(indent=1), "utf-8")
        seal(self._open)
        self._open.rename(self.folder / "windows" / str(begin_ns))

    def _close_files(self) -> None:
        for descriptor in self._files.values():
            os.fsync(descriptor)
            os.close(descriptor)
        self._files.clear()


def line_of(point: SeriesPoint) -> bytes:
    """Return a point as a line that shows whether it is whole."""
    text = point.to_json().encode("ascii")
    return b"%08x %s\n" % (zlib.crc32(text), text)


def read_points(path: Path) -> Iterator[SeriesPoint]:
    """Yield the points of a file of a series, in the order in which they were written.

    A last line that is being written is left out. Raises UserError for any other damage.
    """
    lines = path.read_bytes().split(b"\n")
    for number, line in enumerate(lines[:-1], 1):
        yield _point_of(line, f"{path}:{number}")


def windows_of(folder: Path) -> list[tuple[Path, SeriesWindow]]:
    """Return the sealed windows of a session, the oldest first."""
    found = sorted((folder / "windows").glob("*/" + WINDOW_NAME))
    read = [(path.parent, parse_json(SeriesWindow, path.read_bytes())) for path in found]
    return sorted(read, key=lambda one: one[1].begin_ns)


def points_of(folder: Path, series: str, begin_ns: int, end_ns: int) -> Iterator[SeriesPoint]:
    """Yield the points of a session in [begin_ns, end_ns), those of the open window, too."""
    places = [
        place
        for place, window in windows_of(folder)
        if window.begin_ns < end_ns and window.end_ns > begin_ns
    ]
    for place in [*places, folder / "open"]:
        path = place / f"{series}.jsonl"
        if path.exists():
            yield from (one for one in read_points(path) if begin_ns <= one.at_ns < end_ns)


def forget_before(folder: Path, at_ns: int) -> int:
    """Remove the sealed windows that ended before a moment; returns how many."""
    old = [place for place, window in windows_of(folder) if window.end_ns <= at_ns]
    for place in old:
        gone = folder / f"gone.{place.name}"
        place.rename(gone)  # a reader finds all of a window or none
        shutil.rmtree(gone)
    return len(old)


def _take_lock(path: Path) -> int:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise UserError(f"{path.parent}: another process writes this session") from None
    return descriptor


def _append_line(descriptor: int, line: bytes, folder: Path) -> None:
    """Write all of a line to the end of a file, or nothing of it."""
    before = os.fstat(descriptor).st_size
    reason = "the file system took only a part"
    try:
        if os.write(descriptor, line) == len(line):
            return
    except OSError as error:
        reason = str(error.strerror)
    os.ftruncate(descriptor, before)
    raise UserError(f"{folder}: the series cannot be written: {reason}", "make room in the store")


def _cut_torn_line(path: Path) -> None:
    """Cut off what a killed writer left behind the last whole line."""
    data = path.read_bytes()
    whole = data.rfind(b"\n") + 1
    if whole != len(data):
        os.truncate(path, whole)


def _point_of(line: bytes, where: str) -> SeriesPoint:
    crc, text = line[:_CRC_CHARACTERS], line[_CRC_CHARACTERS + 1 :]
    if crc != b"%08x" % zlib.crc32(text):
        raise UserError(f"{where}: the line is damaged")
    try:
        return parse_json(SeriesPoint, text)
    except DocumentError as error:
        raise UserError(f"{where}: {error.message}") from None


def _series_in(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.jsonl"))


def _part_of(name: str, points: list[SeriesPoint]) -> SeriesPart:
    times = [point.at_ns for point in points]
    return SeriesPart(name=name, points=len(points), first_ns=min(times), last_ns=max(times))


def _presence_of(parts: dict[str, list[SeriesPoint]]) -> list[Presence]:
    """Return when writers were at work; one that was killed was there until its last point."""
    marks = parts.pop(_PRESENCE_NAME, [])
    moments = sorted(point.at_ns for points in parts.values() for point in points)
    found: list[Presence] = []
    for number, mark in enumerate(marks):
        if not mark.values["is_there"]:
            continue
        after = marks[number + 1] if number + 1 < len(marks) else None
        if after is not None and not after.values["is_there"]:
            end_ns = after.at_ns
        else:
            until = after.at_ns if after is not None else None
            own = [at for at in moments if at >= mark.at_ns and (until is None or at < until)]
            end_ns = max(own, default=mark.at_ns)
        found.append(Presence(begin_ns=mark.at_ns, end_ns=max(mark.at_ns, end_ns)))
    return found
