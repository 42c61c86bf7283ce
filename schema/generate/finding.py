"""Writes the reference page of findings from the rules that look for them."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator
from typing import Any

from venturi.derive.finding_counter import CAPTURE_RULE, CASE_RULES, STDIO_RULE
from venturi.derive.finding_data import DATA_RULES
from venturi.derive.finding_name import LOOKUP_RULES, NAME_RULES
from venturi.derive.finding_place import PLACE_RULES
from venturi.derive.finding_rule import FindingRule
from venturi.derive.finding_time import TIME_RULES, TIMELINE_RULES

_BY_OPERATIONS: tuple[FindingRule[Any], ...] = (
    *DATA_RULES,
    *PLACE_RULES,
    *NAME_RULES,
    *TIME_RULES,
    *LOOKUP_RULES,
    *TIMELINE_RULES,
)
_BY_COUNTERS: tuple[FindingRule[Any], ...] = (*CASE_RULES, STDIO_RULE)

_SOURCES = ((_BY_OPERATIONS, "a capture"), (_BY_COUNTERS, "counters"), ((CAPTURE_RULE,), "both"))

_HEAD = """\
# Findings

<!-- Generated from the rules in src/venturi/derive by `make gen`; do not edit. -->

What `venturi derive` and `venturi report` may say of an application. Each finding has a stable id,
which is also in JSON. A capture has every call, so its findings know the time at stake, and how
severe they are follows from it; counters (Darshan's logs, `--counters`) rarely know a time. In the
sentences `…` stands for what a finding fills in."""

_GAIN = "Its time at stake is what mending brings."
_BOUND = "Its time at stake is the time inside these calls: mending brings that at most."


def text() -> str:
    """Return the page."""
    ids = sorted({rule.id for rules, _ in _SOURCES for rule in rules})
    return "\n\n".join([_HEAD, *(part for name in ids for part in _section(name))]) + "\n"


def _section(name: str) -> Iterator[str]:
    yield f"## {name}"
    for rules, source in _SOURCES:
        for rule in rules:
            if rule.id != name:
                continue
            yield f"Seen in {source}: " + " ".join(f"*{one}*" for one in sentences(rule.look))
            yield f"Advice for the {rule.audience.value}: {rule.advice}"
            if rules is _BY_OPERATIONS:
                yield _GAIN if rule.is_gain else _BOUND


def sentences(look: Callable[..., Any]) -> list[str]:
    """Return what a rule may say, without the name of the files that it says it of."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(look)))
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "RuleMatch":
            named = next((word.value for word in node.keywords if word.arg == "what"), None)
            told = _words(named or node.args[0]).removeprefix("…: ")
            found.append(told[:1].upper() + told[1:])
    return list(dict.fromkeys(found))


def _words(node: ast.expr) -> str:
    """Return the text of a literal, with `…` where something is filled in."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(_words(part) for part in node.values)
    return "…"
