"""The index of all runs that a site was built from: rows of plain JSON.

Of 20 000 runs one may be new. As documents, all of them would take longer to read than that one
takes to be drawn.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import NamedTuple

from venturi.model.site import SiteRun


class RunLine(NamedTuple):
    """A run in a line: the fields of `SiteRun`, in their order."""

    id: str
    name: str
    machine: str
    step: str
    started: str
    level: str
    metric: str
    value: float | None
    unit: str
    of: str
    tags: list[str]

    def document(self) -> SiteRun:
        """The same as a part of documents."""
        return SiteRun(**self._asdict())

    @classmethod
    def of_run(cls, run: SiteRun) -> RunLine:
        """The line of a document's part."""
        return cls(**{name: getattr(run, name) for name in cls._fields})


class KnownRun(NamedTuple):
    """A run as it was when the site was built the last time."""

    stamp: str
    """Sizes and times of its files, and its tags: what would be others if it changed."""
    group: str = ""
    """Empty: it could not be read, or may not be shown."""
    why: str = ""
    line: RunLine | None = None
    work: str = ""
    """What it did, as its result says."""


def text_of(runs: Mapping[str, KnownRun]) -> bytes:
    """All runs, by source and place in it."""
    rows = [[place, *run] for place, run in runs.items()]
    return json.dumps(rows, separators=(",", ":")).encode()


def runs_of(data: bytes) -> dict[str, KnownRun]:
    """The runs in a text of `text_of`. ValueError for any other."""
    try:
        return {
            place: KnownRun(stamp, group, why, line and RunLine._make(line), work)
            for place, stamp, group, why, line, work in json.loads(data)
        }
    except (TypeError, RecursionError) as error:
        raise ValueError(str(error)) from None


def name_of(data: bytes) -> str:
    """The name of the file with this text: the state names it, so the two belong together."""
    return f"runs-{hashlib.sha256(data).hexdigest()[:16]}.json"
