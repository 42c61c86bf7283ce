"""The folder of a site: files are written where they changed, and only its own are removed."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from venturi.model.document import DocumentError, parse_json
from venturi.model.error import UserError
from venturi.model.site import SiteState, SiteSubject
from venturi.site.run_index import KnownRun, name_of, runs_of, text_of

STATE_FOLDER = ".venturi"
_STATE = "state.json"
_BEGUN = "begun.txt"
"""The pages that a build was about to write, one a line: also those of one that was killed."""
_RUNS = re.compile(r"runs-[0-9a-f]{16}\.json")
_OURS = re.compile(r"([a-z0-9][a-z0-9_.-]*/)?[a-z0-9][a-z0-9_.-]*")


def digest_of_text(text: str) -> str:
    """A digest that tells texts apart."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


@dataclass(frozen=True)
class SiteBefore:
    """What was built the last time."""

    state: SiteState
    runs: dict[str, KnownRun]
    """By source and place in it."""

    @property
    def subjects(self) -> dict[str, SiteSubject]:
        """By group."""
        return self.state.subjects


class SiteFolder:
    """What a site has, and what it is to have."""

    def __init__(self, place: Path) -> None:
        """UserError where the folder cannot be used: it has files that no site wrote."""
        self.place = place
        self.home = place / STATE_FOLDER
        self.files: dict[str, str] = {}
        self.inputs: dict[str, str] = {}
        self.written = 0
        if place.exists() and not place.is_dir():
            raise UserError(f"{place}: this is no directory", "choose another with -o")
        if place.is_dir() and any(place.iterdir()) and not self.home.is_dir():
            raise UserError(
                f"{place}: it is not empty, and no site is in it",
                "choose a new directory with -o; only a site's own files are replaced",
            )
        try:
            self.home.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(
                f"{place}: cannot be made: {error.strerror}", "choose another directory with -o"
            ) from None
        state = self._state()
        self.before = self._with_runs(state)
        self._before = {p: d for p, d in self._known(state).items() if _OURS.fullmatch(p)}

    def _state(self) -> SiteState | None:
        """The state of the last time; None: there is none, or one of another version."""
        try:
            return parse_json(SiteState, (self.home / _STATE).read_bytes())
        except (OSError, DocumentError):
            return None

    def _with_runs(self, state: SiteState | None) -> SiteBefore | None:
        """What was built the last time; None where the index of runs is not the state's."""
        if state is None or not _RUNS.fullmatch(state.runs):
            return None
        try:
            data = (self.home / state.runs).read_bytes()
            return SiteBefore(state, runs_of(data)) if name_of(data) == state.runs else None
        except (OSError, ValueError):
            return None

    def _known(self, state: SiteState | None) -> dict[str, str]:
        """All files of the site, also those of a build that was killed."""
        known = dict(state.files) if state else {}
        with contextlib.suppress(OSError):
            for path in (self.home / _BEGUN).read_text("utf-8").split():
                known.setdefault(path, "")
        return known

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Keeps other builds of the same site waiting."""
        with (self.home / "lock").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def names(self, folder: str) -> set[str]:
        """What is in a folder of the site."""
        try:
            return set(os.listdir(self.place / folder))
        except OSError:
            return set()

    def has(self, path: str) -> bool:
        """Whether a page of the last time is there."""
        return bool(self._before.get(path)) and (self.place / path).is_file()

    def keep(self, path: str, there: bool | None = None) -> bool:
        """Leaves a page as it is; False where it is not there any more.

        `there` says whether it is, where the folder was listed.
        """
        if not self._before.get(path):
            return False
        if not ((self.place / path).is_file() if there is None else there):
            return False
        self.files[path] = self._before[path]
        return True

    def draw(self, path: str, inputs: str, page: Callable[[], str]) -> None:
        """A page that is drawn only where its inputs are not what they were."""
        digest = digest_of_text(inputs)
        same = self.before is not None and self.before.state.inputs.get(path) == digest
        if not (same and self.keep(path)):
            self.write(path, page())
        self.inputs[path] = digest

    def write(self, path: str, text: str) -> None:
        """Writes a page unless it has this text. UserError where that cannot be."""
        data = text.encode("utf-8", "replace")
        digest = hashlib.sha256(data).hexdigest()[:16]
        self.files[path] = digest
        target = self.place / path
        if self._before.get(path) == digest and target.is_file():
            return
        if path not in self._before and target.exists():
            raise UserError(f"{target}: no site wrote this file", "move it, or choose another -o")
        try:
            if path not in self._before:
                with (self.home / _BEGUN).open("a", encoding="utf-8") as file:
                    file.write(f"{path}\n")
            target.parent.mkdir(parents=True, exist_ok=True)
            _replace(target, data)
        except OSError as error:
            raise UserError(
                f"{target}: cannot be written: {error.strerror}", "choose another directory with -o"
            ) from None
        self.written += 1

    def keep_runs(self, runs: Mapping[str, KnownRun]) -> str:
        """Keeps the index of runs beside the one of the last time; its name, for the state."""
        data = text_of(runs)
        name = name_of(data)
        if not (self.home / name).is_file():
            _replace(self.home / name, data)
        return name

    def finish(self, state: SiteState) -> int:
        """Keeps the state, and removes pages of what is gone that are as they were written.

        Returns how many were removed.
        """
        removed = 0
        for path in sorted(self._before.keys() - self.files.keys()):
            target = self.place / path
            if target.is_symlink() or not target.is_file():
                continue
            if hashlib.sha256(target.read_bytes()).hexdigest()[:16] == self._before[path]:
                target.unlink()
                removed += 1
        if self.before is not None:
            for group in self.before.subjects.keys() - state.subjects.keys():
                for ending in ("json", "jsonl"):
                    (self.home / f"{group}.{ending}").unlink(missing_ok=True)
        _replace(self.home / _STATE, state.to_json().encode())
        for name in self.names(STATE_FOLDER):
            if _RUNS.fullmatch(name) and name != state.runs:
                (self.home / name).unlink(missing_ok=True)
        (self.home / _BEGUN).unlink(missing_ok=True)
        return removed


def _replace(target: Path, data: bytes) -> None:
    beside = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        beside.write_bytes(data)
        beside.replace(target)
    except OSError:
        beside.unlink(missing_ok=True)
        raise
