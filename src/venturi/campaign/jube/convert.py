"""A JUBE file as a campaign's file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from venturi.campaign.jube.expand import PACKAGE, Expansion, JubeParameter
from venturi.campaign.jube.metric import Analysis
from venturi.campaign.jube.node import Findings
from venturi.campaign.jube.pattern import computing_lines
from venturi.campaign.jube.script import Scripts
from venturi.campaign.jube.step import JubeStep, StepMaker, is_inlined, steps_of
from venturi.campaign.jube.suite import Suite
from venturi.model.campaign import Campaign
from venturi.model.error import UserError
from venturi.model.yaml_text import parse_yaml


@dataclass(frozen=True)
class Converted:
    """A campaign's file, and what its author should know."""

    name: str
    text: str
    notes: list[str]


def convert(path: Path, tags: set[str], is_trusted: bool, home: Path) -> Converted:
    """The campaign of a JUBE file, to stand in the folder `home`.

    Raises UserError with the file and line of each construct that is not supported.
    """
    findings = Findings()
    scripts = Scripts(is_trusted)
    suite = Suite(path, tags, findings)
    steps = steps_of(suite, findings, scripts)
    if not steps:
        raise UserError(f"{path}: there is no step", "see the tags")
    analysis = Analysis(suite, steps, is_trusted, findings)
    name = _name(suite.benchmark.name or path.stem)
    made: dict[str, Any] = {}
    named: set[str] = set()
    shown: dict[str, set[str]] = {}
    for step in steps.values():
        patterns = analysis.patterns[step.name]
        step.lines_after += computing_lines(patterns)
        maker = StepMaker(step, findings, scripts, home.absolute(), name)
        made[step.name] = maker.made()
        if patterns.metrics:
            made[step.name]["metrics"] = patterns.metrics
        named |= maker.named | step.columns
        shown[step.name] = maker.named | set(patterns.given)
    _refuse_meanings(steps, findings)
    findings.check()
    expansion = _expanded(steps, named, scripts)
    for step in steps.values():
        if any(_is_level(name, expansion) for name in step.parameters):
            for do in step.shared:
                findings.refuse(do, "shared of a 'do' is not supported where a step has lists")
    findings.check()
    for step in steps.values():
        hidden = [
            name
            for name in dict.fromkeys([*step.lists, *sorted(step.columns)])
            if name not in shown[step.name] and (name in step.columns or _is_level(name, expansion))
        ]
        if hidden:
            made[step.name]["per"] = hidden
            named |= set(hidden)
    about = " ".join(" ".join(node.text for node in suite.benchmark.of("comment")).split())
    data: dict[str, Any] = {"campaign": 1, "name": name}
    if about:
        data["about"] = about
    data |= {"space": expansion.space(sorted(named)), "repeat": 1, "steps": made}
    if analysis.tables:
        data["tables"] = analysis.tables
    text = (
        f"# From {path.name}. Say of each metric whether higher or lower is better.\n{_yaml(data)}"
    )
    parse_yaml(text, f"what {path} became", Campaign)
    return Converted(name, text, findings.notes)


def _expanded(steps: dict[str, JubeStep], named: set[str], scripts: Scripts) -> Expansion:
    """All points of the parameters that are named, and of all lists that the steps use."""
    parameters: dict[str, JubeParameter] = {}
    for step in steps.values():
        parameters |= step.parameters
    expansion = Expansion(parameters, scripts)
    for name, own in parameters.items():
        if name in named or (not is_inlined(own, False) and own.text):
            expansion.add(name)
    if PACKAGE in named:
        expansion.number()
    return expansion


def _refuse_meanings(steps: dict[str, JubeStep], findings: Findings) -> None:
    """Notes parameters that mean one thing in a step and another one in the next."""
    known: dict[str, JubeParameter] = {}
    for step in steps.values():
        for name, own in step.parameters.items():
            other = known.setdefault(name, own)
            if other.is_same_as != own.is_same_as:
                findings.refuse(
                    own.node,
                    f"the parameter '{name}' is another one at {other.node.where}; "
                    "a campaign has one space for all steps: give one of them another name",
                )


def _is_level(name: str, expansion: Expansion) -> bool:
    return name in expansion.axes or expansion.follows.get(name, False)


def _name(text: str) -> str:
    cleaned = "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "-" for c in text)
    return cleaned.lstrip("._-") or "jube"


class _Dumper(yaml.SafeDumper):
    """Texts of several lines as such, short lists and mappings in one line."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.Node:
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


def _list(dumper: yaml.SafeDumper, items: list[Any]) -> yaml.Node:
    is_flat = not any(isinstance(item, dict | list) for item in items)
    return dumper.represent_sequence("tag:yaml.org,2002:seq", items, flow_style=is_flat)


_Dumper.add_representer(str, _text)
_Dumper.add_representer(list, _list)


def _yaml(data: dict[str, Any]) -> str:
    return yaml.dump(data, Dumper=_Dumper, sort_keys=False, width=100, allow_unicode=True)
