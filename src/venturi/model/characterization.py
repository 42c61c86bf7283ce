"""The characterization: everything that a page says about an application that was captured."""

from __future__ import annotations

from typing import Final, Literal

from pydantic import Field

from venturi.model.characterization_data import CharacterizationData
from venturi.model.document import Document
from venturi.model.fidelity_report import FidelityReport
from venturi.model.workload import Finding, Workload

CHARACTERIZATION_SCHEMA: Final = "venturi.characterization/1"


class Characterization(Document):
    """What an application did, what hurts, and its proxy."""

    schema_: Literal["venturi.characterization/1"] = Field(
        "venturi.characterization/1", alias="schema"
    )
    activity: CharacterizationData
    findings: list[Finding]
    """Most severe first."""
    proxy: Workload | None = None
    proxy_text: str = ""
    """The proxy as people read it, without its origin."""
    why_no_proxy: str = ""
    fidelity: FidelityReport | None = None
    """Absent until the proxy was captured too."""
