"""Which file each turn of a loop takes, where the path of a file reads the loop's variable."""

from __future__ import annotations

from collections.abc import Mapping

from venturi.model.expression import ExpressionError, Number, compiled
from venturi.plan.file import template_names
from venturi.plan.scope import Scope
from venturi.plan.template import Field, template_fields

_MOST_TURNS = 200_000
"""Of longer loops not all turns are looked at: their files are taken to come again as before."""


def files_in_turn(
    path: str, variable: str, turns: int, parameters: Mapping[str, Number], most: int
) -> int | None:
    """So many files take turns in a loop of `turns`, of which its first turns take each once.

    None where there are more than `most`, or where first turns take a file twice. All other names
    of the path (of outer loops, the rank) stay the same in the loop.
    """
    if turns < 1:
        return None
    others = sorted(template_names(path) - {variable} - parameters.keys())
    scope = Scope(parameters, {name: slot for slot, name in enumerate([variable, *others])})
    fields = [piece for piece in template_fields(path, "path") if isinstance(piece, Field)]
    numbers = [compiled(scope.code(field.text, "path")) for field in fields]
    seen: set[tuple[Number, ...]] = set()
    try:
        for turn in range(min(turns, _MOST_TURNS)):
            slots = [turn, *(0 for _ in others)]
            seen.add(tuple(number(slots) for number in numbers))
            if len(seen) > most:
                return None
        first = {
            tuple(number([n, *(0 for _ in others)]) for number in numbers) for n in range(len(seen))
        }
    except ExpressionError:
        return None
    return len(seen) if first == seen else None
