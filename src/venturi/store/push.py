"""Pushing results: one new file for each run in a results repository, and none that changes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from venturi.model.error import UserError
from venturi.model.result import Result
from venturi.store.git import Remote, Unreachable
from venturi.store.public import public, withheld
from venturi.store.result import archived, tags_by_run

FOLDER = "push"


@dataclass(frozen=True)
class Pushed:
    """What came of a push."""

    added: int
    waiting: int
    """In the spool, for the next push."""
    withheld: list[str]
    """Parameters that nobody may see."""
    problem: str = ""
    """Why results wait."""


def push(store: Path, address: str, results: list[Result], machine: str = "") -> Pushed:
    """Adds the results that a repository does not have, and what waited from before.

    Where it cannot be reached they wait in the store. Raises UserError where something that must
    be shared is private, or where the repository refuses; nothing is sent then.
    """
    remote = Remote(store / FOLDER, address)
    seen = remote.seen()
    tags = tags_by_run(store)
    texts: dict[str, str] = {}
    private: dict[str, None] = {}
    for result in results:
        whole = archived(store / "runs" / result.id, result, tags.get(result.id, []))
        shared = public(whole, machine)
        if (place := place_of(shared)) not in seen:
            private |= dict.fromkeys(withheld(result))
            texts[place] = shared.to_json(indent=1) + "\n"
    for path, text in texts.items():
        remote.put(path, text)
    count = len(remote.waiting())
    try:
        added = remote.send(f"{count} result{'s' if count != 1 else ''}")
    except Unreachable as error:
        return Pushed(0, len(remote.waiting()), list(private), error.message)
    return Pushed(added, 0, list(private))


def place_of(result: Result) -> str:
    """Where a result stands in a repository."""
    month = result.started[:7]
    if not re.fullmatch(r"\d{4}-\d\d", month):
        raise UserError(f"{result.id}: '{result.started}' is no time")
    parts = [_plain(part) for part in (result.machine, result.name)]
    return str(PurePosixPath("results", *parts, month, f"{_plain(result.id)}.json"))


def _plain(text: str) -> str:
    plain = re.sub(r"[^A-Za-z0-9_.-]", "-", text)
    return plain if plain.strip(".-") else f"x{plain}"
