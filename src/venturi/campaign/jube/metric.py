"""JUBE's patterns as metrics, and its tables."""

from __future__ import annotations

import re
from typing import Any

from venturi.campaign.jube.node import Findings, Node, failed
from venturi.campaign.jube.step import JubeStep, constants_of
from venturi.campaign.jube.suite import Suite, used_names
from venturi.campaign.jube.text import names_of, replaced, substituted
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


class Analysis:
    """Patterns by the step whose files they are looked for in."""

    def __init__(self, suite: Suite, steps: dict[str, JubeStep], findings: Findings) -> None:
        self._findings = findings
        self._steps = steps
        self.metrics: dict[str, dict[str, dict[str, Any]]] = {name: {} for name in steps}
        self._step_of: dict[str, str] = {}
        for analyser in suite.benchmark.of("analyser", "analyzer"):
            self._analyser(suite, analyser)
        self.tables: dict[str, dict[str, Any]] = {}
        for result in suite.benchmark.of("result"):
            for table in result.of("table"):
                self.tables[table.name] = self._table(table, result)
            for other in result.of("database", "syslog"):
                findings.note(other, f"{other.tag}: results are kept with every run")

    def _analyser(self, suite: Suite, analyser: Node) -> None:
        general = [(use, name) for use in analyser.of("use") for name in used_names(use)]
        for analyse in analyser.of("analyse"):
            step = analyse.get("step")
            if step not in self._steps:
                self._findings.note(analyse, f"the step '{step}' is not chosen")
                continue
            self._step_of.setdefault(analyser.name, step)
            if self._step_of[analyser.name] != step:
                self._findings.refuse(analyse, "an analyser of several steps is not supported")
            for file in analyse.of("file"):
                name = substituted(file.text.strip(), constants_of(self._steps[step].parameters))
                if set("*?[$") & set(name):
                    self._findings.refuse(file, f"the file name '{name}' is not fixed")
                self._steps[step].analysed.append(name)
                special = [(file, own) for own in file.get("use").split(",") if own.strip()]
                for use, own in [*general, *special]:
                    found = suite.set_named(use, own.strip())
                    for pattern in found.of("pattern"):
                        self._pattern(pattern, self._steps[step], name)

    def _pattern(self, node: Node, step: JubeStep, file: str) -> None:
        metric = self._metric(node, step, file)
        known = self.metrics[step.name]
        if metric is not None and known.setdefault(node.name, metric) != metric:
            self._findings.refuse(node, f"'{node.name}' is looked for in several files")

    def _metric(self, node: Node, step: JubeStep, file: str) -> dict[str, Any] | None:
        mode, text = node.get("mode", "pattern"), node.text.strip()
        facts: dict[str, Any] = {"unit": node.get("unit")} if node.get("unit") else {}
        if mode in ("text", "python"):
            expression = replaced(text, lambda name: name).strip()
            try:
                tree_of(expression)
            except ExpressionError as error:
                self._findings.refuse(node, f"the computed pattern '{text}': {error}")
                return None
            step.columns |= set(names_of(text)) & set(step.parameters)
            return {"derive": expression, **facts}
        if mode != "pattern":
            self._findings.refuse(node, f"the pattern mode '{mode}' is not supported")
            return None
        constants = constants_of(step.parameters)
        regex = replaced(text, lambda name: _KNOWN.get(name) or constants.get(name))
        if node.get("dotall").lower() in ("true", "1"):
            regex = f"(?s){regex}"
        try:
            brackets = re.compile(regex, re.MULTILINE).groups
        except re.error as error:
            raise failed(node, f"'{regex}' is no regular expression: {error}") from None
        if brackets != 1:
            self._findings.refuse(node, f"'{regex}' has {brackets} brackets; one is supported")
        if node.get("default"):
            try:
                facts["default"] = float(node.get("default"))
            except ValueError:
                self._findings.refuse(node, f"the default '{node.get('default')}' is no number")
        where = {} if file == "stdout" else {"file": file}
        return {"regex": regex, **where, "pick": "first", **facts}

    def _table(self, table: Node, result: Node) -> dict[str, Any]:
        for name in ("filter", "transpose"):
            if table.get(name):
                self._findings.refuse(table, f"{name} of a table is not supported")
        steps = [
            self._step_of[name]
            for use in result.of("use")
            for name in used_names(use)
            if name in self._step_of
        ]
        if len(set(steps)) != 1:
            raise failed(result, "a result of several analysers is not supported")
        step = self._steps[steps[0]]
        columns = [self._column(column, step) for column in table.of("column")]
        made: dict[str, Any] = {"step": step.name, "columns": [c for c in columns if c]}
        if table.get("sort"):
            made["sort"] = [name.strip() for name in table.get("sort").split(",")]
        if table.get("separator", ",") != ",":
            made["separator"] = table.get("separator")
        return made

    def _column(self, column: Node, step: JubeStep) -> dict[str, str] | None:
        name = column.text.strip()
        metrics = self.metrics[step.name]
        base, _, suffix = name.rpartition("_")
        if name in step.parameters:
            step.columns.add(name)
        elif name not in metrics and base in metrics and suffix in _PICKS:
            if "derive" in metrics[base]:
                self._findings.refuse(column, f"'{name}': statistics of a computed pattern")
            metrics[name] = metrics[base] | {"pick": _PICKS[suffix]}
            if suffix == "cnt":
                metrics[name].pop("unit", None)
        elif name not in metrics:
            self._findings.refuse(column, f"'{name}' is neither a parameter nor a pattern")
            return None
        titled = {"of": name, "title": column.get("title"), "format": column.get("format")}
        return {key: value for key, value in titled.items() if value}
