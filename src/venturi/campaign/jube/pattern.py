"""JUBE's patterns as metrics of a step: what is looked for, and what is computed from it."""

from __future__ import annotations

import json
import re
from typing import Any

from venturi.campaign.jube.node import Findings, Node, failed
from venturi.campaign.jube.step import JubeStep, constants_of
from venturi.campaign.jube.text import braced, identifier, names_of, replaced, substituted
from venturi.model.expression import ExpressionError, tree_of

_NUMBER = r"[+-]?(?:\d*\.?\d+(?:[eE][-+]?\d+)?|\d+\.)"
_KNOWN = {
    "jube_pat_int": r"([+-]?\d+)",
    "jube_pat_nint": r"(?:[+-]?\d+)",
    "jube_pat_fp": f"({_NUMBER})",
    "jube_pat_nfp": f"(?:{_NUMBER})",
    "jube_pat_wrd": r"(\S+)",
    "jube_pat_nwrd": r"(?:\S+)",
    "jube_pat_bl": r"(?:\s+)",
}
_PICKS = {
    "first": "first",
    "last": "last",
    "min": "least",
    "max": "most",
    "avg": "mean",
    "std": "deviation",
    "sum": "sum",
    "cnt": "count",
}
"""Suffixes of a pattern's name in a table."""
_PICKS_OF_TEXTS = ("first", "last", "cnt")
_TYPES = ("int", "float")
_SCRIPTS = ("python", "shell", "perl")
RESULT = "computed.json"
"""Where a run keeps what its scripts computed."""


class StepPatterns:
    """The patterns that are looked for in the files of one step."""

    def __init__(self, step: JubeStep, is_trusted: bool, findings: Findings) -> None:
        self.step = step
        self._is_trusted = is_trusted
        self._findings = findings
        self._nodes: dict[str, Node] = {}
        self._files: dict[str, list[str]] = {}
        self.metrics: dict[str, dict[str, Any]] = {}
        self.aliases: dict[str, str] = {}
        """Patterns that are another one, or a parameter, by another name."""
        self.computed: list[dict[str, str]] = []
        self.given: dict[str, None] = {}
        """Parameters that scripts name."""

    def add(self, node: Node, file: str) -> None:
        """Looks for a pattern in a file, after those that came before."""
        known = self._nodes.setdefault(node.name, node)
        if (known.text, known.attributes) != (node.text, node.attributes):
            self._findings.refuse(node, f"'{node.name}' is another pattern at {known.where}")
        files = self._files.setdefault(node.name, [])
        if file not in files:
            files.append(file)

    def make(self) -> None:
        """Makes a metric of each pattern."""
        for name in self._nodes:
            self.need(name)

    def need(self, name: str) -> str:
        """Makes the metric of a pattern or of one of its statistics, which other things need.

        Returns its name among metrics and parameters; empty: there is nothing of this name.
        """
        base, _, suffix = name.rpartition("_")
        if name in self.step.parameters:
            self.step.columns.add(name)
            return name
        if name in self._nodes:
            if identifier(name) not in self.metrics and name not in self.aliases:
                self._make(self._nodes[name])
            return self.aliases.get(name) or (
                identifier(name) if identifier(name) in self.metrics else ""
            )
        if base in self._nodes and suffix in _PICKS and self._is_searched(base):
            return self._statistic(name, base, suffix)
        return ""

    def unit_of(self, name: str) -> str:
        """The unit of a column of this name."""
        base, _, suffix = name.rpartition("_")
        for own in (name, base if suffix in _PICKS and suffix != "cnt" else ""):
            if own in self._nodes:
                return self._nodes[own].get("unit")
            if own in self.step.parameters:
                return self.step.parameters[own].node.get("unit")
        return ""

    def whole(self) -> list[str]:
        """The metrics that are whole numbers."""
        return [identifier(name) for name in self._nodes if self.is_whole(identifier(name))]

    def is_whole(self, key: str) -> bool:
        """Whether a metric's values are whole numbers."""
        own = self.metrics.get(key, {})
        types = {identifier(name): node.get("type") for name, node in self._nodes.items()}
        return types.get(key) == "int" and not own.get("text") and own.get("pick") != "mean"

    def _is_searched(self, name: str) -> bool:
        return self._nodes[name].get("mode", "pattern") == "pattern"

    def _statistic(self, name: str, base: str, suffix: str) -> str:
        own = self.need(base)
        if not own or (self.metrics[own].get("text") and suffix not in _PICKS_OF_TEXTS):
            return ""
        metric = self.metrics[own] | {"pick": _PICKS[suffix]}
        if suffix == "cnt":
            for key in ("unit", "text", "default"):
                metric.pop(key, None)
            if "default" in self.metrics[own]:
                metric["default"] = 0.0
        if suffix == "std" and "default" in metric:
            metric["default"] = 0.0
        self.metrics[identifier(name)] = metric
        return identifier(name)

    def _make(self, node: Node) -> None:
        mode = node.get("mode", "pattern")
        if mode == "pattern":
            self._searched(node)
        elif mode == "text" and len(names := names_of(node.text)) == 1 and _is_name(node.text):
            self.aliases[node.name] = self.need(names[0])
        elif mode == "python" and self._is_arithmetic(node):
            text = " ".join(replaced(node.text, self.need).split())
            self.metrics[identifier(node.name)] = {"derive": text, "optional": True} | _facts(node)
        elif mode in (*_SCRIPTS, "text"):
            self._script(node, mode)
        else:
            self._findings.refuse(node, f"the pattern mode '{mode}' is not supported")

    def _is_arithmetic(self, node: Node) -> bool:
        """Whether our own expressions over numbers say the same."""
        own = [self.need(name) for name in names_of(node.text)]
        if not all(own) or any(self.metrics.get(name, {}).get("text") for name in own):
            return False
        constants = constants_of(self.step.parameters)
        if any(name in constants and not _is_number(constants[name]) for name in own):
            return False
        if re.search(r"[\"'\[]|//|\d\s*%", node.text):
            return False
        try:
            tree_of(replaced(node.text, lambda name: name).strip())
        except ExpressionError:
            return False
        return True

    def _script(self, node: Node, mode: str) -> None:
        if mode != "text" and not self._is_trusted:
            self._findings.refuse(
                node, f"the pattern '{node.name}' would have to be run as {mode}; see --trust"
            )
            return
        for name in names_of(node.text):
            own = self.need(name)
            if own in self.step.parameters:
                self.given[own] = None
        kind = node.get("type", "string")
        self.computed.append(
            {
                "name": node.name,
                "mode": mode,
                "text": node.text.strip(),
                "type": kind,
                "default": node.get("default"),
            }
        )
        is_text = {} if kind in _TYPES else {"text": True}
        unit = {"unit": node.get("unit")} if node.get("unit") else {}
        self.metrics[identifier(node.name)] = {
            "json": node.name,
            "file": RESULT,
            "optional": True,
            **is_text,
            **unit,
        }

    def _searched(self, node: Node) -> None:
        """A metric by a regular expression over one or several files."""
        text = node.text.strip()
        constants = constants_of(self.step.parameters)
        regex = replaced(text, lambda name: _KNOWN.get(name) or constants.get(name))
        for name in names_of(text):
            if name in self.step.parameters and name not in constants:
                self._findings.refuse(node, f"'{text}' differs by the parameter '{name}'")
        if node.get("dotall").lower() in ("true", "1"):
            regex = f"(?s){regex}"
        try:
            brackets = re.compile(regex, re.MULTILINE).groups
        except re.error as error:
            raise failed(node, f"'{regex}' is no regular expression: {error}") from None
        if not brackets:
            regex = f"(?s)({regex[4:]})" if regex.startswith("(?s)") else f"({regex})"
        first, *others = self._files[node.name]
        metric: dict[str, Any] = {"regex": regex}
        if first != "stdout":
            metric["file"] = first
        if others:
            metric["also_in"] = others
        if brackets > 1:
            metric["every_bracket"] = True
        metric |= {"pick": "first", "optional": True} | _facts(node)
        is_number = brackets == 1 and any(f"({own}" in regex for own in (_NUMBER, r"[+-]?\d+"))
        if node.get("type", "string") not in _TYPES and not is_number:
            metric |= {"text": True}
            if "default" in metric:
                self._findings.note(node, "the default of a text: its cell is empty")
                del metric["default"]
        self.metrics[identifier(node.name)] = metric


