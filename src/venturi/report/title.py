"""Titles that tell the runs of one page apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from venturi.model.record import Record


def titles(records: Sequence[Record]) -> list[str]:
    """Return a title for each run, in their order: its name, and what tells it from namesakes.

    That is the file system, the directory, the host, parameters or the number of ranks if these
    are enough; else the run's id.
    """
    counts = Counter(record.name for record in records)
    found: dict[int, str] = {}
    for name in counts:
        own = [record for record in records if record.name == name]
        found |= {id(record): title for record, title in zip(own, _told_apart(own), strict=True)}
    return [found[id(record)] for record in records]


def page_title(records: Sequence[Record]) -> str:
    """Return what several runs have in common."""
    names = {record.name for record in records}
    if len(names) == 1 and records:
        return f"{len(records)} runs of {records[0].name}"
    storages = {
        (r.environment.host, r.environment.file_system.type, r.environment.file_system.source)
        for r in records
    }
    if len(storages) == 1:
        return f"{len(names)} workloads on this storage"
    return f"{len(names)} workloads on {len(storages)} storage systems"


def _told_apart(records: Sequence[Record]) -> list[str]:
    if len(records) == 1:
        return [records[0].name]
    for words in _WORDS:
        said = [words(record) for record in records]
        if len(set(said)) == len(said):
            return [f"{record.name} {text}" for record, text in zip(records, said, strict=True)]
    return [f"{record.name} ({record.id})" for record in records]


def _parameters(record: Record) -> str:
    said = ", ".join(f"{name} {value}" for name, value in record.parameters.items())
    return f"with {said}"


_WORDS: tuple[Callable[[Record], str], ...] = (
    lambda record: f"on {record.environment.file_system.type}",
    lambda record: f"at {record.environment.directory}",
    lambda record: f"on host {record.environment.host}",
    lambda record: f"on {record.ranks} ranks",
    _parameters,
)
