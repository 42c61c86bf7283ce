"""The library's io500 as an ini wants it, where parameters cannot say so."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from venturi.compat.io500.ini import Chosen
from venturi.derive.yaml_text import to_yaml
from venturi.model.workload import Workload


def adapted(workload: Workload, text: str, chosen: Chosen) -> tuple[Workload, str]:
    """The workload with the ini's caches, files opened O_DIRECT and layout of ior-easy; its text.

    What nobody asked for stays as it is, the text, too.
    """
    layout = chosen.one_file or chosen.unique_directories
    if not chosen.drop_caches and not chosen.direct and not layout:
        return workload, text
    data = workload.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    steps = [step for steps in data["program"].values() for step in _all(steps)]
    if chosen.drop_caches:
        for step in steps:
            if str(step.get("phase", "")).endswith("-read"):
                step["cache"] = "drop"
    for name in chosen.direct:
        data["files"][name].setdefault("options", {})["direct"] = True
    if chosen.one_file:
        _share(data, steps)
    elif chosen.unique_directories:
        data["files"]["easy"]["path"] = "ior-easy/{rank:08d}/ior_file_easy.{rank:08d}"
    made = Workload.model_validate_json(json.dumps(data))
    return made, to_yaml(made)


def _all(steps: list[Any]) -> Iterator[dict[str, Any]]:
    """Every step, with those inside of others."""
    for step in steps:
        if isinstance(step, dict):
            yield step
            yield from _all(step.get("do", []))


def _share(data: dict[str, Any], steps: list[dict[str, Any]]) -> None:
    """One file of ior-easy for all ranks, as the official program lays it out: a block of each."""
    data["files"]["easy"] |= {"path": "ior-easy/ior_file_easy", "shared": "all"}
    for step in steps:
        for verb, key in (("write", "to"), ("read", "from")):
            access: dict[str, Any] = step.get(verb) or {}
            whole = access.get("pattern", "contiguous") == "contiguous"
            if access.get(key) == "easy" and whole:
                access |= {"pattern": "segmented", "block": access.pop("size"), "segments": 1}
        for verb in ("open", "close"):
            if step.get(verb) == "easy":
                step.pop("from", None)
    files = data["expect"]["files"]
    data["expect"]["files"] = files.replace("hard_items + 1) + 2", "hard_items) + 3")
