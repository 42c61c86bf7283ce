"""The expression language: grammar, units, laziness, overflow."""

from __future__ import annotations

import contextlib
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from venturi.model.expression import (
    ExpressionError,
    Literal,
    bind,
    compile_tree,
    evaluate,
    parse,
    tree_of,
)


def value_of(text: str, **names: int | float) -> int | float:
    """The value of an expression whose names are slots."""
    slots = {name: index for index, name in enumerate(names)}
    return evaluate(compile_tree(parse(text), slots), list(names.values()))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("64 MiB", 67108864),
        ("64MB", 64_000_000),
        ("1.5 GiB", 1610612736),
        ("3901", 3901),
        ("3901 B", 3901),
        ("50 ms", 0.05),
        ("2 min", 120.0),
        ("-2 ** 2", -4),
        ("2 ** -1", 0.5),
        ("2 ** 3 ** 2", 512),
        ("-7 // 2", -4),
        ("-7 % 3", 2),
        ("7 / 2", 3.5),
        ("1 + 2 * 3 - 4", 3),
        ("10 - 3 - 2", 5),
        ("not 0 and 1 or 0", 1),
        ("2 and 3", 1),
        ("0 or 5", 1),
        ("1 if 2 < 3 else 1 // 0", 1),
        ("0 and 1 // 0", 0),
        ("min(3, 1, 2) + max(4, 5)", 6),
        ("ceil(7 / 2) + floor(7 / 2)", 7),
        ("isqrt(17) + log2(8)", 7.0),
        ("ceil_to(5, 4)", 8),
        ("block(10, 4, 1)", 3),
        ("block(10, 4, 3)", 2),
        ("numroc(1000, 64, 0, 4)", 256),
        ("numroc(1000, 64, 3, 4)", 232),
        ("skew(0, 2, 10) + skew(1, 2, 10)", 2.0),
    ],
)
def test_values(text: str, value: float) -> None:
    result = value_of(text)
    assert result == pytest.approx(value)
    assert type(result) is type(value)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1 +",
        "(1",
        "1)",
        "1 2",
        "a.b",
        "f(1)",
        "min(1)",
        "1 < 2 < 3",
        "64 KB",
        "0.3 B",
        "9223372036854775808",
        "1e999",
        "__import__('os')",
        "(" * 100 + "1" + ")" * 100,
        "1" + "+1" * 5000,
    ],
)
def test_refused_texts(text: str) -> None:
    with pytest.raises(ExpressionError):
        value_of(text)


@pytest.mark.parametrize(
    "text",
    [
        "9223372036854775807 + 1",
        "3 ** 64",
        "1 // 0",
        "1 % 0",
        "1 / 0",
        "log2(0)",
        "isqrt(-1)",
        "isqrt(2.0)",
        "ceil_to(1, 0)",
        "numroc(10, 2, 4, 4)",
        "10.0 ** 400",
        "(0 - 8) ** 0.5",
    ],
)
def test_expressions_without_a_value(text: str) -> None:
    with pytest.raises(ExpressionError):
        value_of(text)


def test_a_function_s_name_may_be_a_variable() -> None:
    assert value_of("block * 2", block=21) == 42


def test_constants_are_computed_at_once() -> None:
    tree = bind(parse("zones ** 3 * 8 + rank"), {"zones": Literal(200)})
    code = compile_tree(tree, {"rank": 0})
    assert [step.integer for step in code] == [64_000_000, 0, 0]


@given(st.text(max_size=60))
def test_the_parser_never_crashes(text: str) -> None:
    with contextlib.suppress(ExpressionError):
        tree_of(text)


@given(st.integers(0, 10**6), st.integers(1, 500), st.integers(1, 64))
def test_block_and_numroc_deal_everything(n: int, width: int, parts: int) -> None:
    blocks = [value_of(f"block({n}, {parts}, {i})") for i in range(parts)]
    cyclic = [value_of(f"numroc({n}, {width}, {i}, {parts})") for i in range(parts)]
    assert sum(blocks) == n
    assert sum(cyclic) == n


def test_an_unknown_function_is_named_with_those_that_are_there() -> None:
    with pytest.raises(ExpressionError, match=r"no function 'mim'; there are min, max, ceil"):
        parse("2 * mim(1, 2)")
    assert parse("mim * (1)") == parse("mim * 1")


def test_pick_takes_the_value_with_the_number_in_a_cycle() -> None:
    drawn = random.Random(4)
    for _ in range(50):
        values = [drawn.randint(-9, 9) for _ in range(drawn.randint(1, 20))]
        tree = parse(f"pick(i - 3, {', '.join(map(str, values))})")
        code = compile_tree(tree, {"i": 0})
        for i in range(40):
            assert evaluate(code, [i]) == values[(i - 3) % len(values)]


def test_pick_needs_something_to_choose_from() -> None:
    with pytest.raises(ExpressionError, match=r"pick\(\) takes an index and the values"):
        parse("pick(i)")
