"""Whether the repetitions of runs depend on the ones before them, as far as so few can show it.

Tests and intervals here take repetitions for independent of each other, or nearly so. If they were,
any order of them would be as likely as the measured one. So the repetitions of each run are
shuffled, together with all of their metrics, and the autocorrelation from one repetition to the
next is compared with that of the shuffled orders: in the mean of all metrics, because what runs
share (a neighbour, a filling disk) shows in many, and in the metric in which it stands out most.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from venturi.analyse.detectable import (
    ALLOWANCE,
    FEWEST_IN_ORDER,
    LEAST_SPREAD,
    SERIAL_ALLOWANCE,
)
from venturi.model.comparison import SerialDependence

Array = NDArray[np.float64]
Runs = Sequence[Sequence[float]]
"""Values of one metric, run by run, each in the order of its repetitions."""

SEEN_P = 0.05
"""The share of independent repetitions that are called dependent."""
_SHUFFLES = 1_000
_LOOKS = 2
"""The mean of all metrics, and the largest: p is adjusted for both."""
_SEED = 3


def serial_dependence(parts: Sequence[Mapping[str, Runs]]) -> SerialDependence | None:
    """Return the dependence that the order of repetitions shows, or None.

    Each part has metrics of the same runs. Metrics that vary by less than LEAST_SPREAD are left
    out, and so are runs of fewer than three repetitions. Independent repetitions show a dependence
    in SEEN_P of all cases at most.
    """
    random = np.random.default_rng(_SEED)
    names: list[str] = []
    measured: list[Array] = []
    for part in parts:
        orders = _Orders(part, random)
        for name, runs in part.items():
            found = _autocorrelations(runs, orders)
            if found is not None:
                names.append(name)
                measured.append(found)
    if not measured:
        return None
    return _judged(names, np.array(measured))


def allowance_of(found: SerialDependence | None) -> float:
    """Return how many times as large standard errors are taken as those of independent values."""
    return ALLOWANCE if found is None else SERIAL_ALLOWANCE


class _Orders:
    """Shuffled orders of the runs of a part, the same for all of its metrics.

    Each is a column; the first one is the order in which repetitions were measured.
    """

    def __init__(self, part: Mapping[str, Runs], random: np.random.Generator) -> None:
        counts = [max(map(len, own)) for own in zip(*part.values(), strict=True)]
        self._keys = [random.random((_SHUFFLES, count)) for count in counts]
        self._known: dict[tuple[int, int], NDArray[np.intp]] = {}

    def of(self, run: int, count: int) -> NDArray[np.intp]:
        """Return orders of the first `count` repetitions of a run."""
        if (run, count) not in self._known:
            found = self._keys[run][:, :count].argsort(axis=1)
            found[0] = np.arange(count)
            self._known[run, count] = found.T.copy()
        return self._known[run, count]


def _autocorrelations(runs: Runs, orders: _Orders) -> Array | None:
    """Return the autocorrelation of a metric in each order; None where it says nothing.

    The mean of each run is taken away first, so a difference between runs is no dependence.
    """
    products, squares, count = np.zeros(_SHUFFLES), 0.0, 0
    positive = min((value for run in runs for value in run), default=0.0) > 0.0
    for index, run in enumerate(runs):
        if len(run) < FEWEST_IN_ORDER:
            continue
        values = np.log(run) if positive else np.asarray(run, dtype=np.float64)
        own = values - values.mean()
        shuffled = own[orders.of(index, len(run))]
        products += np.einsum("ij,ij->j", shuffled[1:], shuffled[:-1])
        squares += float((own**2).sum())
        count += len(run)
    level = 1.0 if positive else float(np.mean([abs(value) for run in runs for value in run]))
    if count == 0 or squares <= count * (LEAST_SPREAD * level) ** 2:
        return None
    return products / squares


def _judged(names: Sequence[str], measured: Array) -> SerialDependence | None:
    """Return what the measured order (column 0) has more than the others, if it is too much."""
    excess = measured - measured.mean(axis=1, keepdims=True)
    deviations = excess / np.maximum(excess.std(axis=1, keepdims=True), np.finfo(float).tiny)
    shares = [_share_above(deviations.mean(axis=0)), _share_above(deviations.max(axis=0))]
    is_one = len(names) == 1
    p = min(1.0, min(shares) * (1 if is_one else _LOOKS))
    if p > SEEN_P:
        return None
    if is_one or shares[1] < shares[0]:
        most = int(deviations[:, 0].argmax())
        return _found(float(excess[most, 0]), p, names[most], len(names))
    return _found(float(excess[:, 0].mean()), p, "", len(names))


def _found(excess: float, p: float, metric: str, metrics: int) -> SerialDependence:
    return SerialDependence(excess=excess, p=p, metric=metric, metrics=metrics)


def _share_above(statistic: Array) -> float:
    """Return the share of orders with at least as much as the measured one, itself included."""
    return float((statistic >= statistic[0] - 1e-9).mean())
