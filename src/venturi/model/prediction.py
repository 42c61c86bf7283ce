"""The prediction: application and proxy, run in turn on one storage, and how far they differ.

I/O time is the time inside calls on the application's files, of the rank that spends most in
them; both sides were captured alike.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final, Literal

from pydantic import Field

from venturi.model.document import Count, Document, Fraction, Positive, Real, Seconds

PREDICTION_SCHEMA: Final = "venturi.prediction/1"
DOCUMENT: Final = "prediction.json"
"""Its name in the folder of a prediction."""


class Sort(StrEnum):
    """What a call does; seconds of the sorts add up to the I/O time."""

    READ = "read"
    WRITE = "write"
    SYNC = "sync"
    NAMES = "metadata"
    """Everything that neither moves data nor makes them persistent."""


class SignedError(Document):
    """(proxy - application) / application of the medians, with an interval."""

    signed: Real
    low: Real
    high: Real
    confidence: Fraction = 0.95
    """Of the interval; 0 where one pair has none."""


class PredictionRun(Document):
    """One run."""

    place: Count
    """When it came, among the runs of both sides."""
    seconds: Seconds
    """I/O time."""
    seconds_by: dict[str, Seconds]
    """The same rank's, by sort."""
    run_seconds: Seconds
    """From the start of the first process to the end of the last."""
    span_seconds: Seconds = 0.0
    """From the first request of its files to the last, of all ranks; 0: not known."""


class Side(Document):
    """The application, or its proxy; numbers are medians over its runs."""

    seconds: Seconds
    """I/O time."""
    seconds_by: dict[str, Seconds]
    bytes_per_second: Real
    """Bytes of all ranks over I/O time."""
    spread: Real
    """Standard deviation of the I/O time over its mean."""
    bytes_written: Count
    bytes_read: Count
    requests: Count
    """Reads and writes."""
    calls: Count
    ranks: Positive
    run_seconds: Seconds
    """From the start of the first process to the end of the last: of a proxy with all that starts
    it and makes its input."""
    span_seconds: Seconds = 0.0
    """From the first request of its files to the last, with the computing between; 0: not known."""
    runs: list[PredictionRun]


class PredictionPart(Document):
    """One sort of calls, or one stream of files, on both sides."""

    name: str
    application: Seconds
    proxy: Seconds
    error: SignedError | None
    """None where one side has no such time in some run."""


class Baseline(Document):
    """A simpler prediction of the same time."""

    name: str
    about: str
    seconds: Seconds
    signed: Real
    """Its error, as that of the proxy."""


class MeasuredSystem(Document):
    """Where it was measured."""

    directory: str
    file_system: str
    host: str
    system: str
    kernel: str
    cpu: str
    cores: Positive
    memory_bytes: Count
    load_before: Real
    """Processes that wanted to run, over the last minute."""
    load_after: Real


class Prediction(Document):
    """How well a proxy predicts how long an application's I/O takes."""

    schema_: Literal["venturi.prediction/1"] = Field("venturi.prediction/1", alias="schema")
    name: str
    """Of the workload."""
    command: str
    typed: list[str] = []
    """The command line that made the prediction; empty where it was made in Python."""
    prepare: str = ""
    """What made the application's input before each of its runs."""
    started: str
    """UTC, ISO 8601."""
    venturi: str
    repetitions: Positive
    """Runs of each side."""
    enough: str = ""
    """Why there were no more of them."""
    application: Side
    proxy: Side
    error: SignedError
    """Of the I/O time."""
    span_error: SignedError | None = None
    """Of the time from the first request to the last; None: not known."""
    within_spread: bool
    """Whether the error is no larger than the application's own spread."""
    headline: str
    bandwidth_error: SignedError | None = None
    """Where the application's mean request is 1 MiB or more."""
    sorts: list[PredictionPart]
    phases: list[PredictionPart]
    """Stretches of work between pauses, of the rank that spends most in each; empty where the runs
    do not have the same ones."""
    streams: list[PredictionPart]
    """Time of all ranks together in files that are used alike."""
    baselines: list[Baseline] = []
    cache: str
    """What was done to the page cache before each run."""
    capture: str
    """How both sides were captured."""
    capture_share: Real
    """What capturing adds to the application's I/O time, as a share of it (an estimate)."""
    remarks: list[str] = []
    place: MeasuredSystem
    workload_text: str
    """The proxy as it was run."""
