"""What an expression's postfix code is worth: each operator on 64-bit integers and finite reals.

The engine evaluates the same code in `engine/pattern/expression.cpp`; both are tested on the same
random expressions. Plans of thousands of ranks evaluate some expressions millions of times.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter

from venturi.model import shuffle
from venturi.model.document import INT64_MAX
from venturi.model.plan import Instruction, Operator

Number = int | float


class ExpressionError(ValueError):
    """A text that is no expression, or an expression without a value."""


Compiled = Callable[[Sequence[Number]], Number]
"""The value of an expression by the slots; raises as `evaluate`."""


def bounded(value: Number) -> Number:
    """Return the value, if it fits the engine's 64-bit integers and finite reals."""
    if isinstance(value, int):
        if not -INT64_MAX - 1 <= value <= INT64_MAX:
            raise ExpressionError("integer overflow (more than 64 bits)")
    elif not math.isfinite(value):
        raise ExpressionError("the result is not a finite number")
    return value


def evaluate(code: Sequence[Instruction], slots: Sequence[Number]) -> Number:
    """Run postfix code; raises ExpressionError where there is no value."""
    return compiled(code)(slots)


NodeFunctions = Mapping[Operator, Callable[..., Number]]
"""What operators give that depend on which ranks share a node."""


def compiled(code: Sequence[Instruction], by_node: NodeFunctions | None = None) -> Compiled:
    """Postfix code that is run many times.

    Without `by_node` operators that depend on nodes raise ExpressionError when it is run.
    """
    values = _compiled(code, 0, len(code), by_node or {})
    if len(values) != 1:
        raise ExpressionError("malformed expression")
    return _called(values[0])


_Operand = Compiled | int | float
"""A number stands for itself."""


def _compiled(
    code: Sequence[Instruction], at: int, end: int, by_node: NodeFunctions
) -> list[_Operand]:
    stack: list[_Operand] = []
    while at < end:
        step = code[at]
        at += 1
        if step.operator is Operator.INTEGER:
            stack.append(step.integer)
        elif step.operator is Operator.REAL:
            stack.append(step.real)
        elif step.operator is Operator.VARIABLE:
            stack.append(itemgetter(step.integer))
        elif step.operator is Operator.JUMP_IF_FALSE:
            behind = code[step.integer - 1].integer
            [then] = _compiled(code, at, step.integer - 1, by_node)
            [otherwise] = _compiled(code, step.integer, behind, by_node)
            stack.append(_chosen(_called(stack.pop()), _called(then), _called(otherwise)))
            at = behind
        else:
            function, arity = _OPERATIONS[step.operator]
            function = by_node.get(step.operator, function)
            operands = stack[len(stack) - arity :]
            del stack[len(stack) - arity :]
            stack.append(_application(function, operands))
    return stack


def _called(operand: _Operand) -> Compiled:
    if callable(operand):
        return operand
    number = operand
    return lambda slots: number


def _chosen(condition: Compiled, then: Compiled, otherwise: Compiled) -> Compiled:
    return lambda slots: then(slots) if condition(slots) else otherwise(slots)


def _application(function: Callable[..., Number], operands: list[_Operand]) -> Compiled:
    if len(operands) == 2:  # nearly all
        left, right = operands
        if callable(left) and not callable(right):
            return _with_right_number(function, left, right)
        if callable(right) and not callable(left):
            return _with_left_number(function, left, right)
        return _of_two(function, _called(left), _called(right))
    return _of_any(function, [_called(operand) for operand in operands])


# A call costs more than what most operators do: hence a function for each form, in which the
# values that fit, nearly all, are let pass without one.
_FAULTS = (ArithmeticError, TypeError, ValueError)


def _of_two(function: Callable[..., Number], left: Compiled, right: Compiled) -> Compiled:
    def applied(slots: Sequence[Number]) -> Number:
        try:
            value = function(left(slots), right(slots))
        except _FAULTS as error:
            raise _without_value(error) from None
        return value if -(2**63) <= value <= 2**63 - 1 else bounded(value)

    return applied


def _with_right_number(function: Callable[..., Number], left: Compiled, right: Number) -> Compiled:
    def applied(slots: Sequence[Number]) -> Number:
        try:
            value = function(left(slots), right)
        except _FAULTS as error:
            raise _without_value(error) from None
        return value if -(2**63) <= value <= 2**63 - 1 else bounded(value)

    return applied


def _with_left_number(function: Callable[..., Number], left: Number, right: Compiled) -> Compiled:
    def applied(slots: Sequence[Number]) -> Number:
        try:
            value = function(left, right(slots))
        except _FAULTS as error:
            raise _without_value(error) from None
        return value if -(2**63) <= value <= 2**63 - 1 else bounded(value)

    return applied


def _of_any(function: Callable[..., Number], operands: list[Compiled]) -> Compiled:
    def applied(slots: Sequence[Number]) -> Number:
        try:
            return bounded(function(*[operand(slots) for operand in operands]))
        except _FAULTS as error:
            raise _without_value(error) from None

    return applied


def _without_value(error: Exception) -> ExpressionError:
    """What is said of an expression that has no value."""
    match error:
        case ExpressionError():
            return error
        case ZeroDivisionError():
            return ExpressionError("division by zero")
        case OverflowError():
            return ExpressionError("the result is not a finite number")
    return ExpressionError(str(error))


