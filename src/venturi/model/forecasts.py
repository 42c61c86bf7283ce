"""Forecasts of all workloads of a folder on one machine that was profiled, without running."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from venturi.model.document import Document
from venturi.model.forecast import Forecast

FORECASTS_SCHEMA = "venturi.forecasts/1"


class ForecastRow(Document):
    """One workload of the folder: its forecast, or why there is none."""

    source: str
    """The file, log or capture, by its name in the folder."""
    forecast: Forecast | None = None
    refused: str = ""
    """What is wrong with it, and what to do; empty: it has a forecast."""


class Forecasts(Document):
    """What `venturi predict FOLDER --on` answers."""

    schema_: Literal["venturi.forecasts/1"] = Field("venturi.forecasts/1", alias="schema")
    folder: str
    machine: str
    profiled: str
    """When, UTC."""
    directory: str
    """That was profiled."""
    file_system: str
    rows: list[ForecastRow]
    """By name."""
    left_out: list[str] = []
    """Entries of the folder that are neither workloads nor captures."""
