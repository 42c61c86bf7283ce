"""Parameters: defaults, scales and `--set`, down to one number each."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping

from venturi.model.error import UserError
from venturi.model.expression import (
    ExpressionError,
    Literal,
    Number,
    Tree,
    Variable,
    bind,
    names_in,
    tree_of,
)
from venturi.model.workload import (
    DEFAULT_SCALE,
    RESERVED_NAMES,
    SCALES,
    Parameter,
    Value,
    Workload,
)
from venturi.plan.group import ranks_of_groups
from venturi.plan.rank_share import shares_of
from venturi.plan.setting import RunSettings

INTERFACE_KEY = "interface"


def resolve_parameters(workload: Workload, settings: RunSettings) -> dict[str, Number]:
    """The number of every parameter.

    Raises UserError for unknown or reserved names, circular definitions, values out of range.
    """
    values = _chosen_values(workload, settings)
    if settings.ranks is not None:
        values |= _ranks_values(workload, settings, values)
    resolved = _resolved(values)
    known: dict[str, Tree] = {key: Literal(value) for key, value in resolved.items()}
    for name, parameter in workload.parameters.items():
        if isinstance(parameter, Parameter):
            _check_range(name, parameter, known, values)
    return resolved


def _resolved(values: dict[str, Value]) -> dict[str, Number]:
    """The number of every value."""
    resolved: dict[str, Number] = {}
    for name in values:
        _resolve(name, values, resolved, ())
    return resolved


def _ranks_values(
    workload: Workload, settings: RunSettings, values: dict[str, Value]
) -> dict[str, int]:
    """What `-n` makes of the parameters that have the role `ranks`; those of `--set` stay."""
    wanted = settings.ranks
    assert wanted is not None
    names = [
        name
        for name, parameter in workload.parameters.items()
        if isinstance(parameter, Parameter) and parameter.role == "ranks"
    ]
    free = [name for name in names if name not in settings.assignments]
    if not workload.groups:
        return dict.fromkeys(free, wanted)
    resolved = _resolved(values)
    marked = {name: (_whole(resolved[name]), _least(workload, name, resolved)) for name in free}

    def ranks_at(change: Mapping[str, int]) -> int:
        return ranks_of_groups(workload, _resolved({**values, **change}) if change else resolved)

    return shares_of(workload, wanted, marked, ranks_at)


def _whole(value: Number) -> int:
    """A number of ranks, or of what ranks are counted by."""
    return value if isinstance(value, int) else 1


def _least(workload: Workload, name: str, resolved: dict[str, Number]) -> int:
    """The smallest value that a parameter may have, at least 1."""
    parameter = workload.parameters[name]
    if not isinstance(parameter, Parameter) or parameter.least is None:
        return 1
    known: dict[str, Tree] = {key: Literal(value) for key, value in resolved.items()}
    limit = bind(tree_of(parameter.least), known)
    return max(1, math.ceil(limit.value)) if isinstance(limit, Literal) else 1


def _sources_of(name: str, values: dict[str, Value]) -> list[str]:
    """The parameters that somebody chose from which this one follows; none where it was chosen."""
    found: list[str] = []
    for used in sorted(names_in(tree_of(values[name]))):
        found += _sources_of(used, values) or [used]
    return list(dict.fromkeys(found))


def _chosen_values(workload: Workload, settings: RunSettings) -> dict[str, Value]:
    _check_scale(workload, settings.scale)
    values: dict[str, Value] = {}
    for name, parameter in workload.parameters.items():
        if name in RESERVED_NAMES or name in type(workload).model_fields:
            raise UserError(f"{workload.name}: a parameter may not be called '{name}'")
        if isinstance(parameter, Parameter):
            values[name] = parameter.at_scale(settings.scale)
        else:
            values[name] = parameter
    for name, text in settings.assignments.items():
        if name == INTERFACE_KEY or name.startswith(f"{INTERFACE_KEY}."):
            continue
        if name not in values:
            close = difflib.get_close_matches(name, list(values), n=1)
            known = ", ".join([*values, INTERFACE_KEY])
            hint = f"did you mean '{close[0]}'?" if close else f"it has: {known}"
            raise UserError(f"--set {name}: {workload.name} has no such parameter", hint)
        values[name] = text
    return values


def _check_scale(workload: Workload, scale: str) -> None:
    """UserError for a scale at which no parameter has a value of its own."""
    said = [one for one in workload.parameters.values() if isinstance(one, Parameter)]
    own = [word for word in SCALES if any(getattr(one, word) is not None for one in said)]
    if scale not in (DEFAULT_SCALE, *own):
        known = f"it has: {', '.join(own)}" if own else "it has none; leave the option out"
        raise UserError(f"--scale {scale}: {workload.name} has no such scale", known)


def _resolve(
    name: str, values: dict[str, Value], resolved: dict[str, Number], above: tuple[str, ...]
) -> Number:
    if name in resolved:
        return resolved[name]
    if name in above:
        raise UserError(f"parameter '{name}' is defined by itself: {' -> '.join((*above, name))}")
    try:
        tree = tree_of(values[name])
        bound: dict[str, Tree] = {}
        for used in names_in(tree):
            if used not in values:
                raise ExpressionError(f"unknown name '{used}'")
            bound[used] = Literal(_resolve(used, values, resolved, (*above, name)))
        result = bind(tree, bound)
    except ExpressionError as error:
        raise UserError(f"parameter '{name}': {error}") from None
    assert isinstance(result, Literal)
    resolved[name] = result.value
    return result.value


def _check_range(
    name: str, parameter: Parameter, known: dict[str, Tree], values: dict[str, Value]
) -> None:
    for word, limit in (("least", parameter.least), ("most", parameter.most)):
        if limit is None:
            continue
        bound = bind(tree_of(limit), known)
        if isinstance(bound, Variable) or not isinstance(bound, Literal):
            raise UserError(f"parameter '{name}': '{word}' must be a number")
        own = known[name]
        assert isinstance(own, Literal)
        value = own.value
        if (value < bound.value) if word == "least" else (value > bound.value):
            sources = _sources_of(name, values)
            about = f" ({parameter.about})" if sources and parameter.about else ""
            hint = f"choose another value with --set {name}=..."
            if sources:
                hint = f"it follows from {', '.join(sources)}: choose others with --set"
            raise UserError(
                f"parameter '{name}'{about} is {value}, but {word} is {bound.value}", hint
            )
