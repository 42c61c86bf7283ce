"""What a session without an end keeps: points in time, and the windows that hold them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from venturi.model.document import Count, Document, Positive, Real

SeriesName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,63}$")]
"""A file name without its ending."""
Quantity = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_.]{0,99}$")]
"""What was measured, with its unit last: `read_bytes_per_s`."""


class SeriesPoint(Document):
    """Numbers of one moment."""

    at_ns: Count
    """Since 1970, UTC, by the writer's clock."""
    values: dict[Quantity, Real]


class Presence(Document):
    """A time in which a writer was at work, so that what is missing outside of it is no zero."""

    begin_ns: Count
    end_ns: Count
    """Of a writer that was killed, its last point."""


class SeriesPart(Document):
    """One series within a window."""

    name: SeriesName
    points: Positive
    first_ns: Count
    last_ns: Count


class SeriesWindow(Document):
    """A part of a session that is over: nothing in its folder changes any more."""

    schema_: Literal["venturi.series-window/1"] = Field("venturi.series-window/1", alias="schema")
    begin_ns: Count
    end_ns: Count
    """Where the next window begins."""
    series: list[SeriesPart]
    presence: list[Presence]
    """In order; between them nobody measured."""
    clock_steps: Count
    """How often the clock went back between two points."""
