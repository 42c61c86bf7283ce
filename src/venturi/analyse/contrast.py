"""Runs side by side, many metrics at once: which differ, by how much, what could be detected.

A permutation test of the largest t (max-T; Westfall and Young, Resampling-Based Multiple Testing,
1993, sections 2.3 and 2.6). If two runs are equal, any of their repetitions could have been those
of the first: the repetitions change sides together, with all of their metrics, in every possible
way, and the largest t over the metrics is noted. A metric differs significantly if its t exceeds
that of all but 5 % of these relabellings. So at most 5 % of comparisons of equal runs have any such
metric, however many metrics there are and however these depend on each other; and a t, unlike
ranks, tells a factor of ten from a factor of two.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from venturi.analyse.detectable import (
    ALLOWANCE,
    ALPHA,
    LEAST_SPREAD,
    least_change,
    score_of,
    t_of,
    with_scatter,
)
from venturi.analyse.relabelling import (
    MOST_ENUMERATED,
    Labels,
    extremes,
    least_p,
    relabellings,
)

Array = NDArray[np.float64]
Sides = tuple[Sequence[float], Sequence[float]]

_CLAMPED = 8
"""Of so many values, one at each end counts as its neighbour."""
_MOST_LOSS = 0.5
"""In spreads: values that lose more by clamping are wild ones, which a change does not have."""
_LARGEST_SHARE = np.float32(1 - 1e-7)
_LARGEST_LOG = 700.0
_ROUNDED_UP = 1 + 1e-5
"""Scores are kept in single precision: a score that equals the critical one is not above it."""
_SEED = 2


@dataclass(frozen=True)
class Contrast:
    """The second values of a metric beside the first."""

    p: float
    """Adjusted for all metrics that are judged together; 1 where none is judged."""
    superiority: float
    """The share of pairs in which the second's value is higher; equal ones count half."""
    ratio: float | None
    """The median of all ratios, second to first (Hodges-Lehmann); None unless all are above 0."""
    low: float | None = None
    """The interval of the ratio; so is `high`. It excludes 1 exactly where p <= ALPHA."""
    high: float | None = None
    detectable: float | None = None
    """The least change, as a share, that nine of ten such comparisons or more find."""
    is_higher: bool = False
    """The level of the second is above that of the first."""
    is_judged: bool = False
    """There are enough values that any difference could be significant."""

    @property
    def is_significant(self) -> bool:
        """Whether chance is excluded, with ALPHA for all metrics together."""
        return self.is_judged and self.p <= ALPHA

    @property
    def is_apart(self) -> bool:
        """Whether every value of the one side is above every value of the other."""
        return self.superiority in (0.0, 1.0)


def contrasts(
    parts: Sequence[Sequence[Sides]], allowance: float = ALLOWANCE
) -> list[list[Contrast]]:
    """Compare the metrics of each part; all metrics of all parts are one family.

    The values of a part's metrics are in the order of the repetitions, which are the same for all
    its metrics; where a metric has fewer, its last ones are missing. No list may be empty. Standard
    errors are taken `allowance` times as large as independent repetitions make them.
    """
    found = [[described(*sides) for sides in part] for part in parts]
    judged = [
        [index for index, sides in enumerate(part) if is_enough(*map(len, sides))] for part in parts
    ]
    tables = [
        _ContrastTable([part[index] for index in own], allowance)
        for part, own in zip(parts, judged, strict=True)
        if own
    ]
    results = iter(_judged(tables))
    for contrasts_of_part, own in zip(found, judged, strict=True):
        if own:
            for index, result in zip(own, next(results), strict=True):
                contrasts_of_part[index] = _completed(contrasts_of_part[index], result)
    return found


def is_enough(first: int, second: int) -> bool:
    """Whether so many repetitions can show anything at all."""
    return first + second > 2 and least_p(first, second) <= ALPHA


def described(first: Sequence[float], second: Sequence[float]) -> Contrast:
    """Return the size of the difference alone; nothing is judged."""
    above = sum((b > a) + 0.5 * (b == a) for a in first for b in second)
    superiority = above / (len(first) * len(second))
    ratio = None
    if min(*first, *second) > 0.0:
        ratio = _exp(float(np.median(np.subtract.outer(np.log(second), np.log(first)))))
    return Contrast(1.0, superiority, ratio)


@dataclass(frozen=True)
class _Result:
    """What the family says of one metric."""

    p: float
    shift: float
    margin: float
    detectable: float | None


def _completed(what: Contrast, result: _Result) -> Contrast:
    judged = replace(what, p=result.p, is_higher=result.shift > 0.0, is_judged=True)
    if what.ratio is None:
        return judged
    bounds = [_exp(result.shift + sign * result.margin) for sign in (-1, 1)]
    return replace(
        judged,
        low=min(bounds[0], what.ratio),
        high=max(bounds[1], what.ratio),
        detectable=result.detectable,
    )


