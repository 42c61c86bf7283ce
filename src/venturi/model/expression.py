"""Expressions of the workload language: text -> tree -> postfix code -> value.

The grammar is that of Python's arithmetic, with units after numbers (`64 MiB`). It has its
own small parser; nothing is ever handed to `eval`. `postfix` runs the code.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from venturi.model.plan import Instruction, Operator
from venturi.model.postfix import (
    Compiled,
    ExpressionError,
    NodeFunctions,
    Number,
    bounded,
    compiled,
    evaluate,
)
from venturi.model.units import UNITS, with_unit

__all__ = [
    "Compiled",
    "ExpressionError",
    "NodeFunctions",
    "Number",
    "compiled",
    "evaluate",
]

_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.\d*|\.\d+|\d+)(?:[eE][+-]?\d+)?)(?:\s*(?P<unit>[A-Za-z]+)\b)?"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<sign>\*\*|//|<=|>=|==|!=|[-+*/%()<>,]))"
)
_MAX_TEXT = 4096
_MAX_DEPTH = 64


@dataclass(frozen=True)
class Literal:
    """A number."""

    value: Number


@dataclass(frozen=True)
class Variable:
    """A parameter, a loop variable or a reserved name."""

    name: str


@dataclass(frozen=True)
class Apply:
    """An operator on its operands."""

    operator: Operator
    operands: tuple[Tree, ...]


@dataclass(frozen=True)
class Choice:
    """`then if condition else otherwise`; only the chosen side is evaluated."""

    condition: Tree
    then: Tree
    otherwise: Tree


Tree = Literal | Variable | Apply | Choice

FUNCTIONS: dict[str, tuple[Operator, int]] = {
    "min": (Operator.MINIMUM, -1),
    "max": (Operator.MAXIMUM, -1),
    "ceil": (Operator.CEIL, 1),
    "floor": (Operator.FLOOR, 1),
    "isqrt": (Operator.ISQRT, 1),
    "log2": (Operator.LOG2, 1),
    "ceil_to": (Operator.CEIL_TO, 2),
    "numroc": (Operator.NUMROC, 4),
    "block": (Operator.BLOCK, 3),
    "skew": (Operator.SKEW, 3),
    "permute": (Operator.PERMUTE, 3),
    "draw": (Operator.DRAW, 3),
}
"""Name to operator and number of arguments; -1 means two or more."""

PICK = "pick"
"""`pick(i, a, b, ...)` is the value with the number i modulo how many there are."""

_COMPARISONS = {
    "<": Operator.LESS,
    "<=": Operator.LESS_EQUAL,
    ">": Operator.GREATER,
    ">=": Operator.GREATER_EQUAL,
    "==": Operator.EQUAL,
    "!=": Operator.NOT_EQUAL,
}
_SUMS = {"+": Operator.ADD, "-": Operator.SUBTRACT}
_PRODUCTS = {
    "*": Operator.MULTIPLY,
    "/": Operator.DIVIDE,
    "//": Operator.FLOOR_DIVIDE,
    "%": Operator.MODULO,
}
_WORDS = frozenset({"if", "else", "and", "or", "not"})


class _Parser:
    """Recursive descent, one method for each level of precedence."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = list(_tokens(text))
        self._next = 0
        self._depth = 0

    def parse(self) -> Tree:
        """The whole text as one tree."""
        tree = self._choice()
        if self._next < len(self._tokens):
            raise self._unexpected()
        return tree

    def _unexpected(self) -> ExpressionError:
        if self._next < len(self._tokens):
            return ExpressionError(f"unexpected '{self._tokens[self._next]}' in '{self._text}'")
        return ExpressionError(f"'{self._text}' ends too early")

    def _take(self, *wanted: str) -> str | None:
        if self._next < len(self._tokens) and self._tokens[self._next] in wanted:
            self._next += 1
            return str(self._tokens[self._next - 1])
        return None

    def _expect(self, wanted: str) -> None:
        if self._take(wanted) is None:
            raise self._unexpected()

    def _choice(self) -> Tree:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise ExpressionError("nested too deeply")
        tree = self._either()
        if self._take("if"):
            condition = self._either()
            self._expect("else")
            tree = Choice(condition, tree, self._choice())
        self._depth -= 1
        return tree

    def _either(self) -> Tree:
        tree = self._both()
        while self._take("or"):
            tree = Choice(tree, Literal(1), _truth(self._both()))
        return tree

    def _both(self) -> Tree:
        tree = self._negation()
        while self._take("and"):
            tree = Choice(tree, _truth(self._negation()), Literal(0))
        return tree

    def _negation(self) -> Tree:
        if self._take("not"):
            return Apply(Operator.NOT, (self._negation(),))
        return self._comparison()

    def _comparison(self) -> Tree:
        left = self._sum()
        sign = self._take(*_COMPARISONS)
        if sign is None:
            return left
        tree: Tree = Apply(_COMPARISONS[sign], (left, self._sum()))
        if self._next < len(self._tokens) and self._tokens[self._next] in _COMPARISONS:
            raise ExpressionError(f"write 'a < b and b < c' instead of a chain in '{self._text}'")
        return tree

    def _sum(self) -> Tree:
        return self._chain(_SUMS, self._product)

    def _product(self) -> Tree:
        return self._chain(_PRODUCTS, self._signed)

    def _chain(self, signs: Mapping[str, Operator], operand: Callable[[], Tree]) -> Tree:
        tree = operand()
        while (sign := self._take(*signs)) is not None:
            tree = Apply(signs[sign], (tree, operand()))
        return tree

    def _signed(self) -> Tree:
        if self._take("-"):
            return Apply(Operator.NEGATE, (self._signed(),))
        if self._take("+"):
            return self._signed()
        return self._power()

    def _power(self) -> Tree:
        base = self._atom()
        if self._take("**"):
            return Apply(Operator.POWER, (base, self._signed()))
        return base

    def _atom(self) -> Tree:
        if self._take("("):
            tree = self._choice()
            self._expect(")")
            return tree
        if self._next >= len(self._tokens):
            raise self._unexpected()
        token = self._tokens[self._next]
        if isinstance(token, Literal):
            self._next += 1
            return token
        if token in _WORDS or not (token[0].isalpha() or token[0] == "_"):
            raise self._unexpected()
        if self._tokens[self._next + 1 : self._next + 2] == ["("]:
            if token not in FUNCTIONS and token != PICK:
                known = ", ".join((*FUNCTIONS, PICK))
                raise ExpressionError(f"there is no function '{token}'; there are {known}")
            self._next += 1
            return self._call(token)
        self._next += 1
        return Variable(token)

    def _call(self, name: str) -> Tree:
        self._expect("(")
        arguments = [self._choice()]
        while self._take(","):
            arguments.append(self._choice())
        self._expect(")")
        if name == PICK:
            if len(arguments) < 2:
                raise ExpressionError(
                    f"{name}() takes an index and the values that it chooses from"
                )
            return picked(arguments[0], arguments[1:])
        operator, wanted = FUNCTIONS[name]
        if wanted == -1:
            if len(arguments) < 2:
                raise ExpressionError(f"{name}() takes two or more arguments")
            tree = arguments[0]
            for argument in arguments[1:]:
                tree = Apply(operator, (tree, argument))
            return tree
        if len(arguments) != wanted:
            raise ExpressionError(f"{name}() takes {wanted} arguments, not {len(arguments)}")
        return Apply(operator, tuple(arguments))


