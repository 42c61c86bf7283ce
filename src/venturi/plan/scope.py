"""The names that an expression may read at one place of a program, and its compilation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from venturi.model.error import UserError
from venturi.model.expression import (
    Apply,
    ExpressionError,
    Literal,
    Number,
    Tree,
    bind,
    compile_tree,
    names_in,
    tree_of,
)
from venturi.model.plan import Instruction, Operator
from venturi.model.workload import RESERVED_NAMES, Value

_MOST_SECONDS = 1e9
"""More than thirty years; the engine counts nanoseconds in 64 bits."""


@dataclass(frozen=True)
class Scope:
    """Parameters as constants, reserved names and loop variables as slots; names of expressions."""

    constants: Mapping[str, Number]
    slots: Mapping[str, int]
    defined: Mapping[str, Tree] = field(default_factory=dict)

    def inside(self, variable: str, slot: int) -> Scope:
        """The scope of a loop's body."""
        if variable in (*RESERVED_NAMES, *self.constants, *self.defined):
            raise UserError(f"the loop variable '{variable}' is already a name of something else")
        return Scope(self.constants, {**self.slots, variable: slot}, self.defined)

    def defining(self, definitions: Mapping[str, Value]) -> Scope:
        """The scope with names for expressions; each may use those before it."""
        known: dict[str, Tree] = {name: Literal(n) for name, n in self.constants.items()}
        defined: dict[str, Tree] = {}
        for name, value in definitions.items():
            where = f"define.{name}"
            if name in (*RESERVED_NAMES, *self.constants):
                raise UserError(f"{where}: this is already a name of something else")
            try:
                defined[name] = bind(tree_of(value), known | defined)
            except ExpressionError as error:
                raise UserError(f"{where}: {error}") from None
        return Scope(self.constants, self.slots, defined)

    def tree(self, value: Value, where: str) -> Tree:
        """The tree of a value with all constants computed; UserError names `where`."""
        try:
            tree = tree_of(value)
            known: dict[str, Tree] = {name: Literal(n) for name, n in self.constants.items()}
            bound = bind(tree, {**known, **self.defined})
            unknown = names_in(bound) - self.slots.keys()
            if unknown:
                raise ExpressionError(f"unknown name '{min(unknown)}'")
        except ExpressionError as error:
            raise UserError(f"{where}: {error}") from None
        return bound

    def code(self, value: Value, where: str) -> list[Instruction]:
        """The postfix code of a value."""
        return self.compile(self.tree(value, where), where)

    def compile(self, tree: Tree, where: str) -> list[Instruction]:
        """The postfix code of a tree, constants computed."""
        try:
            return compile_tree(bind(tree, {}), self.slots)
        except ExpressionError as error:
            raise UserError(f"{where}: {error}") from None

    def constant(self, value: Value, where: str) -> Number:
        """The number of a value that may not depend on rank or loops."""
        tree = self.tree(value, where)
        if not isinstance(tree, Literal):
            names = ", ".join(sorted(names_in(tree)))
            raise UserError(f"{where}: this must be a fixed number, but it depends on {names}")
        return tree.value

    def whole(self, value: Value, where: str, least: int = 0, most: int | None = None) -> int:
        """A fixed whole number of at least `least`, and at most `most`."""
        number = self.constant(value, where)
        if not isinstance(number, int) or number < least:
            raise UserError(f"{where}: a whole number of {least} or more is needed, not {number}")
        if most is not None and number > most:
            raise UserError(f"{where}: at most {most}, not {number}")
        return number


def slots_of(code: Iterable[Instruction] | None) -> set[int]:
    """The slots that a value reads."""
    return {i.integer for i in code or [] if i.operator is Operator.VARIABLE}


def duration(value: Value, scope: Scope, where: str, *, or_none: bool = False) -> float:
    """A fixed duration in seconds, longer than nothing unless `or_none`."""
    seconds = float(scope.constant(value, where))
    if seconds < 0 or (seconds == 0 and not or_none):
        least = "of 0 s or more" if or_none else "longer than 0 s"
        raise UserError(f"{where}: a duration {least} is needed, not {value}")
    if seconds > _MOST_SECONDS:
        raise UserError(f"{where}: at most {_MOST_SECONDS:g} s, not {value}")
    return seconds


def apply(operator: Operator, *operands: Tree | int) -> Tree:
    """A tree of one operator, with numbers as literals and constants computed."""
    trees = tuple(Literal(o) if isinstance(o, int) else o for o in operands)
    return bind(Apply(operator, trees), {})


def times(left: Tree | int, right: Tree | int) -> Tree:
    """The product; 0 and 1 vanish."""
    for one, other in ((left, right), (right, left)):
        if one in (1, Literal(1)):
            return Literal(other) if isinstance(other, int) else other
        if one in (0, Literal(0)):
            return Literal(0)
    return apply(Operator.MULTIPLY, left, right)


def plus(left: Tree | int, right: Tree | int) -> Tree:
    """The sum; 0 vanishes."""
    for one, other in ((left, right), (right, left)):
        if one in (0, Literal(0)):
            return Literal(other) if isinstance(other, int) else other
    return apply(Operator.ADD, left, right)


def minus(left: Tree | int, right: Tree | int) -> Tree:
    """The difference."""
    return apply(Operator.SUBTRACT, left, right)


def over(left: Tree | int, right: Tree | int) -> Tree:
    """The quotient rounded down."""
    return apply(Operator.FLOOR_DIVIDE, left, right)


def rest(left: Tree | int, right: Tree | int) -> Tree:
    """The remainder."""
    return apply(Operator.MODULO, left, right)
