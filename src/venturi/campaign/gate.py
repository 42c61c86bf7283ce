"""What a campaign's point must reach: thresholds of its step and its workload, and their rules."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from venturi.analyse.metric import units_of
from venturi.analyse.threshold import Measured, check_threshold, judged
from venturi.campaign.logged import log_units
from venturi.model.campaign import CampaignMetric, CampaignStep, MetricSummary, Tool
from venturi.model.error import UserError
from venturi.model.verdict import Threshold, ThresholdRow
from venturi.model.workload import Workload
from venturi.plan.make import PlanResult

_SUFFIX = re.compile(r"(\[[^\]]*\])*(#[0-9]+)?(\.rate|\.seconds)?$")
"""What a phase's name has behind it in a campaign: the turn, the instance, which number of it."""
_THRESHOLDS = TypeAdapter(dict[str, Threshold])


@dataclass
class Gates:
    """What the records of a point's runs say about gates."""

    thresholds: dict[str, Threshold] = field(default_factory=dict)
    broken_rules: list[str] = field(default_factory=list)
    """Each once, in words."""
    doubt: str = ""
    """Another cause than the storage that a run suspects; empty: none does."""

    def take(self, output: Path) -> None:
        """Take in what a run of a workload printed; what is no record says nothing."""
        try:
            record = json.loads(output.read_text("utf-8", "replace"))
            self._take(record)
        except (OSError, ValueError, KeyError, TypeError, ValidationError):
            return

    def _take(self, record: Mapping[str, Any]) -> None:
        self.thresholds |= _THRESHOLDS.validate_python(record["workload"].get("thresholds", {}))
        for rule in record["rules"]:
            if not rule["holds"] and rule["says"] not in self.broken_rules:
                self.broken_rules.append(rule["says"])
        for suspicion in record["verdict"].get("suspicions", []):
            self.doubt = self.doubt or str(suspicion["what"])


def judged_point(
    step: CampaignStep, gates: Gates, metrics: Sequence[MetricSummary]
) -> list[ThresholdRow]:
    """Each threshold with what became of it, over all repetitions of a point.

    A step's own threshold stands in the place of its workload's. A phase's name means its rate.
    """
    measured = {metric.name: Measured(metric.unit, metric.values) for metric in metrics}
    for metric in metrics:
        if metric.name.endswith(".rate"):
            measured.setdefault(
                metric.name.removesuffix(".rate"), Measured(metric.unit, metric.values)
            )
    return judged({**gates.thresholds, **step.thresholds}, measured, gates.doubt)


def metrics_of_command(step: CampaignStep, tool: Tool | None) -> dict[str, CampaignMetric]:
    """The metrics that a run of a command may have."""
    return {**(tool.metrics if tool else {}), **step.metrics}


def check_command_step(name: str, step: CampaignStep, tool: Tool | None) -> None:
    """Raise UserError for thresholds of a command that no metric of it can be judged by."""
    known = metrics_of_command(step, tool)
    units: dict[str, tuple[str, ...]] = {own: (rule.unit,) for own, rule in known.items()}
    _check(name, step, units | log_units(step))


def metrics_of_workload(
    step: CampaignStep, workload: Workload, made: PlanResult
) -> dict[str, tuple[str, ...]]:
    """The metrics that a run of a workload has, and the units that each may have.

    A phase stands for its rate; what is called as `phase_of` it says is a number of it, too.
    """
    known = units_of(workload, made.totals.phases, made.totals.bytes_by_phase)
    return known | {metric: (rule.unit,) for metric, rule in step.metrics.items()}


def phase_of(metric: str) -> str:
    """The phase that a metric is a number of: `write` of `write[i=2].seconds`."""
    return _SUFFIX.sub("", metric)


def check_workload_step(
    name: str, step: CampaignStep, workload: Workload, made: PlanResult
) -> None:
    """Raise UserError for thresholds that no metric of a run of this workload can be judged by.

    Also for a sample of latencies where the workload has no such phase or keeps no operations.
    """
    if step.sample_latency is not None:
        where, phase = f"steps.{name}.sample_latency", step.sample_latency.phase
        if not workload.log_operations:
            raise UserError(
                f"{where}: the workload {workload.name} keeps no log of its operations",
                "give the workload `log_operations: true`",
            )
        if phase not in made.totals.phases:
            raise UserError(
                f"{where}.phase: there is no phase '{phase}'",
                f"the workload has {', '.join(made.totals.phases)}",
            )
    known = metrics_of_workload(step, workload, made)
    for metric in step.thresholds:
        phase, ending = phase_of(metric), metric.rpartition(".")[2]
        if metric not in known and phase in made.totals.phases:
            known[metric] = ("s",) if ending == "seconds" else known[phase]
    _check(name, step, known)


def _check(name: str, step: CampaignStep, known: Mapping[str, Sequence[str]]) -> None:
    for metric, threshold in step.thresholds.items():
        where = f"steps.{name}.thresholds.{metric}"
        if metric not in known:
            raise UserError(f"{where}: there is no such metric", f"metrics: {', '.join(known)}")
        check_threshold(where, threshold, known[metric])
