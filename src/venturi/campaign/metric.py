"""What a campaign's run measured: by a tool whose output is known, or by Venturi itself."""

from __future__ import annotations

import glob
import json
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import TypeAdapter

from venturi.analyse.output import check_pattern, picked, picked_of, texts_of
from venturi.campaign.space import number_at
from venturi.campaign.template import filled
from venturi.model.campaign import CampaignMetric, Tool
from venturi.model.ceiling import MOVES, Ceiling, CeilingSource, PhaseCeilings
from venturi.model.error import RunFailed, UserError
from venturi.model.expression import ExpressionError, tree_of
from venturi.model.output import Better, Pick
from venturi.model.result import direction_of
from venturi.model.workload import Scalar

_CEILINGS = TypeAdapter(list[Ceiling])
_PICKS_OF_TEXTS = (Pick.ONLY, Pick.FIRST, Pick.LAST)


class MetricSample(NamedTuple):
    """What one run measured of one metric."""

    value: float
    unit: str
    better: Better
    of: str = ""
    """The operation that a rate in 1/s counts."""
    labels: tuple[str, ...] = ()


def check_metric(where: str, metric: CampaignMetric) -> None:
    """UserError for an expression or a regular expression that is none."""
    if metric.derive:
        try:
            tree_of(metric.derive)
        except ExpressionError as error:
            raise UserError(f"{where}: {error}") from None
    if metric.text and (metric.derive or metric.pick not in _PICKS_OF_TEXTS):
        raise UserError(f"{where}: a text is found, and is the first or the last one")
    check_pattern(where, metric)


def metrics_in(
    folder: Path, metrics: Mapping[str, CampaignMetric], parameters: Mapping[str, Scalar]
) -> dict[str, float | str]:
    """The value of every metric of a run; RunFailed where one is missing or ambiguous."""
    found: dict[str, float | str] = {}
    for name, metric in metrics.items():
        try:
            value = _value_in(folder, name, metric, {**parameters, **found})
        except RunFailed:
            if not metric.optional:
                raise
            value = metric.default
        if value is not None:
            found[name] = value
    return found


def _value_in(
    folder: Path, name: str, metric: CampaignMetric, known: Mapping[str, Scalar]
) -> float | str | None:
    """The value of one metric, by those before it; None of one that need not be there."""
    if metric.derive:
        try:
            return float(number_at(name, metric.derive, dict(known)))
        except UserError as error:
            raise RunFailed(f"metric {error.message}") from None
    files = [filled(file, known, f"metric {name}") for file in (metric.file, *metric.also_in)]
    texts = _texts_in(folder, name, metric, files)
    if metric.text:
        if not texts and not metric.optional:
            raise RunFailed(f"metric {name} is missing: nothing in {files[0]} fits")
        return str(texts[-1 if metric.pick is Pick.LAST else 0]) if texts else None
    if metric.optional:
        texts = [text for text in texts if _is_number_text(text)]
        if not texts and metric.pick is Pick.COUNT:
            return metric.default
    return picked_of(name, metric, texts)


def _texts_in(folder: Path, name: str, metric: CampaignMetric, files: list[str]) -> list[Any]:
    """What a rule finds in all of its files, one after another."""
    found: list[Any] = []
    for file in files:
        is_pattern = bool(set("*?[") & set(file))
        names = sorted(glob.glob(str(Path(glob.escape(str(folder)), file))))
        for own in names if is_pattern or metric.optional else [file]:
            if metric.every_bracket:
                found += _brackets(metric, (folder / own).read_text("utf-8", "replace"))
            else:
                found += texts_of(name, metric.model_copy(update={"file": own}), folder)
    return [text for text in found if text != ""] if metric.optional or metric.text else found


def _brackets(metric: CampaignMetric, text: str) -> list[str]:
    matches = re.finditer(metric.regex, text, re.MULTILINE)
    return [part for match in matches for part in match.groups() if part]


