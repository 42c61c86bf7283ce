"""Measurements made fewer for a picture: every outlier stays, and of the others a random part.

Kunkel and Markomanolis, Understanding Metadata Latency with MDWorkbench, ISC 2018 workshops, LNCS
11203: a random part, and every point above 0.1 s. Here the thousand longest stay in any case, as
0.1 s is no outlier of one storage and beyond all of another.
"""

from __future__ import annotations

import numpy as np

from venturi.model.probe_history import ProbePoints
from venturi.probe.columns import Array

OUTLIER_NS = 10**8
FEWEST_OUTLIERS = 1000
MOST_OUTLIERS = 5000
"""Of so many a picture shows none by itself any more; the limit above which all stay rises."""
PART = 1500


class Thinning:
    """Takes measurements in parts of any size and keeps those that are drawn."""

    def __init__(self, seed: int = 1) -> None:
        """The same seed and the same measurements, in the same parts, keep the same ones."""
        self._random = np.random.default_rng(seed)
        self._count = self._above = 0
        self._longest = np.zeros((2, 0), np.int64)
        self._part = np.zeros((2, 0), np.int64)
        self._priority = np.zeros(0)

    def add(self, at_ns: Array, value_ns: Array) -> None:
        """Take measurements: when each was due, and how long it took."""
        rows = np.stack((at_ns.astype(np.int64), value_ns.astype(np.int64)))
        self._count += rows.shape[1]
        self._above += int(np.count_nonzero(rows[1] > OUTLIER_NS))
        self._keep_longest(rows)
        self._keep_part(rows)

    def _keep_longest(self, rows: Array) -> None:
        if self._longest.shape[1] > MOST_OUTLIERS:
            rows = rows[:, rows[1] > self._longest[1, -1]]
        longest = np.concatenate((self._longest, rows), axis=1)
        order = np.argsort(-longest[1], kind="stable")[: MOST_OUTLIERS + 1]
        self._longest = longest[:, order]

    def _keep_part(self, rows: Array) -> None:
        """A random part of all so far: the rows with the lowest of random priorities."""
        priority: Array = np.asarray(self._random.random(rows.shape[1]))
        if len(self._priority) == PART:
            low = priority < self._priority[-1]
            rows, priority = rows[:, low], priority[low]
        part = np.concatenate((self._part, rows), axis=1)
        priority = np.concatenate((self._priority, priority))
        chosen = np.argsort(priority, kind="stable")[:PART]
        self._part, self._priority = part[:, chosen], priority[chosen]

    def points(self, begin_ns: int) -> ProbePoints:
        """Return what is drawn, in the order of time."""
        if self._count <= FEWEST_OUTLIERS + PART:
            return _points(self._longest, begin_ns, self._count)
        outliers = min(max(self._above, FEWEST_OUTLIERS), MOST_OUTLIERS)
        above_ns = int(self._longest[1, outliers])
        kept = self._longest[:, self._longest[1] > above_ns]
        others = self._part[:, self._part[1] <= above_ns]
        whole = _points(np.concatenate((kept, others), axis=1), begin_ns, self._count)
        return whole.model_copy(
            update={
                "above_s": above_ns / 1e9,
                "thinned": others.shape[1],
                "thinned_from": self._count - kept.shape[1],
            }
        )


def _points(rows: Array, begin_ns: int, measured: int) -> ProbePoints:
    ordered = rows[:, np.argsort(rows[0], kind="stable")]
    return ProbePoints(
        at_s=[round(max(0, at - begin_ns) / 1e9, 3) for at in ordered[0].tolist()],
        value_s=[float(f"{max(0, value) / 1e9:.6g}") for value in ordered[1].tolist()],
        measured=measured,
    )
