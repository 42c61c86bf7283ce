"""Events: what the engine says while it works, one JSON object a line, from rank 0."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, RootModel

from venturi.model.command import CommandCall
from venturi.model.document import Count, Document, Fraction, Integer, Positive, Real, Seconds
from venturi.model.output import Better
from venturi.model.plan import OperationKind, SyncMode

EVENT_SCHEMA = "venturi.event/2"


class StoppedBy(StrEnum):
    """Why a phase ended."""

    WORK = "work"
    LIMIT = "limit"
    DEADLINE = "deadline"
    ERROR = "error"


class CacheState(StrEnum):
    """Whether the data of a phase was in memory before it began."""

    COLD = "cold"
    WARM = "warm"
    MIXED = "mixed"
    UNKNOWN = "unknown"
    NONE = "none"


class Damage(StrEnum):
    """What is wrong with bytes that were read back."""

    HOLE = "hole"
    FLIPPED = "flipped"
    STALE = "stale"
    MISPLACED = "misplaced"
    TRUNCATED = "truncated"
    UNREAD = "unread"
    FOREIGN = "foreign"
    CORRUPT = "corrupt"


class TargetFacts(Document):
    """What the run's directory lies on, as the kernel said at one moment."""

    type: str
    """The file system's type by the mount table; `unknown` where that does not tell."""
    magic: Count
    """The type by statfs."""
    device: str
    """`major:minor`."""
    source: str
    mount: str


class ClockFacts(Document):
    """The clock that all durations of the run come from."""

    source: str
    """`tsc`, `monotonic` or `simulated`."""
    resolution_ns: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    overhead_ns: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    offset_uncertainty_s: Seconds = 0.0
    """Bound of the clock offset between nodes."""
    offset_of_host_ns: list[Integer] = []
    """What is added to each host's clock to get the first one's, in the order of `hosts`; empty
    where there is one. Clocks count from when their hosts were started."""


class Iteration(Document):
    """The value of an enclosing loop's variable."""

    name: str
    value: Integer


class Histogram(Document):
    """A log-linear histogram: 2^bits buckets for each power of two, of nanoseconds.

    With n = 2^bits, bucket i < n holds the value i; above, bucket i covers
    [(n + i % n) << (i // n - 1), (n + 1 + i % n) << (i // n - 1)), at most 1/n of its values.
    Only buckets that hold something are listed.
    """

    bits: Annotated[int, Field(ge=1, le=20)] = 4
    """10; absent in the earliest records, which have 4."""
    bucket: list[Count] = []
    count: list[Count] = []
    min_ns: Count = 0
    max_ns: Count = 0


class OperationSummary(Document):
    """All operations of one kind in a phase, over all ranks."""

    kind: OperationKind
    bytes: Count
    operations: Count
    errors: Count
    seconds: Seconds
    """The largest of the ranks' sums."""
    latency: Histogram


class RequestSize(Document):
    """How many requests of one size a phase made, over all ranks."""

    kind: OperationKind
    bytes: Count
    count: Count


class PhaseSeconds(Document):
    """Times of a phase: `total` is last end - first start; the others, the largest rank's sum."""

    open: Seconds
    transfer: Seconds
    close: Seconds
    compute: Seconds
    total: Seconds
    wait: Seconds = 0.0
    """For signals of other groups."""
    serving: Seconds = 0.0
    """Inside of calls that one rank made for all who share a file, itself included; the rest of
    their transfers is handing over bytes."""


class RankTimes(Document):
    """One value per rank of the group, in rank order."""

    bytes: list[Count]
    operations: list[Count]
    open_s: list[Seconds]
    transfer_s: list[Seconds]
    close_s: list[Seconds]
    total_s: list[Seconds]
    start_s: list[Seconds]
    """Seconds after the phase's first start."""
    first_s: list[Seconds] = []
    """When its first operation was done, in seconds after the phase's first start."""
    last_s: list[Seconds] = []
    """When its last operation was done, in seconds after the phase's first start."""
    longest_s: list[Seconds] = []
    """Its slowest operation."""


class TimeLine(Document):
    """What was completed in each bin of time after the phase's first start, over all ranks."""

    bin_s: Seconds
    bytes_written: list[Count]
    bytes_read: list[Count]
    operations: list[Count]


