"""The journal of a run that is under way: enough to make its record, whoever is killed.

A folder in the store with the plan, the facts known before the start, and the events as they
came. A lock that the command and the engine hold tells whether anybody is still at work.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from pydantic import ValidationError

from venturi.execute.engine import PLAIN, Left, clean
from venturi.model.error import UserError, VenturiError
from venturi.model.event import (
    Event,
    EventLine,
    Failed,
    Hello,
    PhaseFinished,
    Warning,
)
from venturi.model.host_sample import HostSample
from venturi.model.plan import Plan
from venturi.store.assemble import RunEnd, RunFacts, assemble
from venturi.store.background import read_backgrounds
from venturi.store.command import COMMANDS_NAME, remove_folders, runs_in
from venturi.store.log import merge_logs
from venturi.store.place import (
    COPIED_NAMES,
    ENDED_NAME,
    ENOUGH_NAME,
    HOST_NAME,
    STRANGE_NAME,
    new_id,
)
from venturi.store.result import RECORD_NAME, RESULT_NAME, result_of
from venturi.store.seal import seal


class RunJournal:
    """A run under way, written by the process that started it."""

    def __init__(self, store: Path, name: str) -> None:
        self.run = new_id(name)
        self.folder = store / "running" / self.run
        try:
            self.folder.mkdir()
        except OSError as error:
            raise _unwritable(store, error) from None
        self.lock = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT, 0o644)
        fcntl.flock(self.lock, fcntl.LOCK_EX)
        self._events: TextIO | None = None
        atexit.register(self.discard)  # a Ctrl-C before the run has begun

    def begin(self, plan: Plan, facts: RunFacts, workload_text: str) -> Path:
        """Write all that is known before the start; the plan's path. UserError if it cannot be."""
        self.keep_text("plan.json", plan.to_json())
        self.keep_text("workload.yaml", workload_text)
        self.keep_text("facts.json", facts.to_json())
        self.keep_text("events.jsonl", "")
        self._events = (self.folder / "events.jsonl").open("a", encoding="utf-8")
        return self.folder / "plan.json"

    def keep_text(self, name: str, text: str) -> None:
        """Write a file of the journal; UserError if that cannot be."""
        try:
            (self.folder / name).write_text(text, "utf-8")
        except OSError as error:
            raise _unwritable(self.folder.parents[1], error) from None

    def note(self, line: str) -> None:
        """Keep one event."""
        assert self._events is not None
        self._events.write(line + "\n")
        self._events.flush()

    def note_strange_end(self, what: str) -> None:
        """Keep that the engine ended badly after all was done: told, and a suspicion."""
        self.note(Warning(what=what).model_dump_json())
        self.keep_text(STRANGE_NAME, what)

    def note_host(self, line: str) -> None:
        """Keep a sample of the host's counters."""
        with (self.folder / HOST_NAME).open("a", encoding="utf-8") as file:
            file.write(line + "\n")

    def close(self) -> None:
        """Nobody is at work any more."""
        atexit.unregister(self.discard)
        if self._events is not None:
            self._events.close()
        os.close(self.lock)

    def discard(self) -> None:
        """Forget a run that never measured anything."""
        self.close()
        _forget(self.folder)


def _unwritable(store: Path, error: OSError) -> UserError:
    return UserError(
        f"{store}: the store cannot be written: {error.strerror}", "choose another with --store"
    )


def is_alive(folder: Path) -> bool:
    """Whether the command, the engine or a single rank of a journal still runs."""
    return any(_is_held(path) for path in [folder / "lock", *folder.glob("manifest.*")])


