"""`-n` of a run with groups: values of the marked parameters that give so many ranks in all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product

from venturi.model.error import UserError
from venturi.model.workload import GroupSpec, Workload

RanksAt = Callable[[Mapping[str, int]], int]
"""The ranks of all groups with these values in the place of the parameters' own."""

_MOST_STEPS = 64
"""How far away numbers of ranks are looked for that would do."""
_MOST_TRIED = 4096
_HIGHEST = 2**40


def shares_of(
    workload: Workload, wanted: int, marked: Mapping[str, tuple[int, int]], ranks_at: RanksAt
) -> dict[str, int]:
    """Return the values of marked parameters with which all groups have `wanted` ranks together.

    `marked`: the own value and the least value of each. Several parameters keep their proportion
    as far as whole numbers allow. Raises UserError where no values give that number.
    """
    if wanted < 1:
        raise UserError(f"-n {wanted}: at least one rank is needed")
    if ranks_at({}) == wanted:
        return {}
    found = _solution(wanted, marked, ranks_at)
    if found is None:
        raise _refusal(workload, wanted, marked, ranks_at)
    return found


def _solution(
    wanted: int, marked: Mapping[str, tuple[int, int]], ranks_at: RanksAt
) -> dict[str, int] | None:
    if len(marked) != 1:
        return _apportioned(wanted, marked, ranks_at) if marked else None
    [(name, (_, least))] = marked.items()
    for value in (wanted, _first_with(wanted, least, lambda number: ranks_at({name: number}))):
        if value is not None and value >= least and ranks_at({name: value}) == wanted:
            return {name: value}
    return None


def _first_with(wanted: int, least: int, ranks: Callable[[int], int]) -> int | None:
    """The smallest value with `wanted` ranks or more; they must not fall when the value grows."""
    low = high = least
    while ranks(high) < wanted:
        low, high = high, 2 * high
        if high > _HIGHEST:
            return None
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if ranks(middle) < wanted else (low, middle)
    return low


def _apportioned(
    wanted: int, marked: Mapping[str, tuple[int, int]], ranks_at: RanksAt
) -> dict[str, int] | None:
    """Values near their proportion; each must count by itself, as `a + 3 * b` and not `a * b`."""
    own = {name: max(value, least, 1) for name, (value, least) in marked.items()}
    start = ranks_at(own)
    by_name = {name: ranks_at({**own, name: own[name] + 1}) - start for name in own}
    names = [name for name, weight in by_name.items() if weight > 0]
    if not names:
        return None
    weights = [by_name[name] for name in names]
    counted = sum(weight * own[name] for weight, name in zip(weights, names, strict=True))
    free = wanted - (start - counted)
    ideal = [own[name] * free / counted for name in names]
    windows = _windows(ideal, weights, [max(marked[name][1], 1) for name in names])
    best = None
    for values in _exact(windows, weights, free):
        distance = sum((v - i) ** 2 / max(i, 1) for v, i in zip(values, ideal, strict=True))
        if best is None or distance < best[0]:
            best = distance, values
    if best is None:
        return None
    found = dict(zip(names, best[1], strict=True))
    return found if ranks_at(found) == wanted else None


def _windows(
    ideal: Sequence[float], weights: Sequence[int], least: Sequence[int]
) -> list[tuple[int, int, int]]:
    """Of each value the range that is searched, and the smallest that is allowed."""
    reach = max(weights) + 1
    while reach > 1 and (2 * reach) ** (len(weights) - 1) > _MOST_TRIED:
        reach -= 1
    return [
        (max(round(i) - reach, low), max(round(i) + reach, low), low)
        for i, low in zip(ideal, least, strict=True)
    ]


def _exact(
    windows: Sequence[tuple[int, int, int]], weights: Sequence[int], free: int
) -> Iterator[tuple[int, ...]]:
    """All values in their ranges whose weighted sum is `free`; the last one follows."""
    ranges = [range(first, last + 1) for first, last, _ in windows[:-1]]
    for values in product(*ranges):
        rest = free - sum(w * v for w, v in zip(weights, values, strict=False))
        last, odd = divmod(rest, weights[-1])
        if not odd and last >= windows[-1][2]:
            yield (*values, last)


def _refusal(
    workload: Workload, wanted: int, marked: Mapping[str, tuple[int, int]], ranks_at: RanksAt
) -> UserError:
    """Why there are no such values, and what to do."""
    of_groups = ", ".join(
        f"{name}: {_said(workload.groups[name])}"
        for name in workload.program
        if name in workload.groups
    )
    if not marked:
        return UserError(
            f"{workload.name}: -n {wanted}, "
            f"but its groups have {ranks_at({})} in all ({of_groups})",
            "leave out -n and choose their ranks with --set, or mark parameters of the workload "
            "with 'role: ranks'",
        )
    near = _near(wanted, marked, ranks_at)
    names = ", ".join(marked)
    choice = f"use -n {' or -n '.join(map(str, near))}, or " if near else "leave out -n and "
    return UserError(
        f"{workload.name}: -n {wanted}: its groups cannot have that many ranks together "
        f"({of_groups})",
        f"{choice}choose {names} with --set",
    )


def _near(wanted: int, marked: Mapping[str, tuple[int, int]], ranks_at: RanksAt) -> list[int]:
    """The next numbers of ranks below and above that can be had."""
    if len(marked) == 1:
        [(name, (_, least))] = marked.items()
        first = _first_with(wanted, least, lambda number: ranks_at({name: number}))
        values = [] if first is None else [first - 1, first]
        return [ranks_at({name: value}) for value in values if value >= least]
    below = range(wanted - 1, max(wanted - _MOST_STEPS, 0), -1)
    above = range(wanted + 1, wanted + _MOST_STEPS)
    found = (
        next((n for n in numbers if _solution(n, marked, ranks_at) is not None), None)
        for numbers in (below, above)
    )
    return [number for number in found if number is not None]


def _said(group: GroupSpec) -> str:
    """The ranks of a group as the workload has them."""
    return str(group.ranks) if group.instances == 1 else f"{group.ranks} x {group.instances}"
