"""The rows of a record, gathered: one phase with its repetitions, rates and shares."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from venturi.model.record import MetricValue, PhaseRow, Record, busy_seconds
from venturi.model.statistic import median_interval
from venturi.report import quantity
from venturi.report.latency import Latency, merge
from venturi.report.quantity import Units

_WANTED_COVERAGE = 0.95
"""Below six values no interval has it."""
_NAME_KINDS = (
    "create",
    "stat",
    "unlink",
    "mkdir",
    "rmdir",
    "rename",
    "link",
    "symlink",
    "mknod",
    "read_dir",
    "set_xattr",
    "get_xattr",
    "set_attribute",
    "miss",
    "truncate",
    "clone",
    "find",
    "open",
    "exec",
)
"""What a phase that moves little data is about; the first of equals stands for it."""


@dataclass(frozen=True)
class MedianSpread:
    """Repeated values: `low` and `high` bound their median with probability `coverage`."""

    median: float
    low: float
    high: float
    coverage: float
    least: float
    most: float
    n: int


def spread(values: Sequence[float]) -> MedianSpread:
    """The spread of repeated values, with the interval of `median_interval`."""
    if not values:
        return MedianSpread(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0)
    interval = median_interval(values)
    return MedianSpread(
        median=interval.median,
        low=interval.low,
        high=interval.high,
        coverage=interval.coverage,
        least=float(min(values)),
        most=float(max(values)),
        n=len(values),
    )


def interval_title(coverages: Iterable[float]) -> str:
    """The heading over intervals: it says 95 % where all of them are so sure."""
    return "95 % interval" if all(one >= _WANTED_COVERAGE for one in coverages) else "Interval"


def with_coverage(bounds: str, coverage: float) -> str:
    """The bounds of an interval, with how sure it is where that is not 95 %."""
    return bounds if coverage >= _WANTED_COVERAGE else f"{bounds} ({quantity.percent(coverage)})"


@dataclass(frozen=True)
class Ranks:
    """What each rank did in one repetition of a phase, in rank order."""

    bytes: list[int]
    open_s: list[float]
    transfer_s: list[float]
    close_s: list[float]
    total_s: list[float]
    """From the rank's start to its end."""

    @property
    def other_s(self) -> list[float]:
        """All of the rank's time where it neither opened, moved nor closed anything.

        Such a phase works on names (stat, unlink, mkdir, rmdir); ranks keep no sum for those.
        """
        named = any(map(any, (self.open_s, self.transfer_s, self.close_s)))
        return [0.0] * len(self.total_s) if named else self.total_s

    @property
    def busy_s(self) -> list[float]:
        """Seconds at work on files."""
        times = zip(self.open_s, self.transfer_s, self.close_s, self.other_s, strict=True)
        return [sum(parts) for parts in times]


@dataclass(frozen=True)
class RepetitionSample:
    """All rows of one phase in one repetition: iterations and instances together."""

    repetition: int
    rows: tuple[PhaseRow, ...]

    @cached_property
    def total_s(self) -> float:
        """Time of the phase; of one row its own total, of several the time they cover."""
        return self.rows[0].seconds.total if len(self.rows) == 1 else busy_seconds(self.rows)

    @cached_property
    def bytes(self) -> int:
        """Bytes moved."""
        return sum(row.bytes for row in self.rows)

    @cached_property
    def operations(self) -> int:
        """Operations done."""
        return sum(row.operations for row in self.rows)

    @cached_property
    def errors(self) -> int:
        """Operations that failed."""
        return sum(row.errors for row in self.rows)

    @property
    def bytes_per_s(self) -> float:
        """Rate of data; 0 where no time passed."""
        return self.bytes / self.total_s if self.total_s > 0 else 0.0

    def operations_per_s(self, kind: str | None = None) -> float:
        """Rate of all operations, or of one kind; 0 where no time passed."""
        done = self.operations
        if kind is not None:
            done = sum(
                row.by_operation[kind].operations for row in self.rows if kind in row.by_operation
            )
        return done / self.total_s if self.total_s > 0 else 0.0

    def mean_s(self, *kinds: str) -> float:
        """Seconds that the mean rank spent in operations of these kinds, from their latencies."""
        found = [
            row.by_operation[k].histogram
            for row in self.rows
            for k in kinds
            if k in row.by_operation
        ]
        return merge(found).sum_s / max(len(self.ranks().bytes), 1)

    def ranks(self) -> Ranks:
        """Sums over the iterations; instances stand behind each other."""
        by_instance: dict[int, list[PhaseRow]] = {}
        for row in self.rows:
            by_instance.setdefault(row.instance, []).append(row)
        parts: dict[str, list[float]] = {}
        for name in ("bytes", "open_s", "transfer_s", "close_s", "total_s"):
            parts[name] = []
            for _, rows in sorted(by_instance.items()):
                lists = [getattr(row.per_rank, name) for row in rows]
                width = max(map(len, lists), default=0)
                full = [values for values in lists if len(values) == width]
                parts[name] += [sum(values) for values in zip(*full, strict=True)]
        n = min(len(values) for values in parts.values())
        return Ranks(
            bytes=[int(value) for value in parts["bytes"][:n]],
            open_s=parts["open_s"][:n],
            transfer_s=parts["transfer_s"][:n],
            close_s=parts["close_s"][:n],
            total_s=parts["total_s"][:n],
        )


