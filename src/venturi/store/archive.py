"""The archive: records by id, by `@last`, and what is in the store."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from venturi.execute.engine import clean
from venturi.model.error import UserError
from venturi.model.record import Record
from venturi.store.command import COMMANDS_NAME
from venturi.store.place import COPIED_NAMES, DAMAGE_NAME, OPERATIONS_NAME

UNREADABLE = "UNREADABLE"
RECORD_NAMES = frozenset({"record.json", DAMAGE_NAME, OPERATIONS_NAME, *COPIED_NAMES})
"""The files of a run's folder, beside its manifests and the events of further groups."""


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


def load_record(folder: Path) -> Record:
    """The record in a run's folder; UserError if it cannot be read."""
    path = folder / "record.json"
    try:
        return Record.model_validate_json(path.read_text("utf-8"))
    except (OSError, ValidationError, UnicodeDecodeError) as error:
        first = str(error).splitlines()[0]
        raise UserError(f"{path}: this is no record of this version: {first}") from None


def folders(store: Path) -> list[Path]:
    """The run folders of a store, oldest first."""
    runs = store / "runs"
    return sorted(p for p in runs.glob("[!.]*") if p.is_dir()) if runs.is_dir() else []


def entries(store: Path) -> Iterator[Entry]:
    """A line for each record, oldest first."""
    for folder in folders(store):
        try:
            record = load_record(folder)
        except UserError:
            yield Entry(folder.name, "", "", UNREADABLE, 0, 0, 0)
            continue
        yield Entry(
            id=record.id,
            name=record.name,
            started=record.started,
            level=record.verdict.level.value,
            repetitions=record.repetitions,
            ranks=record.ranks,
            left=len(record.left),
        )


def find(store: Path, name: str) -> Path:
    """A run's folder by its path, its id, the start of its id, `@last` or `@last~n`."""
    if Path(name, "record.json").is_file():
        return Path(name)
    if name.endswith("record.json") and Path(name).is_file():
        return Path(name).parent
    return find_stored(store, name)


def find_stored(store: Path, name: str) -> Path:
    """As `find`, but only a run of this store: what may be changed or removed."""
    known = folders(store)
    if name.startswith("@last"):
        back = name.removeprefix("@last").removeprefix("~") or "0"
        if back.isdecimal() and int(back) < len(known):
            return known[-1 - int(back)]
        raise UserError(
            f"{name}: no such run; there are {len(known)} in {store}", "venturi results ls"
        )
    found = [folder for folder in known if folder.name == name]
    found = found or [folder for folder in known if folder.name.startswith(name)]
    found = found or [folder for folder in known if folder.name.endswith(f"-{name}")]
    if len(found) != 1:
        problem = f"{len(found)} runs match" if found else "there is no such run"
        raise UserError(f"{name}: {problem} in {store}", "venturi results ls")
    return found[0]


def remove_files(folder: Path) -> list[str]:
    """Remove the files that a run left on its target; what stays, because it is not the run's."""
    left = clean(folder, with_kept=True)
    path = folder / "record.json"
    data = json.loads(path.read_text("utf-8"))
    data["left"] = []
    data["left_command"] = None
    temporary = path.with_suffix(".tmp")
    temporary.write_text(json.dumps(data, indent=1), "utf-8")
    temporary.replace(path)
    return left


def remove_record(folder: Path) -> list[str]:
    """Remove a run's folder from the store, after its files on the target; what stays there.

    Only names that the store writes are removed; a folder with others in it is left.
    """
    left = remove_files(folder) if (folder / "record.json").exists() else []
    for path in folder.iterdir():
        if path.name in RECORD_NAMES or path.name.startswith(("manifest.", "events.")):
            path.unlink()
        elif path.name == COMMANDS_NAME:
            shutil.rmtree(path)
    try:
        folder.rmdir()
    except OSError:
        raise UserError(
            f"{folder}: there are files in it that no run wrote", "look at them, then remove it"
        ) from None
    return left
