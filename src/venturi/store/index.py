"""The index: a line for each run of a store, kept so that a listing reads one file.

Runs never change, so a line holds for ever; what the index does not know is read from the run's
folder and added. It may be removed at any time.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from venturi.model.error import UserError
from venturi.store.seal import REMOVED_NAME

if TYPE_CHECKING:
    from venturi.model.record import Record

INDEX_NAME = "index.json"
UNREADABLE = "UNREADABLE"
_FORM = 3


@dataclass(frozen=True)
class IndexEntry:
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
    labels: str = ""
    """What belongs to the name of every number of the run: `in memory`."""
    directory: str = ""
    """Where it did its I/O; empty: another tool's run that does not say so."""
    file_system: str = ""
    """The type of what the directory is on."""


def entries(store: Path) -> list[IndexEntry]:
    """A line for each run, oldest first; only runs that the index does not know are opened."""
    known = _read(store)
    names = _names(store)
    fresh = {name: _entry(store / "runs" / name) for name in names if name not in known}
    rows = [known.get(name) or fresh[name] for name in names]
    if fresh or len(known) != len(names):
        _write(store, [row for row in rows if row.level != UNREADABLE])
    return [_without_removed(store, row) if row.left else row for row in rows]


def _names(store: Path) -> list[str]:
    """The names of the run folders, oldest first."""
    try:
        with os.scandir(store / "runs") as found:
            return sorted(e.name for e in found if e.name[0] != "." and e.is_dir())
    except FileNotFoundError:
        return []


def _entry(folder: Path) -> IndexEntry:
    from venturi.store.result import RECORD_NAME, load_record, load_result

    try:
        result = load_result(folder)
        record = load_record(folder) if (folder / RECORD_NAME).exists() else None
    except UserError:
        return IndexEntry(folder.name, "", "", UNREADABLE, 0, 0, 0)
    values = max((len(metric.values) for metric in result.metrics.values()), default=0)
    return IndexEntry(
        id=folder.name,
        name=result.name,
        started=result.started,
        level=result.level,
        repetitions=record.repetitions if record else values,
        ranks=result.ranks,
        left=len(record.left) if record else 0,
        machine=result.machine,
        session=result.session,
        campaign=result.campaign,
        labels=", ".join(_labels(record)) if record else "",
        directory=result.facts.get("directory", ""),
        file_system=result.facts.get("file system", ""),
    )


def _labels(record: Record) -> list[str]:
    """Labels that all phases have in common, and those of the run."""
    of_phases = list(record.labels.values())
    common = (
        [one for one in of_phases[0] if all(one in own for own in of_phases)] if of_phases else []
    )
    return [*common, *record.run_labels]


def _without_removed(store: Path, row: IndexEntry) -> IndexEntry:
    if (store / "runs" / row.id / REMOVED_NAME).exists():
        return replace(row, left=0)
    return row


def _read(store: Path) -> dict[str, IndexEntry]:
    """The entries by id; none where there is no index, or one that this version did not write."""
    try:
        data = json.loads((store / INDEX_NAME).read_bytes())
        if data["form"] != _FORM:
            return {}
        return {row[0]: IndexEntry(*row) for row in data["rows"]}
    except (OSError, ValueError, KeyError, TypeError, IndexError, RecursionError):
        return {}


def _write(store: Path, entries: list[IndexEntry]) -> None:
    """Keeps the entries; a store that cannot be written is listed all the same."""
    with contextlib.suppress(OSError):
        with tempfile.NamedTemporaryFile("w", dir=store, prefix=".index.", delete=False) as file:
            json.dump({"form": _FORM, "rows": [astuple(entry) for entry in entries]}, file)
        os.replace(file.name, store / INDEX_NAME)
