"""Lists as tables of comma- or semicolon-separated values, one row for each result."""

from __future__ import annotations

import csv
import hashlib
import io
import math
import re
from collections.abc import Iterator, Mapping, Sequence

from venturi.compat.io500.judge import (
    STONEWALL_S,
    STONEWALL_STUDENTS_S,
    excluding,
    explain,
    of_phases,
    short,
)
from venturi.compat.io500.plain_word import plain, release_of, release_year, reproducibility_of
from venturi.compat.io500.score import METADATA, SCORED, score
from venturi.compat.io500.submitted import configuration_of, questionnaire_of
from venturi.model.error import UserError
from venturi.model.published import Flag, Io500Phase, Io500Result, Io500Score

_PREFIX = re.compile(r"^(io500|information|submissions?)[._]+")
_COLUMNS = {
    "institution": ("institution",),
    "system": ("system", "system_name"),
    "filesystem": ("filesystem_type", "filesystem_name", "filesystem"),
    "nodes": ("client_nodes",),
    "procs": ("client_total_procs", "procs"),
    "bw": ("bw",),
    "md": ("md",),
    "score": ("score",),
    "storage_vendor": ("storage_vendor",),
    "reproducibility": ("reproducibility_score", "reproducibility", "repro"),
    "classification": ("system_classification", "system_purpose"),
    "year": ("submission_date", "release_date", "year"),
}
_RELEASES = ("release_id", "list_name", "release", "bof", "list")
"""The list that a result came out with; downloads of the site have its name in `release_id`."""
_THOUSANDS = re.compile(r"\d{1,3}(,\d{3})+(\.\d*)?")
_NO_PHASES = Flag(
    id="no-phases", what="the list gives no phases: only the score could be computed from its means"
)
_OTHER_NAMES = {"find": ("find_mixed", "find_easy", "find_hard")}
"""Where lists of early years have the one find that there was, in this order."""
_NOTHING = frozenset({"", "null", "nan", "none", "n/a", "-"})
_VALID = frozenset({"", "VALID"})


def read_list(data: bytes, source: str) -> Iterator[Io500Result | str]:
    """The rows of a list that have any phase, or both means; UserError if it has no such column.

    Names of columns may carry the site's prefixes (`io500_`, `information_`), numbers commas
    between their thousands; NULL and the like are empty cells. A row that cannot be read is given
    as a sentence that says why, and the others are read all the same.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UserError(f"{source}: this is no text in UTF-8") from None
    head = text.split("\n", 1)[0]
    separator = ";" if head.count(";") > head.count(",") else ","
    rows = csv.reader(io.StringIO(text), delimiter=separator)
    names = [_PREFIX.sub("", name.strip().lower()) for name in next(rows, [])]
    if not {_column(name) for name in SCORED} & set(names) and not {"bw", "md"} <= set(names):
        raise UserError(
            f"{source}: no column of IO500 (such as ior_easy_write) in its first line",
            "name a list as the site gives it, as CSV",
        )
    for number, cells in enumerate(rows, 2):
        try:
            result = _result(_row(names, cells), f"{source}, row {number}")
        except UserError as error:
            yield error.message
            continue
        if result is not None:
            yield result


def _row(names: Sequence[str], cells: Sequence[str]) -> dict[str, str]:
    """The cells that hold something; where two columns have one name, the first that does."""
    row: dict[str, str] = {}
    for name, cell in zip(names, map(str.strip, cells), strict=False):
        if cell.lower() not in _NOTHING:
            row.setdefault(name, cell)
    return row


def _result(row: Mapping[str, str], source: str) -> Io500Result | None:
    phases = [phase for name in SCORED if (phase := _phase(row, name, source)) is not None]
    published = Io500Score(
        bw=_number(row, "bw", source),
        md=_number(row, "md", source),
        score=_number(row, "score", source),
    )
    if not phases and (not published.bw or not published.md):
        return None
    recomputed = score(phases) if phases else _of_means(published)
    mismatches = explain(published, recomputed, phases, is_old=True, is_list=True)
    words = "\n".join(f"{key}={row[key]}" for key in sorted(row))
    year = re.search(r"(?:19|20)\d\d", _text(row, "year"))
    release = next((found for name in _RELEASES if (found := release_of(row.get(name, "")))), "")
    flags = [*mismatches, *_status(row), *(_of_phases(row, phases) if phases else [_NO_PHASES])]
    return Io500Result(
        key=hashlib.sha256(words.encode()).hexdigest()[:16],
        source=source,
        format="list",
        institution=_text(row, "institution"),
        system=_text(row, "system"),
        filesystem=_text(row, "filesystem"),
        storage_vendor=plain(_text(row, "storage_vendor")),
        release=release,
        reproducibility=reproducibility_of(_text(row, "reproducibility")),
        year=int(year[0]) if year else release_year(release),
        procs=_whole(row, "procs", source),
        nodes=_whole(row, "nodes", source),
        classification=_text(row, "classification").lower(),
        configuration=configuration_of(row),
        questionnaire=questionnaire_of(row),
        phases=phases,
        published=published,
        recomputed=recomputed,
        match=not mismatches,
        ranked=not excluding(flags),
        flags=flags,
    )


def _status(row: Mapping[str, str]) -> list[Flag]:
    status = row.get("status", "")
    if status.upper() in _VALID:
        return []
    return [Flag(id="invalid", what=f"the list calls this result {status}", excludes=True)]


def _of_phases(row: Mapping[str, str], phases: Sequence[Io500Phase]) -> list[Flag]:
    is_students = "scc" in row.get("list_name", row.get("list", "")).lower()
    return short(phases, STONEWALL_STUDENTS_S if is_students else STONEWALL_S) + of_phases(phases)


def _of_means(published: Io500Score) -> Io500Score:
    """What a list that gives no phases allows to compute: the score, from its two means."""
    assert published.bw is not None
    assert published.md is not None
    total = math.sqrt(published.bw * published.md)
    return Io500Score(bw=published.bw, md=published.md, score=total)


def _phase(row: Mapping[str, str], name: str, source: str) -> Io500Phase | None:
    columns = (_column(name), *_OTHER_NAMES.get(name, ()))
    values = [_parse(row[one], one, source) for one in columns if one in row]
    if not values:
        return None
    spent = row.get(f"{_column(name)}_seconds", "")
    return Io500Phase(
        name=name,
        value=next((value for value in values if value > 0), 0.0),
        unit="kIOPS" if name in METADATA else "GiB/s",
        seconds=_parse(spent, f"{_column(name)}_seconds", source) or None if spent else None,
    )


def _column(name: str) -> str:
    return name.replace("-", "_")


def _text(row: Mapping[str, str], field: str) -> str:
    return next((row[name] for name in _COLUMNS[field] if row.get(name)), "")


def _number(row: Mapping[str, str], field: str, source: str) -> float | None:
    text = _text(row, field)
    return _parse(text, field, source) if text else None


def _whole(row: Mapping[str, str], field: str, source: str) -> int | None:
    value = _number(row, field, source)
    return int(value) if value is not None and value >= 1 else None


def _parse(text: str, column: str, source: str) -> float:
    try:
        value = float(text.replace(",", "") if _THOUSANDS.fullmatch(text) else text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or value < 0:
        raise UserError(f"{source}: {column} is {text!r}, which is no rate")
    return value
