"""The validation: how well proxies predict applications, application by file system."""

from __future__ import annotations

from typing import Final, Literal

from pydantic import Field

from venturi.model.document import Count, Document, Positive, Real, Seconds
from venturi.model.prediction import PredictionPart, SignedError

VALIDATION_SCHEMA: Final = "venturi.validation/1"
DOCUMENT: Final = "validation.json"
"""Its name in the folder of a validation."""


class Tried(Document):
    """An application, and where its proxy comes from."""

    name: str
    about: str
    proxy: str
    """`derived`, or the library's workload that stands for it."""
    lines: Count = 0
    """Of a derived proxy, without what it says of its origin."""
    failure: str = ""
    """Why there is no proxy; empty where there is one."""

    @property
    def is_derived(self) -> bool:
        """Whether the proxy comes from a capture: what others wrote by hand is no test of it."""
        return self.proxy in ("", "derived")


class Storage(Document):
    """A file system on which all were tried."""

    name: str
    about: str


class ValidationCell(Document):
    """One application on one file system."""

    application: str
    system: str
    refused: str = ""
    """Why both could not be compared; then there are no numbers."""
    repetitions: Count = 0
    """Runs of each side; 0: as many as in the other cells."""
    seconds: Seconds = 0.0
    """The application's I/O time, as in a prediction."""
    proxy_seconds: Seconds = 0.0
    spread: Real = 0.0
    """Of the application's runs: standard deviation over mean."""
    error: SignedError | None = None
    """Of the I/O time; None where it was refused."""
    sorts: list[PredictionPart] = []


class Validation(Document):
    """All cells that were measured, and where."""

    schema_: Literal["venturi.validation/1"] = Field("venturi.validation/1", alias="schema")
    name: str
    started: str
    """UTC, ISO 8601."""
    venturi: str
    repetitions: Positive
    """Runs of each side in each cell, at least."""
    captured_on: str
    """The file system on which proxies were derived."""
    applications: list[Tried]
    systems: list[Storage]
    cells: list[ValidationCell]
    cpu: str
    cores: Positive
    kernel: str
    highest_load: Real
    """Processes that wanted to run, over a minute, the most before any cell."""
    note: str = ""
