"""Names that a workload declares and nothing in it uses: whoever wrote them expects an effect."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from venturi.model.workload import Method, Workload

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PROSE = frozenset({"about", "name", "unit", "source", "machine", "caveat", "case", "title"})
_DECLARED = ("parameters", "define", "files")
_WRITTEN_BY_PEOPLE = (Method.HAND, Method.PAPER)


def unused_names(workload: Workload) -> list[str]:
    """Return a sentence for each parameter, definition and file that nothing uses.

    Workloads that a program derived are not looked through.
    """
    if workload.origin is not None and workload.origin.method not in _WRITTEN_BY_PEOPLE:
        return []
    data = workload.model_dump(
        mode="json", by_alias=True, exclude={"origin"}, exclude_defaults=True
    )
    declared = {section: data.pop(section, {}) for section in _DECLARED}
    used = set(_words(data))
    uses = {
        (section, name): set(_words(value)) - {name}
        for section, entries in declared.items()
        for name, value in entries.items()
    }
    found = []
    for section, name in uses:
        others = (words for place, words in uses.items() if place != (section, name))
        if name not in used and not any(name in words for words in others):
            found.append(f"{section}.{name}: nothing in the workload uses it")
    return found


def _words(value: Any) -> Iterator[str]:
    """The words in the texts of a document's values; what is prose says nothing."""
    if isinstance(value, str):
        yield from _WORD.findall(value)
    elif isinstance(value, dict):
        for key, part in value.items():
            if key not in _PROSE:
                yield from _words(part)
    elif isinstance(value, list):
        for part in value:
            yield from _words(part)
