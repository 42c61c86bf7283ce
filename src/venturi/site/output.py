"""The folder of a site: files are written where they changed, and only its own are removed."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from venturi.model.document import DocumentError, parse_json
from venturi.model.error import UserError
from venturi.model.site import SiteState

STATE_FOLDER = ".venturi"
_STATE = "state.json"
_BEGUN = "begun.txt"
"""The pages that a build was about to write, one a line: also those of one that was killed."""
_OURS = re.compile(r"([a-z0-9][a-z0-9_.-]*/)?[a-z0-9][a-z0-9_.-]*")


def digest_of_text(text: str) -> str:
    """A digest that tells texts apart."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


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
        self.before = self._state()
        self._before = {p: d for p, d in self._known().items() if _OURS.fullmatch(p)}

    def _state(self) -> SiteState | None:
        """What was built the last time; None: nothing, or by another version."""
        try:
            return parse_json(SiteState, (self.home / _STATE).read_bytes())
        except (OSError, DocumentError):
            return None

    def _known(self) -> dict[str, str]:
        known = dict(self.before.files) if self.before else {}
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

    def keep(self, path: str) -> bool:
        """Leaves a page as it is; False where it is not there any more."""
        if not self._before.get(path) or not (self.place / path).is_file():
            return False
        self.files[path] = self._before[path]
        return True

    def draw(self, path: str, inputs: str, page: Callable[[], str]) -> None:
        """A page that is drawn only where its inputs are not what they were."""
        digest = digest_of_text(inputs)
        same = self.before is not None and self.before.inputs.get(path) == digest
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
                (self.home / f"{group}.json").unlink(missing_ok=True)
        _replace(self.home / _STATE, state.to_json().encode())
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
