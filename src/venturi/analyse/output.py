"""Numbers in what a run wrote: by regular expression, JSON path, or column of a CSV table."""

from __future__ import annotations

import csv
import io
import json
import math
import re
import statistics
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from venturi.model.error import RunFailed, UserError
from venturi.model.output import OutputMetric, Pick
from venturi.model.statistic import median
from venturi.model.units import with_unit

_KEY = re.compile(r"([^.\[\]]+)|\[(\d+)\]")
_MOST_BYTES = 256 * 2**20
_UNITS = {"bytes": "B"}
"""As tools write units."""


def check_pattern(where: str, metric: OutputMetric) -> None:
    """UserError for a regular expression that is none or has no bracket."""
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


def picked(name: str, metric: OutputMetric, folder: Path) -> float:
    """The value of one metric; RunFailed where it is missing or ambiguous."""
    return picked_of(name, metric, texts_of(name, metric, folder))


def picked_of(name: str, metric: OutputMetric, texts: Sequence[Any]) -> float:
    """The value of one metric out of what its rule found; RunFailed for none, or for several."""
    values = [_number(name, metric, found) for found in texts]
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


def texts_of(name: str, metric: OutputMetric, folder: Path) -> list[Any]:
    """Whatever a metric's rule finds in a folder, before it is a number; RunFailed: no file."""
    path = folder / metric.file
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise RunFailed(f"metric {name}: {metric.file} is larger than 256 MiB")
        text = path.read_text("utf-8", "replace")
    except OSError as error:
        raise RunFailed(f"metric {name}: {metric.file}: {error.strerror}") from None
    return _found(name, metric, text)


def values_in(name: str, metric: OutputMetric, text: str) -> list[float]:
    """All values that a metric's rule finds in a text, in their order."""
    return [_number(name, metric, found) for found in _found(name, metric, text)]


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


def _way(metric: OutputMetric) -> str:
    return f"'{metric.regex or metric.json_path or metric.column}'"


def _found(name: str, metric: OutputMetric, text: str) -> list[Any]:
    if metric.regex:
        matches = re.finditer(metric.regex, text, re.MULTILINE)
        return [match[1] for match in matches if match[1] is not None]
    if metric.json_path:
        return _in_json(name, metric, text)
    rows = csv.DictReader(io.StringIO(text))
    return [
        row[metric.column]
        for row in rows
        if row.get(metric.column)
        and _fits(metric, {column: [row.get(column)] for column in metric.where})
    ]


def _in_json(name: str, metric: OutputMetric, text: str) -> list[Any]:
    """The values at a JSON path: of the one document, or of those lines that `where` chooses."""
    texts = [line for line in text.splitlines() if line.strip()] if metric.where else [text]
    try:
        documents = [json.loads(one) for one in texts]
    except (ValueError, RecursionError) as error:
        raise RunFailed(f"metric {name}: {metric.file} is not JSON: {error}") from None
    return [
        value
        for document in documents
        if _fits(metric, {path: _at_path(path, document) for path in metric.where})
        for value in _at_path(metric.json_path, document)
    ]


def _fits(metric: OutputMetric, found: dict[str, list[Any]]) -> bool:
    """Whether a row or a document, with these values, is one of those that `where` chooses."""
    return all(
        any(value is not None and fnmatchcase(str(value), wanted) for value in found[name])
        for name, wanted in metric.where.items()
    )


def _at_path(path: str, document: Any) -> list[Any]:
    """What stands at a path: one value, those of a list, or nothing."""
    here = document
    for key, index in _KEY.findall(path):
        try:
            here = here[int(index)] if index else here[key]
        except (KeyError, IndexError, TypeError):
            return []
    return here if isinstance(here, list) else [here]


def _number(name: str, metric: OutputMetric, found: Any) -> float:
    try:
        number, _, unit = str(found).strip().partition(" ")
        value = float(with_unit(number, _UNITS.get(unit, unit)) if unit else number)
    except ValueError:
        raise RunFailed(f"metric {name}: '{found}' in {metric.file} is no number") from None
    if not math.isfinite(value):
        raise RunFailed(f"metric {name}: '{found}' in {metric.file} is no finite number")
    return value
