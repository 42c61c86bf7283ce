"""Calls that move nothing beside requests: seeks, and reads where a file ends.

A library that reads what is there before it writes over it asks for it behind the file's end, too,
and moves the file's position for each of these calls. Each of them belongs to the request of its
rank and file that follows it; the last ones belong to the one before. Where they take a share of
the time that matters, the proxy makes as many.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from venturi.model.operation import KIND_CODES, Column, Kind, Operations

LEAST_SHARE = 0.01
"""Of the time of all calls that are kept."""
LEAST_EACH = 0.05
"""Fewer for each request are an accident of its beginning or end."""
MOST_EACH = 1000
"""A plan has no more before a request."""
DIGITS = 4


@dataclass(frozen=True)
class Looks:
    """Of each request, the calls that move nothing and belong to it; 0 for other operations."""

    seeks: Column
    empty: Column


def looks_beside(
    operations: Operations, rows: Column, key: Column, beside: Column, of_beside: Column
) -> Looks | None:
    """The calls `beside` those of `rows`, both in the order of time and with the number of their
    rank and file; None where they take no time that matters."""
    took = _ns(operations, beside)
    if took < LEAST_SHARE * (took + _ns(operations, rows)) or not took:
        return None
    is_data = np.isin(operations.kind[rows], [KIND_CODES[Kind.READ], KIND_CODES[Kind.WRITE]])
    data = np.flatnonzero(is_data)
    owner = _owners(key[data], rows[data], of_beside, beside)
    owner, known = data[np.maximum(owner, 0)] if len(data) else owner, owner >= 0
    is_seek = operations.kind[beside] == KIND_CODES[Kind.SEEK]
    seeks, empty = (
        np.bincount(owner[known & mask], minlength=len(rows)).astype(np.int64)
        for mask in (is_seek, ~is_seek)
    )
    return Looks(seeks, empty)


def _ns(operations: Operations, rows: Column) -> int:
    return int((operations.end_ns[rows] - operations.start_ns[rows]).clip(0).sum())


def _owners(key: Column, row: Column, of_call: Column, call: Column) -> Column:
    """For each call the request of its key that follows it, or else the last one; -1: none."""
    order = np.lexsort((row, key))
    key, row = key[order], row[order]
    width = int(max(row.max(initial=0), call.max(initial=0))) + 1
    after = np.searchsorted(key * width + row, of_call * width + call)
    found = np.full(len(call), -1, np.int64)
    for at in (after - 1, after):  # the one that follows, where there is one
        inside = (at >= 0) & (at < len(key))
        inside[inside] = key[at[inside]] == of_call[inside]
        found[inside] = order[at[inside]]
    return found


def look_keys(seeks: Column, empty: Column) -> dict[str, Any]:
    """The keys of a step whose requests have so many; what hardly comes is left out."""
    keys: dict[str, Any] = {}
    for name, counts in (("seeks", seeks), ("empty_reads", empty)):
        each = min(round(float(counts.sum()) / max(len(counts), 1), DIGITS), MOST_EACH)
        if each >= LEAST_EACH:
            keys[name] = int(each) if each == int(each) else each
    return keys
