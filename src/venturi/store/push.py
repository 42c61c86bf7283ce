"""Pushing results: new files for each run in a results repository, and none that changes."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from venturi.model.error import UserError
from venturi.model.result import Result
from venturi.model.shared_forecast import SharedForecast
from venturi.store.git import Remote, Unreachable
from venturi.store.public import names_somebody, public, withheld
from venturi.store.result import archived, tags_by_run

FOLDER = "push"
RESULTS = "results"
FORECASTS = "forecasts"


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
    forecasts: int = 0
    """That were added beside runs."""
    left_out: list[str] = field(default_factory=list)
    """Forecasts that were not sent, a sentence each."""


def push(
    store: Path,
    address: str,
    results: list[Result],
    machine: str = "",
    forecast_of: Callable[[Result], SharedForecast | None] = lambda _: None,
) -> Pushed:
    """Adds the results that a repository does not have, and what waited from before.

    `forecast_of` has the forecast that a result tests; it goes beside the result, unless it holds
    what is private. Where the repository cannot be reached all wait in the store. Raises UserError
    where something that must be shared is private, or where the repository refuses; nothing is
    sent then.
    """
    remote = Remote(store / FOLDER, address)
    seen = remote.seen()
    tags = tags_by_run(store)
    texts: dict[str, str] = {}
    private: dict[str, None] = {}
    left_out: list[str] = []
    for result in results:
        whole = archived(store / "runs" / result.id, result, tags.get(result.id, []))
        shared = public(whole, machine)
        if (place := place_of(shared)) not in seen:
            private |= dict.fromkeys(withheld(result))
            texts[place] = shared.to_json(indent=1) + "\n"
        beside = place_of(shared, FORECASTS)
        if beside in seen or (found := forecast_of(result)) is None:
            continue
        if _names_somebody(found, result.facts.get("host", "")):
            left_out.append(f"the forecast of {result.id}: it names a host, a user or a path")
        else:
            texts[beside] = _as_of(found, shared.machine).to_json(indent=1) + "\n"
    for path, text in texts.items():
        remote.put(path, text)
    count = len(_results(remote.waiting()))
    try:
        added = remote.send(f"{count} result{'s' if count != 1 else ''}")
    except Unreachable as error:
        waiting = len(_results(remote.waiting()))
        return Pushed(0, waiting, list(private), error.message, 0, left_out)
    new = len(_results(added))
    return Pushed(new, 0, list(private), "", len(added) - new, left_out)


def _results(places: Sequence[str]) -> list[str]:
    return [place for place in places if place.startswith(f"{RESULTS}/")]


def _names_somebody(found: SharedForecast, host: str) -> bool:
    return any(
        names_somebody(text, host)
        for one in found.trials
        for text in (one.forecast, one.name, one.file_system, one.phase)
    )


def _as_of(found: SharedForecast, machine: str) -> SharedForecast:
    """A forecast whose machine bears the name that its result has."""
    trials = [one.model_copy(update={"machine": machine}) for one in found.trials]
    return found.model_copy(update={"trials": trials})


def place_of(result: Result, folder: str = RESULTS) -> str:
    """Where a result stands in a repository; in FORECASTS the forecast that it tests."""
    month = result.started[:7]
    if not re.fullmatch(r"\d{4}-\d\d", month):
        raise UserError(f"{result.id}: '{result.started}' is no time")
    parts = [_plain(part) for part in (result.machine, result.name)]
    return str(PurePosixPath(folder, *parts, month, f"{_plain(result.id)}.json"))


def _plain(text: str) -> str:
    plain = re.sub(r"[^A-Za-z0-9_.-]", "-", text)
    return plain if plain.strip(".-") else f"x{plain}"
