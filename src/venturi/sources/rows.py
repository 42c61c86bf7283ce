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


class Rows:
    """Rows in the order of COLUMNS; `add` takes one row as a tuple of integers."""

    def __init__(self) -> None:
        self._values = array("q")
        self.add: Callable[[Iterable[int]], None] = self._values.extend

    def __len__(self) -> int:
        return len(self._values) // len(COLUMNS)

    def extend(self, table: np.ndarray[tuple[int, int], np.dtype[np.int64]]) -> None:
        """Many rows, one below the other."""
        self._values.frombytes(np.ascontiguousarray(table, np.int64).tobytes())

    def drop_part(self) -> None:
        """Removes what an `add` left that failed at a number beyond 64 bits."""
        whole = len(self) * len(COLUMNS)
        del self._values[whole:]

    def operations(self, origin_ns: int = 0) -> Operations:
        """The rows as columns, sorted by start; times count from `origin_ns`.

        No rows are left afterwards: they take more memory than the columns do.
        """
        operations = self._columns(origin_ns)
        del self._values[:]
        return operations

    def _columns(self, origin_ns: int) -> Operations:
        table = self._table()
        columns = {name: table[:, place] for place, name in enumerate(COLUMNS)}
        for name in ("offset", "bytes"):
            columns[name] = columns[name].copy()  # else a view, which would keep the table
        for name in ("start_ns", "end_ns"):
            columns[name] = np.maximum(columns[name] - origin_ns, 0)
        return operations_of(**columns)

    def _table(self) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
        return np.frombuffer(self._values, np.int64).reshape(-1, len(COLUMNS))


class FileTable:
    """Files by path, and datasets by path and file, numbered as they first come."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[str, int | None], int] = {}

    def number(self, path: str) -> int:
        """The file's index in `files`."""
        return self._numbers.setdefault((path, None), len(self._numbers))

    def dataset(self, path: str, within: int) -> int:
        """The index of a dataset in a file; NO_FILE: in one that is not known."""
        return self._numbers.setdefault((path, within), len(self._numbers))

    def files(self) -> list[TracedFile]:
        """All files, by index."""
        return [
            TracedFile(path=path, within=None if within == NO_FILE else within)
            for path, within in self._numbers
        ]
