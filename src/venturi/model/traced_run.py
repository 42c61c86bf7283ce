"""What a run of a campaign's command did to storage, by the log that its step asked for."""

from __future__ import annotations

from enum import StrEnum

from venturi.model.document import Count, Document, Fraction, Positive, Seconds


class LogMaker(StrEnum):
    """What wrote a log of a run's I/O."""

    CAPTURE = "capture"
    """Venturi's own tracer."""
    DARSHAN = "darshan"


class StepCapture(Document):
    """What `venturi capture` records of a step's runs; paths as its options of these names."""

    counters: bool = False
    """Counters for each file, no single operations."""
    only: list[str] = []
    skip: list[str] = []


class TracedRun(Document):
    """The characterization of one run, in short; the log has the rest."""

    by: LogMaker
    repetition: Positive
    log: str
    """Below the campaign's folder; `venturi report`, `derive` and `compare` take it."""
    ranks: Positive
    seconds: Seconds
    """The job's run time."""
    bytes_written: Count
    bytes_read: Count
    calls: Count
    io_seconds: Seconds
    """Inside calls, of the rank or process that is in them longest."""
    io_share: Fraction
    """Of the run time."""
    findings: list[str] = []
    """What costs time, the most severe first."""
    gaps: list[str] = []
    """What the log lost: figures are lower bounds."""