def _is_number_text(text: Any) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def tool_metrics(folder: Path, tool: Tool, confirm: Mapping[str, float]) -> dict[str, MetricSample]:
    """What a tool measured, as far as it was asked to; RunFailed where it measured nothing.

    Raises RunFailed, too, where it reports another setting than `confirm` says.
    """
    unread = {
        metric.file for metric in tool.metrics.values() if not (folder / metric.file).exists()
    }
    if unread:
        raise RunFailed(f"there is no {', '.join(sorted(unread))}: {tool.about}")
    for name, wanted in confirm.items():
        told = picked(name, tool.reported[name], folder)
        if told != wanted:
            raise RunFailed(f"{name}: {wanted:g} was asked for, the tool reports {told:g}")
    found: dict[str, MetricSample] = {}
    for name, metric in tool.metrics.items():
        if texts_of(name, metric, folder):
            better = direction_of(metric.unit, metric.better)
            found[name] = MetricSample(picked(name, metric, folder), metric.unit, better)
    if not found:
        file = next(iter(tool.metrics.values())).file
        raise RunFailed(f"nothing in {file} is a metric of this tool ({tool.about})")
    return found


def record_metrics(text: str) -> dict[str, MetricSample]:
    """What a record of `venturi run --json` measured: value, unit and direction by name.

    The rate and the time of each phase, and the workload's own metrics. Raises RunFailed for
    what is no record.
    """
    try:
        record = json.loads(text)
        found: dict[str, MetricSample] = {}
        of_the_run = record.get("run_labels", [])
        for phase in record["phases"]:
            name = _phase_name(phase)
            labels = (*record.get("labels", {}).get(phase["path"], []), *of_the_run)
            seconds = phase["seconds"]["total"]
            if phase["bytes"]:
                rate = phase["bytes_per_second"]
                found[f"{name}.rate"] = MetricSample(rate, "B/s", Better.HIGHER, "", labels)
            elif phase["operations"] and seconds > 0:
                rate = phase["operations"] / seconds
                found[f"{name}.rate"] = MetricSample(rate, "op/s", Better.HIGHER, "", labels)
            peak = _stated_peak(record, phase)
            if peak is not None and phase["bytes"]:
                share = 100 * phase["bytes_per_second"] / peak
                found[f"{name}.efficiency"] = MetricSample(share, "%", Better.HIGHER, "", labels)
            found[f"{name}.seconds"] = MetricSample(seconds, "s", Better.LOWER, "", labels)
        for name, metric in record["metrics"].items():
            unit, of = metric["unit"], metric.get("of", "")
            labels = tuple(metric.get("labels", []))
            found[name] = MetricSample(metric["median"], unit, direction_of(unit), of, labels)
    except (ValueError, KeyError, TypeError) as error:
        raise RunFailed(f"what the run printed is no record: {error}") from None
    return {name: value for name, value in found.items() if _is_number(value.value)}


def record_ceilings(text: str) -> dict[str, PhaseCeilings]:
    """The ceilings of each phase that only writes or only reads; empty for what is no record."""
    try:
        record = json.loads(text)
        known = _CEILINGS.validate_json(json.dumps(record.get("ceilings", [])))
        found = {}
        for phase in record["phases"]:
            moved = [kind for kind in MOVES if kind in phase["by_operation"]]
            own = [one for one in known if [one.operation] == moved or one.operation == "both"]
            if own and len(moved) == 1 and phase["bytes"]:
                found[_phase_name(phase)] = PhaseCeilings(operation=moved[0], ceilings=own)
    except (ValueError, KeyError, TypeError):
        return {}
    return found


def _stated_peak(record: Mapping[str, Any], phase: Mapping[str, Any]) -> float | None:
    """What the machine file states for what a phase does; None: nothing, or it does both."""
    moved = [kind for kind in ("write", "read") if kind in phase["by_operation"]]
    stated = [
        ceiling["bytes_per_second"]
        for ceiling in record.get("ceilings", [])
        if ceiling["source"] == CeilingSource.MACHINE_FILE.value and moved == [ceiling["operation"]]
    ]
    return min(stated, default=None)


def _phase_name(phase: Mapping[str, Any]) -> str:
    """The path of a phase; the turn of a loop or the instance of a group, where there are any."""
    turns = "".join(f"[{name}={value}]" for name, value in phase["iteration"].items())
    instance = phase.get("instance") or 0
    return f"{phase['path']}{turns}" + (f"#{instance}" if instance else "")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)
