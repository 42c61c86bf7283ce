"""The rules of a benchmark: which of them a run kept, and what it did where it broke one."""

from __future__ import annotations

import re
from collections.abc import Sequence

from venturi.analyse.metric import evaluate
from venturi.model.expression import Number
from venturi.model.record import PhaseRow, RuleRow
from venturi.model.workload import Rule, Workload

_FIELD = re.compile(r"\{([^{}]+)\}")


def rules_of(
    workload: Workload, parameters: dict[str, Number], phases: Sequence[PhaseRow], nodes: int
) -> list[RuleRow]:
    """Every rule of the workload; one that cannot be judged, because a phase is missing, is broken.

    A rule must hold in each repetition; the first that breaks it is told of.
    """
    known = {**parameters, "nodes": nodes}
    by_repetition: dict[int, list[PhaseRow]] = {}
    for row in phases:
        by_repetition.setdefault(row.repetition, []).append(row)
    return [
        _judge(name, rule, known, list(by_repetition.values()))
        for name, rule in workload.rules.items()
    ]


def failure_by(workload: Workload, rows: Sequence[RuleRow]) -> str | None:
    """What a fatal rule says that the run broke; None if all of them hold or cannot be judged."""
    broken = (row for row in rows if not row.holds and row.says != _unknown(row.name))
    return next((row.says for row in broken if workload.rules[row.name].fatal), None)


def _unknown(name: str) -> str:
    return f"{name}: not known, a phase is missing"


def _judge(
    name: str, rule: Rule, known: dict[str, Number], repetitions: list[list[PhaseRow]]
) -> RuleRow:
    for rows in repetitions:
        value = evaluate(rule.holds, known, rows)
        if value is None:
            return RuleRow(name=name, holds=False, says=_unknown(name))
        if value == 0:
            return RuleRow(name=name, holds=False, says=_filled(rule.says, known, rows))
    return RuleRow(
        name=name, holds=bool(repetitions), says="" if repetitions else "nothing was run"
    )


def _filled(text: str, known: dict[str, Number], rows: list[PhaseRow]) -> str:
    def value(match: re.Match[str]) -> str:
        number = evaluate(match[1], known, rows)
        return "?" if number is None else f"{number:.4g}"

    return _FIELD.sub(value, text)
