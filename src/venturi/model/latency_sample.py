"""Latencies of single operations over the time of a run: a sparse sample for a picture."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from venturi.model.document import Count, Document, Positive, Real, Seconds
from venturi.model.name_step import Value


class LatencyRequest(Document):
    """Which operations of a workload are drawn; the workload has `log_operations: true`."""

    operation: str
    """`create`, `read` ..."""
    phase: str
    points: Annotated[int, Field(ge=1, le=5000)] = 600
    """Operations chosen at random."""
    above: Value = "100 ms"
    """Every operation that took longer is drawn besides (the 2000 slowest at most)."""


class LatencySample(Document):
    """The operations of one repetition that are drawn."""

    run: str
    """The record that they are of."""
    operation: str
    operations: Count
    """All that there were."""
    above_s: Seconds
    over: Count
    """How many took longer than `above_s`."""
    ranks: Positive
    at_s: list[Seconds]
    """From the begin of the first such operation of the same rank."""
    latency_s: list[Seconds]
    median_s: Real
    p99_s: Real
    most_s: Real
    """Of all operations, not of the sample."""
