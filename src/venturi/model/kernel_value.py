"""What the samples of a kernel's points come to, and how points are called."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from venturi.model.event import KernelResult, KernelSeries, KernelStatistic
from venturi.model.rank_model import RankSamples
from venturi.model.statistic import median

_UNITS = (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10))

STATISTIC_WORDS = {
    KernelStatistic.MAX: "largest",
    KernelStatistic.MIN: "least",
    KernelStatistic.MEDIAN: "median",
    KernelStatistic.MEAN: "mean",
}
"""As a reader has it: the median of all samples."""


def value_of(statistic: KernelStatistic, samples: Sequence[float]) -> float:
    """The one value that stands for samples, of which there is at least one."""
    if statistic is KernelStatistic.MAX:
        return max(samples)
    if statistic is KernelStatistic.MIN:
        return min(samples)
    if statistic is KernelStatistic.MEAN:
        return sum(samples) / len(samples)
    return median(samples)


def place_text(series: KernelSeries, at: Sequence[int]) -> str:
    """Where a point stands, exactly: `32 KiB`, or `0-1` where two numbers name it."""
    return "-".join(
        _bytes_text(number) if axis.unit == "B" else str(number)
        for axis, number in zip(series.axes, at, strict=True)
    )


def point_name(series: KernelSeries, at: Sequence[int]) -> str:
    """The name of a point, as metrics write it: `copy at 32 KiB`."""
    return f"{series.name} at {place_text(series, at)}" if series.axes else series.name


def _bytes_text(number: int) -> str:
    for name, size in _UNITS:
        if number and number % size == 0:
            return f"{number // size} {name}"
    return f"{number} B"


@dataclass(frozen=True)
class PointSamples:
    """All samples of one point of a kernel, from one or several executions of its phase."""

    kernel: str
    series: KernelSeries
    """Of the first execution; its points are not to be read."""
    at: tuple[int, ...]
    figure: str
    samples: tuple[float, ...]

    @property
    def name(self) -> str:
        """What it is called: `copy at 32 KiB`."""
        return point_name(self.series, self.at)

    @property
    def value(self) -> float:
        """What stands for the samples."""
        return value_of(self.series.statistic, self.samples)


def points_of(results: Iterable[KernelResult]) -> list[PointSamples]:
    """The points of kernels, each once, in the order in which they came."""
    found: dict[tuple[str, str, tuple[int, ...]], PointSamples] = {}
    for result in results:
        for series in result.series:
            for point in series.points:
                key = (result.name, series.name, tuple(point.at))
                before = found[key].samples if key in found else ()
                found[key] = PointSamples(
                    result.name, series, key[2], point.figure, (*before, *point.samples)
                )
    return list(found.values())


_TAKEN, _PROCESSOR = "time of each rank", "processor time of each rank"


def is_of_rank(series: KernelSeries) -> bool:
    """Whether the points of a series are the times of single ranks for the same work."""
    return series.name in (_TAKEN, _PROCESSOR)


def host_of(rank: int, facts: Mapping[str, str]) -> str:
    """The host on which a rank ran, from the facts of a kernel; empty: they do not say."""
    nodes = facts.get("node of each rank", "").split()
    return facts.get(f"host of node {nodes[rank]}", "") if rank < len(nodes) else ""


def rank_samples(points: Iterable[PointSamples], facts: Mapping[str, str]) -> list[RankSamples]:
    """The times of each rank, where a kernel kept them; `facts` say where ranks ran."""
    by_name: dict[str, dict[int, tuple[float, ...]]] = {_TAKEN: {}, _PROCESSOR: {}}
    for point in points:
        if is_of_rank(point.series):
            by_name[point.series.name][point.at[0]] = point.samples
    processors = facts.get("processor of each rank", "").split()
    return [
        RankSamples(
            rank=rank,
            taken_s=taken_s,
            processor_s=by_name[_PROCESSOR].get(rank, ()),
            host=host_of(rank, facts),
            processor=processors[rank] if rank < len(processors) else "",
        )
        for rank, taken_s in sorted(by_name[_TAKEN].items())
    ]
