"""The index of all runs that a site was built from: a line of text for each.

Of 20 000 runs one may be new. A line is taken apart at tabs, which takes a hundredth of what it
takes to read the run; what only pages of lists say is JSON at its end, read where one is drawn.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
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

    def text(self) -> str:
        """The same as JSON."""
        return json.dumps(self, separators=(",", ":"))

    @classmethod
    def of_run(cls, run: SiteRun) -> RunLine:
        """The line of a document's part."""
        return cls(**{name: getattr(run, name) for name in cls._fields})


class KnownRun(NamedTuple):
    """What follows from the files of one run alone."""

    place: str
    """The number of its source, and where it is in it."""
    mark: str
    """Of its files, and its tags; empty: only what they hold tells whether they are the same."""
    content: str = ""
    """A digest of its file; empty: it has several."""
    digest: str = ""
    """Of its shared result."""
    why: str = ""
    """Why it has no page; empty: it has one. All that follows is empty then."""
    id: str = ""
    started: str = ""
    session: str = ""
    machine: str = ""
    name: str = ""
    group: str = ""
    work: str = ""
    """What it did, as its result says."""
    page: str = ""
    line: str = ""
    """A `RunLine` as JSON."""

    raw: str = ""
    """The line that it was read from; empty: it is new."""

    def run(self) -> RunLine:
        """The run in a line of pages."""
        return RunLine._make(json.loads(self.line))

    @property
    def tags(self) -> list[str]:
        """Its tags; a run without one, as most are, has an empty list at the end of its line."""
        return [] if self.line.endswith(",[]]") else self.run().tags

    def marked(self, mark: str) -> KnownRun:
        """The same run, whose files are the same though their times are others."""
        return self if mark == self.mark else self._replace(mark=mark, raw="")


def text_of(runs: Iterable[KnownRun]) -> bytes:
    """All runs, a line each."""
    return "".join(f"{run.raw or _line_of(run)}\n" for run in runs).encode()


def runs_of(data: bytes) -> dict[str, KnownRun]:
    """The runs in a text of `text_of`, by place. ValueError for any other."""
    found = {}
    try:
        for line in data.decode("utf-8").splitlines():
            parts = line.split("\t")
            if "\\" in line:
                parts = [json.loads(f'"{part}"') if "\\" in part else part for part in parts]
            found[parts[0]] = KnownRun._make([*parts, line])
    except (TypeError, RecursionError) as error:
        raise ValueError(str(error)) from None
    return found


def _line_of(run: KnownRun) -> str:
    return "\t".join(map(_escaped, run[:-1]))


def _escaped(text: str) -> str:
    """A field in which nothing parts fields or lines."""
    if text.isascii() and text.isprintable() and "\\" not in text:
        return text
    return json.dumps(text)[1:-1]
