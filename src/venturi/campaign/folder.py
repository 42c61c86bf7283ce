"""The folder of a campaign: what stands where, and writing that is whole or not there.

`campaign.yaml`  as its author wrote it         `machine.yaml`  where it runs
`plan.json`      all tasks, made once           `journal.jsonl` what was done with them
`session.json` the name of this time, and the store for its runs
`jobs/NAME.*`    each job's list, script, output
`tasks/STEP-0001/r1/` each run: `begun.json`, `ended.json`, `stdout`, `stderr`, its own files
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TypeVar

from venturi.model.campaign import TaskEnd, TaskStart
from venturi.model.document import Document, DocumentError, parse_json
from venturi.model.error import UserError

BEGUN = "begun.json"
ENDED = "ended.json"
SESSION = "session.json"
CANCEL = "cancel"
"""An empty file that asks the job to end or not to begin a task."""

_BLOCKED = "did not come to a good end"

Kind = TypeVar("Kind", bound=Document)


def is_campaign(name: str | Path) -> bool:
    """Whether this is the folder of a campaign that was begun."""
    return all(Path(name, own).is_file() for own in ("campaign.yaml", "plan.json"))


def blocked_by(step: str) -> str:
    """Why a run is blocked by one that must be done before it."""
    return f"{step} {_BLOCKED}"


def is_blocked_by_step(reason: str) -> bool:
    """Whether this is why a run is blocked, and not a storage that did not become quiet."""
    return reason.endswith(f" {_BLOCKED}")


def claim(path: Path, text: str) -> bool:
    """Writes a file as a whole unless it is there already; whether it was this call that did."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    beside.write_text(text, "utf-8")
    try:
        os.link(beside, path)
    except FileExistsError:
        return False
    finally:
        beside.unlink()
    return True


def read_begun(task: Path) -> TaskStart | None:
    """What a job wrote when it began the task, or None."""
    return _read(task / BEGUN, TaskStart)


def read_ended(task: Path) -> TaskEnd | None:
    """What a job wrote when the task had ended, or None."""
    return _read(task / ENDED, TaskEnd)


def _read(path: Path, kind: type[Kind]) -> Kind | None:
    try:
        return parse_json(kind, path.read_bytes())
    except FileNotFoundError:
        return None
    except DocumentError as error:
        raise UserError(
            f"{path}: damaged: {error.message}", "remove the run's folder, and it is planned again"
        ) from None
