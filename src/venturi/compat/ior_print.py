"""Which form a command's result takes, and where it goes."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path

from venturi.compat.ior_csv import ior_csv, rank_csv
from venturi.compat.ior_json import ior_json, refusal_json
from venturi.compat.ior_key import TOOL
from venturi.compat.ior_result import IorRun
from venturi.compat.ior_test import IorTest
from venturi.compat.ior_text import ior_text
from venturi.model.error import UserError


class SummaryFormat(StrEnum):
    """Forms of a result that IOR's readers know."""

    TEXT = "ior-text"
    JSON = "ior-json"
    CSV = "ior-csv"


_WORDS = {"default": SummaryFormat.TEXT, "json": SummaryFormat.JSON, "csv": SummaryFormat.CSV}


def form_of(test: IorTest, wanted: str | None) -> SummaryFormat | None:
    """The form that the command or the script asks for; None is ours."""
    if wanted:
        return SummaryFormat(wanted)
    if not test.summary_format:
        return SummaryFormat.TEXT if test.summary_file else None
    word = test.summary_format.lower()
    if word not in _WORDS:
        raise UserError(
            f"{TOOL}: there is no summaryFormat={test.summary_format}", "default, JSON or CSV"
        )
    return _WORDS[word]


def render(
    form: SummaryFormat, runs: Sequence[IorRun], arguments: Sequence[str], error: str
) -> str:
    """The tests of a command in a form of IOR's; `error` says why the next has no result.

    Without any run only the JSON form has something to say: it is a document in any case.
    """
    if form is SummaryFormat.JSON:
        return ior_json(runs, error) if runs else refusal_json(arguments, error)
    if not runs:
        return ""
    return ior_text(runs) if form is SummaryFormat.TEXT else ior_csv(runs)


def write_summary(test: IorTest, text: str) -> str:
    """Write the result into summaryFile; the line that says so."""
    Path(test.summary_file).write_text(text, "utf-8")
    return f"Writing output to {test.summary_file}"


def write_rank_details(runs: Sequence[IorRun]) -> None:
    """Write what saveRankPerformanceDetailsCSV asks for; later tests follow earlier ones."""
    texts: dict[str, str] = {}
    for run in runs:
        name = run.test.rank_details
        if not name:
            continue
        text = rank_csv(run)
        texts[name] = texts[name] + text.split("\n", 1)[1] if name in texts else text
    for name, text in texts.items():
        Path(name).write_text(text, "utf-8")