def _exp(value: float) -> float:
    return math.exp(min(max(value, -_LARGEST_LOG), _LARGEST_LOG))


class _ContrastTable:
    """Metrics of one part as columns, repetitions as rows; those of the first run come first."""

    def __init__(self, metrics: Sequence[Sides], allowance: float) -> None:
        self.allowance = allowance
        self.first = max(len(first) for first, _ in metrics)
        self.second = max(len(second) for _, second in metrics)
        columns = [self._column(first, second) for first, second in metrics]
        values = np.array([column for column, _ in columns]).T
        self.present = ~np.isnan(values)
        self.sizes = self.present.sum(axis=0)
        self.freedom = self.sizes - 2
        self.values = np.where(self.present, values - np.nanmean(values, axis=0), 0.0)
        self.floors = np.array([floor for _, floor in columns])
        self.spreads = [_spread_if_changed(*sides) for sides in metrics]
        self.labels = relabellings(self.first, self.second)
        self.scores = self._scores(self.labels)
        self.counts = self.present[: self.first].sum(axis=0), self.present[self.first :].sum(axis=0)
        self.shifts, self.errors = self._shifts()
        self.own = self._own_scores()
        self.scores[extremes(self.labels)] = self.own

    def _column(self, first: Sequence[float], second: Sequence[float]) -> tuple[Array, float]:
        """Return the values, NaN where a repetition has none, and the least deviation.

        They are logarithms if all values are above 0. The extreme ones are clamped without regard
        to their side, so one wild repetition does not hide what the others show.
        """
        values = np.array([*first, *second], dtype=np.float64)
        floor = LEAST_SPREAD * float(np.abs(values).mean())
        if values.min() > 0.0:
            values, floor = np.log(values), LEAST_SPREAD
        clamped = _clamped(len(first), len(second))
        if clamped:
            ordered = np.sort(values)
            values = np.clip(values, ordered[clamped], ordered[-1 - clamped])
        column = np.full(self.first + self.second, np.nan)
        column[: len(first)] = values[: len(first)]
        column[self.first : self.first + len(second)] = values[len(first) :]
        return column, floor

    def _scores(self, labels: Labels) -> NDArray[np.float32]:
        """Return the normal deviate that is as rare as the t of a metric: relabelling, metric."""
        total = labels @ self.values.astype(np.float32)
        sizes = self.sizes.astype(np.float32)
        squares = (self.values**2).sum(axis=0) + self.freedom * self.floors**2
        if self.present.all():
            weights = sizes / np.float32(self.first * self.second)
        else:
            count = labels @ self.present.astype(np.float32)
            with np.errstate(divide="ignore"):
                weights = np.nan_to_num(sizes / (count * (sizes - count)), posinf=0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.nan_to_num(total**2 * (weights / squares.astype(np.float32)), posinf=0.0)
        scale = (8 * self.freedom + 1) / (8 * self.freedom + 3) * np.sqrt(self.freedom)
        unlike = np.log1p(-np.minimum(share, _LARGEST_SHARE))
        return np.asarray(scale.astype(np.float32) * np.sqrt(-unlike), dtype=np.float32)

    def _shifts(self) -> tuple[Array, Array]:
        """Return how far the second means are above the first, and their standard errors."""
        sides = slice(None, self.first), slice(self.first, None)
        means = [
            self.values[side].sum(axis=0) / n for side, n in zip(sides, self.counts, strict=True)
        ]
        within = [
            ((self.values[side] - mean) ** 2 * self.present[side]).sum(axis=0)
            for side, mean in zip(sides, means, strict=True)
        ]
        spreads = np.sqrt((within[0] + within[1]) / self.freedom)
        errors = np.hypot(spreads, self.floors) * np.sqrt(1 / self.counts[0] + 1 / self.counts[1])
        return means[1] - means[0], errors

    def _own_scores(self) -> NDArray[np.float32]:
        """Return the scores of what was measured, with the allowance."""
        t = np.divide(
            np.abs(self.shifts),
            self.errors * self.allowance,
            out=np.zeros_like(self.errors),
            where=self.errors > 0.0,
        )
        return np.array(
            [score_of(one, int(freedom)) for one, freedom in zip(t, self.freedom, strict=True)],
            dtype=np.float32,
        )

    def results(self, p: Array, critical: Array, effect_critical: float | None) -> list[_Result]:
        """Return what the family says of each metric, given the scores that must be exceeded."""
        found = []
        for index, freedom in enumerate(self.freedom):
            counts = [int(own[index]) for own in self.counts]
            detectable = None
            if effect_critical is not None:
                spread, loss = self.spreads[index]
                first, second = counts
                detectable = least_change(
                    spread,
                    first,
                    second,
                    critical=effect_critical,
                    loss=loss,
                    allowance=self.allowance,
                )
            limit = _ROUNDED_UP * self.allowance * t_of(float(critical[index]), int(freedom))
            margin = limit * float(self.errors[index])
            found.append(_Result(float(p[index]), float(self.shifts[index]), margin, detectable))
        return found


def _clamped(first: int, second: int) -> int:
    """Return how many values at each end count as their neighbours; never all of one side."""
    return max(min((first + second) // _CLAMPED, min(first, second) - 1), 0)


def _spread_if_changed(first: Sequence[float], second: Sequence[float]) -> tuple[float, float]:
    """Return the spread and the loss of shift that the values of distant sides would have.

    Both are logarithms, and those of the worse direction. Clamping then shortens the outer end of
    each side. Zeros where a value is not above 0.
    """
    if min(*first, *second) <= 0.0:
        return 0.0, 0.0
    clamped = _clamped(len(first), len(second))
    one, other = np.sort(np.log(first)), np.sort(np.log(second))
    return max(_outer(one, other, clamped), _outer(other, one, clamped))


def _outer(lower: Array, upper: Array, clamped: int) -> tuple[float, float]:
    """Return spread and loss if all of `lower` is below all of `upper`."""
    ends = np.maximum(lower, lower[clamped]), np.minimum(upper, upper[-1 - clamped])
    squares = sum(float(((end - end.mean()) ** 2).sum()) for end in ends)
    spread = math.sqrt(squares / (len(lower) + len(upper) - 2))
    loss = float(ends[0].mean() - lower.mean() + upper.mean() - ends[1].mean())
    return spread, min(loss, _MOST_LOSS * spread)


def _judged(tables: Sequence[_ContrastTable]) -> list[list[_Result]]:
    """Judge all metrics of all tables; those that differ leave the family, the rest is judged anew.

    This is the step-down form: a metric that differs is no reason to ask more of the others.
    """
    if not tables:
        return []
    draws = _draws(tables)
    own = [table.own for table in tables]
    left = [np.ones(len(scores), dtype=bool) for scores in own]
    p = [np.ones(len(scores)) for scores in own]
    limit = [np.zeros(len(scores)) for scores in own]
    least = 0.0
    while any(open_.any() for open_ in left):
        family = _largest(tables, draws, left)
        ordered = np.sort(family)
        critical = float(ordered[-1 - int(ALPHA * len(family) + 1e-9)])
        found = [np.zeros(len(scores), dtype=bool) for scores in own]
        for at, open_ in enumerate(left):
            above = len(family) - np.searchsorted(ordered, own[at][open_], side="left")
            p[at][open_] = np.maximum(above / len(family), least)
            limit[at][open_] = critical
            found[at] = open_ & (p[at] <= ALPHA)
        if not any(new.any() for new in found):
            break
        least = max(float(p[at][new].max()) for at, new in enumerate(found) if new.any())
        left = [open_ & ~new for open_, new in zip(left, found, strict=True)]
    return [
        table.results(p[at], limit[at], _effect_critical(family, draws[at], table))
        for at, table in enumerate(tables)
    ]


def _draws(tables: Sequence[_ContrastTable]) -> list[NDArray[np.intp]]:
    """Return the relabelling of each table in each draw; draw 0 is what was measured.

    One table goes through all its relabellings. Several are relabelled independently of each other.
    """
    if len(tables) == 1:
        return [np.arange(len(tables[0].labels))]
    random = np.random.default_rng(_SEED)
    draws = [random.integers(0, len(table.labels), MOST_ENUMERATED) for table in tables]
    for own in draws:
        own[0] = 0
    return draws


def _largest(
    tables: Sequence[_ContrastTable],
    draws: Sequence[NDArray[np.intp]],
    left: Sequence[NDArray[np.bool_]],
) -> NDArray[np.float32]:
    """Return the largest score of the metrics that are left, by draw."""
    parts = [
        table.scores[:, open_].max(axis=1)[own]
        for table, own, open_ in zip(tables, draws, left, strict=True)
        if open_.any()
    ]
    return np.asarray(np.max(parts, axis=0))


def _effect_critical(
    family: NDArray[np.float32], draws: NDArray[np.intp], table: _ContrastTable
) -> float | None:
    """Return the score that an effect in this table must exceed.

    Where there is one, what was measured is among the most extreme relabellings; the rest of the
    room is for others.
    """
    own = extremes(table.labels)[draws]
    others = np.sort(family[~own])
    room = int(ALPHA * len(family) + 1e-9) - int(own.sum())
    if not 0 <= room < len(others):
        return None
    return with_scatter(float(others[-1 - room]), room / max(int(own.sum()), 1))
