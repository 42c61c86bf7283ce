"""The archive: records by id, by `@last`, and what is in the store."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from venturi.execute.engine import Left, clean
from venturi.model.error import TargetProblem, UserError
from venturi.model.history import KnownChange, KnownChanges
from venturi.model.result import Result
from venturi.model.yaml_text import load_yaml
from venturi.store.index import UNREADABLE, IndexEntry, entries
from venturi.store.place import COPIED_NAMES, DAMAGE_NAME, OPERATIONS_NAME
from venturi.store.result import RECORD_NAME, RESULT_NAME, load_result, tagged
from venturi.store.result import has_record as has_record  # noqa: PLC0414
from venturi.store.result import load_record as load_record  # noqa: PLC0414
from venturi.store.seal import REMOVED_NAME, SEAL_NAME, faults, sealed_names

KNOWN_CHANGES = "known-changes.yaml"
_KINDS = ("tag", "machine", "session", "campaign", "name")
"""By which runs are chosen."""
RECORD_NAMES = frozenset(
    {
        RECORD_NAME,
        RESULT_NAME,
        SEAL_NAME,
        REMOVED_NAME,
        DAMAGE_NAME,
        OPERATIONS_NAME,
        *COPIED_NAMES,
    }
)
"""The files of a run's folder, beside its manifests."""


def folders(store: Path) -> list[Path]:
    """The run folders of a store, oldest first."""
    runs = store / "runs"
    return sorted(p for p in runs.glob("[!.]*") if p.is_dir()) if runs.is_dir() else []


def is_choice(text: str) -> bool:
    """Whether a word chooses runs by what they are, and does not name one."""
    return text.partition(":")[0] in _KINDS and ":" in text


def chosen(store: Path, text: str) -> list[IndexEntry]:
    """The runs that a word means: `tag:T`, `machine:M`, `session:S`, `campaign:C`, `name:N`.

    Several, joined by commas, hold together; anything else is one run, as `find` knows it.
    Raises UserError where there is none.
    """
    if not is_choice(text):
        folder = find_stored(store, text)
        return [row for row in entries(store) if row.id == folder.name]
    rows = entries(store)
    for word in text.split(","):
        kind, _, value = word.partition(":")
        if kind not in _KINDS or not value:
            known = ", ".join(f"{kind}:..." for kind in _KINDS)
            raise UserError(f"'{word}' chooses nothing", f"use {known}, or a run")
        if kind == "tag":
            ids = set(tagged(store, value))
            rows = [row for row in rows if row.id in ids]
        else:
            rows = [row for row in rows if getattr(row, kind) == value]
    if not rows:
        raise UserError(f"no run in {store} is {text}", "venturi results ls")
    return rows


def results(store: Path, text: str | None = None) -> list[Result]:
    """The results of the runs that a word means, or of all that can be read; oldest first."""
    rows = chosen(store, text) if text is not None else entries(store)
    readable = [row for row in rows if row.level != UNREADABLE]
    return [load_result(store / "runs" / row.id) for row in readable]


def results_of_campaign(store: Path, campaign: str, machine: str) -> list[Result]:
    """The results of a campaign's runs on a machine that can be read; oldest first."""
    return [
        load_result(store / "runs" / row.id)
        for row in entries(store)
        if (row.campaign, row.machine) == (campaign, machine) and row.level != UNREADABLE
    ]


def known_changes(store: Path, named: str | None = None) -> list[KnownChange]:
    """What people know of changes: in a file that is named, or in the store's if it has one."""
    file = Path(named) if named else store / KNOWN_CHANGES
    return load_yaml(file, KnownChanges).known if named or file.is_file() else []


def verify(store: Path, names: list[str]) -> Iterator[tuple[str, list[str] | None]]:
    """Each run, or those named, with what was changed in it; None: it has no list of digests."""
    for folder in [find_stored(store, name) for name in names] if names else folders(store):
        yield folder.name, None if _is_early(folder) else list(faults(folder))


def _is_early(folder: Path) -> bool:
    """Whether a run is of an early version, which wrote a record alone."""
    has = [(folder / name).exists() for name in (RECORD_NAME, RESULT_NAME, SEAL_NAME)]
    return has == [True, False, False]


def holds_run(name: str) -> bool:
    """Whether a directory is the folder of a run."""
    return any(Path(name, own).is_file() for own in (RECORD_NAME, RESULT_NAME))


def find(store: Path, name: str) -> Path:
    """A run's folder by its path, its id, the start of its id, `@last` or `@last~n`."""
    if name and holds_run(name):
        return Path(name)
    if name.endswith("record.json") and Path(name).is_file():
        return Path(name).parent
    return find_stored(store, name)


def find_stored(store: Path, name: str) -> Path:
    """As `find`, but only a run of this store: what may be changed or removed."""
    if not name:
        raise UserError("the name of the run is empty", "venturi results ls")
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


def has_files(folder: Path) -> bool:
    """Return whether a run left files on its target, by its record.

    True for a record that cannot be read.
    """
    if (folder / REMOVED_NAME).exists() or not (folder / RECORD_NAME).exists():
        return False
    try:
        return bool(load_record(folder).left)
    except UserError:
        return True


def remove_files(folder: Path) -> Left:
    """Remove the files that a run left on its target.

    Returns what stays, because it is not, or not surely, the run's. Raises
    TargetProblem where the storage does not let files of the run go, UserError for a link to a
    folder elsewhere, which is not this store's.
    """
    if folder.is_symlink():
        raise UserError(
            f"{folder}: this is a link to {os.readlink(folder)}, so the run is not this store's",
            "nothing was removed; remove the link itself, or the run in the store that it is in",
        )
    if not (folder / RECORD_NAME).exists():
        return Left([])
    left = clean(folder, with_kept=True)
    if left.refused:
        raise TargetProblem(
            f"files of {folder.name} could still not be removed: {left.why}",
            "try again once the storage answers",
        )
    if not left.doubt:
        (folder / REMOVED_NAME).touch()
    return left


def remove_record(folder: Path) -> Left:
    """Remove a run's folder from the store, after its files on the target; what stays there.

    Only names that the store writes are removed; a folder with others in it is left.
    """
    left = remove_files(folder)
    folder = folder.resolve()
    for name in sealed_names(folder):
        path = folder / name
        if folder in path.resolve().parents:
            path.unlink(missing_ok=True)
    for path in folder.iterdir():
        if path.name in RECORD_NAMES or path.name.startswith("manifest."):
            path.unlink()
    for below, _, _ in os.walk(folder, topdown=False):
        if below != str(folder):
            with contextlib.suppress(OSError):
                os.rmdir(below)
    try:
        folder.rmdir()
    except OSError:
        raise UserError(
            f"{folder}: its own files are removed, and there are files in it that no run wrote",
            "look at them, then remove it",
        ) from None
    return left
