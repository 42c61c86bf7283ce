"""What a reader of another tool's output finds, and how it becomes a result."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from venturi.model.record import Level
from venturi.model.result import Measure, Result, ResultSource, SourceKind, digest_of
from venturi.model.workload import Scalar

DAMAGE = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)
"""What reading raises for an output that is not as its tool writes it."""
_MOST_WORD = 60
_TAIL = 8


def damage(error: Exception, tool: str) -> str:
    """Return what is wrong with an output for which reading raised one of DAMAGE."""
    if isinstance(error, KeyError):
        return f"not as {tool} writes it: it has no {error.args[0]!r}"
    if type(error) is ValueError:
        return f"not as {tool} writes it: {error}"
    return f"not as {tool} writes it: it has a value of another kind or out of range"


@dataclass(frozen=True)
class ImportedRun:
    """One run as another tool tells it."""

    tool: str
    name: str
    metrics: dict[str, Measure]
    parameters: dict[str, Scalar] = field(default_factory=dict)
    ranks: int = 1
    nodes: int = 1
    version: str = ""
    started: str = ""
    """UTC, ISO 8601; empty: the tool does not say."""
    work: str = ""
    """Words that tell apart what parameters do not, such as the command line."""
    failure: str = ""
    facts: dict[str, str] = field(default_factory=dict)


def with_request(reading: ImportedRun, requested: Mapping[str, Scalar]) -> ImportedRun:
    """The run, which has failed if it did something else than was requested, or does not say it."""
    for name, wanted in requested.items():
        if name not in reading.parameters:
            known = ", ".join(reading.parameters) or "no setting"
            failure = f"{name} {wanted} was requested, and it does not say its {name} (but {known})"
        elif str(reading.parameters[name]) != str(wanted):
            failure = f"{name} {wanted} was requested, and it ran {reading.parameters[name]}"
        else:
            continue
        return replace(reading, failure=reading.failure or failure)
    return reading


def result_of(
    reading: ImportedRun, data: bytes, number: int, machine: str, written: float
) -> Result:
    """The result; `number` is its place in the file, `written` when that was (seconds of 1970)."""
    digest = hashlib.sha256(data).hexdigest()
    started = reading.started or datetime.fromtimestamp(written, UTC).isoformat(timespec="seconds")
    stamp = datetime.fromisoformat(started).astimezone(UTC).strftime("%Y%m%d-%H%M%S")
    plain = re.sub(r"[^A-Za-z0-9_.-]", "-", reading.name)[:40]
    tail = hashlib.sha256(f"{digest}/{number}".encode()).hexdigest()[:_TAIL]
    run = f"{stamp}-{plain}-{tail}"
    said = f"read from the output of {reading.tool}; what it did not write is not known"
    return Result(
        id=run,
        name=reading.name,
        started=started,
        machine=machine or "unknown",
        session=run,
        parameters=reading.parameters,
        ranks=reading.ranks,
        nodes=reading.nodes,
        work=digest_of(reading.work) if reading.work else "",
        source=ResultSource(
            kind=SourceKind.IMPORT, tool=reading.tool, version=reading.version, sha256=digest
        ),
        level=(Level.INVALID if reading.failure else Level.INDICATIVE).value,
        reasons=[reading.failure or said],
        metrics=reading.metrics,
        facts=reading.facts,
    )


def plain_parameters(values: dict[str, object]) -> dict[str, Scalar]:
    """The numbers and short words of a tool's settings; paths and the rest are left out."""
    kept: dict[str, Scalar] = {}
    for name, value in values.items():
        if isinstance(value, bool):
            kept[name] = int(value)
        elif isinstance(value, int | float) or (
            isinstance(value, str) and 0 < len(value) <= _MOST_WORD and "/" not in value
        ):
            kept[name] = value
    return kept


def time_of(text: str, form: str) -> str:
    """A tool's own word on when it began, taken as UTC; empty where it is none."""
    try:
        return datetime.strptime(text, form).replace(tzinfo=UTC).isoformat()
    except ValueError:
        return ""
