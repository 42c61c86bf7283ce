"""Sessions of health as a site shows them: states and figures, without what says who or where."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from venturi.health.keep import FOLDER
from venturi.model.health import Health
from venturi.model.site import SiteAudit, SiteDrift, SiteHealth
from venturi.report import quantity
from venturi.report.health import state_of
from venturi.site.audit import audit_of, drift_of


@dataclass
class FoundHealth:
    """All sessions of a site, and what their audits say of machines."""

    sessions: list[SiteHealth] = field(default_factory=list)
    """Of each store oldest first."""
    audits: dict[str, SiteAudit] = field(default_factory=dict)
    """The newest of each machine."""
    drifts: dict[str, list[SiteDrift]] = field(default_factory=dict)
    """By machine, oldest first."""

    def of(self, machine: str) -> list[SiteHealth]:
        """The sessions of one machine."""
        return [one for one in self.sessions if one.machine == machine]


def health_of(stores: Iterable[Path], machines: Mapping[str, str]) -> FoundHealth:
    """The sessions of stores whose run is shown; `machines` are those of runs."""
    found = FoundHealth()
    newest: dict[str, Health] = {}
    for store in stores:
        sessions = [
            (machines[path.stem], health)
            for path in sorted((store / FOLDER).glob("*.json"))
            if path.stem in machines and (health := _read(path)) is not None
        ]
        for machine, health in sorted(sessions, key=lambda one: (one[1].started, one[1].id)):
            found.sessions.append(_shown(health, machine))
            found.drifts.setdefault(machine, []).extend(drift_of(health))
            old = newest.get(machine)
            if old is None or (old.started, old.id) < (health.started, health.id):
                newest[machine] = health
    found.audits = {machine: audit_of(health) for machine, health in newest.items()}
    for drifts in found.drifts.values():
        drifts.sort(key=lambda one: one.started)
    return found


def _read(path: Path) -> Health | None:
    """A session; None for a baseline, or a session of another version."""
    try:
        return Health.model_validate_json(path.read_text("utf-8"), by_alias=True)
    except (OSError, ValueError):
        return None


def _shown(health: Health, machine: str) -> SiteHealth:
    return SiteHealth(
        id=health.id,
        machine=machine,
        suite=health.suite,
        started=health.started,
        state=state_of(health),
        noise=bool(health.noise),
        parts={part.name: part.state for part in health.parts},
        figures={
            row.metric: f"{quantity.with_unit(row.value, row.unit)} ({row.state.value})"
            for row in health.rows
        },
    )
