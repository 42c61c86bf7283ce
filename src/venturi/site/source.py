"""Where a site's results come from: stores, and checkouts of repositories of results."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from venturi.model.error import UserError
from venturi.model.history import KnownChange, KnownChanges
from venturi.model.result import Result, digest_of
from venturi.model.yaml_text import load_yaml
from venturi.site.mark import YOUNG, mark_of
from venturi.store.public import PUBLIC_FACTS, public
from venturi.store.result import (
    RECORD_NAME,
    RESULT_NAME,
    archived,
    load_result,
    shared,
    tags_by_run,
)
from venturi.store.seal import SEAL_NAME, sha256_of
from venturi.store.version import read_versioned

KNOWN_NAME = "known-changes.yaml"
_STORE_NAMES = (
    "runs",
    "published",
    "health",
    "probe",
    "index.json",
    "tags",
    "running",
    "forecast",
    "prediction",
    "trial",
)
_MARKED = (RESULT_NAME, RECORD_NAME, SEAL_NAME)
"""What of a run is read."""


@dataclass(frozen=True)
class Stored:
    """One run in a source."""

    place: str
    """Where it is, in the source."""
    mark: str
    """What is another text once the run has changed; empty: only its files tell."""


class Source:
    """A store, or a checkout of a repository that `results push` fills."""

    def __init__(self, path: Path) -> None:
        """UserError for what is neither."""
        self.path = path
        if not path.is_dir():
            raise UserError(f"{path}: there is no such directory", "name a store or a checkout")
        self.is_store = any((path / name).exists() for name in _STORE_NAMES)
        if not self.is_store and not (path / "results").is_dir() and any(path.iterdir()):
            raise UserError(
                f"{path}: this is neither a store nor a checkout of a results repository",
                "a store has runs/, a checkout has results/; clone a bare repository first",
            )

    def runs(self, before_ns: int) -> Iterator[Stored]:
        """All runs, in the order of their names; those that changed after `before_ns` are young."""
        if not self.is_store:
            folder = self.path / "results"
            for file in shared(folder) if folder.is_dir() else ():
                place = file.relative_to(self.path).as_posix()
                yield Stored(place, mark_of(str(file), before_ns))
            return
        runs = os.path.join(self.path, "runs")  # 60 000 objects of Path take longer than the looks
        tags = {run: f" {digest_of(own)}" for run, own in self._tags.items()}
        for name in _folders(self.path / "runs"):
            marks = [mark_of(f"{runs}/{name}/{one}", before_ns) for one in _MARKED]
            yield Stored(name, f"{' '.join(marks)}{tags.get(name, '')}" if all(marks) else YOUNG)

    def content(self, stored: Stored) -> str:
        """A digest of a run's file in a checkout: each clone gives files other times.

        Empty in a store.
        """
        if self.is_store:
            return ""
        try:
            return sha256_of(self.path / stored.place)
        except OSError:
            return ""

    def load(self, stored: Stored) -> Result:
        """A run's shared fields. UserError for one that is damaged, or must not be shared."""
        if not self.is_store:
            result = read_versioned(self.path / stored.place, Result)
            facts = {name: v for name, v in result.facts.items() if name in PUBLIC_FACTS}
            return result.model_copy(update={"facts": facts, "reasons": []})
        folder = self.path / "runs" / stored.place
        return archived(folder, load_result(folder), self._tags.get(stored.place, []))

    def shared(self, result: Result) -> Result:
        """What of a result may be seen by everybody. UserError where a name is private."""
        return public(result) if self.is_store else result

    @cached_property
    def _tags(self) -> dict[str, list[str]]:
        return tags_by_run(self.path)

    def known(self) -> list[KnownChange]:
        """What people noted beside the results. UserError for a file that is damaged."""
        file = self.path / KNOWN_NAME
        return load_yaml(file, KnownChanges).known if file.is_file() else []


def _folders(runs: Path) -> list[str]:
    try:
        with os.scandir(runs) as found:
            return sorted(one.name for one in found if one.name[0] != "." and one.is_dir())
    except FileNotFoundError:
        return []
