"""A run of io500 read closely: what limited each phase, and where it stands among results."""

from __future__ import annotations

from enum import StrEnum
from typing import Final, Literal

from pydantic import Field

from venturi.model.comparison import MedianInterval
from venturi.model.document import Count, Document, Seconds
from venturi.model.published import Rate
from venturi.model.record import LatencyNs

REVIEW_SCHEMA: Final = "venturi.io500-review/2"


class ReviewLimit(StrEnum):
    """What a phase waited for most, as far as its record shows."""

    RANKS = "ranks"
    """Some ranks for others, or all for a core."""
    METADATA = "metadata"
    """For metadata operations: directories, inodes, their servers."""
    NETWORK = "network"
    """For round trips to servers."""
    DEVICE = "device"
    """For storage to take or give data."""
    CACHE = "cache"
    """For nothing but memory: the figure says little of storage."""


class RankingPosition(Document):
    """One number among those of published results, for each client process or node."""

    per: Literal["run", "process", "node"]
    value: Rate
    beaten: Count
    """Results with a lower number."""
    of: Count
    """Results that have the number."""
    others: list[Rate]
    """Their numbers, ascending."""

    @property
    def share(self) -> float:
        """The share of results that are beaten."""
        return self.beaten / self.of if self.of else 0.0


class ReviewedPhase(Document):
    """One phase."""

    name: str
    unit: Literal["GiB/s", "kIOPS"]
    scored: bool
    rate: MedianInterval
    """By the official formula of the phase."""
    time: Seconds
    """Of the repetition whose rate is the median, as are the next ones."""
    operation: str
    """What most of the phase's operations are, for the latencies."""
    latency_ns: LatencyNs | None
    limit: ReviewLimit
    evidence: str
    """One sentence with the numbers that say so."""
    ranking_positions: list[RankingPosition] = []


class Io500Review(Document):
    """A run of io500 as its reader asks for it."""

    schema_: Literal["venturi.io500-review/2"] = Field("venturi.io500-review/2", alias="schema")
    run: str
    """The run's id."""
    processes: Count
    nodes: Count
    score: MedianInterval | None
    """Absent where a phase is missing; so are the next two."""
    bandwidth: MedianInterval | None
    """GiB/s."""
    metadata: MedianInterval | None
    """kIOPS."""
    phases: list[ReviewedPhase]
    missing: list[str]
    """Scored phases that the run did not finish."""
    suspicions: list[str]
    """What says that a cache answered in the place of storage, one sentence each."""
    results: Count
    """Published results that it is set beside: those that may stand in a list."""
    ranking_position: RankingPosition | None = None
    """Of the score."""
    strong: list[str] = []
    """Phases that beat two thirds of the results, each for its number of processes."""
    from_memory: list[str] = []
    """Phases that a cache limited or may have helped: they are called neither strong nor weak."""
    weak: list[str] = []
    """Phases that two thirds of them beat."""


class ComparedValue(Document):
    """One number of two results."""

    name: str
    unit: str
    a: Rate | None
    b: Rate | None
    ratio: Rate | None
    """The first to the second; absent where one is not there or 0."""
    each: Rate | None
    """The same for each client process."""
