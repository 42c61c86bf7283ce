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


def save(store: Path, result: Io500Result) -> bool:
    """Keep a result; False if it is there already. UserError if the store cannot be written."""
    folder = store / FOLDER
    path = folder / f"{result.key}.json"
    if path.exists():
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
    return True


def load_all(store: Path) -> Iterator[Io500Result]:
    """All results that were imported, in the order of their keys; UserError for a damaged one."""
    for path in sorted((store / FOLDER).glob("[!.]*.json")):
        try:
            yield parse_json(Io500Result, path.read_bytes())
        except (OSError, UserError) as error:
            raise UserError(
                f"{path}: this is no result of this version: {error}",
                "remove the file, and import its result again",
            ) from None
