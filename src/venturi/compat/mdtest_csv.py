"""mdtest's table of ranks (--saveRankPerformanceDetails) from a record."""

from __future__ import annotations

from collections.abc import Iterator

from venturi.compat.mdtest_result import DIRECTORY_ROWS, FILE_ROWS, TREE_ROWS, MdtestRow, measured
from venturi.model.record import Record

_COLUMNS: tuple[str, ...] = (
    "Directory creation",
    "Directory stat",
    "Directory read",
    "Directory rename",
    "Directory removal",
    *FILE_ROWS,
    *TREE_ROWS,
)
"""mdtest has a column for reading directories, which it never does."""


def rank_csv(record: Record) -> str:
    """A row for all ranks in the first iteration, then one for each rank and iteration.

    Unlike mdtest's, rows of ranks name their items and have as many fields as the header.
    """
    header = [
        "rank",
        "items",
        *(f"{what}-{name}" for name in _COLUMNS for what in ("rate", "time")),
    ]
    return "".join(",".join(fields) + "\n" for fields in (header, *_rows(record)))


def _rows(record: Record) -> Iterator[list[str]]:
    found = {row.value: measured(record, row) for row in MdtestRow}
    yield ["all", str(_items(record, None))] + [
        text
        for name in _COLUMNS
        for text in (
            _pair(found[name][0].rate, found[name][0].seconds) if found.get(name) else ["", ""]
        )
    ]
    for iteration in range(record.repetitions):
        for rank in range(record.ranks):
            fields = [str(rank), str(_items(record, rank))]
            for name in _COLUMNS:
                measures = found.get(name, [])
                if name in TREE_ROWS or iteration >= len(measures):
                    fields += ["", ""]
                else:
                    one = measures[iteration]
                    fields += _pair(one.rank_rates[rank], one.rank_seconds[rank])
            yield fields


def _items(record: Record, rank: int | None) -> int:
    """Items of a rank, or the largest number of any."""
    for row in (*FILE_ROWS, *DIRECTORY_ROWS):
        for measure in measured(record, row)[:1]:
            items = measure.rank_items
            return round(max(items, default=0) if rank is None else items[rank])
    return 0


def _pair(rate: float, seconds: float) -> list[str]:
    return [f"{rate:.10e}", f"{seconds:.10e}"]
