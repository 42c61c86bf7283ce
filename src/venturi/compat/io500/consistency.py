"""Do the files of one run say the same? Summary, result.txt, configs, logs and their times."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime

from venturi.compat.io500.checksum import run_keys
from venturi.compat.io500.evidence import Evidence
from venturi.compat.io500.score import WRITES
from venturi.compat.io500.summary import Io500Summary
from venturi.model.published import Flag, Io500Phase

_PRINTED = 2e-6
"""Numbers of six decimals agree within this, relative and absolute."""
_DECIMALS = 6e-4
"""The shell script printed three decimals."""
_OF_LOG = 1e-2
"""How far the rate in a log may be from the summary's, relative: logs of old versions round."""
_TIME_S = 0.0011
_CLOCK_S = 3.0
"""Begin and end of a phase are printed in whole seconds."""
_STONEWALL = re.compile(r"\s-[DW]\s*=?\s*(\d+)(?=\s|$)")
_TRUE = {"true": "TRUE", "1": "TRUE", "false": "FALSE", "0": "FALSE"}


def contradictions(summary: Io500Summary, evidence: Evidence) -> list[Flag]:
    """A flag for each pair of statements that cannot both be true; each costs the place."""
    found = [
        *_scores(summary, evidence),
        *_phases(summary, evidence),
        *_marks(summary, evidence),
        *_logs(summary, evidence),
        *_sizes(evidence),
        *_options(evidence),
    ]
    return [Flag(id="contradiction", what=what, excludes=True) for what in found]


def _scores(summary: Io500Summary, evidence: Evidence) -> Iterator[str]:
    """The head and the end of the two files."""
    result = evidence.result
    run = run_keys(result)
    version = run.get("version")
    if version is not None and version != summary.version:
        yield f"the summary is of version '{summary.version}', result.txt of '{version}'"
    mode = run.get("mode")
    if mode is not None and mode != summary.mode:
        yield f"the summary is of mode {summary.mode}, result.txt of mode {mode}"
    ends = (("SCORE", summary.published), ("SCOREX", summary.published_extended))
    for section, published in ends:
        theirs = result.get(section, {})
        if published is None:
            if "SCORE" in theirs:
                yield f"result.txt has [{section}], the summary has not"
            continue
        for key, value in (("BW", published.bw), ("MD", published.md), ("SCORE", published.score)):
            other = _number(theirs.get(key, "").partition(" ")[0])
            if value is not None and other is not None and not _equal(value, other):
                yield f"[{section}] {key} is {value:g} in the summary and {other:g} in result.txt"


def _phases(summary: Io500Summary, evidence: Evidence) -> Iterator[str]:
    if not evidence.result:
        return
    mine = {phase.name: phase for phase in summary.phases}
    for name, keys in evidence.result.items():
        phase = mine.get(name)
        if phase is not None:
            yield from _phase(phase, keys)
        elif "score" in keys:
            yield f"result.txt has the phase {name}, the summary has not"
    for phase in summary.phases:
        if phase.value > 0 and phase.name not in evidence.result:
            yield f"the summary has the phase {phase.name}, result.txt has not"


def _phase(phase: Io500Phase, keys: dict[str, str]) -> Iterator[str]:
    rate, spent_s = _number(keys.get("score", "")), _number(keys.get("t_delta", ""))
    if rate is not None and not _equal(rate, phase.value):
        yield f"{phase.name} is {phase.value:g} in the summary and {rate:g} in result.txt"
    if spent_s is None:
        return
    if phase.seconds is not None and abs(spent_s - phase.seconds) > _TIME_S:
        yield (
            f"{phase.name} took {phase.seconds:g} s by the summary and {spent_s:g} s by result.txt"
        )
    begin, end = _moment(keys.get("t_start", "")), _moment(keys.get("t_end", ""))
    if begin and end and (end - begin).total_seconds() < spent_s - _CLOCK_S:
        yield (
            f"{phase.name} took {spent_s:g} s by result.txt, but from its start to its end only "
            f"{(end - begin).total_seconds():g} s went by"
        )


def _marks(summary: Io500Summary, evidence: Evidence) -> Iterator[str]:
    """INVALID in one file and not in the other."""
    score = evidence.result.get("SCORE", {}).get("SCORE", "")
    theirs = "INVALID" in score
    if score and theirs != summary.invalid:
        where, other = ("result.txt", "the summary") if theirs else ("the summary", "result.txt")
        yield f"{where} calls the run invalid, {other} does not"


def _logs(summary: Io500Summary, evidence: Evidence) -> Iterator[str]:
    rates = {phase.name: phase.value for phase in summary.phases}
    for log in evidence.logs:
        value = rates[log.phase]
        if not log.rate:
            continue
        room = _OF_LOG * max(value, log.rate) + (0 if summary.format == "c-app" else _DECIMALS)
        if abs(value - log.rate) > room:
            yield f"{log.phase} is {value:g} in the summary and {log.rate:g} in {log.name}"


def _sizes(evidence: Evidence) -> Iterator[str]:
    """Processes and nodes, by everybody who says how many there were."""
    run = run_keys(evidence.result)
    tasks = [(log.tasks, log.name) for log in evidence.logs if log.tasks]
    stated = _number(run.get("procs", ""))
    if stated:
        tasks.insert(0, (int(stated), "result.txt"))
    yield from _differing(tasks, "processes")
    nodes = [(log.nodes, log.name) for log in evidence.logs if log.nodes]
    yield from _differing(nodes, "nodes")
    find = _number(evidence.result.get("find", {}).get("nproc", ""))
    if find and tasks and find > tasks[0][0]:
        yield f"find ran on {find:g} processes, but {tasks[0][1]} says {tasks[0][0]} for the run"


def _differing(stated: list[tuple[int, str]], what: str) -> Iterator[str]:
    for value, name in stated[1:]:
        if value != stated[0][0]:
            yield f"{stated[0][1]} says {stated[0][0]} {what}, {name} says {value}"
            return


def _options(evidence: Evidence) -> Iterator[str]:
    """What the user wrote, what the program resolved, and what its commands got."""
    resolved = {name.lower(): _lower(keys) for name, keys in evidence.config.items()}
    if resolved:
        for name, keys in evidence.chosen.items():
            for key, value in _lower(keys).items():
                other = resolved.get(name.lower(), {}).get(key)
                if other is not None and other != value:
                    yield (
                        f"[{name}] {key} is '{value}' in config-orig.ini and '{other}' in "
                        "config.ini"
                    )
    wall = evidence.config.get("debug", {}).get("stonewall-time")
    for phase in WRITES:
        found = _STONEWALL.search(evidence.result.get(phase, {}).get("exe", ""))
        if wall and found and found[1] != wall:
            yield (
                f"stonewall-time is {wall} in config.ini, but {phase} was started with {found[1]}"
            )


def _lower(keys: dict[str, str]) -> dict[str, str]:
    """Keys in lower case, values as the program's parser takes them; empty values are not set."""
    plain = {key.lower(): re.split(r"\s[#;]", value)[0].strip() for key, value in keys.items()}
    return {key: _TRUE.get(value.lower(), value) for key, value in plain.items() if value}


def _equal(first: float, second: float) -> bool:
    return abs(first - second) <= _PRINTED * max(1.0, abs(first), abs(second))


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _moment(text: str) -> datetime | None:
    try:
        return datetime.strptime(text.strip(), "%Y-%m-%d %H:%M:%S")
    except ValueError:
        return None
