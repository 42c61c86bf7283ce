"""The best number of processors and the knee, each with what cannot be told from it.

The knee is where the product of speed-up and efficiency is largest: from there on, more processors
cost more than they bring (Eager, Zahorjan and Lazowska, IEEE Trans. Comput. 38 (1989) 408).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from venturi.analyse.scaling_sample import SizeSample, weighted_sum
from venturi.model.scaling import StudyKind


@dataclass(frozen=True)
class SizeChoice:
    """One of several samples, and the others that cannot be told from it."""

    index: int
    alike: list[int]


def best_choice(kind: StudyKind, samples: Sequence[SizeSample]) -> SizeChoice:
    """The sample with the largest speed-up; of a weak study, the scaled one."""
    return _largest(_log_speedups(kind, samples), samples, 1.0, len(samples) - 1)


def knee_choice(kind: StudyKind, samples: Sequence[SizeSample]) -> SizeChoice | None:
    """The knee; None unless both the smallest and the largest sample are significantly below it."""
    if len(samples) < 3:
        return None
    values = [
        2 * gain - math.log(sample.size)
        for gain, sample in zip(_log_speedups(kind, samples), samples, strict=True)
    ]
    found = _largest(values, samples, 2.0, len(samples) - 1)
    ends = {0, len(samples) - 1}
    return None if found.index in ends or ends & set(found.alike) else found


def rises(kind: StudyKind, samples: Sequence[SizeSample]) -> bool:
    """Whether any speed-up over the first sample is significantly above 1."""
    gains = _log_speedups(kind, samples)
    return any(
        gain > 0.0 and _apart(gains, samples, 0, index, 1.0, len(samples) - 1)
        for index, gain in enumerate(gains)
    )


def _log_speedups(kind: StudyKind, samples: Sequence[SizeSample]) -> list[float]:
    """Logarithms of speed-ups over the first sample."""
    grows = 1.0 if kind is StudyKind.WEAK else 0.0
    first = samples[0].log_time
    return [first - one.log_time + grows * math.log(one.size) for one in samples]


def _largest(
    values: Sequence[float], samples: Sequence[SizeSample], factor: float, tests: int
) -> SizeChoice:
    best = max(range(len(values)), key=values.__getitem__)
    alike = [
        index
        for index in range(len(values))
        if index != best and not _apart(values, samples, best, index, factor, tests)
    ]
    return SizeChoice(best, alike)


def _apart(
    values: Sequence[float],
    samples: Sequence[SizeSample],
    one: int,
    other: int,
    factor: float,
    tests: int,
) -> bool:
    """Whether two values, which vary as `factor` times the samples do, differ significantly."""
    if one == other:
        return False
    pair = [samples[one], samples[other]]
    difference = weighted_sum(
        [values[one] / factor, values[other] / factor], pair, [factor, -factor]
    )
    return difference.differs(tests)
