"""The portrait: everything that a page says about an application that was captured."""

from __future__ import annotations

from typing import Final, Literal

from pydantic import Field

from venturi.model.activity import Activity
from venturi.model.card import FidelityCard
from venturi.model.document import Document
from venturi.model.workload import Finding, Workload

PORTRAIT_SCHEMA: Final = "venturi.portrait/1"


class Portrait(Document):
    """What an application did, what hurts, and its proxy."""

    schema_: Literal["venturi.portrait/1"] = Field("venturi.portrait/1", alias="schema")
    activity: Activity
    findings: list[Finding]
    """The gravest first."""
    proxy: Workload | None = None
    proxy_text: str = ""
    """The proxy as people read it, without its origin."""
    why_no_proxy: str = ""
    card: FidelityCard | None = None
    """Absent until the proxy was captured too."""
