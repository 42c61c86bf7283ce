"""Numbers that change with loops and ranks, as the shortest expression that gives them exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from venturi.model.operation import Column
from venturi.model.units import size_text

MOST_CHOICES = 6
"""A choice between more ranks than this is no text that people read."""
MOST_STRETCHES = 3
LEAST_STRETCH = 3
"""Two numbers always lie on a line."""


@dataclass(frozen=True)
class Affine:
    """constant + sum of coefficient times index, one coefficient for each axis."""

    constant: int
    slopes: tuple[int, ...]

    @property
    def is_constant(self) -> bool:
        """Whether no axis matters."""
        return not any(self.slopes)


def affine(values: Column) -> Affine | None:
    """The affine function of the indices that gives `values`, where there is one."""
    values = np.asarray(values, np.int64)
    constant = int(values.flat[0])
    origin = (0,) * values.ndim
    slopes = []
    predicted = np.full((1,) * values.ndim, constant, np.int64)
    for axis, extent in enumerate(values.shape):
        slope = 0
        if extent > 1:
            step = tuple(1 if a == axis else 0 for a in range(values.ndim))
            slope = int(values[step]) - int(values[origin])
        slopes.append(slope)
        shape = [1] * values.ndim
        shape[axis] = extent
        predicted = predicted + (slope * np.arange(extent, dtype=np.int64)).reshape(shape)
    if not np.array_equal(predicted, values):
        return None
    return Affine(constant, tuple(slopes))


def number_text(value: int, is_size: bool) -> str:
    """A number as it stands in an expression."""
    return size_text(value) if is_size and value else str(value)


def linear_text(constant: int, terms: Sequence[tuple[int, str]], is_size: bool = True) -> str:
    """`constant + slope * name ...`; terms of slope 0 and of the name "0" vanish."""
    plain = _sum_text(constant, terms, is_size)
    steps = [slope for slope, name in terms if slope and name != "0"]
    common = min(steps, default=0)
    if len(steps) < 2 or common <= 1 or any(slope % common for slope in steps):
        return plain
    turns, rest = divmod(constant, common)
    inner = _sum_text(turns, [(slope // common, name) for slope, name in terms], False)
    factored = f"{number_text(common, is_size)} * ({inner})"
    if rest:
        factored = f"{number_text(rest, is_size)} + {factored}"
    return factored if len(factored) < len(plain) else plain


def _sum_text(constant: int, terms: Sequence[tuple[int, str]], is_size: bool) -> str:
    text = ""
    for slope, name in terms:
        if not slope or name == "0":
            continue
        factor = f"({name})" if " " in name else name
        amount = abs(slope)
        product = (
            factor if amount == 1 and not is_size else f"{number_text(amount, is_size)} * {factor}"
        )
        if text:
            text += f" {'-' if slope < 0 else '+'} {product}"
        else:
            text = product if slope > 0 else f"0 - {product}"
    if not text:
        return number_text(constant, is_size)
    if not constant:
        return text
    if text.startswith("0 - "):
        return f"{number_text(constant, is_size)} - {text[4:]}"
    return f"{number_text(constant, is_size)} + {text}"


def by_rank_text(values: Column, place: str, is_size: bool) -> str | None:
    """An expression over the rank's place for `values`, one for each place; None: too many."""
    count = len(values)
    found = affine(values)
    if found is not None:
        return linear_text(found.constant, [(found.slopes[0], place)], is_size)
    rest = affine(values[1:])
    if rest is not None and count > 2:
        tail = linear_text(rest.constant - rest.slopes[0], [(rest.slopes[0], place)], is_size)
        return f"{number_text(int(values[0]), is_size)} if {place} == 0 else {tail}"
    return (
        _steps(values, place, is_size)
        or _stretches(values, place, is_size)
        or _turns(values, place, is_size)
    )


def _steps(values: Column, place: str, is_size: bool) -> str | None:
    """Constant over ranges of places."""
    edges = np.flatnonzero(np.diff(values)) + 1
    if len(edges) >= MOST_CHOICES:
        return None
    text = number_text(int(values[-1]), is_size)
    for edge in reversed(edges.tolist()):
        text = f"{number_text(int(values[edge - 1]), is_size)} if {place} < {edge} else {text}"
    return text


def _stretches(values: Column, place: str, is_size: bool) -> str | None:
    """Affine over ranges of places: what is beyond some size begins elsewhere."""
    slopes = np.diff(values)
    parts: list[tuple[int, str]] = []
    start = 0
    while start < len(values):
        if len(parts) == MOST_STRETCHES or len(values) - start < LEAST_STRETCH:
            return None
        other = np.flatnonzero(slopes[start:] != slopes[start])
        end = start + 1 + int(other[0]) if len(other) else len(values)
        if end - start < LEAST_STRETCH:
            return None
        name = f"{_factor(place)} - {start}" if start else place
        terms = [(int(slopes[start]), name)]
        parts.append((end, linear_text(int(values[start]), terms, is_size)))
        start = end
    text = parts[-1][1]
    for end, one in reversed(parts[:-1]):
        text = f"{one} if {place} < {end} else {text}"
    return text


def _turns(values: Column, place: str, is_size: bool) -> str | None:
    """The same every few places: aggregators, one rank of each node."""
    for period in range(2, min(len(values) // 2, 4096) + 1):
        if values[period] != values[0] or not np.array_equal(values[period:], values[:-period]):
            continue
        return by_rank_text(values[:period], f"{_factor(place)} % {period}", is_size)
    return None


def _factor(text: str) -> str:
    return f"({text})" if " " in text else text
