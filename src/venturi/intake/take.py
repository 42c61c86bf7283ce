"""What lies at a path: a campaign, shared results, or what another tool wrote; into the store."""

from __future__ import annotations

from pathlib import Path

from venturi.campaign.landing import land
from venturi.campaign.session import open_folder
from venturi.model.result import Result
from venturi.store.place import make_store
from venturi.store.result import is_result, keep, shared
from venturi.store.version import read_versioned


def take(store: Path, path: Path) -> int | None:
    """Takes what lies at a path into the store; how many runs were new there.

    None where this is nothing of the kind. Raises UserError for what is damaged.
    """
    if (path / "plan.json").is_file() and (path / "journal.jsonl").is_file():
        return land(open_folder(path.absolute()), store)
    found = list(shared(path)) if path.is_dir() else [path] if path.suffix == ".json" else []
    results = [read_versioned(file, Result) for file in found if is_result(file)]
    if not results:
        return None
    make_store(store)
    return sum(keep(store, result, {}) for result in results)
