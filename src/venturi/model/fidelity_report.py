"""The fidelity report: an application and its proxy, captured alike, field by field."""

from __future__ import annotations

from enum import StrEnum
from typing import Final, Literal

from pydantic import Field

from venturi.model.document import Document, Real

FIDELITY_REPORT_SCHEMA: Final = "venturi.fidelity-report/1"


class Match(StrEnum):
    """How near the proxy comes in one field."""

    EQUAL = "equal"
    WITHIN = "within"
    """Not equal, but nearer than the field's tolerance."""
    OFF = "off"
    BESIDE = "beside"
    """For information: how long something took is the storage's part, not the proxy's."""


class FidelityField(Document):
    """One figure of both."""

    name: str
    unit: str = ""
    """`B`, `s`, `share`; empty: a count."""
    application: Real
    proxy: Real
    difference: Real | None
    """Of counts: relative to the application's, None where that is 0 and the proxy's is not; of
    shares and distances: the plain difference."""
    match: Match


class FidelityStream(Document):
    """One stream beside its counterpart."""

    name: str
    """As the application's files are called; `total`: everything."""
    counterpart: str
    """As the proxy's files are called; empty: it has none."""
    layer: str = ""
    """In which both are compared: `posix`, `mpiio`, `hdf5_dataset`, ...; where they differ, the
    application's and the proxy's with a slash between them; of everything, all that there are.
    Empty: unknown."""
    fields: list[FidelityField]


class FidelityReport(Document):
    """How well a proxy stands for an application."""

    schema_: Literal["venturi.fidelity-report/1"] = Field(
        "venturi.fidelity-report/1", alias="schema"
    )
    application: str
    proxy: str
    is_proxy: bool = True
    """Whether the second stands for the first; else they are two programs, or runs of one."""
    match: Match
    """The worst of all fields that are judged."""
    headline: str
    """One sentence, which names the worst field."""
    total: FidelityStream
    streams: list[FidelityStream]
    only_proxy: list[str] = []
    """Streams of the proxy without a counterpart."""
