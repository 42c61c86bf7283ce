"""`result_summary.txt` of all generations: the shell script's, and the C application's."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from venturi.model.error import UserError
from venturi.model.published import Io500Phase, Io500Score

_NUMBER = r"([-+]?(?:\d[\d.]*(?:[eE][-+]?\d+)?|nan|inf))"
_VERSION = re.compile(r"IO500 version(?:\s+([^\s(]\S*))?(?:\s+\((standard|extended)\))?\s*$")
"""Programs that were built outside of a checkout have no version."""
_PHASE = re.compile(
    r"\[(RESULT|\s*)(-invalid)?\s*\]\s+(?:(?:BW|IOPS)\s+phase\s+\d+\s+)?([A-Za-z][\w-]*)\s+"
    rf"{_NUMBER}\s+(\S+)\s*:\s*time\s+{_NUMBER}\s+seconds\s*(\[INVALID\])?\s*$"
)
_SCORE = re.compile(
    rf"\[SCORE(X?)(-invalid)?\s*\]\s+Bandwidth\s+{_NUMBER}\s+\S+\s*:\s*IOPS\s+{_NUMBER}\s+\S+\s*:"
    rf"\s*TOTAL\s+{_NUMBER}\s*(\[INVALID\])?\s*$"
)
_BYTES_PER_S = ("gib/s", "gb/s")
"""Both mean GiB/s: the older label is wrong."""


@dataclass(frozen=True)
class Io500Summary:
    """What the text says, with nothing computed."""

    format: Literal["bash", "c-app"]
    version: str
    mode: Literal["standard", "extended"]
    phases: list[Io500Phase]
    published: Io500Score
    published_extended: Io500Score | None
    invalid: bool
    """The tool calls the whole run invalid."""


@dataclass
class _SummaryDraft:
    version: str = ""
    is_new: bool = False
    """The C application wrote it: the shell script says no version."""
    mode: Literal["standard", "extended"] = "standard"
    phases: dict[str, Io500Phase] = field(default_factory=dict)
    scores: dict[str, Io500Score] = field(default_factory=dict)
    invalid: bool = False


def read_summary(data: bytes, source: str) -> Io500Summary:
    """The summary in a file's bytes.

    UserError with the line's number for what is no summary, is cut off before its score, or says
    what cannot be (a negative rate, no number).
    """
    seen = _SummaryDraft()
    for number, line in _lines(data, source):
        _take(line, f"{source}, line {number}", seen)
    if not seen.phases:
        raise UserError(
            f"{source}: neither what a known tool wrote nor a summary of IO500: no phase",
            "name a result_summary.txt, a folder that holds some, or a list as CSV",
        )
    if "" not in seen.scores:
        last = list(seen.phases)[-1]
        raise UserError(
            f"{source}: it ends after {last} ({len(seen.phases)} phases) and has no score",
            "the run was stopped, or the file is cut off: copy it again",
        )
    return Io500Summary(
        format="c-app" if seen.is_new else "bash",
        version=seen.version,
        mode=seen.mode,
        phases=list(seen.phases.values()),
        published=seen.scores[""],
        published_extended=seen.scores.get("X"),
        invalid=seen.invalid,
    )


def _lines(data: bytes, source: str) -> Iterator[tuple[int, str]]:
    if not data.strip():
        raise UserError(f"{source}: the file is empty", "copy it again")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = ""
    if not text or "\0" in text:
        raise UserError(f"{source}: this is no text", "name the text that io500 wrote")
    return enumerate(text.splitlines(), 1)


def _take(line: str, place: str, seen: _SummaryDraft) -> None:
    if found := _VERSION.match(line):
        seen.version, seen.is_new = found[1] or "", True
        seen.mode = "extended" if found[2] == "extended" else "standard"
    elif found := _PHASE.match(line):
        phase = _phase(found, place)
        if phase.name in seen.phases:
            raise UserError(f"{place}: {phase.name} was there before: are these two runs?")
        seen.phases[phase.name] = phase
    elif found := _SCORE.match(line):
        seen.scores[found[1]] = Io500Score(
            bw=_rate(found[3], place), md=_rate(found[4], place), score=_rate(found[5], place)
        )
        seen.invalid |= bool(found[2] or found[6])
    elif line.startswith(("[RESULT", "[SCORE")):
        raise UserError(f"{place}: this line cannot be read: {line[:60]!r}")


def _phase(found: re.Match[str], place: str) -> Io500Phase:
    is_bandwidth = found[5].lower() in _BYTES_PER_S
    return Io500Phase(
        name=found[3].replace("_", "-"),
        value=_rate(found[4], place),
        unit="GiB/s" if is_bandwidth else "kIOPS",
        seconds=_rate(found[6], place),
        scored=found[1] == "RESULT",
        invalid=bool(found[2] or found[7]),
    )


def _rate(text: str, place: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise UserError(f"{place}: {text} is no number")
    if value < 0:
        raise UserError(f"{place}: {text} is negative, which no rate or time can be")
    return value
