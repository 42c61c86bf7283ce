"""The journal: each thing that is done with a campaign's jobs, written before or as it happens.

Lines of JSON, each on the disk before the next step. A submission is noted before it is made,
under a name that the scheduler knows, so a job whose number was lost in a crash is found again.
"""

from __future__ import annotations

import fcntl
import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from venturi.model.error import UserError


class CampaignJournal:
    """A campaign's journal, held by one process at a time."""

    def __init__(self, folder: Path) -> None:
        """Opens it for writing; UserError where another process holds it."""
        self._path = folder / "journal.jsonl"
        self._file = self._path.open("a+b")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._file.close()
            raise UserError(
                f"{folder}: another command is at work on this campaign",
                "venturi campaign status shows how far it is",
            ) from None
        self._mend()

    def _mend(self) -> None:
        """Cuts off a last line that a crash left without its end."""
        text = self._path.read_bytes()
        whole = text.rfind(b"\n") + 1
        if whole < len(text):
            os.ftruncate(self._file.fileno(), whole)

    def note(self, what: str, **facts: Any) -> None:
        """Adds a line; it is on the disk when this returns."""
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        line = json.dumps({"at_utc": at, "what": what, **facts})
        self._file.write(line.encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Lets others have it."""
        self._file.close()


def entries(folder: Path) -> list[dict[str, Any]]:
    """All lines of a journal that are whole; UserError for one that is damaged."""
    path = folder / "journal.jsonl"
    try:
        text = path.read_bytes()
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}", "is this the folder of a campaign?") from None
    found = []
    for number, line in enumerate(text[: text.rfind(b"\n") + 1].splitlines(), 1):
        try:
            found.append(json.loads(line))
        except ValueError:
            raise UserError(f"{path}:{number}: this line is damaged") from None
    return found
