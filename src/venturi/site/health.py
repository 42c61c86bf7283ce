"""Sessions of health as a site shows them: states and figures, without what says who or where."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from venturi.health.keep import FOLDER
from venturi.model.health import Health
from venturi.model.site import SiteHealth
from venturi.report import quantity
from venturi.report.health import state_of


def sessions_of(store: Path, machines: Mapping[str, str]) -> list[SiteHealth]:
    """The sessions of a store whose run is shown, oldest first; `machines` are those of runs."""
    found = []
    for path in sorted((store / FOLDER).glob("*.json")):
        machine = machines.get(path.stem)
        if machine is None:
            continue  # a baseline, or a run that is gone
        try:
            health = Health.model_validate_json(path.read_text("utf-8"), by_alias=True)
        except (OSError, ValueError):
            continue  # a session of another version
        found.append(
            SiteHealth(
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
        )
    return sorted(found, key=lambda one: (one.started, one.id))
