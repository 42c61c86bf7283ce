"""md-workbench's own lines, as the programs that read them expect, from a record."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from venturi.compat.md_workbench_option import MdWorkbenchArguments
from venturi.model.plan import OperationKind
from venturi.model.record import OperationRow, PhaseRow, Record
from venturi.model.statistic import percentile_ns

PRECREATE, BENCHMARK, CLEANUP = "precreate", "benchmark", "cleanup"
PREPARATION = "preparation"
"""The phase that makes the objects where the precreation is not asked for; it has no line."""
_MIB = 2**20
_QUANTILES = (0.25, 0.5, 0.75, 0.9, 0.99)
_TITLES = {
    OperationKind.STAT: "stat",
    OperationKind.UNLINK: "delete",
    OperationKind.OPEN: "open_call",
    OperationKind.READ: "read_call",
    OperationKind.CREATE: "create_call",
    OperationKind.WRITE: "write_call",
    OperationKind.CLOSE: "close_call",
}
"""Kinds of operations in the order of the lines. What is a whole step of md-workbench has its
name; its `read` and `create` are three calls each, so ours are not called so."""


@dataclass(frozen=True)
class _Counts:
    """What was done, by all ranks or by one."""

    made: float
    read: float
    looked_up: float
    deleted: float
    sets_made: float
    sets_removed: float
    size: int
    seconds: float

    @property
    def mib_per_s(self) -> float:
        """Bytes written and read, by the time."""
        return self._by_time((self.made + self.read) * self.size / _MIB)

    def _by_time(self, count: float) -> float:
        return count / self.seconds if self.seconds else 0.0

    def text(self, name: str, read_only: bool) -> str:
        """Rates in the words of one kind of phase."""
        if name == BENCHMARK:
            calls = 2 if read_only else 4
            return (
                f"rate:{self._by_time(self.read * calls):.1f} iops/s objects:{self.read:.0f} "
                f"rate:{self._by_time(self.read):.1f} obj/s tp:{self.mib_per_s:.1f} MiB/s"
            )
        if name == PRECREATE:
            return (
                f"rate:{self._by_time(self.sets_made + self.made):.1f} iops/s "
                f"dsets: {self.sets_made:.0f} objects:{self.made:.0f} "
                f"rate:{self._by_time(self.sets_made):.3f} dset/s "
                f"rate:{self._by_time(self.made):.1f} obj/s tp:{self.mib_per_s:.1f} MiB/s"
            )
        return (
            f"rate:{self._by_time(self.deleted + self.sets_removed):.1f} iops/s "
            f"objects:{self.deleted:.0f} dsets: {self.sets_removed:.0f} "
            f"rate:{self._by_time(self.deleted):.1f} obj/s "
            f"rate:{self._by_time(self.sets_removed):.3f} dset/s"
        )


def md_workbench_text(
    record: Record, arguments: MdWorkbenchArguments, words: Sequence[str], finished: datetime
) -> str:
    """The whole output for one record."""
    lines: list[str] = []
    started = datetime.fromisoformat(record.started)
    if not arguments.quiet:
        lines += _head(record, arguments, words, started)
    if arguments.detailed:
        lines.append(
            "phase\t\td name\tcreate\tdelete\tob nam\tcreate\tread\tstat\tdelete"
            "\tt_inc_b\tt_no_bar\tthp\tmax_t"
        )
    for phase in record.phases:
        if phase.path != PREPARATION:
            lines += _phase(phase, arguments)
    if not arguments.quiet:
        took = (finished - started).total_seconds()
        lines.append(f"Total runtime: {took:.0f}s time: {_moment(finished)}")
    return "\n".join(lines) + "\n"


def _moment(time: datetime) -> str:
    return time.astimezone().strftime("%Y-%m-%d %H:%M:%S")


def _head(
    record: Record, arguments: MdWorkbenchArguments, words: Sequence[str], started: datetime
) -> Iterator[str]:
    a = arguments
    quoted = " ".join(f'"{word}"' for word in words)
    yield f"Args: venturi md-workbench -- {quoted}"
    if len(record.environment.hosts) == 1:
        yield f"Nodemap: {'1' * record.ranks}"
    objects = record.ranks * a.datasets * (a.precreated + a.objects * a.passes)
    working_mib = record.ranks * a.datasets * a.precreated * a.size / _MIB
    version = record.environment.venturi
    yield (
        f"MD-Workbench total objects: {objects} workingset size: {working_mib:.3f} MiB "
        f"(version: venturi-{version}) time: {_moment(started)}"
    )
    for warning in record.warnings:
        yield f"WARNING: {warning}"


def waiting_factor(path: str, arguments: MdWorkbenchArguments) -> float:
    """The waiting factor of a benchmark phase: `benchmark`, or `benchmark 3` of several."""
    number = path.removeprefix(BENCHMARK).strip()
    return arguments.factors[int(number) if number else 0]


def _phase(phase: PhaseRow, arguments: MdWorkbenchArguments) -> Iterator[str]:
    name = phase.path.partition(" ")[0]
    times = phase.per_rank.total_s
    slowest = max(times)
    whole = _counts(phase, arguments, 1.0, slowest)
    largest = max((row.latency_ns.max for row in phase.by_operation.values()), default=0)
    if arguments.detailed:
        yield _detailed(name, phase, whole, largest)
        return
    tail = f" op-max:{largest * 1e-9:.4e}s"
    factor = waiting_factor(phase.path, arguments) if name == BENCHMARK else 0.0
    if factor > 0:
        tail += f" waiting_factor:{factor:.2f}"
    balance = 100 * min(times) / slowest if slowest else 100.0
    yield (
        f"{name} process max:{slowest:.2f}s min:{min(times):.2f}s "
        f"mean: {sum(times) / len(times):.2f}s balance:{balance:.1f} "
        f"stddev:{_deviation(times):.1f} {whole.text(name, arguments.read_only)}{tail}"
        f" ({phase.errors} errs{'!!!' if phase.errors else ''}){_latencies(phase)}"
    )
    if arguments.by_process:
        for rank, seconds in enumerate(times):
            done = phase.per_rank.operations[rank]
            own = _counts(phase, arguments, done / (phase.operations or 1), seconds)
            rates = own.text(name, arguments.read_only)
            yield f"{rank}: {name} process max:{seconds:.2f}s {rates}"


def _counts(
    phase: PhaseRow, arguments: MdWorkbenchArguments, share: float, seconds: float
) -> _Counts:
    def count(kind: OperationKind) -> float:
        row = phase.by_operation.get(kind.value)
        return row.operations * share if row else 0.0

    return _Counts(
        made=count(OperationKind.CREATE),
        read=count(OperationKind.OPEN),
        looked_up=count(OperationKind.STAT),
        deleted=count(OperationKind.UNLINK),
        sets_made=count(OperationKind.MKDIR),
        sets_removed=count(OperationKind.RMDIR),
        size=arguments.size,
        seconds=seconds,
    )


def _deviation(values: Sequence[float]) -> float:
    if len(values) < 2:
        return 0.0
    mean = sum(values) / len(values)
    return math.sqrt(sum((value - mean) ** 2 for value in values) / (len(values) - 1))


def _latencies(phase: PhaseRow) -> str:
    """Quantiles of each kind of call: min, quartiles, 90 %, 99 %, max."""
    return "".join(
        f" {title}({', '.join(_quantiles(phase.by_operation[kind.value]))})"
        for kind, title in _TITLES.items()
        if kind.value in phase.by_operation and phase.by_operation[kind.value].operations
    )


def _quantiles(row: OperationRow) -> list[str]:
    inner = [percentile_ns(row.histogram, share) for share in _QUANTILES]
    return [f"{ns * 1e-9:.4e}s" for ns in (row.latency_ns.min, *inner, row.latency_ns.max)]


def _detailed(name: str, phase: PhaseRow, counts: _Counts, largest_ns: int) -> str:
    """The table of --print-detailed-stats: its rows have fewer fields than its header."""
    numbers = (
        counts.sets_made,
        counts.sets_removed,
        counts.made,
        counts.read,
        counts.looked_up,
        counts.deleted,
    )
    fields = "\t".join(f"{number:.0f}" for number in numbers)
    return (
        f"{name} \t{fields}\t{phase.seconds.total:.3f}s\t{counts.seconds:.3f}s"
        f"\t{counts.mib_per_s:.2f} MiB/s {largest_ns * 1e-9:.4e}"
    )