class OpenLoop(Document):
    """Requests that began at a rate, not when the one before had ended, over all ranks.

    Their latency counts from the intended start, so waiting behind a slow one is part of it.
    """

    requests: Count
    late: Count
    """Those whose time had come while the rank was still busy."""
    most_late_s: Seconds
    """The largest delay of a start."""
    wanted_per_s: Seconds
    """Requests per second, all ranks together."""
    achieved_per_s: Seconds
    response: Histogram = Histogram()
    """From the intended start to the end."""
    service: Histogram = Histogram()
    """From the real start to the end."""


class ServerShare(Document):
    """What one server of the file system did in a phase, as its clients saw it.

    Only of whole files, the first 64 of each rank, and only where the file system says which
    server holds a file (GlusterFS, unless it cuts files into pieces).
    """

    server: str
    """`host:/folder` of the brick; several, where each of them holds a copy or a part."""
    ranks: Positive
    files: Positive
    bytes: Count
    sum_s: Seconds
    """Time in which ranks moved data of these files, made it persistent or closed them: the sum
    over the ranks."""
    span_s: Seconds
    """From when the first rank began that to when the last one had done it."""

    @property
    def bytes_per_second(self) -> float:
        """All bytes over the time of the work on them; 0 where none passed.

        That is the span where ranks work on a server at once, and the sum where they come to it
        in turn, which is then the shorter one.
        """
        time_s = min(self.span_s, self.sum_s)
        return self.bytes / time_s if time_s > 0 else 0.0


class ErrorDetail(Document):
    """One of the first errors of a phase."""

    rank: Count
    operation: OperationKind
    path: str
    offset: Count
    errno: Count
    """0 where the system gave none."""
    what: str
    damage: Damage | None = None
    """What is wrong with bytes that were read back; absent for other errors."""
    bytes: Count = 0
    """How many bytes are wrong."""
    at_s: Seconds | None = None
    """When it was seen, in seconds after the phase's first start; absent in earlier records."""


class Hello(Document):
    """The engine is there, on the right number of ranks."""

    event: Literal["hello"] = "hello"
    schema_: Literal["venturi.event/2"] = Field("venturi.event/2", alias="schema")
    run: str
    engine: str
    """Version of the engine."""
    comm: str
    """`alone`, `forked` or `mpi`, with the library's version."""
    ranks: Positive
    hosts: list[str]
    """The host of each node, in order."""
    node_of_rank: list[Count]
    clock: ClockFacts
    time: str
    """UTC, ISO 8601."""


class PhaseStarted(Document):
    """A phase begins."""

    event: Literal["phase_started"] = "phase_started"
    path: str
    group: str
    instance: Count
    repetition: Count
    iteration: list[Iteration]
    at_s: Seconds
    """Seconds since hello."""
    limit_s: Seconds | None = None


class Progress(Document):
    """How far the running phase is."""

    event: Literal["progress"] = "progress"
    path: str
    repetition: Count
    at_s: Seconds
    """Seconds since the phase started."""
    bytes: Count
    operations: Count
    active: Count
    """Ranks that are still at work."""


class Fact(Document):
    """A word and its value."""

    name: str
    value: str


class KernelStatistic(StrEnum):
    """Which of a point's samples stands for all of them."""

    MAX = "max"
    MIN = "min"
    MEDIAN = "median"
    MEAN = "mean"


class KernelAxis(Document):
    """What one of the numbers that name a point counts."""

    name: str
    unit: str = ""
    """`B` for bytes; empty: a bare number, such as a rank."""


class KernelPoint(Document):
    """One thing that a kernel measured, with every sample in the order of measurement."""

    at: list[Count]
    """One number for each axis of the series."""
    samples: Annotated[list[Real], Field(min_length=1)]
    figure: str = ""
    """The figure of the kernel that this point is; a metric of the run has its name."""


class KernelSeries(Document):
    """Points of a kernel that differ in numbers alone."""

    name: str
    unit: str
    """`B/s`, `s`, `flop/s`, ..., as metrics have it."""
    better: Better
    statistic: KernelStatistic
    axes: list[KernelAxis]
    points: list[KernelPoint]


class KernelResult(Document):
    """What one kernel measured of the machine. Values were checked, or there are none."""

    name: str
    version: Positive
    """A change of the kernel that may change its numbers gives it another one."""
    ranks: Positive
    """Those that measured."""
    failure: str = ""
    """Why there is no number: a check that failed, memory that was not there. Empty: it is fine."""
    facts: list[Fact]
    """What the numbers depend on: sizes of caches, page size, instructions, compiler."""
    series: list[KernelSeries]


