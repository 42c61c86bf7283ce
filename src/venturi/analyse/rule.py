"""The rules of a benchmark: which of them a run kept, and what it did where it broke one."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from venturi.analyse.metric import FIELD, NODES, evaluate
from venturi.model.expression import Number
from venturi.model.record import PhaseRow, RuleRow
from venturi.model.workload import Rule, Workload


def rules_of(
    workload: Workload,
    numbers: Mapping[int, dict[str, Number]],
    phases: Sequence[PhaseRow],
    nodes: int,
) -> list[RuleRow]:
    """Every rule of the workload; one that cannot be judged, because a phase is missing, is broken.

    `numbers`: of each repetition, the parameters and metrics by their names. A rule must hold in
    each repetition; the first that breaks it is told of.
    """
    rows: dict[int, list[PhaseRow]] = {}
    for row in phases:
        rows.setdefault(row.repetition, []).append(row)
    repetitions = [({**numbers[number], NODES: nodes}, mine) for number, mine in rows.items()]
    return [_judge(name, rule, repetitions) for name, rule in workload.rules.items()]


def failure_by(workload: Workload, rows: Sequence[RuleRow]) -> str | None:
    """What a fatal rule says that the run broke; None if all of them hold or cannot be judged."""
    broken = (row for row in rows if not row.holds and row.says != _unknown(row.name))
    return next((row.says for row in broken if workload.rules[row.name].fatal), None)


def _unknown(name: str) -> str:
    return f"{name}: not known, a phase is missing"


def _judge(
    name: str, rule: Rule, repetitions: list[tuple[dict[str, Number], list[PhaseRow]]]
) -> RuleRow:
    for known, rows in repetitions:
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

    return FIELD.sub(value, text)
