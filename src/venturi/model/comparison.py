"""The comparison of runs that did the same: rates and their intervals, side by side."""

from __future__ import annotations

from enum import StrEnum
from typing import Final, Literal

from pydantic import Field

from venturi.model.campaign import Scalar
from venturi.model.document import Count, Document, Fraction, Positive, Real

COMPARISON_SCHEMA: Final = "venturi.run-comparison/2"


class MetricChange(StrEnum):
    """What the second run says beside the first."""

    HIGHER = "higher"
    LOWER = "lower"
    SMALL = "hardly"
    """They differ, and by less than matters."""
    SAME = "no evidence"
    """What differs may be chance: `detectable` says what would have been seen."""
    UNSURE = "unsure"
    """So few values show nothing, however far apart they are."""
    UNLIKE = "unlike"
    """The two were not measured alike: `why` says how."""


class MedianInterval(Document):
    """A metric of one run: its median over repetitions, and the interval of that median."""

    median: Real
    low: Real
    high: Real
    n: Positive
    coverage: Real


class ComparisonRow(Document):
    """One metric of both runs."""

    name: str
    unit: str
    of: str = ""
    """The operation that a rate in 1/s counts; empty: several kinds, or no such rate."""
    first: MedianInterval
    second: MedianInterval
    ratio: Real | None
    """The middle of the ratios of all pairs, second to first (Hodges-Lehmann); absent where a
    value is not above 0."""
    low: Real | None
    """The lowest ratio in its interval; so is `high`. Absent: too few values for one."""
    high: Real | None
    p_value: Fraction
    """How likely values so far apart are if nothing differs (Mann-Whitney), after Holm's
    correction for all metrics of the comparison."""
    superiority: Fraction
    """The share of pairs in which the second's value is higher: the size of the effect."""
    detectable: Real | None
    """The least change, as a share, that would have been seen four times out of five."""
    change: MetricChange
    is_worse: bool = False
    """Surely: a rate that is lower, or a time that is longer."""
    why: str = ""

    @property
    def is_significant(self) -> bool:
        """Whether the two differ by more than chance and by as much as matters."""
        return self.change in (MetricChange.HIGHER, MetricChange.LOWER)


class Difference(Document):
    """Something of the surroundings that was not the same."""

    what: str
    first: str
    second: str


class RunComparison(Document):
    """Two runs of one workload."""

    schema_: Literal["venturi.run-comparison/2"] = Field("venturi.run-comparison/2", alias="schema")
    first: str
    """The run's id; so is `second`."""
    second: str
    name: str
    """Of the workload."""
    ranks: Count
    rows: list[ComparisonRow]
    differences: list[Difference]
    headline: str
    parameters: dict[str, Scalar] = {}
    """The point, where several are compared."""


class ComparisonSet(Document):
    """Two sets of runs: machines, tags, sessions, point by point."""

    schema_: Literal["venturi.comparison-set/2"] = Field("venturi.comparison-set/2", alias="schema")
    first: str
    """What chose the runs; so is `second`."""
    second: str
    differences: list[Difference]
    parts: list[RunComparison]
    only_first: list[str]
    """Points that the second does not have; so is `only_second`."""
    only_second: list[str]
    headline: str
