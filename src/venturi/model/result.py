"""The result: what one run measured, in the form that is kept, shared, compared and followed.

A record holds all of a run of ours; a result holds of any run, also of other tools, only what
a comparison needs: what was done, where, and every value of every metric.
"""

from __future__ import annotations

import hashlib
import json
from enum import StrEnum
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from venturi.model.document import Count, Document, Positive, Real, RunId
from venturi.model.output import Better
from venturi.model.units import SECONDS_PER_UNIT
from venturi.model.workload import Scalar

RESULT_SCHEMA: Final = "venturi.result/1"
RUN_OF: Final = "VENTURI_RUN_OF"
"""The environment variable that tells a command of which run of a campaign it is."""
KEY_DIGITS: Final = 16


class RunOf(Document):
    """Which run of a campaign this is."""

    session: str
    """One for each time that a campaign is begun."""
    campaign: str
    step: str
    point: str
    repetition: Positive
    parameters: dict[str, Scalar]


class SourceKind(StrEnum):
    """How a result came into a store."""

    RUN = "run"
    """Our engine did it."""
    COMMAND = "command"
    """A campaign ran somebody's command."""
    STUDY = "study"
    """Follows from all runs of a campaign's session."""
    IMPORT = "import"
    """Read from what somebody else's tool wrote, at another time."""


class ResultSource(Document):
    """Where the figures come from."""

    kind: SourceKind
    tool: str
    version: str = ""
    sha256: str = ""
    """Of the file that was read."""


class Measure(Document):
    """All values of a metric in one run."""

    unit: str
    better: Better
    values: Annotated[list[Real], Field(min_length=1)]
    """One for each repetition, in their order."""
    condition: str = ""
    """What values must have in common to be compared: the metric's labels."""
    of: str = ""
    """The operation that a rate in 1/s counts; empty: several kinds, or no such rate."""


class Result(Document):
    """One run in short."""

    schema_: Literal["venturi.result/1"] = Field("venturi.result/1", alias="schema")
    id: RunId
    name: str
    """Of the workload, the campaign, or the tool."""
    started: str
    """UTC, ISO 8601."""
    machine: str
    session: str
    """Runs of one session share the day's load. A run by itself is its own session."""
    campaign: str = ""
    step: str = ""
    point: str = ""
    repetition: Count = 0
    parameters: dict[str, Scalar]
    ranks: Positive
    nodes: Positive = 1
    work: str
    """A digest of what is done, without its parameters; empty: the tool's name says it."""
    source: ResultSource
    level: str
    """The verdict's word; INVALID for a run that failed."""
    reasons: list[str] = []
    metrics: dict[str, Measure]
    facts: dict[str, str] = {}
    """The surroundings, in words."""
    tags: list[str] = []
    archive_sha256: str = ""
    """Of the list of digests of the run's folder, in the store that keeps it."""

    @property
    def key(self) -> str:
        """Results with one key may be compared: they did the same with the same parameters."""
        return digest_of(
            [self.name, self.step, self.work, self.ranks, self.nodes, self.source.tool],
            self.parameters,
        )


def digest_of(*parts: Any) -> str:
    """A short digest of plain data, the same on every machine."""
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:KEY_DIGITS]


def direction_of(unit: str, stated: Better | None = None) -> Better:
    """Which way a metric improves: as is stated; else times are better short, rates high."""
    if stated is not None:
        return stated
    if unit in SECONDS_PER_UNIT:
        return Better.LOWER
    return Better.HIGHER if unit.endswith("/s") else Better.NONE
