"""Expressions have the same value in the engine and in the planner."""

from __future__ import annotations

import json
import random
import subprocess

from engine.running import Engine
from venturi.model.expression import (
    Apply,
    Choice,
    ExpressionError,
    Literal,
    Tree,
    Variable,
    compile_tree,
    evaluate,
)
from venturi.model.plan import Instruction, Operator

SLOTS = ["rank", "ranks", "step"]
OPERANDS = {
    Operator.ADD: 2,
    Operator.SUBTRACT: 2,
    Operator.MULTIPLY: 2,
    Operator.DIVIDE: 2,
    Operator.FLOOR_DIVIDE: 2,
    Operator.MODULO: 2,
    Operator.POWER: 2,
    Operator.NEGATE: 1,
    Operator.LESS: 2,
    Operator.LESS_EQUAL: 2,
    Operator.GREATER: 2,
    Operator.GREATER_EQUAL: 2,
    Operator.EQUAL: 2,
    Operator.NOT_EQUAL: 2,
    Operator.NOT: 1,
    Operator.MINIMUM: 2,
    Operator.MAXIMUM: 2,
    Operator.CEIL: 1,
    Operator.FLOOR: 1,
    Operator.ISQRT: 1,
    Operator.CEIL_TO: 2,
    Operator.NUMROC: 4,
    Operator.BLOCK: 3,
    Operator.SKEW: 3,
    Operator.PERMUTE: 3,
    Operator.DRAW: 3,
}
"""All but `log2`, whose last bit differs between libraries, and those that need a run's nodes."""


def some_tree(pick: random.Random, depth: int) -> Tree:
    """A random tree; small numbers are the most frequent, edges of 64 bits are there."""
    if depth == 0 or pick.random() < 0.25:
        if pick.random() < 0.3:
            return Variable(pick.choice(SLOTS))
        if pick.random() < 0.15:
            return Literal(pick.choice([0.5, 2.0, -1.25, 1e18]))
        return Literal(pick.choice([0, 1, 2, 3, 5, 7, 300, 1000, -1, -7, 2**63 - 1, -(2**63)]))
    if pick.random() < 0.1:
        return Choice(*(some_tree(pick, depth - 1) for _ in range(3)))
    operator = pick.choice([*OPERANDS, Operator.PERMUTE, Operator.DRAW])
    return Apply(operator, tuple(some_tree(pick, depth - 1) for _ in range(OPERANDS[operator])))


def ours(code: list[Instruction], slots: list[int]) -> str:
    """What the planner makes of it, in the words of the engine."""
    try:
        value = evaluate(code, slots)
    except ExpressionError:
        return "error"
    return f"real {value!r}" if isinstance(value, float) else f"integer {value}"


def theirs(answer: str) -> str:
    word, _, rest = answer.partition(" ")
    if word == "error":
        return "error"
    return f"real {float(rest)!r}" if word == "real" else answer


def test_random_expressions(engine: Engine) -> None:
    pick = random.Random(3)
    questions = []
    for _ in range(6000):
        code = compile_tree(some_tree(pick, 3), {name: i for i, name in enumerate(SLOTS)})
        questions.append((code, [pick.randrange(8), 8, pick.randrange(100)]))
    lines = [
        json.dumps({"code": [step.to_data() for step in code], "slots": slots})
        for code, slots in questions
    ]
    done = subprocess.run(
        [engine.path(), "evaluate"],
        input="\n".join(lines) + "\n",
        check=True,
        capture_output=True,
        text=True,
    )
    answers = done.stdout.splitlines()
    assert len(answers) == len(questions)
    seen = 0
    for (code, slots), answer in zip(questions, answers, strict=True):
        wanted = ours(code, slots)
        assert theirs(answer) == wanted, (code, slots)
        seen += wanted != "error"
    assert seen > len(questions) // 3


def test_permutations_and_draws_are_the_same_numbers(engine: Engine) -> None:
    pick = random.Random(5)
    questions = []
    for _ in range(4000):
        size = pick.choice([1, 2, 5, 100, 256, 257, 1000, 65536, 10**9, 2**62])
        operands = [pick.randrange(size), size, pick.randrange(-(2**62), 2**62)]
        for operator in (Operator.PERMUTE, Operator.DRAW):
            code = [Instruction(operator=Operator.INTEGER, integer=n) for n in operands]
            questions.append([*code, Instruction(operator=operator)])
    lines = [
        json.dumps({"code": [step.to_data() for step in code], "slots": []}) for code in questions
    ]
    done = subprocess.run(
        [engine.path(), "evaluate"],
        input="\n".join(lines) + "\n",
        check=True,
        capture_output=True,
        text=True,
    )
    assert done.stdout.splitlines() == [f"integer {evaluate(code, [])}" for code in questions]
