"""The trace: what a real run did to storage, layer by layer.

This version holds counters; operations join it as columns. Counters keep the names that
Darshan gives them, without the module's prefix, because the field knows them; a counter
that the source could not fill (-1 in Darshan) is absent, never a number.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from venturi.model.document import Count, Document, Integer, Positive, Real, Seconds

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


class Source(Document):
    """What the trace was read from."""

    format: str
    """`darshan`, `darshan-parser`, ..."""
    file: str
    """Name of the file, without its directory."""
    library_version: str = ""
    log_version: str = ""


class Job(Document):
    """The run as a whole."""

    ranks: Positive
    seconds: Seconds
    started: str = ""
    """UTC, ISO 8601; empty where unknown."""


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


class Trace(Document):
    """The counters of one job."""

    schema_: Literal["venturi.trace/1"] = Field("venturi.trace/1", alias="schema")
    source: Source
    job: Job
    layers: list[Layer]
    """Layers that the capture watched, also those without a record."""
    records: list[CounterRecord]
    mounts: dict[str, str] = {}
    """Mount point to file system type."""
    gaps: list[Gap] = []
    """Layers that are incomplete: their counts are lower bounds."""
    record_count: Count
