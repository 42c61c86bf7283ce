"""The activity: what a trace says, in the numbers that a page draws and a comparison compares.

All figures are of the layer in which the application speaks to a file (HDF5 before MPI-IO before
POSIX); systems, libraries and standard streams are left out.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final, Literal

from pydantic import Field

from venturi.model.document import Count, Document, Fraction, Positive, Seconds
from venturi.model.plan import Direction
from venturi.model.workload import RequestBucket

CHARACTERIZATION_DATA_SCHEMA: Final = "venturi.characterization-data/1"


class Basis(StrEnum):
    """What an activity was added up from."""

    OPERATIONS = "operations"
    COUNTERS = "counters"
    """Phases, turns and, without a heatmap, the course are not known; figures that are 0 or
    empty in streams may be."""


class SizeCount(Document):
    """Requests of exactly one size."""

    direction: Direction
    bytes: Count
    count: Positive


class RequestOrder(Document):
    """Where requests lie, each beside its forerunner of the same rank, file and direction."""

    direction: Direction
    followers: Count
    """Requests that have a forerunner, and whose offsets are known."""
    consecutive: Count
    """They begin where the forerunner ended."""
    forward: Count
    """They begin further on."""
    backward: Count
    """They begin before the end of the forerunner."""


class StreamCharacterization(Document):
    """Files that are used alike, and what was done to them."""

    name: str
    """The files' common path: `#` stands for a number, `*` for a name."""
    layer: str
    """Where the application speaks to them: `posix`, `mpiio`, `hdf5_dataset`, ..."""
    files: Count
    shared_files: Count
    """Of these, files that several ranks move data of."""
    ranks: Count
    """Ranks, or programs, that touch them."""
    bytes_written: Count
    bytes_read: Count
    operations: dict[str, Count]
    """By kind; a kind that did not occur is absent."""
    collective: Count = 0
    """Of the reads and writes, those that ranks made together."""
    request_sizes: list[RequestBucket] = []
    common_sizes: list[SizeCount] = []
    """Exact sizes, the most frequent first; at most 64 of a direction."""
    order: list[RequestOrder] = []
    bytes_by_lane: list[Count] = []
    """Data moved by each lane of the activity."""
    turns: Count
    """How often, at most, a rank begins to read or to write them after something else."""
    seconds: dict[str, Seconds] = {}
    """Inside calls, of all lanes: `read`, `write`, `names`, `sync`."""
    first_s: Seconds
    last_s: Seconds


class CountedSize(Document):
    """Requests of exactly one size, reads and writes together."""

    bytes: Positive
    count: Positive
    """At least so many: of each record the source keeps its four most frequent sizes."""


class CountedCalls(Document):
    """What the counters of a source say of one file in one layer, or of a whole layer."""

    name: str
    """The file's path; of a layer, its name."""
    layer: str
    files: Positive = 1
    ranks: Count
    """Ranks that used it."""
    opens: Count
    reads: Count
    writes: Count
    seeks: Count = 0
    stats: Count = 0
    syncs: Count = 0
    """Syncs and flushes."""
    bytes_read: Count
    bytes_written: Count
    sequential_reads: Count | None = None
    """At a higher offset than the one before; absent: the layer does not count it."""
    sequential_writes: Count | None = None
    consecutive_reads: Count | None = None
    """Exactly behind the one before."""
    consecutive_writes: Count | None = None
    read_s: Seconds = 0.0
    """Inside calls, of all ranks; so are the others."""
    write_s: Seconds = 0.0
    names_s: Seconds = 0.0
    common_sizes: list[CountedSize] = []
    """Of a layer, the four most frequent first; empty: of a file, or the layer counts none."""


class CountedJob(Document):
    """A log of counters as its reader knows it: the job, its layers and its files by name."""

    number: str
    command: str
    started: str
    """UTC, ISO 8601."""
    library: str
    """The version of what wrote the log."""
    layers: list[CountedCalls]
    files: list[CountedCalls]
    """Those that move most first."""
    left_out: Count = 0
    """Files beyond these."""


class PhaseCharacterization(Document):
    """A stretch of time without a pause in which data go one way, or both ways at once."""

    kind: Literal["write", "read", "both", "names"]
    first_s: Seconds
    last_s: Seconds
    bytes_written: Count
    bytes_read: Count
    operations: Count
    active: Positive
    """Lanes that take part."""
    busy_s: Seconds
    """Inside calls, of the lane that is in them longest."""


class RankTimeline(Document):
    """Bytes and calls over time: one row for each lane (or neighbouring ones), equal bins."""

    bin_s: Seconds
    labels: list[str]
    written: list[list[Count]]
    read: list[list[Count]]
    operations: list[list[Count]]


class CharacterizationData(Document):
    """What one job did to storage."""

    schema_: Literal["venturi.characterization-data/1"] = Field(
        "venturi.characterization-data/1", alias="schema"
    )
    name: str
    source: str
    """The format that the trace was read from."""
    command: str = ""
    """The command line of the program, as the source has it; empty: unknown."""
    basis: Basis = Basis.OPERATIONS
    ranks: Positive
    seconds: Seconds
    """The job's run time."""
    lanes: list[str]
    """What acts: ranks, or, of a job without any, its programs."""
    bytes_written: Count
    bytes_read: Count
    operations: dict[str, Count]
    storage_written: Count
    """What POSIX was asked to move for it, by libraries too; so is `storage_read`."""
    storage_read: Count
    io_seconds: Seconds
    """Inside calls, of the lane that is in them longest."""
    io_share: Fraction
    """Of the run time."""
    seconds_by: dict[str, Seconds]
    """Inside calls, of all lanes: `read`, `write`, `names`, `sync`."""
    streams: list[StreamCharacterization]
    """Those that move most first."""
    phases: list[PhaseCharacterization]
    timeline: RankTimeline
    left_out: Count
    """Operations on systems, libraries, standard streams, pipes and sockets."""
    gaps: list[str] = []
    """What the capture lost: figures are lower bounds."""
    counted: CountedJob | None = None
    """What the log itself counts, standard streams and systems included. Absent: it is none of
    counters."""
