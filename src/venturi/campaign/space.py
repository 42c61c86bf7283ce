"""The points of a campaign: products, zipped groups, lists, derived values, exclusions, samples."""

from __future__ import annotations

import random
from collections.abc import Mapping
from functools import lru_cache
from itertools import product as cross

from venturi.model.campaign import SampleMethod, Space, SpaceSample
from venturi.model.error import UserError
from venturi.model.expression import (
    ExpressionError,
    Number,
    compile_tree,
    evaluate,
    names_in,
    tree_of,
)
from venturi.model.workload import Scalar

Point = dict[str, Scalar]
_MOST_POINTS = 100_000


def points_of(space: Space) -> list[Point]:
    """All points of a space, in the order of the file: the last parameter changes fastest.

    Raises UserError for parameters that are named twice or missing, for expressions without a
    value, and for a space without a point or with more than 100 000.
    """
    points = [*_crossed(space), *_listed(space)]
    if not points:
        points = [{}]
    words = {value for point in points for value in point.values() if _number(value) is None}
    codes = {str(word): index for index, word in enumerate(sorted(map(str, words)))}
    for point in points:
        for name, value in space.derive.items():
            point[name] = _value(f"derive: {name}", value, point, codes)
    kept = [point for point in points if not _excluded(space, point, codes)]
    if not kept:
        raise UserError("the space has no point left", "see its 'exclude'")
    return kept if space.sample is None else _sampled(kept, space.sample)


def number_at(what: str, value: Scalar, point: Point) -> Number:
    """The number of an expression over a point's parameters; `what` names it in an error."""
    own = _number(value)
    return _value(what, value, point, {}) if own is None else own


def _crossed(space: Space) -> list[Point]:
    """Products of single parameters and of groups that change together."""
    groups: list[dict[str, list[Scalar]]] = [{name: ls} for name, ls in space.product.items()]
    groups += space.zip
    if not groups:
        return []
    names = [name for group in groups for name in group]
    _refuse_twice([*names, *space.derive])
    count = 1
    for group in groups:
        count *= len(next(iter(group.values())))
    if count > _MOST_POINTS:
        raise UserError(
            f"the space has {count} points; at most {_MOST_POINTS}", "exclude some, or split it"
        )
    columns = [list(zip(*group.values(), strict=True)) for group in groups]
    return [
        dict(zip(names, (value for part in parts for value in part), strict=True))
        for parts in cross(*columns)
    ]


def _listed(space: Space) -> list[Point]:
    """Points that the file gives one by one, which must name the same parameters as all others."""
    names = [*space.product, *(name for group in space.zip for name in group)]
    wanted = set(names) if names else set(space.points[0]) if space.points else set()
    for index, point in enumerate(space.points):
        if set(point) != wanted:
            odd = sorted(set(point) ^ wanted)
            raise UserError(
                f"space.points[{index}]: {', '.join(odd)}: all points have the same parameters",
                f"give each of {', '.join(sorted(wanted))}",
            )
    return [dict(point) for point in space.points]


def _refuse_twice(names: list[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise UserError(f"space: the parameter '{name}' stands twice", "keep one")


def _number(value: Scalar) -> Number | None:
    """The number that a value is (`64 KiB` too), or None for a word."""
    return _number_in(value) if isinstance(value, str) else value


@lru_cache(maxsize=4096)
def _number_in(text: str) -> Number | None:
    try:
        tree = tree_of(text)
        return None if names_in(tree) else evaluate(compile_tree(tree, {}), [])
    except ExpressionError:
        return None


def _value(what: str, value: Scalar, point: Point, codes: Mapping[str, int]) -> Number:
    """The number of an expression at a point.

    Words compare by being the same: each has a number of its own, as a parameter's value and
    where it stands in the expression.
    """
    known: dict[str, Number] = dict(codes)
    for name, own in point.items():
        number = _number(own)
        known[name] = codes.get(str(own), -1) if number is None else number
    names = list(known)
    try:
        tree = tree_of(value)
        unknown = sorted(names_in(tree) - set(names))
        if unknown:
            raise UserError(
                f"{what}: '{value}' names {unknown[0]}, which is no parameter",
                f"known are {', '.join(point) or 'none'}",
            )
        code = compile_tree(tree, {name: index for index, name in enumerate(names)})
        return evaluate(code, [known[name] for name in names])
    except ExpressionError as error:
        raise UserError(f"{what}: '{value}' has no value: {error}") from None


def _excluded(space: Space, point: Point, codes: Mapping[str, int]) -> bool:
    return any(
        bool(_value(f"exclude[{index}]", text, point, codes))
        for index, text in enumerate(space.exclude)
    )


def _sampled(points: list[Point], sample: SpaceSample) -> list[Point]:
    """Some of the points, in their order; the same ones each time.

    A Latin hypercube is drawn on the levels: n strata of every parameter, each used once. What
    it draws is the nearest point that is there (an exclusion may have taken it), each once.
    """
    if sample.size >= len(points):
        return points
    chance = random.Random(sample.seed)
    if sample.method is SampleMethod.RANDOM:
        chosen = sorted(chance.sample(range(len(points)), sample.size))
        return [points[index] for index in chosen]
    names = list(points[0])
    levels = {name: list(dict.fromkeys(point[name] for point in points)) for name in names}
    strata = {name: chance.sample(range(sample.size), sample.size) for name in names}
    ranks = [{name: levels[name].index(point[name]) for name in names} for point in points]
    taken: set[int] = set()
    for draw in range(sample.size):
        wanted = {name: strata[name][draw] * len(levels[name]) // sample.size for name in names}
        taken.add(
            min(
                (index for index in range(len(points)) if index not in taken),
                key=lambda index: sum(ranks[index][name] != wanted[name] for name in names),
            )
        )
    return [points[index] for index in sorted(taken)]
