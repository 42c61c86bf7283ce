"""A probe: which storage it watches and how, what it costs, and what users feel there now."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, model_validator

from venturi.model.document import Count, Document, Fraction, Integer, Positive, Real, Seconds
from venturi.model.units import BYTES_PER_UNIT, with_unit

ProbeName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$")]
"""The administrator's name of a target: a folder's name and a label."""

POOL_FILES = 100_000
FILE_BYTES = 3901
BLOCK_BYTES = 2**20
DATA_BYTES = 200 * 10**9
SMALL_POOL_FILES = 1000
SMALL_DATA_BYTES = 64 * 2**20
LEARNING_HOURS = 24
"""Different hours with samples that a baseline needs at least."""


def learned_hours(hours: int) -> str:
    """Return how far a baseline is, in the words of every page, table and message."""
    return f"{hours} of {LEARNING_HOURS} hours"


class ProbeOperation(StrEnum):
    """What is measured; the order is that of the numbers in samples."""

    MD_STAT = "md_stat"
    MD_READ = "md_read"
    MD_DELETE = "md_delete"
    MD_CREATE = "md_create"
    DATA_WRITE = "data_write"
    DATA_READ = "data_read"


OPERATIONS = tuple(ProbeOperation)


class ProbeKind(StrEnum):
    """What one worker measures."""

    METADATA = "metadata"
    DATA = "data"


class ProbeDurability(StrEnum):
    """What makes a written block persistent within the timed operation."""

    AUTO = "auto"
    DIRECT = "direct"
    FDATASYNC = "fdatasync"
    BUFFERED = "buffered"


class ProbeServerKind(StrEnum):
    """What a server of Lustre holds."""

    OST = "ost"
    """Data."""
    MDT = "mdt"
    """Names."""


class ProbeServer(Document):
    """The server of a parallel file system on which a target's files are placed."""

    kind: ProbeServerKind
    index: Count
    name: str
    """As the file system calls it: `scratch-OST0003`."""


class ProbeTarget(Document):
    """One storage target and how it is watched."""

    name: ProbeName
    directory: Annotated[str, Field(pattern=r"^/", max_length=2000)]
    """An absolute path; the probe makes directories of its own in it."""
    node_class: ProbeName = "default"
    """Hosts whose latencies can be compared, such as login or compute nodes."""
    interval_s: Annotated[float, Field(ge=0.01, le=3600)] = 1.0
    """Each operation is due once in this time."""
    kinds: Annotated[list[ProbeKind], Field(min_length=1)] = list(ProbeKind)
    pool_files: Annotated[int, Field(ge=2, le=10**8)] = POOL_FILES
    file_bytes: Annotated[int, Field(ge=32, le=2**20)] = FILE_BYTES
    data: Annotated[str, Field(pattern=r"^[0-9.]+ ?[A-Za-z]+$")] = "200 GB"
    """Size of the data file, larger than the host's memory: `200 GB`, `1.3 TB`."""
    block_bytes: Annotated[int, Field(ge=4096, le=2**26, multiple_of=4096)] = BLOCK_BYTES
    durability: ProbeDurability = ProbeDurability.AUTO
    """`auto`: direct where the file system has it, else fdatasync."""
    each_server: bool = False
    """In place of this target one for each server: data on each OST, names on each MDT."""
    server: ProbeServer | None = None
    """Where its directory places what is made in it; set by the probe."""
    back_off: bool = True
    """A tenth of the rate while every operation is late or fails for more than a minute."""
    ring_days: Annotated[float, Field(gt=0, le=60)] = 7
    """How many days of samples the ring on local disk holds; `0.5` is half a day."""
    keep_days: Positive = 90
    """How long single samples are kept; minutes are kept for two years, hours for ever."""

    @model_validator(mode="after")
    def _check(self) -> ProbeTarget:
        try:
            size = self.data_bytes
        except ValueError as error:
            raise ValueError(f"data: {error}") from None
        if size < self.block_bytes:
            raise ValueError("data: smaller than a block")
        if len(set(self.kinds)) != len(self.kinds):
            raise ValueError("kinds: one stands twice")
        return self

    @property
    def data_bytes(self) -> int:
        """Size of the data file in whole blocks."""
        unit = self.data.lstrip("0123456789. ")
        if unit not in BYTES_PER_UNIT:
            raise ValueError(f"{self.data} is no size; write it like 200 GB or 64 MiB")
        whole = int(with_unit(self.data.removesuffix(unit).strip(), unit))
        return whole - whole % self.block_bytes