class PhaseFacts(Document):
    """What was measured of a phase and stands in the record as the engine said it."""

    path: str
    group: str
    instance: Count
    repetition: Count
    at_s: Seconds
    """Seconds from hello to the phase's first start."""
    bytes: Count
    operations: Count
    errors: Count
    ranks: Positive
    request_sizes: list[RequestSize]
    other_requests: Count = 0
    """Requests of sizes beyond the 32 that are kept apart on a rank."""
    per_rank: RankTimes
    time_line: TimeLine
    stopped_by: StoppedBy
    cache: CacheState
    cache_reason: str
    cached_share: Fraction | None = None
    """Share of the data's pages that was in memory before the phase; absent: not looked at."""
    bytes_durable: Count = 0
    """Bytes that were written and then made persistent inside the phase's time."""
    bytes_saved: Count = 0
    """By how much an interface that compresses, and says so, made less of what was written."""
    short_transfers: Count = 0
    corrupt_operations: Count = 0
    """Reads that brought other bytes than were written."""
    corrupt_bytes: Count = 0
    target_before: TargetFacts | None = None
    target_after: TargetFacts | None = None
    target_change: str = ""
    """How the target is another one than at the start of the run; empty: it is the same."""
    servers: list[ServerShare] = []
    """By name, where the file system says on which server a file is."""
    open_loop: OpenLoop | None = None
    """Requests began at a rate; absent: each when the one before had ended."""
    found: Count | None = None
    """Names that fitted, where the phase looked for some."""
    kernels: list[KernelResult] = []
    """What kernels measured, in the order in which they ran."""
    details: list[ErrorDetail]


class PhaseFinished(PhaseFacts):
    """A phase ended and this is what was measured."""

    event: Literal["phase_finished"] = "phase_finished"
    iteration: list[Iteration]
    seconds: PhaseSeconds
    by_operation: list[OperationSummary]
    flushed: SyncMode
    """The weakest means, inside the phase's time, that covered all that was written."""


class Pause(Document):
    """Time of a group between its phases, as its first rank saw it."""

    at_s: Seconds
    """Seconds since hello."""
    seconds: Seconds
    waits: bool
    """For signals of other groups; else it computed."""


class Paused(Document):
    """All pauses of one group in a repetition, at its end; only where several groups act."""

    event: Literal["paused"] = "paused"
    group: str
    instance: Count
    repetition: Count
    pauses: list[Pause]
    """In order; at most 4096."""


class CommandRequest(CommandCall):
    """A rank asks for a command to be run, by a file in the journal; it is no line of output."""

    event: Literal["command_request"] = "command_request"
    iteration: list[Iteration]
    limit_s: Seconds


class FileFacts(Document):
    """What an interface's library says is in force for a file, such as hints of MPI-IO."""

    event: Literal["file_facts"] = "file_facts"
    file: str
    """The entry of the plan."""
    facts: list[Fact]


class Warning(Document):
    """Something that the reader of the result must know."""

    event: Literal["warning"] = "warning"
    what: str
    stopped_s: Seconds | None = None
    """For so long no process of a node ran, nor the one that watches them: they were stopped, or
    the machine slept or had no time for them. What was measured meanwhile says nothing about the
    storage."""


class Remark(Document):
    """What goes on, for who looks on; no result depends on it."""

    event: Literal["remark"] = "remark"
    what: str


class Failed(Document):
    """The run cannot go on."""

    event: Literal["failed"] = "failed"
    code: str
    """A word for programs: `target`, `plan`, `ranks`, `io`, `verification`, `interrupted`, ..."""
    message: str
    hint: str
    where: str
    """Phase path, file or plan path."""
    exit_code: Count

    @property
    def sentence(self) -> str:
        """What went wrong and, unless the message says it, where."""
        told = self.message.endswith(f"({self.where})") or f"phase {self.where}" in self.message
        return self.message if told or not self.where else f"{self.message} ({self.where})"


class Finished(Document):
    """The run came to its end."""

    event: Literal["finished"] = "finished"
    at_s: Seconds
    repetitions: Count
    """Those that were completed."""
    errors: Count
    left: list[str]
    """Files that were made and are still there, because `keep` asked for it."""


Event = Annotated[
    Hello
    | PhaseStarted
    | Progress
    | PhaseFinished
    | Paused
    | CommandRequest
    | FileFacts
    | Warning
    | Remark
    | Failed
    | Finished,
    Field(discriminator="event"),
]


class EventLine(RootModel[Any]):
    """One line of the engine's output."""

    # RootModel[Event] would be a class of its own, built at once; this one is built when needed.
    model_config = ConfigDict(defer_build=True)
    root: Event