def _whole(*values: Number) -> None:
    for value in values:
        if not isinstance(value, int):
            raise ExpressionError("a whole number is needed")


def _divide(left: Number, right: Number) -> float:
    return float(left) / float(right)


def _power(base: Number, exponent: Number) -> Number:
    if isinstance(base, int) and isinstance(exponent, int) and exponent >= 0:
        if abs(base) > 1 and exponent > 63:
            raise ExpressionError("integer overflow (more than 64 bits)")
        return int(base**exponent)
    if base < 0 and not float(exponent).is_integer():
        raise ExpressionError("the result is not a finite number")
    return math.pow(float(base), float(exponent))


def _isqrt(value: Number) -> int:
    _whole(value)
    return math.isqrt(int(value))


def _log2(value: Number) -> float:
    return math.log2(float(value))


def _ceil_to(value: Number, multiple: Number) -> int:
    _whole(value, multiple)
    if multiple <= 0:
        raise ExpressionError("ceil_to() needs a multiple above 0")
    return -(-int(value) // int(multiple)) * int(multiple)


def _numroc(length: Number, width: Number, process: Number, processes: Number) -> int:
    """Elements of a block-cyclic distribution that one process holds (ScaLAPACK's NUMROC)."""
    _whole(length, width, process, processes)
    if length < 0 or width <= 0 or processes <= 0 or not 0 <= process < processes:
        raise ExpressionError("numroc() needs length >= 0, block > 0 and 0 <= process < processes")
    blocks, rest = divmod(int(length), int(width))
    rounds, extra = divmod(blocks, int(processes))
    held = rounds * int(width)
    if process < extra:
        return held + int(width)
    return held + (rest if process == extra else 0)


def _block(length: Number, parts: Number, index: Number) -> int:
    """Size of part `index` when `length` is dealt to `parts`: the first ones get one more."""
    _whole(length, parts, index)
    if length < 0 or parts <= 0 or not 0 <= index < parts:
        raise ExpressionError("block() needs length >= 0 and 0 <= index < parts")
    return int(length) // int(parts) + (1 if index < int(length) % int(parts) else 0)


def _skew(rank: Number, ranks: Number, factor: Number) -> float:
    """Weight of a rank, linear in the rank: mean 1, the largest `factor` times the smallest."""
    _whole(rank, ranks)
    if ranks <= 0 or not 0 <= rank < ranks or factor < 1:
        raise ExpressionError("skew() needs 0 <= rank < ranks and a factor of 1 or more")
    if ranks == 1:
        return 1.0
    spread = 1.0 + (float(factor) - 1.0) * float(rank) / float(ranks - 1)
    return spread * 2.0 / (1.0 + float(factor))


def _permute(index: Number, size: Number, key: Number) -> int:
    """Where a random permutation of 0 ... size - 1, chosen by the key, takes an index."""
    _whole(index, size, key)
    if not 0 <= index < size:
        raise ExpressionError("permute() needs 0 <= index < size")
    return shuffle.permute(int(index), int(size), int(key) % 2**64)


def _draw(index: Number, size: Number, key: Number) -> int:
    """The index-th of the key's independent uniform choices from 0 ... size - 1."""
    _whole(index, size, key)
    if index < 0 or size <= 0:
        raise ExpressionError("draw() needs index >= 0 and size > 0")
    return shuffle.uniform(int(key) % 2**64, int(index), int(size))


def _by_node(rank: Number, other: Number) -> int:
    raise ExpressionError("which ranks share a node is known only in a run")


_OPERATIONS: dict[Operator, tuple[Callable[..., Number], int]] = {
    Operator.ADD: (operator.add, 2),
    Operator.SUBTRACT: (operator.sub, 2),
    Operator.MULTIPLY: (operator.mul, 2),
    Operator.DIVIDE: (_divide, 2),
    Operator.FLOOR_DIVIDE: (operator.floordiv, 2),
    Operator.MODULO: (operator.mod, 2),
    Operator.POWER: (_power, 2),
    Operator.NEGATE: (operator.neg, 1),
    Operator.LESS: (lambda a, b: 1 if a < b else 0, 2),
    Operator.LESS_EQUAL: (lambda a, b: 1 if a <= b else 0, 2),
    Operator.GREATER: (lambda a, b: 1 if a > b else 0, 2),
    Operator.GREATER_EQUAL: (lambda a, b: 1 if a >= b else 0, 2),
    Operator.EQUAL: (lambda a, b: 1 if a == b else 0, 2),
    Operator.NOT_EQUAL: (lambda a, b: 1 if a != b else 0, 2),
    Operator.NOT: (lambda a: 0 if a else 1, 1),
    Operator.MINIMUM: (min, 2),
    Operator.MAXIMUM: (max, 2),
    Operator.CEIL: (math.ceil, 1),
    Operator.FLOOR: (math.floor, 1),
    Operator.ISQRT: (_isqrt, 1),
    Operator.LOG2: (_log2, 1),
    Operator.CEIL_TO: (_ceil_to, 2),
    Operator.NUMROC: (_numroc, 4),
    Operator.BLOCK: (_block, 3),
    Operator.SKEW: (_skew, 3),
    Operator.PERMUTE: (_permute, 3),
    Operator.DRAW: (_draw, 3),
    Operator.SAME_SLOT_NEXT_NODE: (_by_node, 2),
    Operator.RANDOM_REMOTE_RANK: (_by_node, 2),
}
