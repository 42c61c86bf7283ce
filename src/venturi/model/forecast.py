"""The forecast: how long a workload's I/O takes on a machine that was profiled, without running."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import Field

from venturi.model.document import Count, Document, Fraction, Positive, Seconds

FORECAST_SCHEMA = "venturi.forecast/1"


class ForecastLimit(StrEnum):
    """What a phase waits for most."""

    CALLS = "per-call latency"
    CACHE = "bandwidth of the cache"
    DEVICE = "bandwidth of the device"
    DEVICE_LATENCY = "latency of the device"
    NAMES = "metadata"
    RANKS = "ranks in each other's way"
    CLOCK = "limit of time"
    NOTHING = "nothing measured"


class Range(Document):
    """A time with an interval that is meant to hold what a run takes in 95 of 100 cases."""

    median: Seconds
    low: Seconds
    high: Seconds

    def plus(self, other: Range) -> Range:
        """Both, one after the other; extremes are taken to come together."""
        return Range(
            median=self.median + other.median, low=self.low + other.low, high=self.high + other.high
        )

    def times(self, factor: float) -> Range:
        """So many times as long."""
        return Range(median=self.median * factor, low=self.low * factor, high=self.high * factor)


NO_TIME = Range(median=0.0, low=0.0, high=0.0)


class ForecastPart(Document):
    """Equal operations of one phase, on the slowest rank."""

    operation: str
    bytes: Count
    """Of one operation."""
    count: Count
    seconds: Range
    """Of all of them."""
    by: str
    """The curve of the profile that was read, in words."""
    limit: ForecastLimit
    rate_growth: Seconds | None = None
    """By what the rate of all ranks together grows to the most ranks that were measured; absent
    where so many are asked for."""
    extrapolated: bool = False
    assumed: str = ""
    """What stands for what was not measured; empty: nothing does."""


class PhaseForecast(Document):
    """One phase, all its turns in one repetition together."""

    path: str
    group: str
    ranks: Positive
    seconds: Range
    """Inside I/O calls, on the slowest rank."""
    computing_s: Seconds
    bytes: Count
    """Of all ranks."""
    operations: Count
    """Of all ranks."""
    limit: ForecastLimit
    limit_share: Fraction
    """How much of the time is that resource's."""
    done_share: Fraction = 1.0
    """The part of the work that is done before the phase's limit of time ends it."""
    parts: list[ForecastPart]
    unknown: list[str] = []
    """Operations for which the profile has nothing near, so that they are not in the time, or
    whose time hangs on what a profile cannot see."""


class Forecast(Document):
    """What `venturi predict --on` answers, for one repetition."""

    schema_: Literal["venturi.forecast/1"] = Field("venturi.forecast/1", alias="schema")
    name: str
    about: str = ""
    machine: str
    profiled: str
    """When, UTC."""
    directory: str
    """That was profiled."""
    file_system: str
    ranks: Positive
    seconds: Range
    """Of all phases: those of a group one after the other, of several groups the longest."""
    computing_s: Seconds
    bytes: Count
    phases: list[PhaseForecast]
    extrapolated: list[str] = []
    """Where the answer goes beyond what was measured."""
    unsaturated: list[str] = []
    """Phases in which more ranks than these would move more together, as the profile has it."""
    assumed: list[str] = []
    """What stands for what was not measured."""
    unknown: list[str] = []
    """What cannot be known from this profile; the time is then a lower bound."""
