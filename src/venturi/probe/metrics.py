"""A status as metrics that Prometheus reads: text format 0.0.4, or OpenMetrics 1.0."""

from __future__ import annotations

import errno
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from venturi import __version__
from venturi.model.probe import OPERATIONS, ProbeKind, ProbeStatus, ProbeTargetStatus
from venturi.probe.ring import CACHED, FAILED, MISSED, SAMPLE, WITHHELD
from venturi.report.open_metrics import labels_text

BOUNDS_S = tuple(2.0**power for power in range(-16, 8))
_WINDOWS = {60: "60s", 600: "10m", 14_400: "4h"}


@dataclass
class OperationTotals:
    """Counts of one operation since the exporter began to count."""

    buckets: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS_S) + 1))
    sum_s: float = 0.0
    operations: int = 0
    ticks: int = 0
    missed: int = 0
    cached: int = 0
    errors: Counter[str] = field(default_factory=Counter)


class TargetTotals:
    """Counters of one target, which only rise."""

    def __init__(self) -> None:
        self.of: dict[int, OperationTotals] = {}

    def add(self, data: bytes) -> None:
        """Count samples of a ring."""
        for _, response_ns, _, _, operation, flags, error in SAMPLE.iter_unpack(data):
            own = self.of.setdefault(operation, OperationTotals())
            own.ticks += 1
            if flags & WITHHELD:
                continue
            own.missed += bool(flags & MISSED)
            own.cached += bool(flags & CACHED)
            if flags & FAILED:
                own.errors[errno.errorcode.get(error, str(error))] += 1
                own.operations += 1
                continue
            own.operations += not flags & MISSED
            response_s = response_ns / 1e9
            own.sum_s += response_s
            own.buckets[_bucket_of(response_s)] += 1


def _bucket_of(response_s: float) -> int:
    import bisect

    return bisect.bisect_left(BOUNDS_S, response_s)


class _Text:
    """Lines of metrics, each family together."""

    def __init__(self, is_open_metrics: bool) -> None:
        self._open = is_open_metrics
        self._families: dict[str, list[str]] = {}

    def family(self, name: str, kind: str, about: str) -> None:
        head = name
        if self._open and kind == "counter":
            head = name.removesuffix("_total")
        elif self._open and kind == "info":
            head = name.removesuffix("_info")
        said = "gauge" if kind == "info" and not self._open else kind
        self._families[name] = [f"# HELP {head} {about}", f"# TYPE {head} {said}"]

    def add(self, family: str, labels: Mapping[str, str], value: float, suffix: str = "") -> None:
        number = str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)
        self._families[family].append(f"{family}{suffix}{labels_text(labels)} {number}")

    def text(self) -> str:
        families = [lines for lines in self._families.values() if len(lines) > 2]
        end = ["# EOF"] if self._open else []
        return "\n".join([*(line for lines in families for line in lines), *end]) + "\n"


_FAMILIES = (
    ("build_info", "info", "Version of the exporter."),
    ("target_info", "info", "What is watched."),
    ("up", "gauge", "Whether all workers of the target are at work."),
    ("interval_seconds", "gauge", "Time between two operations of a kind."),
    ("pool_files", "gauge", "Files in the pool."),
    ("data_file_bytes", "gauge", "Size of the data file."),
    ("last_sample_timestamp_seconds", "gauge", "When the last sample was due."),
    ("inflight_age_seconds", "gauge", "How long ago the operation under way was due; 0 if none."),
    ("operation_duration_seconds", "histogram", "Response time from when it was due."),
    ("operations_total", "counter", "Operations that were made."),
    ("operation_errors_total", "counter", "Operations that failed."),
    ("ticks_total", "counter", "Moments of the grid."),
    ("ticks_missed_total", "counter", "Moments that passed while the storage hung."),
    ("bytes_total", "counter", "Bytes that were read or written."),
    ("cached_reads_total", "counter", "Reads of data that this host had in memory."),
    ("slowdown_ratio", "gauge", "Statistic of a window over the baseline."),
    ("baseline_duration_seconds", "gauge", "Median of the last 30 days."),
    ("baseline_samples", "gauge", "Samples that the baseline is from."),
    ("reference_duration_seconds", "gauge", "Expected value that somebody froze."),
)


