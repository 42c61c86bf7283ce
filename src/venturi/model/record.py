"""The record: the immutable result of one run, with all that led to it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

from pydantic import Field

from venturi.model.background import Background
from venturi.model.ceiling import Ceiling
from venturi.model.command import CommandRun
from venturi.model.document import (
    Count,
    Document,
    Integer,
    Positive,
    Real,
    RunId,
    Seconds,
)
from venturi.model.event import (
    ClockFacts,
    FileFacts,
    Histogram,
    Paused,
    PhaseFacts,
)
from venturi.model.host_sample import HostLimits, HostSample
from venturi.model.result import RunOf
from venturi.model.storage_layout import StorageLayout
from venturi.model.verdict import Level as Level  # noqa: PLC0414
from venturi.model.verdict import Verdict as Verdict  # noqa: PLC0414

RECORD_SCHEMA = "venturi.record/2"
_INTERVAL = 0.95
"""Confidence below which bounds are no interval to judge by."""


class LatencyNs(Document):
    """Percentiles of the operations' latencies, in nanoseconds."""

    min: Count
    p50: Count
    p90: Count
    p99: Count
    p99_9: Count
    max: Count


class OperationRow(Document):
    """All operations of one kind in a phase."""

    bytes: Count
    operations: Count
    errors: Count
    seconds: Seconds
    latency_ns: LatencyNs
    histogram: Histogram


class Seconds4(Document):
    """Times of a phase; definitions as in the event."""

    open: Seconds
    transfer: Seconds
    close: Seconds
    total: Seconds
    compute: Seconds
    wait: Seconds = 0.0
    """For signals of other groups."""
    serving: Seconds = 0.0


class Straggler(Document):
    """A rank that took much longer over a phase than most."""

    rank: Count
    host: str
    total_s: Seconds
    median_s: Seconds
    """Of all ranks."""


class SlowServer(Document):
    """A server of the file system that gave much less in a phase than most."""

    server: str
    bytes_per_second: Real
    median_bytes_per_second: Real
    """Of all servers."""
    servers: Positive
    """So many were compared."""


class PhaseRow(PhaseFacts):
    """One phase in one repetition."""

    iteration: dict[str, Integer]
    seconds: Seconds4
    bytes_per_second: Real
    by_operation: dict[str, OperationRow]
    flushed: str
    stragglers: list[Straggler] = []
    slow_servers: list[SlowServer] = []
    """The slowest first."""


def busy_seconds(rows: Sequence[PhaseRow]) -> float:
    """Seconds in which at least one of the rows ran: instances at the same time count once."""
    if len({row.instance for row in rows}) <= 1:
        return sum(row.seconds.total for row in rows)
    covered, end = 0.0, -math.inf
    for start, stop in sorted((row.at_s, row.at_s + row.seconds.total) for row in rows):
        covered += max(0.0, stop - max(start, end))
        end = max(end, stop)
    return covered


class MetricValue(Document):
    """A metric over the repetitions: `low` and `high` bound its median.

    The interval is that of order statistics (no distribution is assumed); `coverage` says how
    sure it is, and `values` lists every repetition.
    """

    value: Real
    unit: str
    median: Real
    low: Real
    high: Real
    n: Count
    coverage: Real
    values: list[Real]
    of: str = ""
    """The operation that a rate in 1/s counts; empty: several kinds, or no such rate."""
    labels: list[str] = []
    """Part of the metric's name: `cold`, `not flushed`, `in memory`."""

    @property
    def half_width(self) -> float | None:
        """How far the interval reaches from the median, as a share of it.

        None where there is no interval of 95 %, or the median is 0.
        """
        if self.n < 2 or self.coverage < _INTERVAL or not self.median:
            return None
        return max(self.high - self.median, self.median - self.low) / abs(self.median)


