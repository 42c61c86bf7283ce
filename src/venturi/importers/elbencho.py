"""What elbencho writes: JSON, one phase on each line, or CSV, one in each row.

Its files grow: rows of one command line are one run, and a phase that comes again is a repetition.
"""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, datetime

from venturi.campaign.tool import tool_named
from venturi.importers.imported_run import DAMAGE, ImportedRun, damage
from venturi.importers.text_output import told_by
from venturi.model.error import RunFailed, UserError

_COLUMNS = ("operation", "time ms [last]")
_KEYS = ("phase_type", "last_done")


def is_output(text: str) -> bool:
    """Whether a text is of elbencho, by its first line."""
    first = text.partition("\n")[0]
    if first.startswith("{"):
        return all(f'"{key}"' in first for key in _KEYS)
    return all(column in first.split(",") for column in _COLUMNS)


def readings(text: str, source: str) -> list[ImportedRun]:
    """The runs that a file tells of; UserError for one that is cut off or has been changed."""
    first, _, rest = text.partition("\n")
    is_json = first.startswith("{")
    rows = [line for line in (text if is_json else rest).splitlines() if line.strip()]
    by_command: dict[str, list[str]] = {}
    details: dict[str, dict[str, str]] = {}
    for number, row in enumerate(rows):
        try:
            found = _of_json(row) if is_json else _of_csv(first, row)
        except DAMAGE as error:
            line = number + (1 if is_json else 2)
            raise UserError(
                f"{source}, line {line}: {damage(error, 'elbencho')}",
                "import what the tool wrote, unchanged",
            ) from None
        by_command.setdefault(found["command"], []).append(row)
        details.setdefault(found["command"], found)
    heading = [] if is_json else [first]
    name = "elbencho" if is_json else "elbencho-csv"
    return [
        _reading(name, "\n".join([*heading, *own]), details[command], source)
        for command, own in by_command.items()
    ]


def _reading(name: str, text: str, facts: dict[str, str], source: str) -> ImportedRun:
    try:
        metrics, parameters = told_by(tool_named(name), text)
    except RunFailed as error:
        raise UserError(f"{source}: {error.message}") from None
    hosts = int(facts["hosts"])
    return ImportedRun(
        tool="elbencho",
        name="elbencho",
        version=facts["version"],
        started=_utc(facts["started"]),
        metrics=metrics,
        parameters=parameters,
        ranks=hosts * int(facts["threads"]),
        nodes=hosts,
        work=" ".join(word for word in _words(facts["command"]) if "/" not in word),
        failure="" if metrics else "it does not tell of a figure",
    )


def _words(command: str) -> list[str]:
    """The words of a command line, which elbencho writes in quotation marks."""
    return command.replace('"', " ").split()[1:]


def _of_json(row: str) -> dict[str, str]:
    """What all phases of a run have in common."""
    phase = json.loads(row)
    config = phase["config"]
    common = {key: str(config[key]) for key in ("command", "hosts", "threads", "version")}
    return common | {"started": str(phase["iso_start_date"])}


def _of_csv(heading: str, row: str) -> dict[str, str]:
    (found,) = csv.DictReader(io.StringIO(f"{heading}\n{row}"))
    if None in found or None in found.values():
        raise ValueError("it has not as many columns as the heading")
    common = {key: found.get(key) or "" for key in ("command", "version")}
    return (
        common | {key: found[key] for key in ("hosts", "threads")} | {"started": found["ISO date"]}
    )


def _utc(text: str) -> str:
    """Its moment; one without a zone is taken as UTC, as that of all tools is."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return ""
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return moment.astimezone(UTC).isoformat(timespec="seconds")
