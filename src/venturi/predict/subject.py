"""The two that are run in turn: an application's command, and its proxy."""

from __future__ import annotations

import fcntl
import os
import re
import shlex
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from venturi.capture.proxy import ProxyRun, run_proxy, template_of
from venturi.capture.quiet import last_line, quiet
from venturi.capture.run import CaptureContext, capture
from venturi.capture.tracer import TracerSettings
from venturi.derive.noise import STDOUT, is_foreign_path
from venturi.model.error import TargetProblem
from venturi.model.trace import Layer
from venturi.model.trace_folder import Captured
from venturi.model.workload import Workload
from venturi.predict.account import HERE, Account, account_of
from venturi.predict.cache import CachePreparation, forget, write_out

_MEMORY = Path("/dev/shm")
_PREFIX = "venturi-recorded-"
_UNLOCKED_S = 10.0
"""A folder that is older has its lock, if it is in use."""
"""What is recorded goes into memory, so that recording does not load the disk."""
_OUTPUT = "output"
"""Where what the application prints goes, which is no I/O of its own."""


@dataclass(frozen=True)
class Application:
    """A command, run in a fresh folder of its own each time."""

    command: str
    prepare: str
    """Makes the input in that folder, before the run; empty: there is none."""
    folder: Path
    """Made and removed in each run; the same name each time."""
    layers: tuple[Layer, ...]
    cache: CachePreparation

    def run(self) -> Account:
        """One run. Raises TargetProblem where it fails or does no I/O in its folder."""
        return self.account(self.captured())

    def captured(self) -> Captured:
        """One run under capture, names relative to its folder, which is gone afterwards."""
        try:
            self.folder.mkdir()
            with _memory() as place:
                said = place / _OUTPUT
                self._prepare(place)
                captured = _below(self._captured(place), self.folder)
                return _renamed(captured, lambda path: STDOUT if path == str(said) else path)
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)

    def account(self, captured: Captured) -> Account:
        """The account of a run. Raises TargetProblem where it did nothing in its folder."""
        account = account_of(captured, self.layers, "application")
        if account is None or not any(is_inside(path) for path in account.paths):
            raise TargetProblem(
                f"'{self.command}' did no I/O in {self.folder.parent.parent} that a capture sees",
                "it runs in a folder of its own there: use relative names, or {dir} for its path",
            )
        return account

    def _prepare(self, place: Path) -> None:
        if self.prepare:
            with (place / "prepare").open("wb") as said:
                done = subprocess.run(
                    self._line(self.prepare),
                    cwd=self.folder,
                    check=False,
                    stdin=subprocess.DEVNULL,
                    stdout=said,
                    stderr=said,
                )
            if done.returncode != 0:
                why = last_line(place / "prepare")
                raise TargetProblem(
                    f"'{self.prepare}' ended with exit code {done.returncode}: {why}",
                    "it must make the application's input in its working folder",
                )
        if self.cache is CachePreparation.DROP:
            write_out(self.folder)
            forget(self.folder)

    def _captured(self, place: Path) -> Captured:
        settings = TracerSettings(all_paths=is_foreign_path(f"{self.folder}/"))
        with quiet(place / _OUTPUT) as said:
            around = CaptureContext(here=self.folder)
            outcome = capture(self._line(self.command), place / "raw.trace", settings, around)
        if outcome.finished.interrupted:
            raise KeyboardInterrupt
        if outcome.finished.code != 0:
            why = last_line(said)
            raise TargetProblem(
                f"'{self.command}': {outcome.finished.how}" + (f": {why}" if why else ""),
                f"it must run to its end in a fresh folder below {self.folder.parent.parent}",
            )
        return outcome.captured

    def _line(self, command: str) -> tuple[str, ...]:
        line = command.replace("{dir}", shlex.quote(str(self.folder)))
        return ("sh", "-c", f"exec </dev/null\n{line}")


@dataclass(frozen=True)
class Proxy:
    """A workload, run by our engine."""

    proxy: ProxyRun
    layers: tuple[Layer, ...]
    cache: CachePreparation
    name: str = "proxy"

    def run(self) -> Account:
        """One run. Raises RunFailed where the engine does not run it."""
        if self.cache is CachePreparation.DROP:
            write_out(self.proxy.directory)
        with _memory() as place:
            captured = _apart(run_proxy(self.proxy, place), self.proxy.workload)
            account = account_of(captured, self.layers, self.name)
        if account is None:
            raise TargetProblem(
                f"the workload '{self.proxy.workload.name}' does no I/O that a capture sees",
                "requests through io_uring and mapped memory cannot be compared",
            )
        return account


def is_inside(path: str) -> bool:
    """Whether a file of an account lies where the comparison takes place."""
    return path not in ("", HERE) and not path.startswith("/")


def _below(captured: Captured, folder: Path) -> Captured:
    """The capture with names relative to `folder`, where they are below it."""
    lead = f"{folder}/"
    return _renamed(captured, lambda path: HERE if path == str(folder) else path.removeprefix(lead))


def _apart(captured: Captured, workload: Workload) -> Captured:
    """The capture of a proxy, its files below a folder for each kind of them.

    Names that differ in digits only would be taken for one kind, and those of a derived proxy do.
    """
    kinds = [
        (re.compile(rf"{template_of(file.path)}(\.\d+)?(/.*)?$"), "x" * place)
        for place, file in enumerate(workload.files.values(), 1)
    ]

    def name(path: str) -> str:
        lead = next((lead for pattern, lead in kinds if pattern.match(path)), "")
        return f"{lead}/{path}" if lead else path

    return _renamed(captured, name)


def _renamed(captured: Captured, rule: Callable[[str], str]) -> Captured:
    files = [
        file if file.within is not None else file.model_copy(update={"path": rule(file.path)})
        for file in captured.trace.files
    ]
    return Captured(captured.trace.model_copy(update={"files": files}), captured.operations)


@contextmanager
def _memory() -> Iterator[Path]:
    """A folder in memory, where there is such a place, till the block ends.

    A lock says that it is in use, so that what a killed prediction left can be removed here.
    """
    where = _MEMORY if _MEMORY.is_dir() else Path(tempfile.gettempdir())
    remove_left(where)
    with tempfile.TemporaryDirectory(prefix=_PREFIX, dir=where) as place:
        lock = os.open(place, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield Path(place)
        finally:
            os.close(lock)


def remove_left(where: Path) -> None:
    """Removes our own folders of predictions that ended without doing so.

    They are old enough to have been locked, and nobody holds the lock.
    """
    for folder in where.glob(f"{_PREFIX}*"):
        try:
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except OSError:
            continue  # gone, or not ours to look into
        try:
            found = os.fstat(lock)
            if found.st_uid == os.getuid() and time.time() - found.st_mtime > _UNLOCKED_S:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
        except BlockingIOError:
            continue  # in use
        finally:
            os.close(lock)
