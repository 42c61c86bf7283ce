"""The shared results of a subject, kept beside the site: a line each, read as far as is needed."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from venturi.model.result import Result


class KeptResult(NamedTuple):
    """A result as text, and what says whether it is needed."""

    started: str
    id: str
    session: str
    level: str
    tags: list[str]
    text: str

    def result(self) -> Result:
        """The result itself. ValueError for a text that is none."""
        return Result.model_validate_json(self.text, by_alias=True)


def kept(result: Result) -> KeptResult:
    """A result as it is kept."""
    head = (result.started, result.id, result.session, result.level, result.tags)
    return KeptResult(*head, result.to_json())


def write_results(path: Path, results: Iterable[KeptResult]) -> None:
    """A line for each."""
    path.write_text("".join(f"{json.dumps(one)}\n" for one in results), "utf-8")


def read_results(path: Path) -> list[KeptResult]:
    """All of them. OSError or ValueError where the file is not there or damaged."""
    try:
        with path.open("rb") as file:
            return [KeptResult._make(json.loads(line)) for line in file]
    except (TypeError, RecursionError) as error:
        raise ValueError(str(error)) from None
