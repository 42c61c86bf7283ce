"""How sizes follow the number of ranks: two captures of one program on different numbers.

Where two workloads have the same program but for some numbers, each of these is constant for each
rank, constant in total, or affine in the number of ranks; two points fix which.
"""

from __future__ import annotations

import json
import re
from typing import Any

from venturi.derive.operation.scene import RANKS
from venturi.model.document import parse_json
from venturi.model.error import UserError
from venturi.model.expression import ExpressionError, Literal, tree_of
from venturi.model.units import size_text
from venturi.model.workload import Parameter, Workload

_STEP = re.compile(r"(\d+ [kKMGTPE]?i?B) \* ([a-z]\w*)")
"""A place that moves on with a loop."""
_NUMBER = re.compile(r"(?<![\w.])(\d+)(?![\w.]| ?[kKMGTPE]?i?B\b)")
"""A whole number in an expression, without a unit."""
_SIZES = frozenset({"transfer", "size", "block", "at", "bytes", "prestage"})
_COUNTS = frozenset({"count", "segments", "total", "in", "items", "shape", "tile", "weight"})


def ranks_of(workload: Workload) -> int:
    """The ranks that a derived workload was captured on."""
    parameter = workload.parameters.get(RANKS)
    if not isinstance(parameter, Parameter) or not isinstance(parameter.default, int):
        raise UserError(f"{workload.name}: no parameter '{RANKS}' says on how many ranks it ran")
    return parameter.default


def scaled(one: Workload, other: Workload) -> Workload:
    """`one` with numbers that follow the ranks, as `other`, on another number of them, shows.

    Raises UserError where both ran on the same number of ranks. Where the programs differ in more
    than numbers, or their numbers stand in tables, `one` comes back with that as an assumption.
    """
    ranks = (ranks_of(one), ranks_of(other))
    if ranks[0] == ranks[1]:
        raise UserError(
            f"both captures ran on {ranks[0]} ranks, so nothing says how sizes follow them",
            "capture the program on another number of ranks",
        )
    if one.tables or other.tables:
        text = f"those of {ranks[0]} ranks are kept"
        return _noted(
            one, [f"--scale-ranks: calls stand in tables, whose numbers have no rule; {text}"]
        )
    found = _Scaling(ranks)
    whole = one.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    second = other.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    parts = {}
    for key in ("files", "program"):
        parts[key] = found.joined(whole[key], second.get(key), key)
    if found.differs:
        text = (
            f"--scale-ranks: the programs on {ranks[0]} and {ranks[1]} ranks differ in more than "
        )
        return _noted(one, [f"{text}numbers ({found.differs}); sizes of the first are kept"])
    scaled_one = parse_json(Workload, json.dumps({**whole, **parts}))
    return _noted(scaled_one, found.notes or ["--scale-ranks: all sizes of a rank are constant"])


def _noted(workload: Workload, notes: list[str]) -> Workload:
    assert workload.origin is not None
    origin = workload.origin.model_copy(update={"assumed": workload.origin.assumed + notes})
    return workload.model_copy(update={"origin": origin})


class _Scaling:
    """Joins two programs, number by number."""

    def __init__(self, ranks: tuple[int, int]) -> None:
        self.ranks = ranks
        self.differs = ""
        self.notes: list[str] = []

    def joined(self, one: Any, other: Any, where: str) -> Any:
        """The value for any number of ranks."""
        if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
            return {key: self.joined(one[key], other[key], f"{where}.{key}") for key in one}
        if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
            return [
                self.joined(a, b, f"{where}[{i}]")
                for i, (a, b) in enumerate(zip(one, other, strict=True))
            ]
        if one == other:
            return one
        key = where.rpartition(".")[2].partition("[")[0]
        if key in ("compute", "think"):
            return one
        if key == "at" and (moved := self._moved(str(one), str(other), where)) is not None:
            return moved
        if isinstance(one, str) and isinstance(other, str) and key in _SIZES | _COUNTS | {"when"}:
            parts = self._expression(one, other, where)
            if parts is not None:
                return parts
        values = (_number(one), _number(other))
        if values[0] is None or values[1] is None or key not in _SIZES | _COUNTS:
            self.differs = self.differs or where
            return one
        if key in ("at", "shape", "tile", "weight", "transfer"):
            self.differs = self.differs or where
            return one
        return self._law((values[0], values[1]), key in _SIZES, where)

    def _moved(self, one: str, other: str, where: str) -> str | None:
        """Steps of a loop that are as long as all ranks together."""
        first, second = _STEP.fullmatch(one), _STEP.fullmatch(other)
        if first is None or second is None or first[2] != second[2]:
            return None
        steps = (_number(first[1]), _number(second[1]))
        if steps[0] is None or steps[1] is None or steps[0] % self.ranks[0]:
            return None
        each = steps[0] // self.ranks[0]
        if each * self.ranks[1] != steps[1]:
            return None
        self.notes.append(f"--scale-ranks: {where} moves on by the parts of all ranks")
        return f"{size_text(each)} * ranks * {first[2]}"

    def _expression(self, one: str, other: str, where: str) -> str | None:
        """Two expressions that differ in whole numbers; None where they differ in more."""
        first, second = _NUMBER.split(one), _NUMBER.split(other)
        if first[::2] != second[::2] or (len(first) == 3 and not "".join(first[::2]).strip()):
            return None
        found = list(first)
        for number in range(1, len(first), 2):
            if first[number] == second[number]:
                continue
            both = int(first[number]), int(second[number])
            if both[0] * self.ranks[1] == both[1] * self.ranks[0] and not both[0] % self.ranks[0]:
                self.notes.append(f"--scale-ranks: {where} follows the number of ranks")
                found[number] = f"{both[0] // self.ranks[0]} * ranks"
            else:
                found[number] = f"({self._law(both, False, where)})"
        return "".join(found)

    def _law(self, values: tuple[int, int], is_size: bool, where: str) -> str | int:
        """Constant in total, else affine in the ranks."""
        total = values[0] * self.ranks[0]
        number = size_text if is_size else str
        if total == values[1] * self.ranks[1]:
            self.notes.append(f"--scale-ranks: {where} is constant in total")
            return f"{number(total)} // ranks"
        slope, rest = divmod(values[1] - values[0], self.ranks[1] - self.ranks[0])
        constant = values[0] - slope * self.ranks[0]
        if rest or constant < 0 or slope < 0:
            self.differs = self.differs or where
            return number(values[0])
        self.notes.append(f"--scale-ranks: {where} is affine in the ranks")
        head = f"{number(constant)} + " if constant else ""
        return f"{head}{number(slope)} * ranks"


def _number(value: Any) -> int | None:
    """A whole number, or a size with its unit."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    try:
        tree = tree_of(value)
    except ExpressionError:
        return None
    is_whole = isinstance(tree, Literal) and isinstance(tree.value, int)
    return int(tree.value) if isinstance(tree, Literal) and is_whole else None
