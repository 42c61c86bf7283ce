"""What tools print: told apart by their first words, read by what campaigns know of each."""

from __future__ import annotations

import re

from venturi.analyse.output import values_in
from venturi.campaign.tool import tool_named
from venturi.importers.imported_run import ImportedRun, time_of
from venturi.model.campaign import Tool
from venturi.model.error import UserError
from venturi.model.output import Pick
from venturi.model.result import Measure, direction_of
from venturi.model.workload import Scalar

_TOOLS = {
    "ior": re.compile(r"^IOR-(\S+): MPI Coordinated Test", re.MULTILINE),
    "md-workbench": re.compile(r"^MD-Workbench total objects:.*version: ([^)]+)\)", re.MULTILINE),
    "mdtest": re.compile(r"^mdtest-(\S+) was launched with", re.MULTILINE),
}
_BEGAN = (
    (re.compile(r"^Began +: (.+)$", re.MULTILINE), "%a %b %d %H:%M:%S %Y"),
    (re.compile(r"^-- started at (\S+ \S+) --", re.MULTILINE), "%m/%d/%Y %H:%M:%S"),
    (re.compile(r"^MD-Workbench .*time: (\S+ \S+)$", re.MULTILINE), "%Y-%m-%d %H:%M:%S"),
)
_TASKS = re.compile(r"(?:^tasks +: |launched with )(\d+)", re.MULTILINE)
_NODES = re.compile(r"(?:^nodes +: |total task\(s\) on )(\d+)", re.MULTILINE)
_COMMAND = re.compile(r"^(?:Command line(?: used)? *:|Args:) *(.+)$", re.MULTILINE)
_SEVERAL = {
    "ior": re.compile(r"^TestID +:", re.MULTILINE),
    "mdtest": re.compile(r"^mdtest-\S+ was launched", re.MULTILINE),
}


def reading_of(text: str, source: str) -> ImportedRun | None:
    """The run that a tool's output tells of; None where it is of no tool that is known.

    Raises UserError for one that tells of several runs, whose values would be mixed.
    """
    found = next(((n, m) for n, rule in _TOOLS.items() if (m := rule.search(text))), None)
    if found is None:
        return None
    name, match = found
    if name in _SEVERAL and len(_SEVERAL[name].findall(text)) > 1:
        raise UserError(
            f"{source}: it tells of several runs of {name}, whose figures would be mixed",
            "split it, or take IOR's JSON (summaryFormat=JSON)",
        )
    metrics, parameters = told_by(tool_named(name), text)
    return ImportedRun(
        tool=name,
        name=name,
        version=match[1],
        started=next((t for rule, form in _BEGAN if (t := _time(rule, form, text))), ""),
        metrics=metrics,
        parameters=parameters,
        ranks=_number(_TASKS, text),
        nodes=_number(_NODES, text),
        work=_command(text),
        failure="" if metrics else "it does not tell of a figure",
    )


def told_by(tool: Tool, text: str) -> tuple[dict[str, Measure], dict[str, Scalar]]:
    """What a tool's output says it measured, and the settings that it says it used."""
    metrics = {}
    for metric, rule in tool.metrics.items():
        values = values_in(metric, rule, text)
        if values:
            kept = values if rule.pick is Pick.MEDIAN else values[-1:]
            better = direction_of(rule.unit, rule.better)
            metrics[metric] = Measure(unit=rule.unit, better=better, values=kept)
    parameters: dict[str, Scalar] = {}
    for setting, rule in tool.reported.items():
        values = values_in(setting, rule, text)
        if values:
            parameters[setting] = values[-1]
    return metrics, parameters


def _time(rule: re.Pattern[str], form: str, text: str) -> str:
    found = rule.search(text)
    return time_of(found[1].strip(), form) if found else ""


def _command(text: str) -> str:
    """The words of the command line, without the program and paths."""
    found = _COMMAND.search(text)
    words = re.sub(r"['\"]", "", found[1]).split()[1:] if found else []
    return " ".join(word for word in words if "/" not in word)


def _number(rule: re.Pattern[str], text: str) -> int:
    found = rule.search(text)
    return max(int(found[1]), 1) if found else 1
