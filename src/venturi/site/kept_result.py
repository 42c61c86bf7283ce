"""The shared results of a subject, kept beside the site: a line each, known by its digest."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from venturi.model.result import Result
from venturi.site.output import digest_of_text


def kept(result: Result) -> tuple[str, str]:
    """The digest of a result, and the text that it is of."""
    text = result.to_json()
    return digest_of_text(text), text


def write_results(path: Path, texts: Iterable[str]) -> None:
    """A line for each."""
    path.write_text("".join(f"{text}\n" for text in texts), "utf-8")


def read_results(path: Path) -> dict[str, str]:
    """All of them by their digests; what was damaged has another digest than its run says."""
    try:
        lines = path.read_text("utf-8", "replace").split("\n")
    except OSError:
        return {}
    return {digest_of_text(line): line for line in lines}
