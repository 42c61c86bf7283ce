"""Parameters: defaults, scales and `--set`, down to one number each."""

from __future__ import annotations

import difflib

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
from venturi.model.workload import RESERVED_NAMES, Parameter, Value, Workload
from venturi.plan.setting import RunSettings

INTERFACE_KEY = "interface"


def resolve_parameters(workload: Workload, settings: RunSettings) -> dict[str, Number]:
    """The number of every parameter.

    Raises UserError for unknown or reserved names, circular definitions, values out of range.
    """
    values = _chosen_values(workload, settings)
    resolved: dict[str, Number] = {}
    for name in values:
        _resolve(name, values, resolved, ())
    known: dict[str, Tree] = {key: Literal(value) for key, value in resolved.items()}
    for name, parameter in workload.parameters.items():
        if isinstance(parameter, Parameter):
            _check_range(name, parameter, known, values)
    return resolved


def _sources_of(name: str, values: dict[str, Value]) -> list[str]:
    """The parameters that somebody chose from which this one follows; none where it was chosen."""
    found: list[str] = []
    for used in sorted(names_in(tree_of(values[name]))):
        found += _sources_of(used, values) or [used]
    return list(dict.fromkeys(found))


def _chosen_values(workload: Workload, settings: RunSettings) -> dict[str, Value]:
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
    role = _ranks_parameter(workload)
    if settings.ranks is not None and role is not None:
        values[role] = settings.ranks
    return values


def _ranks_parameter(workload: Workload) -> str | None:
    """The one parameter that `-n` sets."""
    marked = [
        name
        for name, parameter in workload.parameters.items()
        if isinstance(parameter, Parameter) and parameter.role == "ranks"
    ]
    if len(marked) > 1:
        raise UserError(f"{workload.name}: more than one parameter has the role 'ranks'")
    return marked[0] if marked else None


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
