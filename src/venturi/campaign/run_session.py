"""What a run knows of its campaign: the session, and its point in it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from venturi.campaign.folder import SESSION
from venturi.campaign.task import CampaignTask
from venturi.model.result import RunOf


@dataclass(frozen=True)
class RunSession:
    """One time that a campaign is run."""

    name: str
    campaign: str
    store: str
    """Where its runs go; empty: nobody said."""

    def text(self) -> str:
        """As it stands in the campaign's folder."""
        return json.dumps(asdict(self)) + "\n"

    def run_of(self, task: CampaignTask) -> RunOf:
        """Which run of the campaign a task is."""
        return RunOf(
            session=self.name,
            campaign=self.campaign,
            step=task.step,
            point=task.point,
            repetition=task.repetition,
            parameters=task.parameters,
        )


def read_session(folder: Path) -> RunSession:
    """The session of a campaign's folder; those of early versions bear the folder's name."""
    try:
        return RunSession(**json.loads((folder / SESSION).read_text("utf-8")))
    except (OSError, ValueError, TypeError):
        name = folder.name.removesuffix(".campaign")
        return RunSession(f"{name}-{folder.stat().st_ino}", name, "")
