"""Calibration: forecasts and predictions that are kept, and what was measured after them."""

from __future__ import annotations

from typing import Final, Literal

from pydantic import Field

from venturi.model.document import Count, Document, Positive, Real, RunId, Seconds
from venturi.model.forecast import Forecast, Range
from venturi.model.workload import Scalar

KEPT_FORECAST_SCHEMA: Final = "venturi.kept-forecast/1"


class KeptForecast(Document):
    """A forecast in a store, with what tells the runs that put it to the test."""

    schema_: Literal["venturi.kept-forecast/1"] = Field("venturi.kept-forecast/1", alias="schema")
    id: RunId
    made: str
    """UTC, ISO 8601."""
    venturi: str
    work: str
    """As that of a result: a digest of what is done, without its parameters."""
    parameters: dict[str, Scalar]
    host: str
    """On which the machine was profiled."""
    source: str
    """What its file system is mounted from."""
    forecast: Forecast


class ForecastTrial(Document):
    """A forecast, or one phase of it, beside what a later run took."""

    forecast: RunId
    run: RunId
    name: str
    machine: str
    file_system: str
    ranks: Positive
    made: str
    started: str
    """When the run began."""
    phase: str = ""
    """Its path; empty: all phases together."""
    predicted: Range
    measured: Seconds
    """The median of the repetitions."""
    repetitions: Positive
    by_work: bool = False
    """A limit of time ended the phase: `measured` is for the predicted amount of work, for which a
    forecast has no interval."""

    @property
    def is_inside(self) -> bool:
        """Whether the forecast's interval holds what was measured."""
        return self.predicted.low <= self.measured <= self.predicted.high

    @property
    def ratio(self) -> float:
        """Measured by predicted: above 1 the run took longer."""
        return self.measured / self.predicted.median


class ProxyTrial(Document):
    """A proxy's I/O time beside that of its application, which ran in turn with it."""

    id: RunId
    name: str
    machine: str
    file_system: str
    ranks: Positive
    started: str
    predicted: Seconds
    measured: Seconds
    error: Real
    """(proxy - application) / application."""
    low: Real
    high: Real
    """The interval of the error; both are the error where there is none."""
    spread: Real
    """Of the application's own runs: standard deviation over mean."""
    repetitions: Positive


class Calibration(Document):
    """All forecasts of a site that later runs put to the test, and all proxies beside applications.

    A run tests the newest forecast that was made before it.
    """

    trials: list[ForecastTrial] = []
    proxies: list[ProxyTrial] = []
    forecasts: Count = 0
    """That are kept."""
    untested: Count = 0
    """Forecasts after which no run did the same in the same place."""
