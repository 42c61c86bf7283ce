"""Numbers in what a run wrote: by regular expression, JSON path, or column of a CSV table."""

from __future__ import annotations

import csv
import io
import json
import math
import re
import statistics
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from venturi.campaign.space import number_at
from venturi.model.campaign import Better, Metric, Pick, Scalar, Tool
from venturi.model.error import RunFailed, UserError
from venturi.model.expression import ExpressionError, tree_of
from venturi.model.statistic import median
from venturi.model.units import with_unit

_KEY = re.compile(r"([^.\[\]]+)|\[(\d+)\]")
_MOST_BYTES = 256 * 2**20
_UNITS = {"bytes": "B"}
"""As tools write units."""


def check_metric(where: str, metric: Metric) -> None:
    """UserError for a regular expression that is none or has no bracket."""
    if metric.derive:
        try:
            tree_of(metric.derive)
        except ExpressionError as error:
            raise UserError(f"{where}: {error}") from None
    if not metric.regex:
        return
    try:
        groups = re.compile(metric.regex).groups
    except re.error as error:
        raise UserError(f"{where}: '{metric.regex}' is no regular expression: {error}") from None
    if groups < 1:
        raise UserError(
            f"{where}: '{metric.regex}' has no bracket", "put one around the number: ([0-9.]+)"
        )


def metrics_in(
    folder: Path, metrics: Mapping[str, Metric], parameters: Mapping[str, Scalar]
) -> dict[str, float]:
    """The value of every metric of a run; RunFailed where one is missing or ambiguous."""
    found: dict[str, float] = {}
    for name, metric in metrics.items():
        if metric.derive:
            try:
                found[name] = float(number_at(name, metric.derive, {**parameters, **found}))
            except UserError as error:
                raise RunFailed(f"metric {error.message}") from None
        else:
            found[name] = _picked(name, metric, folder)
    return found


def tool_metrics(
    folder: Path, tool: Tool, confirm: Mapping[str, float]
) -> dict[str, tuple[float, str, Better]]:
    """What a tool measured, as far as it was asked to; RunFailed where it measured nothing.

    Raises RunFailed, too, where it reports another setting than `confirm` says.
    """
    for name, wanted in confirm.items():
        told = _picked(name, tool.reported[name], folder)
        if told != wanted:
            raise RunFailed(f"{name}: {wanted:g} was asked for, the tool reports {told:g}")
    found: dict[str, tuple[float, str, Better]] = {}
    for name, metric in tool.metrics.items():
        if _texts(name, metric, folder):
            found[name] = (_picked(name, metric, folder), metric.unit, metric.better)
    if not found:
        file = next(iter(tool.metrics.values())).file
        raise RunFailed(f"nothing in {file} is a metric of this tool ({tool.about})")
    return found


def record_metrics(text: str) -> dict[str, tuple[float, str, Better]]:
    """What a record of `venturi run --json` measured: value, unit and direction by name.

    The rate and the time of each phase, and the workload's own metrics. Raises RunFailed for
    what is no record.
    """
    try:
        record = json.loads(text)
        found: dict[str, tuple[float, str, Better]] = {}
        for phase in record["phases"]:
            name = _phase_name(phase)
            seconds = phase["seconds"]["total"]
            if phase["bytes"]:
                found[f"{name}.rate"] = (phase["bytes_per_second"], "B/s", Better.HIGHER)
            elif phase["operations"] and seconds > 0:
                found[f"{name}.rate"] = (phase["operations"] / seconds, "op/s", Better.HIGHER)
            found[f"{name}.seconds"] = (seconds, "s", Better.LOWER)
        for name, metric in record["metrics"].items():
            found[name] = (metric["median"], metric["unit"], Better.NONE)
    except (ValueError, KeyError, TypeError) as error:
        raise RunFailed(f"what the run printed is no record: {error}") from None
    return {name: value for name, value in found.items() if _is_number(value[0])}


def _phase_name(phase: Mapping[str, Any]) -> str:
    """The path of a phase; the turn of a loop or the instance of a group, where there are any."""
    turns = "".join(f"[{name}={value}]" for name, value in phase["iteration"].items())
    instance = phase.get("instance") or 0
    return f"{phase['path']}{turns}" + (f"#{instance}" if instance else "")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


def _picked(name: str, metric: Metric, folder: Path) -> float:
    values = [_number(name, metric, found) for found in _texts(name, metric, folder)]
    if metric.pick is Pick.COUNT:
        return float(len(values))
    if not values:
        if metric.default is not None:
            return metric.default
        raise RunFailed(f"metric {name} is missing: nothing in {metric.file} fits {_way(metric)}")
    if metric.pick is Pick.ONLY and len(values) > 1:
        raise RunFailed(
            f"metric {name}: {len(values)} values in {metric.file} fit {_way(metric)}; "
            "say which: pick: first, last, least, most, median or sum"
        )
    return _one_of(metric.pick, values)


def _texts(name: str, metric: Metric, folder: Path) -> list[Any]:
    """Whatever a metric's rule finds, before it is a number."""
    path = folder / metric.file
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise RunFailed(f"metric {name}: {metric.file} is larger than 256 MiB")
        text = path.read_text("utf-8", "replace")
    except OSError as error:
        raise RunFailed(f"metric {name}: {metric.file}: {error.strerror}") from None
    return _found(name, metric, text)


def _one_of(pick: Pick, values: list[float]) -> float:
    if pick is Pick.MEDIAN:
        return median(values)
    if pick is Pick.MEAN:
        return statistics.fmean(values)
    if pick is Pick.DEVIATION:
        return statistics.stdev(values) if len(values) > 1 else 0.0
    if pick is Pick.SUM:
        return math.fsum(values)
    if pick in (Pick.LEAST, Pick.MOST):
        return min(values) if pick is Pick.LEAST else max(values)
    return values[-1] if pick is Pick.LAST else values[0]


def _way(metric: Metric) -> str:
    return f"'{metric.regex or metric.json_path or metric.column}'"


def _found(name: str, metric: Metric, text: str) -> list[Any]:
    if metric.regex:
        matches = re.finditer(metric.regex, text, re.MULTILINE)
        return [match[1] for match in matches if match[1] is not None]
    if metric.json_path:
        return _at_path(name, metric, text)
    rows = csv.DictReader(io.StringIO(text))
    return [row[metric.column] for row in rows if row.get(metric.column)]


def _at_path(name: str, metric: Metric, text: str) -> list[Any]:
    """The value at a JSON path; a number, or a list of numbers of which `pick` takes one."""
    try:
        here = json.loads(text)
    except ValueError as error:
        raise RunFailed(f"metric {name}: {metric.file} is not JSON: {error}") from None
    for key, index in _KEY.findall(metric.json_path):
        try:
            here = here[int(index)] if index else here[key]
        except (KeyError, IndexError, TypeError):
            return []
    return here if isinstance(here, list) else [here]


def _number(name: str, metric: Metric, found: Any) -> float:
    try:
        number, _, unit = str(found).strip().partition(" ")
        value = float(with_unit(number, _UNITS.get(unit, unit)) if unit else number)
    except ValueError:
        raise RunFailed(f"metric {name}: '{found}' in {metric.file} is no number") from None
    if not math.isfinite(value):
        raise RunFailed(f"metric {name}: '{found}' in {metric.file} is no finite number")
    return value
