"""What a document published of an experiment, to stand beside what a campaign measures."""

from __future__ import annotations

from enum import StrEnum

from pydantic import model_validator

from venturi.model.document import Document, Real
from venturi.model.name_step import Value
from venturi.model.units import with_unit
from venturi.model.workload import Name, Scalar


class ReadFrom(StrEnum):
    """How numbers were taken from a document."""

    TEXT = "text"
    """The document says them in its sentences or captions."""
    TABLE = "table"
    """They stand in a table."""
    PLOT = "plot"
    """They were measured in a picture."""


class Relation(StrEnum):
    """How a published value relates to what was measured there."""

    ABOUT = "about"
    AT_MOST = "at most"
    AT_LEAST = "at least"


class PublishedPoint(Document):
    """One published number."""

    at: Value | None = None
    """The place along the figure's axis; None: the number holds for no place that ours has."""
    value: Value | None = None
    """In the figure's unit, or with the unit that the document has (`4 GiB/s`); None: only the
    place is published, a limit along the axis."""
    low: Value | None = None
    """The least of the published repetitions."""
    high: Value | None = None
    """The greatest of the published repetitions."""
    case: str = ""
    """Which of the published configurations it is, in words."""

    @model_validator(mode="after")
    def _says_something(self) -> PublishedPoint:
        if self.at is None and self.value is None:
            raise ValueError("a point has a 'value', or at least 'at', where it stands")
        for given in (self.value, self.low, self.high):
            if isinstance(given, str):
                amount_of(given)
        return self


def amount_of(value: int | float | str, unit: str = "") -> float:
    """A published value as a number of `unit`; a number without a unit of its own stays.

    ValueError for a text that is no number with a unit of bytes or seconds, also per second.
    """
    if not isinstance(value, str):
        return float(value)
    number, _, own = value.strip().partition(" ")
    amount = float(number) * with_unit("1", own.removesuffix("/s"))
    return amount / with_unit("1", unit.removesuffix("/s")) if unit else amount


class PublishedSeries(Document):
    """Published numbers of one system, and the metric of ours that stands beside them."""

    label: str
    """What it is called in the picture: `SSSM, write`."""
    metric: str
    """A metric of the campaign's steps, or the name of one of its contrasts."""
    step: str = ""
    """The step that has the metric; empty: any."""
    where: dict[Name, Scalar] = {}
    """Only our points with these values stand beside it."""
    place: Value | None = None
    """Where ours stands along the axis, if its points do not have the parameter of the axis."""
    relation: Relation = Relation.ABOUT
    points: list[PublishedPoint] = []
    """None: nothing of it is known, and ours is drawn alone."""


class PublishedFigure(Document):
    """A figure or a table of a document: what it shows, and which of its numbers are known."""

    source: str
    """The document."""
    figure: str
    """`Figure 4`, `Table 5`."""
    read: ReadFrom
    how: str
    """Where in the document the numbers stand and what was computed from them."""
    run: str
    """The scale of the published run: systems, nodes, ranks, bytes, repetitions."""
    statistic: str
    """What the published values are: `mean of five runs`."""
    over: Name | None = None
    """The parameter along our axis; None: the figure has no place for our points."""
    unit: str = ""
    """Of the values along the other axis: `GB/s`, `s`, `%`."""
    series: list[PublishedSeries] = []
    statements: list[str] = []
    """What the document says in words, without a number that could be drawn."""
    missing: str = ""
    """Which of the published numbers are not known here, and why."""
    open_points: list[str] = []
    """What the document leaves open or contradicts, and what was chosen."""


class ContrastForm(StrEnum):
    """How a contrast is shown."""

    RATIO = "ratio"
    SHARE = "share"
    """The first in percent of the second."""
    DIFFERENCE = "difference"
    """How far the first is above the second, in percent."""


class ContrastSide(Document):
    """One of the two things that a contrast compares."""

    step: Name
    metric: str
    where: dict[Name, Scalar] = {}
    """Values of parameters of this side alone, by which the two sides differ."""


class CampaignContrast(Document):
    """A ratio of two metrics of a campaign, at each combination of the parameters they share."""

    about: str = ""
    first: ContrastSide
    second: ContrastSide
    form: ContrastForm = ContrastForm.RATIO


class ContrastRow(Document):
    """A contrast at one combination of parameters."""

    name: str
    about: str = ""
    parameters: dict[str, Scalar]
    unit: str
    """`x` of a ratio; `%` of a difference."""
    value: Real
    """Of the medians, with its interval."""
    low: Real
    high: Real
    coverage: float
    """Confidence of the interval; 0: one repetition, which has none."""
    of_best: Real
    """The same of the best repetition of each side."""
    runs: int
    """Repetitions of the side that has fewer."""
