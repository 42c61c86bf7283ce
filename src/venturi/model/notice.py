"""Notices: what a site's people are told about campaigns, and what was told before."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import Field

from venturi.model.document import Document, Real

NOTICE_SCHEMA = "venturi.notice/1"


class Event(StrEnum):
    """What people are told about."""

    FAILED = "failed"
    """Runs that failed, ran out of memory, or whose node failed."""
    TIMEOUT = "timeout"
    LOST = "lost"
    REGRESSION = "regression"
    """A threshold was missed or a rule broken; or the history changed for the worse, as `results
    history` finds it, and did so yet without its newest session."""
    RECOVERED = "recovered"
    """What did not come to a good end the last time did so now; or a level of the history is nearer
    to what it was before a change for the worse that was told."""
    MISSED = "missed"
    """A result that is due did not come; or a run waited in vain for its storage to be quiet."""


class Happening(Document):
    """One thing that happened."""

    event: Event
    what: str
    """`run-0003 (size=1 MiB)`."""
    why: str = ""


class Notice(Document):
    """What is sent: one for all that happened in a campaign, to a webhook as JSON."""

    schema_: Literal["venturi.notice/1"] = Field("venturi.notice/1", alias="schema")
    campaign: str
    machine: str
    text: str
    """One line; chat services show it."""
    happenings: list[Happening]
    folder: str = ""
    """Where all of it is kept."""
    pages: list[str] = []
    """Addresses of pages that show it: of the published site, and of the CI service's job."""
    at_utc: str


class SeriesLevels(Document):
    """Medians of a series' sessions around a change, in the series' unit."""

    before: Real
    after: Real


class ReportedChange(Document):
    """A change of the history for the worse that people were told of, until it is over."""

    since: str
    """When the first session after it began."""
    series: dict[str, SeriesLevels]
    """All that changed then, by name; those that were seen later were not told again."""
    is_over: bool = False
    """Whether a recovery was told: of half of the series or more. The rest is still worse."""


class NotificationState(Document):
    """What was known of a campaign on a machine when its people were told the last time."""

    since_utc: str
    """When a result began to be awaited."""
    result_utc: str = ""
    """When the last one came."""
    missed_utc: str = ""
    """When it was said that none came; empty since one came."""
    troubles: dict[str, Event] = {}
    """By step and parameters."""
    changes: list[ReportedChange] = []