def computing_lines(patterns: StepPatterns) -> list[str]:
    """The lines of a step's command that compute what scripts give; none without scripts."""
    if not patterns.computed:
        return []
    rules = {
        "metrics": {n: own for n, own in patterns.metrics.items() if own.get("file") != RESULT},
        "whole": patterns.whole(),
        "computed": patterns.computed,
    }
    given = [f"={name}\n{{{name}}}" for name in patterns.given]
    text = "\n".join([braced(json.dumps(rules)), *given])
    return [f"{{python}} -m venturi.campaign.computed <<'END_OF_RULES'\n{text}\nEND_OF_RULES"]


def file_name(findings: Findings, node: Node, step: JubeStep) -> str:
    """The file of an analyser, with braces around parameters that differ from run to run."""
    constants = constants_of(step.parameters)
    name = substituted(node.text.strip(), constants)

    def in_braces(own: str) -> str | None:
        if own not in step.parameters:
            return None
        step.columns.add(own)
        return f"{{{own}}}"

    name = replaced(name, in_braces)
    if "$" in name:
        findings.refuse(node, f"the file name '{name}' is not fixed")
    return name


def _facts(node: Node) -> dict[str, Any]:
    """Unit and default."""
    facts: dict[str, Any] = {"unit": node.get("unit")} if node.get("unit") else {}
    if "default" in node.attributes and _is_number(node.get("default")):
        facts["default"] = float(node.get("default"))
    return facts


def _is_number(text: str) -> bool:
    return re.fullmatch(_NUMBER, text.strip()) is not None


def _is_name(text: str) -> bool:
    return re.fullmatch(r"\$(\w+|\{\w+\})", text.strip()) is not None