class ProbeConfig(Document):
    """What `venturi probe run --config FILE` reads."""

    schema_: Literal["venturi.probe/1"] = Field("venturi.probe/1", alias="schema")
    targets: Annotated[list[ProbeTarget], Field(min_length=1)]

    @model_validator(mode="after")
    def _check(self) -> ProbeConfig:
        names = [target.name for target in self.targets]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ValueError(f"targets: two are called {twice}")
        return self


class ProbeCost(Document):
    """What watching one target costs it."""

    target: ProbeTarget
    operations_per_s: Real
    written_bytes_per_day: Count
    read_bytes_per_day: Count
    space_bytes: Count
    files: Count
    """What the probe's own directories hold, for as long as it is there."""
    free_bytes: Count
    free_inodes: Count | None
    """None where the file system does not count them."""
    filesystem: str
    local_bytes: Count
    """Of the rings in the store, which is local disk."""
    shares_disk: bool
    """The store is on the file system that is probed."""
    calls: dict[ProbeOperation, list[str]]
    """System calls of one operation, in order."""
    placement: list[str] = []
    """Commands that make its directory at the first start."""

    @property
    def needs_consent(self) -> bool:
        """Whether the files take more than one percent of the free space."""
        return self.space_bytes * 100 > self.free_bytes


class ProbeCheck(Document):
    """What `venturi probe check` says: nothing was written to learn it."""

    schema_: Literal["venturi.probe-check/1"] = Field("venturi.probe-check/1", alias="schema")
    costs: list[ProbeCost]
    remarks: list[str] = []
    """On servers that are left out."""


class ProbeStatistic(StrEnum):
    """Which number of a window is divided by the baseline."""

    P50 = "p50"
    MEAN = "mean"
    P95 = "p95"


class ProbeExpected(Document):
    """What one operation usually takes on one target."""

    operation: ProbeOperation
    value_s: Seconds
    """A median of response times."""
    samples: Positive
    begin_ns: Count
    end_ns: Count
    """The time that the samples are from."""
    fitted_ns: Count


class ProbeReference(Document):
    """Frozen expected values that an administrator set."""

    schema_: Literal["venturi.probe-reference/1"] = Field(
        "venturi.probe-reference/1", alias="schema"
    )
    expected: list[ProbeExpected]


class ProbeWindow(Document):
    """One operation within the last so many seconds."""

    seconds: Positive
    samples: Count
    value_s: Seconds | None
    slowdown: Real | None
    """None while the baseline is being learned, or without samples."""


class ProbeRow(Document):
    """One operation of one target, now."""

    operation: ProbeOperation
    last_s: Seconds | None
    in_flight_s: Seconds
    """How long the operation under way was due; 0: none is."""
    expected: ProbeExpected | None
    reference: ProbeExpected | None
    """Where there is one, slowdowns still refer to the rolling baseline."""
    drift: Real | None
    """The baseline divided by the reference."""
    learning_hours: Count | None
    """Hours that the baseline has so far; None: it has enough."""
    windows: list[ProbeWindow]
    p95_4h_s: Seconds | None
    errors_4h: Count
    missed_4h: Count
    cached_share: Fraction | None
    """Of the reads within four hours; None where the kernel does not know."""
    minutes_s: list[Seconds | None]
    """Medians of the last thirty minutes, the oldest first."""
    word: str


class ProbeWorkerState(Document):
    """One worker as its ring shows it."""

    kind: ProbeKind
    state: str
    is_alive: bool
    prepared: Fraction
    preparation_error: Integer
    scheduled: Count
    done: Count
    flagged: Count
    errors: Count
    interval_s: Seconds
    backed_off: bool
    clock_steps: Count
    foreign_files: Count
    last_sample_ns: Count


class ProbeTargetStatus(Document):
    """One target, now."""

    target: ProbeTarget
    workers: list[ProbeWorkerState]
    rows: list[ProbeRow]
    warnings: list[str]


class ProbeStatus(Document):
    """What `venturi probe status` says."""

    schema_: Literal["venturi.probe-status/1"] = Field("venturi.probe-status/1", alias="schema")
    at_ns: Count
    statistic: ProbeStatistic
    targets: list[ProbeTargetStatus]
