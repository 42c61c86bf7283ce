"""Samples: what one repetition of a sheet says of each point, and the curves that they make."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from venturi.model.document import Count, Document, Positive, Seconds
from venturi.model.profile import AccessClass, MeasuredCurve, Point
from venturi.model.record import Record
from venturi.model.statistic import median
from venturi.profile.matrix import MeasurementMatrix


class ProfileSample(Document):
    """One point in one repetition: the slowest rank's mean time per operation."""

    access: AccessClass
    bytes: Count
    ranks: Positive
    seconds: Seconds
    operations: Positive
    """Of one rank."""
    is_first: bool = True
    """Of the first repetition of a start."""


def samples_of(record: Record, matrix: MeasurementMatrix) -> list[ProfileSample]:
    """All samples of a record; operations that failed make none."""
    found = []
    first = min((row.repetition for row in record.phases), default=0)
    for row in record.phases:
        for reading in matrix.readings.get(row.path, ()):
            done = row.by_operation.get(reading.operation.value)
            if done is None or done.errors or not done.operations:
                continue
            each = max(1, done.operations // row.ranks)
            found.append(
                ProfileSample(
                    access=reading.access,
                    bytes=reading.bytes,
                    ranks=row.ranks,
                    seconds=done.seconds / each,
                    operations=each,
                    is_first=row.repetition == first,
                )
            )
    return found


def curves_of(samples: Iterable[ProfileSample]) -> list[MeasuredCurve]:
    """The points of each manner, medians of their samples; manners in a fixed order."""
    by_place: dict[AccessClass, dict[tuple[int, int], list[ProfileSample]]] = {}
    for sample in samples:
        points = by_place.setdefault(sample.access, {})
        points.setdefault((sample.ranks, sample.bytes), []).append(sample)
    return [
        MeasuredCurve(access=access, points=[_point(points[place]) for place in sorted(points)])
        for access, points in sorted(by_place.items(), key=lambda entry: entry[0].text())
    ]


def _point(samples: Sequence[ProfileSample]) -> Point:
    # An application does its work once. What is repeated meets memory and names that the last
    # repetition has just given back, and takes some percent less.
    seconds = [sample.seconds for sample in samples]
    firsts = [sample.seconds for sample in samples if sample.is_first]
    return Point(
        bytes=samples[0].bytes,
        ranks=samples[0].ranks,
        seconds=_digits(median(firsts or seconds)),
        low=_digits(min(seconds)),
        high=_digits(max(seconds)),
        n=len(seconds),
        operations=min(sample.operations for sample in samples),
    )


def _digits(seconds: float) -> float:
    """Five digits, more than any of these times is known to."""
    return float(f"{seconds:.5g}")
