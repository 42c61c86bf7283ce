"""JUBE's analysers as metrics of steps, and its tables."""

from __future__ import annotations

from typing import Any

from venturi.campaign.jube.expand import PACKAGE
from venturi.campaign.jube.node import Findings, Node
from venturi.campaign.jube.pattern import StepPatterns, file_name
from venturi.campaign.jube.step import JubeStep, all_before
from venturi.campaign.jube.suite import Suite, used_names
from venturi.model.error import UserError

_SEPARATOR = ","


class Analysis:
    """Patterns by the step whose files they are looked for in."""

    def __init__(
        self, suite: Suite, steps: dict[str, JubeStep], is_trusted: bool, findings: Findings
    ) -> None:
        self._findings = findings
        self._steps = steps
        self.patterns = {
            step.name: StepPatterns(step, is_trusted, findings) for step in steps.values()
        }
        self._steps_of: dict[str, list[str]] = {}
        for analyser in suite.benchmark.of("analyser", "analyzer"):
            self._analyser(suite, analyser)
        for own in self.patterns.values():
            own.make()
        self.tables: dict[str, dict[str, Any]] = {}
        for result in suite.benchmark.of("result"):
            for table in result.of("table"):
                self._table(table, result)
            for other in result.of("database", "syslog"):
                findings.note(other, f"{other.tag}: results are kept with every run")

    def _analyser(self, suite: Suite, analyser: Node) -> None:
        general = [(use, name) for use in analyser.of("use") for name in used_names(use)]
        for analyse in analyser.of("analyse"):
            step = analyse.get("step")
            if step not in self._steps:
                self._findings.note(analyse, f"the step '{step}' is not chosen")
                continue
            steps = self._steps_of.setdefault(analyser.name, [])
            if step not in steps:
                steps.append(step)
            for file in analyse.of("file"):
                name = file_name(self._findings, file, self._steps[step])
                self._steps[step].analysed.append(name)
                special = [(file, own) for own in file.get("use").split(",") if own.strip()]
                for use, own in [*general, *special]:
                    try:
                        found = suite.set_named(use, own.strip())
                    except UserError as error:
                        self._findings.refuse_as(error)
                        continue
                    for pattern in found.of("pattern"):
                        self.patterns[self._steps[step].name].add(pattern, name)

    def _table(self, table: Node, result: Node) -> None:
        if table.get("filter"):
            self._findings.refuse(table, "filter of a table is not supported")
        if table.get("transpose", "false").lower() not in ("false", "0"):
            self._findings.refuse(table, "transpose of a table is not supported")
        names = [name for use in result.of("use") for name in used_names(use)]
        steps = [self._steps[s] for name in names for s in self._steps_of.get(name, [])]
        before = [other.name for step in steps for other in all_before(step)]
        last = {step.name: step for step in steps if step.name not in before}
        if not last:
            self._findings.note(result, "the table has no step that is chosen")
            return
        if len(last) > 1:
            said = ", ".join(last)
            self._findings.refuse(result, f"its rows are those of several steps: {said}")
            return
        [step] = last.values()
        chain = [step, *(other for other in all_before(step) if other in steps)]
        columns = [self._column(column, chain) for column in table.of("column")]
        made: dict[str, Any] = {"step": step.name, "columns": columns}
        sort = [name.strip() for name in table.get("sort").split(",")]
        if sort := [key for name in sort if (key := self.patterns[step.name].need(name))]:
            made["sort"] = sort
        if table.get("separator", _SEPARATOR) != _SEPARATOR:
            made["separator"] = table.get("separator")
        self.tables[table.name] = made

    def _column(self, column: Node, chain: list[JubeStep]) -> dict[str, Any]:
        name = column.text.strip()
        title = column.get("title") or name
        if name == PACKAGE and len(self._steps) == 1:
            chain[0].columns.add(PACKAGE)
            return {"of": PACKAGE, "title": title}
        for index, step in enumerate(chain):
            patterns = self.patterns[step.name]
            own = patterns.need(_without_step(name, chain))
            if not own:
                continue
            if unit := patterns.unit_of(name):
                title = f"{title}[{unit}]"
            made: dict[str, Any] = {"of": own}
            if index and own not in chain[0].parameters:
                made["step"] = step.name
            if own in patterns.metrics:
                made["optional"] = True
            if title != own:
                made["title"] = title
            if column.get("format") or patterns.is_whole(own):
                made["format"] = column.get("format") or "d"
            return made
        self._findings.note(column, f"'{name}' is neither a parameter nor a pattern: it is empty")
        return {"of": "", "title": title}


def _without_step(name: str, chain: list[JubeStep]) -> str:
    """A parameter's name without that of the step whose value is meant."""
    for step in [chain[0], *all_before(chain[0])]:
        base = name.removesuffix(f"_{step.node.name}")
        if name not in chain[0].parameters and base != name and base in step.parameters:
            return base
    return name