class FidelityRow(Document):
    """One number of the application beside the proxy's."""

    what: str
    unit: str
    application: Real
    proxy: Real
    error: Real | None
    """(proxy - application) / application; absent where the application's is 0."""


class Fidelity(Document):
    """How well a proxy does what the application's log counted (one repetition)."""

    layer: str
    rows: list[FidelityRow]
    size_distance: Real
    """Half the sum of the differences of the request-size shares: 0 same, 1 disjoint."""
    rank_distance: Real | None
    """The same for the ranks' shares of the bytes; absent where the log reduced them."""
    unseen: list[str]
    """What the log could not show and the comparison leaves out."""


class RuleRow(Document):
    """A rule of the workload and whether it was kept in every repetition."""

    name: str
    holds: bool
    says: str
    """What is broken; empty where it holds."""


class Substitution(Document):
    """An interface that ran in place of the workload's own."""

    file: str
    wanted: str
    used: str
    why: str


class FileSystem(Document):
    """What the target directory lies on."""

    type: str
    source: str
    mount: str
    total_bytes: Count
    free_bytes: Count
    free_inodes: Count
    total_inodes: Count = 0
    """0 where the file system does not count them."""
    options: str = ""


class Environment(Document):
    """Where and how the run was made."""

    host: str
    hosts: list[str]
    kernel: str
    system: str
    cpu: str
    cores: Count
    memory_bytes: Count
    load_average: Real
    """Of the last minute, before the run."""
    directory: str
    """The target, as the user gave it."""
    file_system: FileSystem
    python: str
    venturi: str
    engine: str
    comm: str
    clock: ClockFacts
    variables: dict[str, str] = {}
    """Environment variables that steer MPI and I/O libraries."""
    layout: StorageLayout | None = None
    """Stripes and quota before the run; absent: the file system has no such command."""


class Record(Document):
    """One run: everything that a report needs."""

    schema_: Literal["venturi.record/2"] = Field("venturi.record/2", alias="schema")
    id: RunId
    name: str
    about: str
    started: str
    """UTC, ISO 8601."""
    command: list[str]
    ranks: Positive
    seed: Count
    repetitions: Count
    """Completed ones."""
    repetitions_asked: Positive
    enough: str = ""
    """Why there were enough of them, where their number was left to the run."""
    partial: bool
    """The engine did not do all that was asked."""
    interrupted: bool = False
    """The user ended it."""
    parameters: dict[str, Any]
    verdict: Verdict
    phases: list[PhaseRow]
    pauses: list[Paused] = []
    """What groups did between their phases, where several act."""
    metrics: dict[str, MetricValue]
    scores: dict[str, MetricValue] = {}
    rules: list[RuleRow] = []
    """Those of the workload, such as the ones of IO500."""
    substituted: list[Substitution]
    fidelity: Fidelity | None = None
    environment: Environment
    commands: list[CommandRun] = []
    """What ran in place of a skeleton, in the order of their ends."""
    machine: str = ""
    """The name of the machine's file; `local` for this host."""
    run_of: RunOf | None = None
    """Which run of a campaign this is."""
    ceilings: list[Ceiling] = []
    """What the machine can move at most, the lowest first; empty: nothing is known."""
    file_facts: list[FileFacts] = []
    """What the libraries said is in force for files: hints of MPI-IO."""
    warnings: list[str] = []
    failure: str | None = None
    left: list[str] = []
    """Files of the run that are still there."""
    left_command: str | None = None
    """What removes them."""
    labels: dict[str, list[str]] = {}
    """By the path of a phase: what belongs to the name of its rate."""
    run_labels: list[str] = []
    """What belongs to the name of every number of the run."""
    host_samples: list[HostSample] = []
    """Counters of the host that started the run, in time order; empty: they were not read."""
    host_limits: HostLimits | None = None
    background: list[Background] = []
    """What probes felt on the file system before, during and after; empty: none ran there."""
    workload: dict[str, Any]
    """The workload as it was run."""