def picked(index: Tree, values: Sequence[Tree]) -> Tree:
    """The value whose number is `index`, modulo how many there are: choices halve what is left."""
    place = Apply(Operator.MODULO, (index, Literal(len(values))))

    def among(first: int, last: int) -> Tree:
        if last - first == 1:
            return values[first]
        middle = (first + last) // 2
        is_below = Apply(Operator.LESS, (place, Literal(middle)))
        return Choice(is_below, among(first, middle), among(middle, last))

    return among(0, len(values))


def _truth(tree: Tree) -> Tree:
    return Apply(Operator.NOT, (Apply(Operator.NOT, (tree,)),))


def _tokens(text: str) -> list[Literal | str]:
    if len(text) > _MAX_TEXT:
        raise ExpressionError(f"longer than {_MAX_TEXT} characters")
    tokens: list[Literal | str] = []
    position = 0
    while text[position:].strip():
        match = _TOKEN.match(text, position)
        if match is None:
            raise ExpressionError(f"unexpected '{text[position:].strip()[0]}' in '{text}'")
        number, unit = match["number"], match["unit"]
        position = match.end()
        if number is None:
            tokens.append(match["name"] or match["sign"])
        elif unit is None or unit in _WORDS:
            tokens.append(Literal(_plain_number(number)))
            position = match.end("number")
        elif unit not in UNITS:
            hint = "; write kB (1000 B) or KiB (1024 B)" if unit in ("KB", "K", "k") else ""
            raise ExpressionError(f"unknown unit '{unit}' after {number}{hint}")
        else:
            try:
                tokens.append(Literal(bounded(with_unit(number, unit))))
            except ValueError as error:
                raise ExpressionError(str(error)) from None
    return tokens


