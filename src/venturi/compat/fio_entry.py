"""The files of all jobs as entries of a workload: who makes them, and who uses them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from venturi.compat.fio_job import FioJob
from venturi.compat.fio_place import JobPlace
from venturi.compat.fio_shape import JobShape, shares_files

Step = dict[str, Any]
_DIRECT_BYTES = 4096
"""Files that are filled past the page cache are multiples of it."""


@dataclass(frozen=True)
class PlacedJob:
    """A job with its files and the arithmetic of its requests."""

    number: int
    job: FioJob
    shape: JobShape
    place: JobPlace
    group: str
    """Its group, and its phase."""
    waits: frozenset[int] = frozenset()
    """The numbers of the jobs that end before it begins."""
    walls: int = 0
    """Stonewalls up to it."""


@dataclass
class FileEntry:
    """One entry of a workload."""

    name: str
    path: str
    keys: Step
    users: list[PlacedJob] = field(default_factory=list)
    maker: FileEntry | None = None
    """The entry that makes these files, where this one opens them in another way."""

    @property
    def first(self) -> PlacedJob:
        """The job that uses it first."""
        return self.users[0]


def templates_of(placed: PlacedJob) -> list[str]:
    """The paths of a job's files, one template for numbered ones."""
    job, names = placed.job, placed.place.names
    if placed.place.existing:
        return [_escaped(placed.place.existing)]
    if job.filenames:
        return [_escaped(name) for name in names]
    path = _escaped(job.name_format)
    words = {"$jobname": _escaped(job.name), "$jobnum": "{rank}"}
    words["$filenum"] = "{file}" if job.file_count > 1 else "0"
    for word, ours in words.items():
        path = path.replace(word, ours)
    return [path]


