"""The comparison of runs that did the same: rates and their intervals, side by side."""

from __future__ import annotations

from enum import StrEnum
from typing import Final, Literal

from pydantic import Field

from venturi.model.document import Count, Document, Fraction, Positive, Real, RunId
from venturi.model.output import Better
from venturi.model.result import direction_of
from venturi.model.workload import Scalar

COMPARISON_SCHEMA: Final = "venturi.run-comparison/2"


class MetricChange(StrEnum):
    """What the second run says beside the first."""

    HIGHER = "higher"
    LOWER = "lower"
    SMALL = "less than 5 %"
    """They differ significantly, and by less than matters."""
    SAME = "not significant"
    """What differs may be chance: `detectable` says what would have been found."""
    EQUAL = "equal"
    """All values of both are the same."""
    APART = "apart"
    """All values of the one are above all of the other; with so few repetitions, or so many
    metrics, this may be chance."""
    UNSURE = "too few repetitions"
    """No values could be significant."""
    UNLIKE = "not compared"
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
    """The median of the ratios of all pairs, second to first (Hodges-Lehmann); absent where a
    value is not above 0."""
    low: Real | None
    """The lowest ratio in its interval; so is `high`. The intervals of all metrics hold together
    in 95 % of comparisons. Absent: not judged, or no ratio."""
    high: Real | None
    p_adjusted: Fraction | None
    """The share of relabellings of the repetitions in which any metric of the comparison differs
    as much (permutation max-T, step-down). Absent: not judged."""
    superiority: Fraction
    """The share of pairs in which the second's value is higher: the size of the effect."""
    detectable: Real | None
    """The least change, as a share, that is found in at least 90 % of comparisons with this
    spread, so many repetitions and so many metrics."""
    change: MetricChange
    is_worse: bool = False
    """Significantly: a rate that is lower, or a time that is longer."""
    why: str = ""

    @property
    def is_significant(self) -> bool:
        """Whether the two differ significantly and by as much as matters."""
        return self.change in (MetricChange.HIGHER, MetricChange.LOWER)


class SerialDependence(Document):
    """Repetitions resemble the ones before them more than in shuffled orders."""

    excess: Real
    """The autocorrelation from one repetition to the next, less the mean of shuffled orders."""
    p: Fraction
    """The share of shuffled orders that show as much, adjusted for both looks: the mean of all
    metrics, and the metric in which it stands out most."""
    metric: str
    """Where it stands out; empty: `excess` is the mean of all `metrics`."""
    metrics: Positive

    @property
    def text(self) -> str:
        """What the order of repetitions shows, with its figures."""
        where = self.metric or f"the mean of {self.metrics} metrics"
        return (
            f"from one repetition to the next, the autocorrelation of {where} is "
            f"{self.excess:.2f} above that of shuffled orders (p {self.p:.2g})"
        )


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
    first_on: str = ""
    """Where the first ran, in words that tell it from the second; so is `second_on`."""
    second_on: str = ""
    name: str
    """Of the workload."""
    ranks: Count
    rows: list[ComparisonRow]
    differences: list[Difference]
    headline: str
    error_rate: Fraction = 0.05
    """The share of comparisons of equal runs in which any metric is called different."""
    judged: Count = 0
    """Metrics that were judged together, those of other points included."""
    serial: SerialDependence | None = None
    """What the order of all repetitions shows, those of other points included. Standard errors are
    then taken 3 times as large as those of independent repetitions, else 1.5 times."""
    parameters: dict[str, Scalar] = {}
    """The point, where several are compared."""
    suspect: str = ""
    """What else can explain differences before all: the storage was busier in one of the runs, as
    a probe felt. Empty: no probe was beside both, or it felt the same."""


class RunsInTurn(Document):
    """Runs that were made for a comparison: one workload in two directories, in turn."""

    workload: str
    session: str
    """Of all runs: `venturi results ls session:S` lists them."""
    order: str
    """Which side ran when: `ABBA BAAB`, A is the first."""
    runs: list[RunId]
    """In this order; a run that was interrupted is kept, too, and not compared."""
    one_file_system: bool
    """Both directories are on one file system."""
    labels: dict[str, str] = {}
    """By metric, where one place keeps files in memory only: how the number of the other was made,
    such as `cached in /scratch`. It belongs to the name of what is compared."""
    remarks: list[str] = []
    """What a reader must know of the places."""
    ended: str = ""
    """Why there are fewer runs than asked for; empty: there are not."""
    interrupted: bool = False
    """The user ended it."""


class ComparisonSet(Document):
    """Two sets of runs: machines, tags, sessions, directories, point by point."""

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
    in_turn: RunsInTurn | None = None
    """How the runs were made, if they were made for this comparison: then `first` and `second` are
    the directories. Absent: they were there before."""
    incomplete: list[str] = []
    """Campaigns that did not come to a good end, a sentence each: `--check` does not judge them."""


def faster_side(row: ComparisonRow) -> int | None:
    """The side (0, 1) on which a metric is significantly better; None: neither, or no such way."""
    if not row.is_significant or direction_of(row.unit) is Better.NONE:
        return None
    return 0 if row.is_worse else 1


def times_faster(row: ComparisonRow) -> tuple[float, float, float] | None:
    """How many times as fast the better side is, and the interval; None: no ratio."""
    side = faster_side(row)
    if side is None or row.ratio is None or row.low is None or row.high is None:
        return None
    is_of_second = (side == 1) == (direction_of(row.unit) is Better.HIGHER)
    if is_of_second:
        return row.ratio, row.low, row.high
    return 1 / row.ratio, 1 / row.high, 1 / row.low
