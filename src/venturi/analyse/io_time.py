"""The I/O time of a repetition: the slowest rank's time inside I/O, without computing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from venturi.model.record import PhaseRow

_IN_RANK_TIMES = frozenset({"open", "create", "mkdir", "write", "read", "sync", "close"})
"""Kinds whose time is known of each rank."""


def io_seconds(rows: Sequence[PhaseRow]) -> float:
    """The slowest rank's sum of time inside I/O calls over the rows of one repetition.

    Opening, moving, syncing and closing are known of each rank and added up rank by rank. Of
    other calls on names (stat, unlink, rename, ...) the record has the largest rank's sum in each
    phase; those are added on top, which is at most too long where ranks differ in them. Phases
    inside of others are part of these and not counted twice. Ranks of groups that follow each
    other are taken for different ones.
    """
    busy: dict[tuple[str, int, int], float] = defaultdict(float)
    names: dict[tuple[str, int], float] = defaultdict(float)
    for row in rows:
        if "/" in row.path:
            continue
        times = row.per_rank
        for rank, parts in enumerate(
            zip(times.open_s, times.transfer_s, times.close_s, strict=True)
        ):
            busy[(row.group, row.instance, rank)] += sum(parts)
        names[(row.group, row.instance)] += sum(
            row.by_operation[kind].seconds
            for kind in row.by_operation
            if kind not in _IN_RANK_TIMES
        )
    return max((s + names[(group, i)] for (group, i, _), s in busy.items()), default=0.0)
