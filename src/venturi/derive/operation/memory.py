"""Through how much memory a run's requests move, and whether reads find pages there.

A program with many buffers takes longer for the same requests than one that uses the same memory
again and again, which stays in the processor's caches; and whoever reads into memory that was not
used before waits for its pages, too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from venturi.derive.operation.table import Table
from venturi.model.operation import FRESH, LOOKED_AT, MEMORY_SHIFT, MEMORY_UNIT, Column
from venturi.model.units import size_text

PAGE_BYTES = 4096
LEAST_BYTES = 64 * 1024
"""Less than this stays in a core's first cache (32 to 64 KiB).

Of 4 KiB written to tmpfs, in turn on a processor with caches of 48 KiB and 2 MiB: 292 ns out of one
page, 315 out of 64 KiB, 332 out of 208 KiB, 367 out of 1 MiB, 464 out of 4 MiB (medians of 301).
"""
LEAST_TURNS = 2.0
"""Times the largest request: memory that comes again after that is not the same."""
MOST_BYTES = 64 * 2**20
"""More than the caches of a processor is as cold as it gets."""
LEAST_FRESH = 0.02
"""Of reads that were looked at; what is used for the first time is always new."""
LEAST_REQUESTS = 8
ENOUGH_REQUESTS = 50_000


def memory_keys(table: Table, rows: Column) -> dict[str, Any]:
    """The keys `memory` and `fresh` of a step that stands for these requests of one rank, in the
    order of time; what goes without saying is left out."""
    rows = rows[:ENOUGH_REQUESTS]
    detail, size = table.memory[rows], table.bytes[rows]
    keys: dict[str, Any] = {}
    span = span_of((detail >> MEMORY_SHIFT).astype(np.int64) * MEMORY_UNIT, size)
    if span >= max(LEAST_BYTES, LEAST_TURNS * int(size.max(initial=0))):
        keys["memory"] = size_text(_rounded(min(span, MOST_BYTES)))
    looked = int(np.count_nonzero(detail & LOOKED_AT))
    share = np.count_nonzero(detail & FRESH) / looked if looked else 0.0
    if share >= LEAST_FRESH:
        keys["fresh"] = round(share, 2)
    return keys


def span_of(place: Column, size: Column) -> int:
    """Bytes that are moved until the same memory is used again, usually; where most of it never is,
    all that was used. 0 where places are unknown, or there are too few to tell."""
    if len(place) < LEAST_REQUESTS or np.any(place == 0):
        return 0
    page = place // PAGE_BYTES
    moved = np.cumsum(size) - size
    order = np.argsort(page, kind="stable")
    again = page[order[1:]] == page[order[:-1]]
    used_before = order[1:][again]
    between = moved[used_before] - moved[order[:-1][again]]
    if 2 * int(size[used_before].sum()) < int(size.sum()):
        return int(size.sum() - size[used_before].sum())
    by_length = np.argsort(between)
    weight = np.cumsum(size[used_before][by_length])
    return int(between[by_length[np.searchsorted(weight, weight[-1] / 2)]])


def _rounded(span: int) -> int:
    """A power of two near it."""
    return 1 << max(0, round(float(np.log2(span))))
