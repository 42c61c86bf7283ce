"""The library's io500 as an ini wants it, where parameters cannot say so."""

from __future__ import annotations

import json
from typing import Any

from venturi.compat.io500.ini import Chosen
from venturi.derive.yaml_text import to_yaml
from venturi.model.workload import Workload


def adapted(workload: Workload, text: str, chosen: Chosen) -> tuple[Workload, str]:
    """The workload with caches dropped before phases that read and files opened O_DIRECT; its text.

    What nobody asked for stays as it is, the text, too.
    """
    if not chosen.drop_caches and not chosen.direct:
        return workload, text
    data = workload.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    if chosen.drop_caches:
        for steps in data["program"].values():
            _drop(steps)
    for name in chosen.direct:
        data["files"][name].setdefault("options", {})["direct"] = True
    made = Workload.model_validate_json(json.dumps(data))
    return made, to_yaml(made)


def _drop(steps: list[Any]) -> None:
    for step in steps:
        if not isinstance(step, dict):
            continue
        if str(step.get("phase", "")).endswith("-read"):
            step["cache"] = "drop"
        _drop(step.get("do", []))
