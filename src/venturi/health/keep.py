"""Sessions of health in a store: beside the runs, one file each, and the baselines."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path

from venturi.health.judge import FEWEST_SESSIONS, learned
from venturi.model.error import UserError
from venturi.model.health import Health, HealthBaseline

FOLDER = "health"
_MOST_NAME = 200
_DIGEST = 16


def keep_session(store: Path, health: Health) -> Path:
    """Write a session, without its record, which the store has."""
    path = store / FOLDER / f"{health.id}.json"
    _write(path, health.model_copy(update={"record": None}).to_json(indent=1) + "\n")
    return path


def sessions(store: Path, series: str) -> list[Health]:
    """The comparable sessions of a store, oldest first."""
    found = []
    for path in sorted((store / FOLDER).glob("*.json")):
        try:
            health = Health.model_validate_json(path.read_text("utf-8"), by_alias=True)
        except (OSError, ValueError):
            continue  # a baseline, or a session of another version
        if health.series == series:
            found.append(health)
    return sorted(found, key=lambda health: health.started)


def baseline_path(store: Path, series: str) -> Path:
    """Where the references of a series stand.

    File systems take no more than 255 bytes for a name, and a series names every kernel of a suite:
    the end of a long one is a digest of all of it.
    """
    name = re.sub(r"[^A-Za-z0-9.]+", "-", series)
    if len(name) > _MOST_NAME:
        digest = hashlib.sha256(series.encode()).hexdigest()[:_DIGEST]
        name = f"{name[: _MOST_NAME - _DIGEST - 1]}-{digest}"
    return store / FOLDER / f"baseline-{name}.json"


def baseline_of(store: Path, series: str) -> HealthBaseline | None:
    """The references that were learned or written; None where there are none.

    UserError for a file that is no baseline.
    """
    path = baseline_path(store, series)
    if not path.exists():
        return None
    try:
        return HealthBaseline.model_validate_json(path.read_text("utf-8"), by_alias=True)
    except (OSError, ValueError) as error:
        raise UserError(f"{path}: this is no baseline: {error}", "remove or mend it") from None


def learn(store: Path, before: Sequence[Health]) -> Path:
    """Write the references that sessions give. UserError for fewer than five that are quiet."""
    quiet = [session for session in before if not session.noise]
    if len(quiet) < FEWEST_SESSIONS:
        noisy = len(before) - len(quiet)
        raise UserError(
            f"a baseline needs {FEWEST_SESSIONS} quiet sessions, and there are {len(quiet)}"
            + (f" beside {noisy} noisy ones" if noisy else ""),
            "run venturi health again when nobody else uses the machine",
        )
    newest = quiet[-1]
    values = {
        row.metric: [r.value for s in quiet for r in s.rows if r.metric == row.metric]
        for row in newest.rows
    }
    references = {row.metric: learned(values[row.metric], row.unit) for row in newest.rows}
    found = HealthBaseline(series=newest.series, sessions=len(quiet), references=references)
    path = baseline_path(store, newest.series)
    _write(path, found.to_json(indent=1) + "\n")
    return path


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    except OSError as error:
        raise UserError(f"{path}: cannot be written: {error.strerror}") from None


def newest_series(store: Path) -> str:
    """The series of the newest session. UserError where there is none."""
    newest = ("", "")
    for path in (store / FOLDER).glob("*.json"):
        try:
            health = Health.model_validate_json(path.read_text("utf-8"), by_alias=True)
        except (OSError, ValueError):
            continue  # a baseline, or a session of another version
        newest = max(newest, (health.started, health.series))
    if not newest[1]:
        raise UserError(f"{store}: there is no session of health in it", "venturi health quick")
    return newest[1]
