"""Forecasts as they are shared: beside the run that tested them, without who and where."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from venturi.model.calibration import ForecastTrial
from venturi.model.document import Document, RunId


class SharedForecast(Document):
    """A forecast beside the run that tested it, as both are shared: without host, path and device.

    A repository of results has no records, so what a run says of a forecast is found before.
    """

    schema_: Literal["venturi.shared-forecast/1"] = Field(
        "venturi.shared-forecast/1", alias="schema"
    )
    run: RunId
    trials: Annotated[list[ForecastTrial], Field(min_length=1)]
    """All of `run`: as a whole where that can be compared, and phase by phase."""

    @model_validator(mode="after")
    def _check_trials(self) -> SharedForecast:
        """Raise ValueError for trials that are of another run, or have no ratio."""
        if any(one.run != self.run for one in self.trials):
            raise ValueError("a trial is of another run")
        if any(min(one.measured, one.predicted.median) <= 0 for one in self.trials):
            raise ValueError("a time of 0 has no ratio")
        return self
