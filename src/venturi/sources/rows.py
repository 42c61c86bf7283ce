"""Operations and the files that they name, collected call by call while a text is read."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable

import numpy as np

from venturi.model.operation import NO_FILE, Operations, operations_of
from venturi.model.trace import TracedFile

COLUMNS = (
    "process",
    "thread",
    "layer",
    "kind",
    "error",
    "file",
    "detail",
    "offset",
    "bytes",
    "start_ns",
    "end_ns",
)

MOST_FILES = NO_FILE


class Rows:
    """Rows in the order of COLUMNS; `add` takes one row as a tuple of integers."""

    def __init__(self) -> None:
        self._values = array("q")
        self.add: Callable[[Iterable[int]], None] = self._values.extend

    def __len__(self) -> int:
        return len(self._values) // len(COLUMNS)

    def first_start_ns(self) -> int:
        """The earliest `start_ns`; 0 without rows."""
        if not len(self._values):
            return 0
        return int(self._table()[:, COLUMNS.index("start_ns")].min())

    def operations(self, origin_ns: int = 0) -> Operations:
        """The rows as columns, sorted by start; times count from `origin_ns`."""
        table = self._table()
        columns = {name: table[:, place] for place, name in enumerate(COLUMNS)}
        for name in ("start_ns", "end_ns"):
            columns[name] = np.maximum(columns[name] - origin_ns, 0)
        return operations_of(**columns)

    def _table(self) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
        return np.frombuffer(self._values, np.int64).reshape(-1, len(COLUMNS))


class FileTable:
    """Files by path, numbered as they first come."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, path: str) -> int:
        """The file's index in `files`."""
        return self._numbers.setdefault(path, len(self._numbers))

    def files(self) -> list[TracedFile]:
        """All files, by index."""
        return [TracedFile(path=path) for path in self._numbers]
