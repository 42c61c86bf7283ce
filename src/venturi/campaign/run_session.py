"""What a run knows of its campaign: the session, and its point in it."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from venturi.campaign.folder import SESSION
from venturi.campaign.task import CampaignTask
from venturi.model.error import UserError
from venturi.model.result import RunOf

_TAIL = 8


@dataclass(frozen=True)
class RunSession:
    """One time that a campaign is run."""

    name: str
    campaign: str
    store: str
    """Where its runs go; empty: nobody said."""
    started_in: str = ""
    """The folder in which `venturi` was started; empty: an early version did not say."""

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


def id_of(begin_utc: str, session: RunSession, task: str) -> str:
    """The id of a run, the same each time: sorts by time, says its campaign, and is unique."""
    try:
        stamp = datetime.fromisoformat(begin_utc).astimezone(UTC).strftime("%Y%m%d-%H%M%S")
    except ValueError:
        raise UserError(f"{task}: '{begin_utc}' is no time", "its begun.json is damaged") from None
    tail = hashlib.sha256(f"{session.name}/{task}/{begin_utc}".encode()).hexdigest()[:_TAIL]
    return f"{stamp}-{re.sub(r'[^A-Za-z0-9_.-]', '-', session.campaign)[:40]}-{tail}"


def read_session(folder: Path) -> RunSession:
    """The session of a campaign's folder; those of early versions bear the folder's name."""
    try:
        return RunSession(**json.loads((folder / SESSION).read_text("utf-8")))
    except (OSError, ValueError, TypeError):
        name = folder.name.removesuffix(".campaign")
        return RunSession(f"{name}-{folder.stat().st_ino}", name, "")
