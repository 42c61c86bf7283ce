"""Runs of nearly equal records: a head of one size, then a block of nearly the same (rule 6).

Compressed blocks behind headers of fixed size are such. Sizes differ from record to record, so no
table gives them exactly; that small and large requests take turns is what a mix would lose.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from venturi.model.operation import Column

MOST_PARTS = 4
"""Of a record."""
MOST_LEAD = 4
"""So many requests may come before the first record."""
LEAST_RECORDS = 8
NEAR = 1.25
"""A part's largest size is at most so many times its smallest; those of two parts differ more."""
MOST_LEFT = 0.1
"""By such a share of its requests a run may be no record."""


@dataclass(frozen=True)
class NearRecords:
    """What runs of requests have in common, from one place in each on."""

    parts: tuple[int, ...]
    """The mean size of each, rounded down."""
    count: int
    """Records of each run."""

    @property
    def bytes(self) -> int:
        """Of one record."""
        return sum(self.parts)


def near_records(runs: list[Column]) -> NearRecords | None:
    """The records that all runs, sizes in order, consist of but for a few requests."""
    shortest = min(len(sizes) for sizes in runs)
    for parts in range(2, MOST_PARTS + 1):
        for lead in range(MOST_LEAD + 1):
            if shortest < lead + parts * LEAST_RECORDS:
                break
            found = _found([sizes[lead:] for sizes in runs], parts)
            if found is not None:
                left = max(len(sizes) - found.count * parts for sizes in runs)
                return found if left <= MOST_LEFT * shortest else None
    return None


def _found(runs: list[Column], parts: int) -> NearRecords | None:
    """Records that begin at once, up to where the first run has no more."""
    most = min(len(sizes) // parts for sizes in runs)
    tables = np.stack([sizes[: most * parts].reshape(most, parts) for sizes in runs])
    low = np.minimum.accumulate(tables.min(axis=0), axis=0)
    high = np.maximum.accumulate(tables.max(axis=0), axis=0)
    fits = np.all(high <= NEAR * low, axis=1)
    count = most if np.all(fits) else int(np.argmin(fits))
    # The last record goes with what is left, which takes what means round off.
    count -= int(any(len(sizes) == count * parts for sizes in runs))
    if count < LEAST_RECORDS:
        return None
    means = tables[:, :count].reshape(-1, parts).mean(axis=0)
    if np.any(means < 1) or means.max() <= NEAR * means.min():
        return None
    return NearRecords(tuple(int(mean) for mean in means), count)
