"""What lies at a path: a campaign, shared results, or what another tool wrote; into the store."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from venturi.campaign.import_results import import_results
from venturi.campaign.session import open_folder
from venturi.importers import elbencho, jube_folder
from venturi.importers.imported_run import (
    DAMAGE,
    ImportedRun,
    damage,
    result_of,
    with_request,
)
from venturi.importers.json_output import readings
from venturi.importers.machine_output import machine_reading
from venturi.importers.text_output import reading_of
from venturi.model.error import UserError
from venturi.model.result import Result
from venturi.model.workload import Scalar
from venturi.store.place import make_store
from venturi.store.result import is_result, keep, shared
from venturi.store.version import read_versioned

_MOST_BYTES = 256 << 20
_HEAD = 4096
"""Within which a document of JSON begins; MPI may say something before."""


@dataclass(frozen=True)
class ImportRequest:
    """What is known of another tool's output beside what it says."""

    machine: str = ""
    """Where it was measured."""
    requested: Mapping[str, Scalar] = field(default_factory=dict)
    """Settings that the tool was to run with; a run with others has failed."""


def import_path(store: Path, path: Path, origin: ImportRequest | None = None) -> int | None:
    """Takes what lies at a path into the store; how many runs were new there.

    `origin` is of another tool's output. None where this is nothing of the kind.
    Raises UserError for what is damaged.
    """
    origin = origin or ImportRequest()
    if (path / "plan.json").is_file() and (path / "journal.jsonl").is_file():
        return import_results(open_folder(path.absolute()), store)
    if folders := jube_folder.folders(path):
        return sum(_import_folder(store, folder, origin) for folder in folders)
    found = list(shared(path)) if path.is_dir() else [path] if path.suffix == ".json" else []
    results = [read_versioned(file, Result) for file in found if is_result(file)]
    if not results:
        return _import_output(store, path, origin) if path.is_file() else None
    make_store(store)
    return sum(keep(store, result, {}) for result in results)


def _import_folder(store: Path, folder: Path, origin: ImportRequest) -> int:
    """Takes a run of JUBE."""
    found = jube_folder.readings(folder)
    make_store(store)
    files = jube_folder.files_of(folder)
    data, written = files[0].read_bytes(), files[0].stat().st_mtime
    kept = {f"source/{file.name}": file for file in files}
    return sum(
        keep(
            store,
            result_of(
                with_request(reading, origin.requested), data, number, origin.machine, written
            ),
            kept,
        )
        for number, reading in enumerate(found)
    )


def _import_output(store: Path, path: Path, origin: ImportRequest) -> int | None:
    """Takes what another tool wrote; None where none is known that writes so."""
    if path.stat().st_size > _MOST_BYTES:
        return None
    data, written = path.read_bytes(), path.stat().st_mtime
    try:
        found = [
            result_of(
                with_request(reading, origin.requested), data, number, origin.machine, written
            )
            for number, reading in enumerate(_readings(data, path))
        ]
    except DAMAGE as error:
        raise UserError(
            f"{path}: {damage(error, 'its tool')}", "import what the tool wrote, unchanged"
        ) from None
    if not found:
        return None
    make_store(store)
    return sum(keep(store, result, {f"source/{path.name}": path}) for result in found)


def _readings(data: bytes, path: Path) -> list[ImportedRun]:
    text = data.decode("utf-8", "replace")
    if elbencho.is_output(text):
        return elbencho.readings(text, str(path))
    try:
        document = json.loads(text[text.index("{") :]) if "{" in text[:_HEAD] else None
    except (ValueError, RecursionError) as error:
        if text.lstrip().startswith("{"):
            raise UserError(
                f"{path}: JSON that is cut off or damaged: {error}",
                "a tool that failed may leave such a file; import what it wrote to its end",
            ) from None
        document = None
    if document is None:
        reading = reading_of(text, str(path)) or machine_reading(text)
        return [reading] if reading else []
    return readings(document) or []
