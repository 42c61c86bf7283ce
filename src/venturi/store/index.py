"""The index: a line for each run of a store, kept so that a listing reads one file.

Runs never change, so a line holds for ever; what the index does not know is read from the run's
folder and added. It may be removed at any time.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from dataclasses import astuple, dataclass
from pathlib import Path

INDEX_NAME = "index.json"
_FORM = 1


@dataclass(frozen=True)
class Entry:
    """A line of the archive's listing."""

    id: str
    name: str
    started: str
    level: str
    """The verdict's word, or `UNREADABLE`."""
    repetitions: int
    ranks: int
    left: int
    machine: str = ""
    session: str = ""
    campaign: str = ""


def read_index(store: Path) -> dict[str, Entry]:
    """The entries by id; none where there is no index, or one that this version did not write."""
    try:
        data = json.loads((store / INDEX_NAME).read_bytes())
        if data["form"] != _FORM:
            return {}
        return {row[0]: Entry(*row) for row in data["rows"]}
    except (OSError, ValueError, KeyError, TypeError, IndexError):
        return {}


def write_index(store: Path, entries: list[Entry]) -> None:
    """Keeps the entries; a store that cannot be written is listed all the same."""
    with contextlib.suppress(OSError):
        with tempfile.NamedTemporaryFile("w", dir=store, prefix=".index.", delete=False) as file:
            json.dump({"form": _FORM, "rows": [astuple(entry) for entry in entries]}, file)
        os.replace(file.name, store / INDEX_NAME)