@dataclass(frozen=True)
class PhaseSummary:
    """One phase over all repetitions."""

    path: str
    group: str
    title: str
    """The path with its labels; with the group before it where two groups have the same path."""
    samples: tuple[RepetitionSample, ...]
    metric: MetricValue | None = None
    """The record's own rate of this phase, where it has one for each repetition."""

    @cached_property
    def in_bytes(self) -> bool:
        """Whether bytes per second say more than operations: most operations move data."""
        if self.metric is not None:
            return self.metric.unit == "B/s"
        moved = sum(
            operation.operations
            for sample in self.samples
            for row in sample.rows
            for kind, operation in row.by_operation.items()
            if kind in ("write", "read")
        )
        total = sum(sample.operations for sample in self.samples)
        return any(sample.bytes for sample in self.samples) and 2 * moved >= total

    @property
    def idle(self) -> bool:
        """Whether the phase did no I/O at all."""
        return not any(sample.operations or sample.bytes for sample in self.samples)

    @property
    def measures_machine(self) -> bool:
        """Whether the phase ran kernels and did no I/O."""
        return self.idle and any(row.kernels for row in self.rows)

    @property
    def has_interval(self) -> bool:
        """Whether there are rates of more than one repetition."""
        return not self.idle and self.rate.n > 1

    @cached_property
    def rates(self) -> list[float]:
        """Of each repetition: bytes or, by `in_bytes`, main operations per second."""
        if self.metric is not None:
            return list(self.metric.values)
        if self.in_bytes:
            return [sample.bytes_per_s for sample in self.samples]
        return [sample.operations_per_s(self.main_kind) for sample in self.samples]

    @cached_property
    def rate(self) -> MedianSpread:
        """Median rate and its interval: the record's, else from the rows."""
        found = self.metric
        if found is None:
            return spread(self.rates)
        ends = (min(found.values), max(found.values), len(found.values))
        return MedianSpread(found.median, found.low, found.high, found.coverage, *ends)

    @cached_property
    def median_sample(self) -> RepetitionSample:
        """The repetition whose rate is the median (the lower one of two)."""
        order = sorted(range(len(self.samples)), key=lambda i: self.rates[i])
        return self.samples[order[(len(order) - 1) // 2]]

    @property
    def rows(self) -> list[PhaseRow]:
        """All rows of all repetitions."""
        return [row for sample in self.samples for row in sample.rows]

    @cached_property
    def kinds(self) -> set[str]:
        """The operations that occur."""
        return {kind for row in self.rows for kind, o in row.by_operation.items() if o.operations}

    @cached_property
    def main_kind(self) -> str:
        """The operation that stands for the phase: the one that moved most, else most frequent."""
        weight: dict[str, tuple[int, int]] = {}
        for row in self.rows:
            for kind, operation in row.by_operation.items():
                moved, done = weight.get(kind, (0, 0))
                weight[kind] = (moved + operation.bytes, done + operation.operations)
        if not self.in_bytes:
            names = {kind: (0, weight[kind][1]) for kind in _NAME_KINDS if kind in weight}
            weight = names or weight
        return max(weight, key=lambda kind: weight[kind], default="write")

    @cached_property
    def latencies(self) -> dict[str, Latency]:
        """The distribution of each operation's latencies, over all repetitions."""
        rows = self.rows
        return {
            kind: merge(
                row.by_operation[kind].histogram for row in rows if kind in row.by_operation
            )
            for kind in self.kinds
        }

    def text(self, value: float, units: Units) -> str:
        """A rate of this phase with its unit."""
        if self.in_bytes:
            return quantity.rate(value, units)
        return quantity.operation_rate(value, self.main_kind)

    def bounds(self, low: float, high: float, units: Units, between: str = " to ") -> str:
        """Two rates in the unit of the median, without it: `0.966 to 1.15`."""
        unit = quantity.rate_unit if self.in_bytes else _operation_unit
        factor, _ = unit(self.rate.median or high, units)
        return f"{quantity.number(low / factor)}{between}{quantity.number(high / factor)}"

    def words(self, attribute: str) -> str:
        """The distinct values of a row's field (`cache`, `persisted`, `stopped_by`)."""
        return ", ".join(sorted({str(getattr(row, attribute)) for row in self.rows}))


def _operation_unit(per_s: float, units: Units) -> tuple[float, str]:
    """As `quantity.rate_unit`; operations count in thousands whatever the units."""
    del units
    return quantity.operation_rate_unit(per_s)


def _metric(record: Record, path: str, repetitions: int) -> MetricValue | None:
    """The rate that the record gives for a phase, if it has one for each repetition."""
    found = record.metrics.get(path)
    if found is None or found.unit not in ("B/s", "1/s") or len(found.values) != repetitions:
        return None
    return found


def named(name: str, labels: Sequence[str]) -> str:
    """A name with its labels: `restart (cold)`."""
    return f"{name} ({', '.join(labels)})" if labels else name


def _title(record: Record, group: str, path: str, is_single: bool) -> str:
    return named(path if is_single else f"{group}: {path}", record.labels.get(path, ()))


def phases(record: Record) -> list[PhaseSummary]:
    """The record's phases, in the order in which they first ran."""
    groups: dict[tuple[str, str], dict[int, list[PhaseRow]]] = {}
    for row in record.phases:
        by_repetition = groups.setdefault((row.group, row.path), {})
        by_repetition.setdefault(row.repetition, []).append(row)
    paths = [path for _, path in groups]
    return [
        PhaseSummary(
            path=path,
            group=group,
            title=_title(record, group, path, is_single=paths.count(path) == 1),
            samples=tuple(
                RepetitionSample(r, tuple(rows)) for r, rows in sorted(by_repetition.items())
            ),
            metric=_metric(record, path, len(by_repetition)) if paths.count(path) == 1 else None,
        )
        for (group, path), by_repetition in groups.items()
    ]
