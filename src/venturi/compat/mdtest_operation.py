"""mdtest's savePerOpDataCSV: the log of single operations as tables of items."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from venturi.compat.mdtest_result import DIRECTORY_ROWS, FILE_ROWS

_HEAD = "time,runtime,tp"
_NS_PER_S = 1e9
_FIRST = frozenset({"create", "mknod", "open", "stat", "unlink", "mkdir", "rmdir", "rename"})
"""With one of these the operations on an item begin; `close` ends them."""


def write_item_tables(prefix: str, log: Path, iterations: int) -> list[Path]:
    """Write `PREFIX-PHASE-RANK.csv` of each phase and rank from a record's log; their paths.

    An item's row has when it began (from the rank's first item on), how long all its operations
    took, and its bytes by that time (1 for an empty one). With several iterations their number
    stands before the rank: mdtest overwrites the tables of the one before.
    """
    import numpy as np

    made = []
    with np.load(log, allow_pickle=False) as columns:
        for phase, iteration, rank, rows in _tables(columns):
            number = f"{iteration}-" if iterations > 1 else ""
            path = Path(f"{prefix}-{phase}-{number}{rank:05d}.csv")
            path.write_text(_text(rows), "utf-8")
            made.append(path)
    return made


_Operation = tuple[str, int, int, int]
"""Kind, begin and end in ns, bytes."""


def _tables(columns: Any) -> Iterator[tuple[str, int, int, list[_Operation]]]:
    """The operations of each measured phase of items, iteration and rank, in order."""
    import numpy as np

    phases = [str(name) for name in columns["phase_names"]]
    kinds = [str(name) for name in columns["kind_names"]]
    names = ("begin_ns", "end_ns", "bytes", "kind", "phase", "repetition", "rank")
    data = {name: columns[name] for name in names}
    for row in (*DIRECTORY_ROWS, *FILE_ROWS):
        serials = [number + 1 for number, name in enumerate(phases) if name == row.value]
        here = np.flatnonzero(np.isin(data["phase"], serials))
        places = zip(data["repetition"][here], data["rank"][here], strict=True)
        for repetition, rank in sorted(set(places)):
            mine = here[(data["repetition"][here] == repetition) & (data["rank"][here] == rank)]
            ordered = mine[np.argsort(data["begin_ns"][mine], kind="stable")]
            found = zip(*(data[name][ordered] for name in names[:4]), strict=True)
            rows = [
                (kinds[kind], int(begin), int(end), int(size)) for begin, end, size, kind in found
            ]
            yield row.value, int(repetition), int(rank), rows


def _items(operations: list[_Operation]) -> Iterator[tuple[int, int, int]]:
    """Begin, end and bytes of each item; what is between items, such as a sync, is nobody's."""
    item: tuple[int, int, int] | None = None
    for kind, begin, end, size in operations:
        if kind in _FIRST:
            if item is not None:
                yield item
            item = (begin, end, 0)
        elif item is not None:
            item = (item[0], end, item[2] + max(size, 0))
        if kind == "close" and item is not None:
            yield item
            item = None
    if item is not None:
        yield item


def _text(operations: list[_Operation]) -> str:
    lines = [_HEAD]
    start = operations[0][1]
    for begin, end, size in _items(operations):
        took_s = (end - begin) / _NS_PER_S
        rate = max(size, 1) / took_s if took_s > 0 else 0.0
        lines.append(f"{(begin - start) / _NS_PER_S:.9e},{took_s:.9e},{rate:.6e}")
    return "\n".join(lines) + "\n"
