"""A campaign's medians as OpenMetrics text, which GitLab compares from one branch to another."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from venturi.model.campaign import CampaignResult
from venturi.model.scaling import ScalingStudy

_NO_NAME = re.compile(r"[^A-Za-z0-9_]")


def open_metrics_text(result: CampaignResult) -> str:
    """A line for each metric of each point; the point's parameters are labels.

    Of a study, one for each speed-up and efficiency, too.
    """
    lines: dict[str, list[str]] = {}
    for row in result.rows:
        for metric in row.metrics:
            labels = {"campaign": result.name, "machine": result.machine, "step": row.step}
            labels |= {_word(name): str(value) for name, value in row.parameters.items()}
            if metric.unit:
                labels["unit"] = metric.unit
            name = f"venturi_{_word(metric.name)}"
            lines.setdefault(name, []).append(f"{name}{labels_text(labels)} {metric.median!r}")
    if result.study is not None:
        for name, line in _study_lines(result, result.study):
            lines.setdefault(name, []).append(line)
    texts = [line for name, own in lines.items() for line in (f"# TYPE {name} gauge", *own)]
    return "\n".join([*texts, "# EOF"]) + "\n"


def _study_lines(result: CampaignResult, study: ScalingStudy) -> Iterator[tuple[str, str]]:
    """The name and the line of each speed-up and efficiency."""
    for curve in study.curves:
        labels = {"campaign": result.name, "machine": result.machine, "step": curve.step}
        labels |= {_word(name): str(value) for name, value in curve.parameters.items()}
        for point in curve.points:
            labels[_word(study.over)] = f"{point.size:g}"
            for what, ratio in (("speedup", point.speedup), ("efficiency", point.efficiency)):
                name = f"venturi_{_word(curve.metric)}_{what}"
                yield name, f"{name}{labels_text(labels)} {ratio.value!r}"


def labels_text(labels: Mapping[str, str]) -> str:
    """The labels of a metric, in braces."""
    said = ",".join(f'{name}="{_escaped(text)}"' for name, text in labels.items())
    return f"{{{said}}}"


def _word(name: str) -> str:
    return _NO_NAME.sub("_", name)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
