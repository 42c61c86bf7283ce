"""The comparison of two runs of one workload: rates and their intervals, side by side."""

from __future__ import annotations

from enum import StrEnum
from typing import Final, Literal

from pydantic import Field

from venturi.model.document import Count, Document, Positive, Real

COMPARISON_SCHEMA: Final = "venturi.run-comparison/1"


class Change(StrEnum):
    """What the second run says beside the first."""

    HIGHER = "higher"
    LOWER = "lower"
    SAME = "no difference"
    """The intervals of the medians overlap."""
    UNSURE = "unsure"
    """One of the runs has too few repetitions for an interval of 95 %."""
    UNLIKE = "unlike"
    """The two were not measured alike: `why` says how."""


class Measured(Document):
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
    first: Measured
    second: Measured
    ratio: Real | None
    """Of the medians, second to first; absent where the first is 0."""
    low: Real | None
    """The lowest ratio that the two intervals allow; so is `high`."""
    high: Real | None
    change: Change
    is_worse: bool = False
    """Surely: a rate that is lower, or a time that is longer."""
    why: str = ""


class Difference(Document):
    """Something of the surroundings that was not the same."""

    what: str
    first: str
    second: str


class RunComparison(Document):
    """Two runs of one workload."""

    schema_: Literal["venturi.run-comparison/1"] = Field("venturi.run-comparison/1", alias="schema")
    first: str
    """The run's id; so is `second`."""
    second: str
    name: str
    """Of the workload."""
    ranks: Count
    rows: list[ComparisonRow]
    differences: list[Difference]
    headline: str
