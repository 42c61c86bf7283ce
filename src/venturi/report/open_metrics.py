"""A campaign's medians as OpenMetrics text, which GitLab compares from one branch to another."""

from __future__ import annotations

import re
from collections.abc import Mapping

from venturi.model.campaign import CampaignResult

_NO_NAME = re.compile(r"[^A-Za-z0-9_]")


def open_metrics_text(result: CampaignResult) -> str:
    """A line for each metric of each point; the point's parameters are labels."""
    lines: dict[str, list[str]] = {}
    for row in result.rows:
        for metric in row.metrics:
            labels = {"campaign": result.name, "machine": result.machine, "step": row.step}
            labels |= {_word(name): str(value) for name, value in row.parameters.items()}
            if metric.unit:
                labels["unit"] = metric.unit
            name = f"venturi_{_word(metric.name)}"
            lines.setdefault(name, []).append(f"{name}{labels_text(labels)} {metric.median!r}")
    texts = [line for name, own in lines.items() for line in (f"# TYPE {name} gauge", *own)]
    return "\n".join([*texts, "# EOF"]) + "\n"


def labels_text(labels: Mapping[str, str]) -> str:
    """The labels of a metric, in braces."""
    said = ",".join(f'{name}="{_escaped(text)}"' for name, text in labels.items())
    return f"{{{said}}}"


def _word(name: str) -> str:
    return _NO_NAME.sub("_", name)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
