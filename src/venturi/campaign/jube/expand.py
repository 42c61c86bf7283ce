"""The points of a JUBE benchmark, and the shortest space that has exactly these.

JUBE crosses all lists; a parameter may follow from others, also as a list of its own. What
follows from one list becomes a zipped group with it, arithmetic becomes a derived value, and
if anything else depends on several lists, all points are written one by one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from venturi.campaign.jube.node import Findings, Node, failed
from venturi.campaign.jube.script import Scripts
from venturi.campaign.jube.text import names_of, replaced, substituted
from venturi.model.expression import (
    ExpressionError,
    compile_tree,
    evaluate,
    names_in,
    tree_of,
)
from venturi.model.workload import Scalar

_MODES = ("text", "python", "shell", "perl", "env")
_MOST_POINTS = 100_000
_CLOCK = re.compile(r"(?:(\d+)-)?(\d+):(\d\d):(\d\d)")
PACKAGE = "jube_wp_id"
"""The number of a work package."""
CLOCK = "timelimit_s"
"""The parameter that has a job's time limit in seconds."""


@dataclass(frozen=True)
class JubeParameter:
    """A parameter as the file defines it."""

    node: Node
    text: str
    mode: str
    separator: str

    @property
    def names(self) -> list[str]:
        """What it may follow from."""
        return names_of(self.text)

    @property
    def is_list(self) -> bool:
        """Whether its own text is a list."""
        return self.separator in self.text and self.mode == "text"

    @property
    def is_same_as(self) -> tuple[str, str, str]:
        """What makes two definitions one."""
        return self.text, self.mode, self.separator


def parameter_of(node: Node, findings: Findings) -> JubeParameter:
    """A `parameter`; what of it is not supported is noted."""
    mode = node.get("mode", "text")
    if mode not in _MODES:
        findings.refuse(node, f"parameter mode '{mode}' is not supported; use {', '.join(_MODES)}")
    if node.get("update_mode", "never") != "never":
        findings.refuse(node, f"update_mode '{node.get('update_mode')}' is not supported")
    return JubeParameter(node, node.text.strip(), mode, node.get("separator", ","))


@dataclass
class Expansion:
    """All points of some parameters."""

    parameters: Mapping[str, JubeParameter]
    scripts: Scripts
    points: list[dict[str, str]] = field(default_factory=lambda: [{}])
    axes: list[str] = field(default_factory=list)
    """Lists that follow from nothing."""
    follows: dict[str, bool] = field(default_factory=dict)
    """Of what follows from others: whether it is a list itself."""

    def add(self, name: str, above: tuple[str, ...] = ()) -> None:
        """Crosses the points with a parameter, and before with those that it follows from."""
        if name in self.points[0]:
            return
        own = self.parameters[name]
        if name in above:
            raise failed(own.node, f"{' from '.join([*above, name])} is a circle")
        known = [other for other in own.names if other in self.parameters]
        for other in known:
            self.add(other, (*above, name))
        found: list[dict[str, str]] = []
        most = 0
        for point in self.points:
            values = self._values(own, point)
            most = max(most, len(values))
            found += [point | {name: value} for value in values]
            if len(found) > _MOST_POINTS:
                raise failed(own.node, f"more than {_MOST_POINTS} points")
        self.points = found
        if known:
            self.follows[name] = most > 1
        elif most > 1:
            self.axes.append(name)

    def _values(self, own: JubeParameter, point: Mapping[str, str]) -> list[str]:
        text = substituted(own.text, point)
        if own.mode == "clock":
            return [_seconds(text)]
        value = self.scripts.value(own.node, own.mode, text)
        parts = value.split(own.separator) if own.separator else [value]
        return [part.strip() for part in parts] if len(parts) > 1 else parts

    def number(self) -> None:
        """Gives each point a number, from 0 on, as JUBE does to the packages of its first step."""
        self.points = [point | {PACKAGE: str(n)} for n, point in enumerate(self.points)]
        self.follows[PACKAGE] = False

    def space(self, wanted: list[str]) -> dict[str, Any]:
        """The space of the wanted parameters, as a campaign's file has it."""
        wanted = [name for name in self.points[0] if name in wanted]
        derived: dict[str, str] = {}
        zipped: dict[str, list[str]] = {}
        constant: list[str] = []
        for name in wanted:
            values = {point[name] for point in self.points}
            if len(values) == 1:
                constant.append(name)
            elif name not in self.axes:
                axis = None if self.follows[name] else self._axis_of(name)
                expression = None if axis else self._derived(name, [*constant, *wanted])
                if axis is not None:
                    zipped.setdefault(axis, []).append(name)
                elif expression is not None:
                    derived[name] = expression
                else:
                    return {"points": self._listed(wanted)}
        product = {
            name: self._levels(name)
            for name in wanted
            if name in constant or (name in self.axes and name not in zipped)
        }
        groups = [self._group([axis, *names]) for axis, names in zipped.items()]
        space = {"product": product, "zip": groups, "derive": derived}
        return {key: value for key, value in space.items() if value}

    def _axis_of(self, name: str) -> str | None:
        """The list whose values alone decide a parameter's; None if there is none."""
        for axis in self.axes:
            pairs = {(point[axis], point[name]) for point in self.points}
            if len(pairs) == len({first for first, _ in pairs}):
                return axis
        return None

    def _derived(self, name: str, names: list[str]) -> str | None:
        """The expression that gives a parameter at every point, if arithmetic of numbers does."""
        own = self.parameters.get(name)
        if own is None or own.mode != "python":
            return None
        text = replaced(own.text, lambda other: other if other in self.parameters else None)
        try:
            tree = tree_of(text.strip())
            used = sorted(names_in(tree))
            if not set(used) <= set(names):
                return None
            code = compile_tree(tree, {other: index for index, other in enumerate(used)})
            for point in self.points:
                value = evaluate(code, [int(point[other]) for other in used])
                if str(value) != point[name]:
                    return None
        except (ExpressionError, ValueError):
            return None
        return " ".join(text.split())

    def _levels(self, name: str) -> list[Scalar]:
        return [scalar(text) for text in dict.fromkeys(point[name] for point in self.points)]

    def _group(self, names: list[str]) -> dict[str, list[Scalar]]:
        rows = dict.fromkeys(tuple(point[name] for name in names) for point in self.points)
        columns = zip(*rows, strict=True)
        return {
            name: [scalar(text) for text in column]
            for name, column in zip(names, columns, strict=True)
        }

    def _listed(self, names: list[str]) -> list[dict[str, Scalar]]:
        rows = dict.fromkeys(tuple(point[name] for name in names) for point in self.points)
        return [dict(zip(names, map(scalar, row), strict=True)) for row in rows]


def scalar(text: str) -> Scalar:
    """A whole number where the text is how one is written, else the text itself."""
    return int(text) if re.fullmatch(r"0|-?[1-9]\d{0,17}", text) else text


def _seconds(text: str) -> str:
    """A time of the clock as batch systems write it, in seconds; anything else as it is."""
    match = _CLOCK.fullmatch(text)
    if match is None:
        return text
    days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
    return str(((days * 24 + hours) * 60 + minutes) * 60 + seconds)
