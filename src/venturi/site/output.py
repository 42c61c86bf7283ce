"""The folder of a site: files are written where they changed, and only its own are removed."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from venturi.model.document import DocumentError, parse_json
from venturi.model.error import UserError
from venturi.model.site import SiteState
from venturi.site.mark import ABSENT, YOUNG, mark_of, settled_ns
from venturi.site.run_index import KnownRun, runs_of, text_of

STATE_FOLDER = ".venturi"
_STATE = "state.json"
_SEAL = "state.sha256"
_BEGUN = "begun.txt"
"""The pages that a build was about to write, one a line: also those of one that was killed."""
_LISTS = re.compile(r"(runs|files)-[0-9a-f]{16}\.txt")
_EVER = 1 << 63
_OURS = re.compile(r"([a-z0-9][a-z0-9_.-]*/)?[a-z0-9][a-z0-9_.-]*")


def digest_of_text(text: str) -> str:
    """A digest that tells texts apart."""
    return _digest_of(text.encode("utf-8", "surrogatepass"))


def _digest_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


class SiteFile(NamedTuple):
    """A file of the site as it was written."""

    inputs: str
    """A digest of what it was drawn from; empty: it is written whenever the site is built."""
    digest: str
    """Empty: a build that was killed began to write it."""
    mark: str = YOUNG


@dataclass(frozen=True)
class SiteBefore:
    """What was built the last time."""

    state: SiteState
    runs: dict[str, KnownRun]
    """By source and place in it."""


class SiteFolder:
    """What a site has, and what it is to have.

    A page stays where it was drawn from the same, and still is what was drawn: that its file did
    not change is told by its mark, and where that is another one or young, by what it holds.
    """

    def __init__(self, place: Path) -> None:
        """UserError where the folder cannot be used: it has files that no site wrote."""
        self.place = place
        self.home = place / STATE_FOLDER
        self.files: dict[str, SiteFile] = {}
        self._written: list[str] = []
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
        self.before: SiteBefore | None = None
        self._old: dict[str, SiteFile] = {}
        self._is_same_program = False
        self.program = ""

    def open(self, program: str) -> None:
        """Takes up what is there; pages that another program drew are drawn anew."""
        self.program = program
        self._settled_ns = settled_ns()
        state = self._state()
        self._old = self._files([state.files] if state else sorted(os.listdir(self.home)))
        if state is not None:
            self._is_same_program = state.program == program
            self.before = self._with_runs(state) if self._is_same_program else None
        with contextlib.suppress(OSError):
            for path in (self.home / _BEGUN).read_text("utf-8").split():
                if _OURS.fullmatch(path):
                    self._old.setdefault(path, SiteFile("", ""))

    def _state(self) -> SiteState | None:
        """The state of the last time; None: there is none, or one of another version."""
        try:
            data = (self.home / _STATE).read_bytes()
            seal = (self.home / _SEAL).read_text("ascii")
            return parse_json(SiteState, data) if seal == _seal_of(data) else None
        except (OSError, ValueError, DocumentError):
            return None

    def _listed(self, name: str) -> bytes:
        """A file that the state names by its digest. ValueError or OSError: it is none."""
        data = (self.home / name).read_bytes() if _LISTS.fullmatch(name) else b""
        if name.partition("-")[2] != f"{_digest_of(data)}.txt":
            raise ValueError(name)
        return data

    def _files(self, names: Iterable[str]) -> dict[str, SiteFile]:
        """The files of the site by the first of these lists that is one."""
        for name in names:
            with contextlib.suppress(OSError, ValueError, TypeError):
                rows = [row.split("\t") for row in self._listed(name).decode().splitlines()]
                if name.startswith("files") and all(_OURS.fullmatch(row[0]) for row in rows):
                    return {row[0]: SiteFile(*row[1:]) for row in rows}
        return {}

    def _with_runs(self, state: SiteState) -> SiteBefore | None:
        """What was built the last time; None where the list of runs is not the state's."""
        try:
            return SiteBefore(state, runs_of(self._listed(state.runs)))
        except (OSError, ValueError):
            return None

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Keeps other builds of the same site waiting."""
        with (self.home / "lock").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    @property
    def written(self) -> int:
        """How many files were written."""
        return len(self._written)

    def keep(self, path: str, inputs: str) -> bool:
        """Leaves a page that was drawn from the same and is as it was drawn; False for another."""
        old = self._old.get(path)
        if old is None or not self._is_same_program or not old.inputs or old.inputs != inputs:
            return False
        now = self._looked_at(path, old)
        if now is not None:
            self.files[path] = now
        return now is not None

    def _looked_at(self, path: str, old: SiteFile) -> SiteFile | None:
        """A file as it was written, with its mark of today; None: it is not as it was written."""
        target = f"{self.place}/{path}"
        mark = mark_of(target, self._settled_ns)
        if mark == old.mark and mark != YOUNG:
            return old
        if mark == ABSENT or not old.digest or os.path.islink(target):
            return None
        try:
            with open(target, "rb") as file:
                same = _digest_of(file.read()) == old.digest
        except OSError:
            return None
        return old._replace(mark=mark) if same else None

    def draw(self, path: str, inputs: str, page: Callable[[], str]) -> None:
        """A page that is drawn only where its inputs are not what they were."""
        digest = digest_of_text(inputs)
        if not self.keep(path, digest):
            self.write(path, page(), digest)

    def write(self, path: str, text: str, inputs: str = "") -> None:
        """Writes a file unless it has this text. UserError where that cannot be."""
        self.write_bytes(path, text.encode("utf-8", "replace"), inputs)

    def write_bytes(self, path: str, data: bytes, inputs: str = "") -> None:
        """As `write`, of what is no text."""
        digest = _digest_of(data)
        target = self.place / path
        old = self._old.get(path)
        if old is not None and old.digest == digest and (now := self._looked_at(path, old)):
            self.files[path] = now._replace(inputs=inputs)
            return
        if old is None and target.exists():
            raise UserError(f"{target}: no site wrote this file", "move it, or choose another -o")
        try:
            if old is None:
                with (self.home / _BEGUN).open("a", encoding="utf-8") as file:
                    file.write(f"{path}\n")
            target.parent.mkdir(parents=True, exist_ok=True)
            _replace(target, data)
        except OSError as error:
            raise UserError(
                f"{target}: cannot be written: {error.strerror}", "choose another directory with -o"
            ) from None
        self.files[path] = SiteFile(inputs, digest, mark_of(str(target), _EVER))
        self._written.append(path)

    def keep_runs(self, runs: Iterable[KnownRun]) -> str:
        """Keeps the list of runs beside the one of the last time; its name, for the state."""
        return self._keep_list("runs", text_of(runs))

    def keep_files(self) -> str:
        """Keeps the list of the site's files, as `keep_runs`; all of them are written before."""
        before_ns = settled_ns()
        for path in self._written:
            written = self.files[path]
            if mark_of(f"{self.place}/{path}", before_ns) != written.mark:
                self.files[path] = written._replace(mark=YOUNG)
        lines = (f"{path}\t{chr(9).join(file)}\n" for path, file in self.files.items())
        return self._keep_list("files", "".join(lines).encode())

    def _keep_list(self, kind: str, data: bytes) -> str:
        name = f"{kind}-{_digest_of(data)}.txt"
        try:
            self._listed(name)
        except (OSError, ValueError):
            _replace(self.home / name, data)
        return name

    def finish(self, state: SiteState) -> int:
        """Keeps the state, and removes the site's pages of what is gone; how many these were."""
        removed = 0
        for path in sorted(self._old.keys() - self.files.keys()):
            with contextlib.suppress(FileNotFoundError, IsADirectoryError, NotADirectoryError):
                (self.place / path).unlink()
                removed += 1
        data = state.to_json().encode()
        _replace(self.home / _SEAL, _seal_of(data).encode())
        _replace(self.home / _STATE, data)
        subjects = {f"{group}.{ending}" for group in state.kept for ending in ("json", "jsonl")}
        for name in os.listdir(self.home):
            is_old = _LISTS.fullmatch(name) and name not in (state.runs, state.files)
            if is_old or (name.endswith((".json", ".jsonl")) and name not in {*subjects, _STATE}):
                (self.home / name).unlink(missing_ok=True)
        (self.home / _BEGUN).unlink(missing_ok=True)
        return removed


def _seal_of(data: bytes) -> str:
    """As `sha256sum` writes it."""
    return f"{hashlib.sha256(data).hexdigest()}  {_STATE}\n"


def _replace(target: Path, data: bytes) -> None:
    beside = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        beside.write_bytes(data)
        beside.replace(target)
    except OSError:
        beside.unlink(missing_ok=True)
        raise
