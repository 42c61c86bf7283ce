"""Results of others in the store: one file for each, named by what it holds."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from venturi.model.document import parse_json
from venturi.model.error import UserError
from venturi.model.published import Io500Result

FOLDER = "published"


_OWNER = (
    "institution",
    "system",
    "filesystem",
    "storage_vendor",
    "release",
    "reproducibility",
    "configuration",
    "questionnaire",
    "files",
    "year",
    "procs",
    "nodes",
    "classification",
)
"""What one copy of a result may know and another not."""


def save(store: Path, result: Io500Result) -> bool:
    """Keep a result; False if it is there already.

    Of copies of one result the one with most evidence is kept; what it does not say of its owner
    comes from the other one. UserError if the store cannot be written.
    """
    folder = store / FOLDER
    path = folder / f"{result.key}.json"
    kept = _load(path) if path.exists() else None
    if kept is not None:
        result = richest(kept, result)
        if result == kept:
            return False
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=folder, prefix=".", delete=False) as file:
            file.write(result.to_json(indent=1))
        os.replace(file.name, path)
    except OSError as error:
        raise UserError(
            f"{folder}: cannot be written: {error.strerror}", "choose another with --store"
        ) from None
    return kept is None


def richest(first: Io500Result, second: Io500Result) -> Io500Result:
    """The copy of a result with more evidence, completed by the other one; else the first."""
    better, other = (second, first) if second.evidence > first.evidence else (first, second)
    lacking = {
        name: getattr(other, name)
        for name in _OWNER
        if not getattr(better, name) and getattr(other, name)
    }
    return better.model_copy(update=lacking) if lacking else better


def load_all(store: Path) -> Iterator[Io500Result]:
    """All results that were imported, in the order of their keys; UserError for a damaged one."""
    for path in sorted((store / FOLDER).glob("[!.]*.json")):
        yield _load(path)


def _load(path: Path) -> Io500Result:
    try:
        return parse_json(Io500Result, path.read_bytes())
    except (OSError, UserError) as error:
        raise UserError(
            f"{path}: this is no result of this version: {error}",
            "remove the file, and import its result again",
        ) from None