def metrics_text(
    status: ProbeStatus, totals: Mapping[str, TargetTotals], is_open_metrics: bool = False
) -> str:
    """Return all metrics; counters where there are `totals` of a target, by its name."""
    out = _Text(is_open_metrics)
    for name, kind, about in _FAMILIES:
        out.family(f"venturi_probe_{name}", kind, about)
    out.add("venturi_probe_build_info", {"version": __version__}, 1)
    for target in status.targets:
        _add_target(out, target, str(status.statistic.value))
        if target.target.name in totals:
            _add_totals(out, target, totals[target.target.name])
    return out.text()


def _add_target(out: _Text, status: ProbeTargetStatus, statistic: str) -> None:
    target = status.target
    own = {"target": target.name}
    info = {"directory": target.directory, "node_class": target.node_class}
    out.add("venturi_probe_target_info", own | info, 1)
    is_up = bool(status.workers) and all(worker.is_alive for worker in status.workers)
    out.add("venturi_probe_up", own, int(is_up))
    out.add("venturi_probe_interval_seconds", own, target.interval_s)
    if ProbeKind.METADATA in target.kinds:
        out.add("venturi_probe_pool_files", own, target.pool_files)
    if ProbeKind.DATA in target.kinds:
        out.add("venturi_probe_data_file_bytes", own, target.data_bytes)
    last_ns = max((worker.last_sample_ns for worker in status.workers), default=0)
    out.add("venturi_probe_last_sample_timestamp_seconds", own, last_ns / 1e9)
    for row in status.rows:
        labels = own | {"op": row.operation.value}
        out.add("venturi_probe_inflight_age_seconds", labels, row.in_flight_s)
        for window in row.windows:
            if window.slowdown is not None:
                named = labels | {"window": _WINDOWS[window.seconds], "statistic": statistic}
                out.add("venturi_probe_slowdown_ratio", named, window.slowdown)
        if row.expected is not None:
            out.add("venturi_probe_baseline_duration_seconds", labels, row.expected.value_s)
            out.add("venturi_probe_baseline_samples", labels, row.expected.samples)
        if row.reference is not None:
            out.add("venturi_probe_reference_duration_seconds", labels, row.reference.value_s)


def _add_totals(out: _Text, status: ProbeTargetStatus, totals: TargetTotals) -> None:
    target = status.target
    for number, own in sorted(totals.of.items()):
        operation = OPERATIONS[number].value
        labels = {"target": target.name, "op": operation}
        reached = 0
        for bound, count in zip((*map(str, BOUNDS_S), "+Inf"), own.buckets, strict=True):
            reached += count
            name = "venturi_probe_operation_duration_seconds"
            out.add(name, labels | {"le": bound}, reached, "_bucket")
        out.add("venturi_probe_operation_duration_seconds", labels, own.sum_s, "_sum")
        out.add("venturi_probe_operation_duration_seconds", labels, reached, "_count")
        out.add("venturi_probe_operations_total", labels, own.operations)
        out.add("venturi_probe_ticks_total", labels, own.ticks)
        out.add("venturi_probe_ticks_missed_total", labels, own.missed)
        for symbol, count in sorted(own.errors.items()):
            out.add("venturi_probe_operation_errors_total", labels | {"errno": symbol}, count)
        moved = _bytes_of(target.block_bytes, target.file_bytes, operation)
        if moved:
            well = own.operations - own.errors.total()
            out.add("venturi_probe_bytes_total", labels, well * moved)
        if operation.endswith("read"):
            out.add("venturi_probe_cached_reads_total", labels, own.cached)


def _bytes_of(block_bytes: int, file_bytes: int, operation: str) -> int:
    if operation.startswith("data"):
        return block_bytes
    return file_bytes if operation in ("md_read", "md_create") else 0


def families() -> Iterable[str]:
    """The names of all metrics."""
    return (f"venturi_probe_{name}" for name, _, _ in _FAMILIES)