class Entries:
    """The entries of all jobs; jobs with a file in common have it in common here."""

    def __init__(self, jobs: Sequence[PlacedJob], problems: list[str]) -> None:
        self._problems = problems
        self._by_path: dict[str, list[FileEntry]] = {}
        self._of_job: dict[int, list[FileEntry]] = {}
        for placed in jobs:
            entries = [self._entry(path, placed) for path in templates_of(placed)]
            self._of_job[placed.number] = entries
        for entries in self._by_path.values():
            self._settle(entries)
        self._check_numbered(jobs)

    def of(self, placed: PlacedJob) -> list[FileEntry]:
        """The entries of a job: one for each name, or one for all numbered files."""
        return self._of_job[placed.number]

    def files(self) -> Step:
        """The `files` of the workload."""
        return {
            entry.name: {"path": entry.path, **entry.keys}
            for entries in self._by_path.values()
            for entry in entries
        }

    def _entry(self, path: str, placed: PlacedJob) -> FileEntry:
        keys = _keys(placed)
        known = self._by_path.setdefault(path, [])
        for entry in known:
            if entry.keys == keys:
                entry.users.append(placed)
                return entry
        entry = FileEntry(self._name(path), path, keys, [placed], known[0] if known else None)
        known.append(entry)
        return entry

    def _name(self, path: str) -> str:
        taken = {entry.name for entries in self._by_path.values() for entry in entries}
        return unique(re.sub(r"\{\w+\}", "", path).rstrip("."), taken)

    def _settle(self, entries: list[FileEntry]) -> None:
        """Say how the files of a path come to be, from the jobs that use them."""
        first = entries[0]
        users = sorted((user for entry in entries for user in entry.users), key=_number)
        maker = users[0]
        size = max(user.shape.file_bytes for user in users)
        if maker.place.existing:
            return
        for user in users[1:]:
            self._check_user(first, maker, user)
        if is_filled(maker):
            if any(user.job.direct for user in users):
                size = -(-size // _DIRECT_BYTES) * _DIRECT_BYTES
            staged: int | str = size
            if first.keys["shared"] == "all" and maker.job.clones > 1:
                staged = f"{size} if rank == 0 else 0"
            for entry in entries:
                entry.keys["prestage"] = staged
                entry.maker = None
            return
        reserves = maker.job.fallocate in ("native", "posix") and maker.job.lays_out
        if maker.job.entry.is_mapping:
            first.keys.setdefault("options", {})["size"] = size
        elif reserves and maker.job.is_stored:
            first.keys.setdefault("options", {})["preallocate"] = size
        for entry in entries[1:]:
            entry.keys["made_by"] = [first.name]

    def _check_numbered(self, jobs: Sequence[PlacedJob]) -> None:
        """Jobs of one name with generated names of files have equally many of them."""
        known: dict[str, PlacedJob] = {}
        for placed in jobs:
            if placed.job.filenames:
                continue
            path = placed.job.name_format.replace("$jobname", placed.job.name)
            other = known.setdefault(path, placed)
            if other.job.file_count != placed.job.file_count:
                self._problems.append(
                    f"{placed.job.where}: job {placed.job.name}: nrfiles={placed.job.file_count} "
                    f"is refused: another job of this name has {other.job.file_count}; give it "
                    "another name"
                )

    def _check_user(self, entry: FileEntry, maker: PlacedJob, user: PlacedJob) -> None:
        where = f"{user.job.where}: job {user.job.name}: the file '{entry.path}' of job "
        if entry.keys["shared"] != _keys(user)["shared"]:
            self._problems.append(f"{where}{maker.job.name} is refused: it has other sharers there")
        elif entry.keys["interface"] != user.job.interface:
            self._problems.append(
                f"{where}{maker.job.name} is refused: it has another engine there"
            )
        elif user.job.verify or maker.job.verify:
            self._problems.append(
                f"{where}{maker.job.name} with verify is refused: what a job writes is checked by "
                "itself, and no other job uses its files"
            )
        elif not is_filled(maker) and maker.number not in user.waits:
            self._problems.append(
                f"{where}{maker.job.name} is refused: one job writes what is new while the other "
                "uses it; add stonewall to this one, or overwrite=1 to the first one"
            )
        elif not is_filled(maker) and user.shape.file_bytes > maker.shape.file_bytes:
            self._problems.append(f"{where}{maker.job.name} is refused: it is smaller there")
        elif maker.job.clones != user.job.clones and entry.keys["shared"] == "rank":
            self._problems.append(f"{where}{maker.job.name} is refused: it has other clones there")


def _number(placed: PlacedJob) -> int:
    return placed.number


def is_filled(placed: PlacedJob) -> bool:
    """Whether the files of a job are full before it begins, if no job before made them."""
    return placed.job.reads or placed.job.overwrite


def _keys(placed: PlacedJob) -> Step:
    """What an entry says but how its files come to be."""
    job = placed.job
    options: Step = dict(job.options)
    if job.direct:
        options["direct"] = True
    if job.open_sync:
        options["open_sync"] = job.open_sync
    advice = job.advice
    if advice == "pattern":
        advice = "random" if job.is_random else "sequential"
    if advice != "normal":
        options["advice"] = advice
    if not job.is_stored:
        options = {}
    keys: Step = {"interface": job.interface}
    own = not job.filenames and "$jobnum" in job.name_format
    keys["shared"] = "rank" if own else "all"
    if options:
        keys["options"] = options
    if placed.place.existing:
        return {**keys, "foreign": True}
    content = {"verify": True} if job.verify else {}
    if job.repeats:
        content["repeats"] = True
    if content:
        keys["content"] = content
    if job.keep:
        keys["keep"] = True
    return keys


def is_apart(placed: PlacedJob) -> bool:
    """Whether each clone has files of its own, or there is one clone only."""
    return not shares_files(placed.job)


def unique(text: str, taken: set[str]) -> str:
    """A name for a workload's document made of a text, unlike those that are taken."""
    base = re.sub(r"[^A-Za-z0-9_]+", "_", text).strip("_") or "job"
    base = base if re.match(r"[A-Za-z_]", base) else f"job_{base}"
    name, number = base, 1
    while name in taken:
        number += 1
        name = f"{base}_{number}"
    return name


def _escaped(name: str) -> str:
    return name.replace("{", "{{").replace("}", "}}")
