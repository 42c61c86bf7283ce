"""What well-known tools print, one file each: where their metrics stand, with unit and direction.

A tool prints what it was asked for, so not all of a file's metrics need be there; a run in which
none is has failed. `reported` are settings that the tool says it used: a step's `confirm` compares
them with what it asked for.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from venturi.model.campaign import Tool
from venturi.model.error import UserError
from venturi.model.yaml_text import parse_yaml


def names() -> list[str]:
    """The tools that are known."""
    here = files(__package__).iterdir()
    return sorted(path.name.removesuffix(".yaml") for path in here if path.name.endswith(".yaml"))


@cache
def tool_named(name: str) -> Tool:
    """What is known of a tool; UserError for one that is not."""
    if name not in names():
        raise UserError(f"there is no tool '{name}'", f"known are {', '.join(names())}")
    file = files(__package__) / f"{name}.yaml"
    return parse_yaml(file.read_text("utf-8"), f"{name}.yaml", Tool)
