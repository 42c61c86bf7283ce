"""Metrics that a snippet computes from others: what steps out of JUBE's files do at their end.

`python -m venturi.campaign.computed < RULES` in the folder of a run writes `computed.json`. RULES
begins with a line of JSON: `metrics` by their rules, and `computed`, each with its name, mode,
text, type and default. Below stand parameters, each as a line `=name` and its value. A snippet
runs in a process of its own; if it fails, or names what was not found, there is its default.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from venturi.campaign.jube.node import Node
from venturi.campaign.jube.pattern import RESULT
from venturi.campaign.jube.script import Scripts
from venturi.campaign.jube.text import substituted
from venturi.campaign.metric import metrics_in
from venturi.model.campaign import CampaignMetric
from venturi.model.error import UserError

_PARAMETER = re.compile(r"^=(\w+)\n(.*?)(?=\n=\w+\n|\n?\Z)", re.MULTILINE | re.DOTALL)


def main(text: str, folder: Path) -> None:
    """Writes what was computed."""
    line, _, rest = text.partition("\n")
    rules = json.loads(line)
    known = {match[1]: match[2] for match in _PARAMETER.finditer(rest)}
    metrics = {name: _metric(own) for name, own in rules["metrics"].items()}
    for name, value in metrics_in(folder, metrics, known).items():
        is_whole = name in rules["whole"] and not isinstance(value, str)
        known[name] = str(int(value)) if is_whole else str(value)
    scripts = Scripts(True)
    found: dict[str, str | float] = {}
    for own in rules["computed"]:
        node = Node("pattern", folder, 0, {"name": own["name"]})
        try:
            value = scripts.value(node, own["mode"], substituted(own["text"], known))
        except UserError:
            value = own["default"]
        known[own["name"]] = value
        if value != "":
            found[own["name"]] = _typed(value, own["type"])
    (folder / RESULT).write_text(json.dumps(found, indent=1), encoding="utf-8")


def _metric(own: object) -> CampaignMetric:
    return CampaignMetric.model_validate_json(json.dumps(own))


def _typed(value: str, kind: str) -> str | float:
    """The value as its type says, if it is such a number."""
    try:
        return int(float(value)) if kind == "int" else float(value) if kind == "float" else value
    except ValueError:
        return value


if __name__ == "__main__":
    main(sys.stdin.read(), Path.cwd())