def _is_held(path: Path) -> bool:
    """Whether a process holds the lock of a file."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


def read_events(folder: Path) -> Iterator[Event]:
    """The events of a journal; a line that was cut off by a kill is left out.

    Groups beside the first have a file of their own; theirs come behind the first group's.
    """
    for path in [folder / "events.jsonl", *_other_events(folder)]:
        if not path.exists():
            continue
        for line in path.read_text("utf-8", "replace").splitlines():
            try:
                yield EventLine.model_validate_json(line).root
            except ValidationError:
                continue


def _other_events(folder: Path) -> list[Path]:
    """The files of events of the groups beside the first, in the order of their ranks."""
    return sorted(folder.glob("events.*.jsonl"), key=lambda path: int(path.name.split(".")[1]))


def conclude(store: Path, folder: Path, interrupted: bool = False) -> Path | None:
    """Make the record of a run that ended, remove its files and the journal.

    Returns the record's folder, or None where nothing was measured: a run that was refused
    before its first measured operation leaves nothing.
    """
    facts_path = folder / "facts.json"
    (folder / ENDED_NAME).touch()
    events = list(read_events(folder))
    remove_folders(folder)
    left, warning = _cleaned(folder)
    refused = any(isinstance(e, Failed) and e.exit_code in (2, 5) for e in events)
    began = any(isinstance(e, Hello | PhaseFinished) for e in events)
    if not facts_path.exists() or refused or not began:
        _forget(folder)
        return None
    facts = RunFacts.model_validate_json(facts_path.read_text("utf-8"))
    ending = RunEnd(
        interrupted=interrupted,
        last_error=last_error(folder),
        warning=warning,
        warnings=said_aside(folder),
        commands=runs_in(folder),
        enough=_text_in(folder / ENOUGH_NAME),
        samples=tuple(read_samples(folder)),
        disturbed=tuple(filter(None, [_text_in(folder / STRANGE_NAME)])),
        background=tuple(read_backgrounds(folder)),
    )
    record = assemble(facts, events, left, ending)
    final = store / "runs" / record.id
    temporary = store / "runs" / f".{record.id}.tmp"
    temporary.mkdir()
    others = [path.name for path in (*_other_events(folder), *folder.glob("manifest.*"))]
    for name in (*COPIED_NAMES, *others):
        if (folder / name).exists():
            shutil.copy(folder / name, temporary / name)
    if (folder / COMMANDS_NAME).exists():
        shutil.copytree(folder / COMMANDS_NAME, temporary / COMMANDS_NAME)
    merge_logs(folder, events, temporary)
    (temporary / RECORD_NAME).write_text(record.to_json(indent=1), "utf-8")
    (temporary / RESULT_NAME).write_text(result_of(record).to_json(indent=1), "utf-8")
    seal(temporary)
    temporary.rename(final)
    _forget(folder)
    return final


def _forget(folder: Path) -> None:
    """Remove a journal: at one moment, so that a rank that begins late finds none."""
    gone = folder.with_name(f".{folder.name}.gone")
    folder.rename(gone)
    shutil.rmtree(gone)


def _cleaned(folder: Path) -> tuple[Left, str]:
    """What stays on the target after cleaning, and why it could not be cleaned, if so."""
    if not (folder / "plan.json").exists():
        return Left([]), ""
    later = f"once the storage answers, `venturi results rm --files {folder.name}` removes them"
    try:
        left = clean(folder)
    except VenturiError as error:
        return Left([]), f"{error.message}; {later.replace('them', 'what is left')}"
    if left.refused:
        names = "1 name" if left.refused == 1 else f"{left.refused} names"
        return left, f"{names} of the run could not be removed: {left.why}; {later}"
    return left, ""


def last_error(folder: Path) -> str:
    """What the engine said last on standard error; empty if it said nothing."""
    path = folder / "stderr.txt"
    lines = path.read_text("utf-8", "replace").splitlines() if path.exists() else []
    said = [line for line in lines if line.startswith(f"{PLAIN}: ")]
    return said[-1].removeprefix(f"{PLAIN}: ") if said else ""


def _text_in(path: Path) -> str:
    return path.read_text("utf-8", "replace") if path.exists() else ""


def read_samples(folder: Path) -> Iterator[HostSample]:
    """The samples of the host; a line that was cut off by a kill is left out."""
    for line in _text_in(folder / HOST_NAME).splitlines():
        try:
            yield HostSample.model_validate_json(line)
        except ValidationError:
            continue


def said_aside(folder: Path) -> tuple[str, ...]:
    """Warnings on standard error, by processes on nodes other than that of rank 0."""
    lines = _text_in(folder / "stderr.txt").splitlines()
    mark = f"{PLAIN} warning: "
    return tuple(line.removeprefix(mark) for line in lines if line.startswith(mark))


def _is_journal(folder: Path) -> bool:
    """Whether this is a journal, and nothing that somebody else put there."""
    if folder.is_symlink() or not folder.is_dir():
        return False
    if (folder / "lock").is_file():
        return True
    with contextlib.suppress(OSError):
        folder.rmdir()  # one that was only just made
    return False


def sweep(store: Path) -> list[Path]:
    """Conclude every journal whose processes are gone; the records that came of it."""
    made = []
    for folder in sorted((store / "running").glob("[!.]*")):
        if _is_journal(folder) and not is_alive(folder):
            record = conclude(store, folder)
            if record is not None:
                made.append(record)
    return made
