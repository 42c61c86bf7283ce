"""Options of interfaces and kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from venturi.model.error import UserError
from venturi.model.interface_entry import InterfaceOption
from venturi.model.plan import Option
from venturi.plan.scope import Scope
from venturi.plan.template import Field, template_fields


def options_of_settings(values: Mapping[str, str | int | float | bool]) -> list[Option]:
    """Settings as the engine reads them."""
    return [
        Option(name=key, value=str(value).lower() if isinstance(value, bool) else str(value))
        for key, value in values.items()
    ]


def lower_options(
    options: Iterable[Option],
    known: Sequence[InterfaceOption],
    owner: str,
    scope: Scope,
    place: Callable[[str], str],
) -> list[Option]:
    """The options with the numbers of parameters in them; `place` says where one of a name stands.

    UserError for an option that its owner does not have, or a value that it does not take.
    """
    found = [_with_numbers(option, scope, place(option.name)) for option in options]
    for option in found:
        check_option(option, known, owner, place(option.name))
    return found


def check_option(option: Option, known: Sequence[InterfaceOption], owner: str, where: str) -> None:
    """UserError where the owner does not have the option, or does not take its value."""
    entry = next((entry for entry in known if entry.name == option.name), None)
    if entry is None:
        words = ", ".join(entry.name for entry in known) or "none"
        raise UserError(f"{where}: {owner} has no such option", f"options: {words}")
    if not entry.accepts(option.value):
        raise UserError(f"{where}: must be {_in_words(entry)}, not {option.value}")


def _with_numbers(option: Option, scope: Scope, where: str) -> Option:
    """An option whose text may have fields in braces, over parameters."""
    pieces = [
        str(scope.constant(piece.text, where)) if isinstance(piece, Field) else piece
        for piece in template_fields(option.value, where)
    ]
    return Option(name=option.name, value="".join(pieces))


def _in_words(entry: InterfaceOption) -> str:
    if entry.type != "word":
        return entry.range
    *words, last = entry.range.split("|")
    return f"{', '.join(words)} or {last}" if words else last
