"""The trace: what a real run did to storage, layer by layer.

A trace holds counters, operations, or both. Operations stand beside the document as columns
(see `operation`). Counters keep the names that Darshan gives them, without the module's prefix,
because the field knows them; a counter that the source could not fill (-1 in Darshan) is absent,
never a number.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from venturi.model.document import Count, Document, Integer, Positive, Real, Seconds
from venturi.model.interface import Interface

TRACE_SCHEMA = "venturi.trace/1"


class Layer(StrEnum):
    """Where in the I/O stack something was counted, lowest first."""

    POSIX = "posix"
    STDIO = "stdio"
    MPIIO = "mpiio"
    HDF5_FILE = "hdf5_file"
    HDF5_DATASET = "hdf5_dataset"
    PNETCDF_FILE = "pnetcdf_file"
    PNETCDF_VARIABLE = "pnetcdf_variable"
    LUSTRE = "lustre"


INTERFACES = {
    Layer(layer): interface
    for interface in Interface
    for layer in interface.entry.elsewhere.trace_layers
}
"""The interface whose calls are counted in each layer, the lowest first."""


class TraceSource(Document):
    """What the trace was read from."""

    format: str
    """`darshan`, `darshan-parser`, ..."""
    file: str
    """Name of the file, without its directory."""
    library_version: str = ""
    log_version: str = ""


class TracedJob(Document):
    """The run as a whole."""

    ranks: Positive
    seconds: Seconds
    started: str = ""
    """UTC, ISO 8601; empty where unknown."""
    number: str = ""
    """The scheduler's or the launcher's number of the job, as the source has it; empty: unknown."""
    command: str = ""
    """The command line of the program, as the source has it; empty: unknown."""


class CounterRecord(Document):
    """The counters of one file in one layer, of one rank or reduced over all."""

    layer: Layer
    file: str
    """Path as the application named it; for datasets, the dataset's name."""
    identity: str
    """The record's id in the source, as text: ids do not fit a double."""
    within: str = ""
    """For datasets and variables: identity of the file that they lie in, where known."""
    rank: Annotated[int, Field(ge=-1)]
    """-1: reduced over all ranks, which means that all ranks touched the file."""
    counters: dict[str, Integer]
    times: dict[str, Real]
    """Seconds; time stamps count from the job's start."""


class Gap(Document):
    """Something that the capture lost."""

    layer: str
    what: str


class TracedFile(Document):
    """A file, directory or dataset that operations name."""

    path: str
    """As the application named it, made absolute where the capture knows the working directory;
    for datasets, the dataset's name."""
    within: int | None = None
    """For datasets and variables: index of the file that they lie in."""
    shape: list[Count] = []
    """For datasets and variables: their dimensions in elements."""
    element_bytes: Count = 0
    """For datasets and variables; 0: unknown."""
    chunk: list[Count] = []
    """For chunked datasets: the chunk's dimensions."""
    chunk_cache_bytes: Count | None = None
    """For chunked datasets: what HDF5 had to keep chunks in while this one was first open; absent:
    unknown."""
    is_data: bool = False
    """Its name is that of code, but a program used it that does not read such code: sources that a
    search reads, archives that a build writes."""
    stands_for: str = ""
    """In the capture of a proxy: how its workload says that the application knows these files."""


class Process(Document):
    """A process that took part in the job."""

    rank: Annotated[int, Field(ge=-1)] = -1
    """From the launcher; -1: no rank of a parallel program (a shell, a launcher, a helper)."""
    process: Count = 0
    """Its number on its host; 0: unknown."""
    parent: Count = 0
    host: str = ""
    program: str = ""
    """Name of the executable, without its directory."""
    started_s: Seconds = 0.0
    """After the job's start."""
    ended_s: Seconds | None = None
    """None: it did not end in an orderly way, or it is not known."""


class HeatRow(Document):
    """What one rank moved, bin by bin; both lists have one entry per bin."""

    rank: Count
    read: list[Count]
    """Bytes per bin."""
    written: list[Count]
    """Bytes per bin."""


class Heatmap(Document):
    """When ranks moved bytes in one layer: bins of equal length from the job's start."""

    layer: Layer
    bin_seconds: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    rows: list[HeatRow]
    """Ranks that moved bytes, in rising order; ranks that are not here moved none."""


class Trace(Document):
    """What one job did."""

    schema_: Literal["venturi.trace/1"] = Field("venturi.trace/1", alias="schema")
    source: TraceSource
    job: TracedJob
    layers: list[Layer]
    """Layers that the capture watched, also those without a record."""
    records: list[CounterRecord]
    mounts: dict[str, str] = {}
    """Mount point to file system type."""
    gaps: list[Gap] = []
    """Layers that are incomplete: their counts are lower bounds."""
    record_count: Count
    files: list[TracedFile] = []
    """What operations name by index."""
    processes: list[Process] = []
    """Whose operations there are, by index; where there are none, counters name ranks."""
    operation_count: Count = 0
    """Rows in the columns beside the document; 0: counters only."""
    heatmaps: list[Heatmap] = []
    """At most one per layer."""
