"""Options of interfaces and kernels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from venturi.model.error import UserError
from venturi.model.interface_entry import InterfaceOption
from venturi.model.plan import Option


def check_options(
    options: Iterable[Option], known: Sequence[InterfaceOption], owner: str, where: str
) -> None:
    """UserError for an option that its owner does not have, or a value that it does not take."""
    entries = {entry.name: entry for entry in known}
    for option in options:
        entry = entries.get(option.name)
        if entry is None:
            words = ", ".join(entries) or "none"
            raise UserError(
                f"{where}.{option.name}: {owner} has no such option", f"options: {words}"
            )
        if not entry.accepts(option.value):
            raise UserError(
                f"{where}.{option.name}: must be {_in_words(entry)}, not {option.value}"
            )


def _in_words(entry: InterfaceOption) -> str:
    if entry.type != "word":
        return entry.range
    *words, last = entry.range.split("|")
    return f"{', '.join(words)} or {last}" if words else last