def _plain_number(text: str) -> Number:
    return bounded(int(text) if text.isdigit() else float(text))


@lru_cache(maxsize=4096)
def parse(text: str) -> Tree:
    """The tree of an expression; raises ExpressionError."""
    return _Parser(text).parse()


def tree_of(value: int | float | str) -> Tree:
    """The tree of a document's value: a number stands for itself."""
    return parse(value) if isinstance(value, str) else Literal(bounded(value))


def names_in(tree: Tree) -> frozenset[str]:
    """All names that a tree reads."""
    if isinstance(tree, Variable):
        return frozenset({tree.name})
    if isinstance(tree, Apply):
        return frozenset().union(*(names_in(operand) for operand in tree.operands))
    if isinstance(tree, Choice):
        return names_in(tree.condition) | names_in(tree.then) | names_in(tree.otherwise)
    return frozenset()


def bind(tree: Tree, values: Mapping[str, Tree]) -> Tree:
    """The tree with names replaced by `values`, and all that is constant computed."""
    if isinstance(tree, Variable):
        return values.get(tree.name, tree)
    if isinstance(tree, Choice):
        condition = bind(tree.condition, values)
        if isinstance(condition, Literal):
            return bind(tree.then if condition.value else tree.otherwise, values)
        return Choice(condition, bind(tree.then, values), bind(tree.otherwise, values))
    if isinstance(tree, Apply):
        operands = tuple(bind(operand, values) for operand in tree.operands)
        bound = Apply(tree.operator, operands)
        if all(isinstance(operand, Literal) for operand in operands):
            return Literal(evaluate(compile_tree(bound, {}), ()))
        return bound
    return tree


def compile_tree(tree: Tree, slots: Mapping[str, int]) -> list[Instruction]:
    """Postfix code of a tree; `slots` gives the number of each variable.

    Raises ExpressionError for a name that has no slot.
    """
    code: list[Instruction] = []
    _emit(tree, slots, code)
    return code


def _emit(tree: Tree, slots: Mapping[str, int], code: list[Instruction]) -> None:
    if isinstance(tree, Literal):
        if isinstance(tree.value, int):
            code.append(Instruction(operator=Operator.INTEGER, integer=tree.value))
        else:
            code.append(Instruction(operator=Operator.REAL, real=tree.value))
    elif isinstance(tree, Variable):
        if tree.name not in slots:
            raise ExpressionError(f"unknown name '{tree.name}'")
        code.append(Instruction(operator=Operator.VARIABLE, integer=slots[tree.name]))
    elif isinstance(tree, Apply):
        for operand in tree.operands:
            _emit(operand, slots, code)
        code.append(Instruction(operator=tree.operator))
    else:
        _emit_choice(tree, slots, code)


def _emit_choice(tree: Choice, slots: Mapping[str, int], code: list[Instruction]) -> None:
    _emit(tree.condition, slots, code)
    branch = len(code)
    code.append(Instruction(operator=Operator.JUMP_IF_FALSE))
    _emit(tree.then, slots, code)
    skip = len(code)
    code.append(Instruction(operator=Operator.JUMP))
    code[branch] = Instruction(operator=Operator.JUMP_IF_FALSE, integer=len(code))
    _emit(tree.otherwise, slots, code)
    code[skip] = Instruction(operator=Operator.JUMP, integer=len(code))
