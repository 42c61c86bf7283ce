"""Keys of a workload that change nothing of what it does: whoever wrote one expects an effect.

Nobody keeps a list of which key goes with which. Each key is left out, and its number changed, and
the workload is planned again: where all these plans are the same, the key has no effect.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

from venturi.model.document import DocumentError, Place, parse_data, path_of
from venturi.model.error import UserError
from venturi.model.plan import Plan
from venturi.model.workload import Method, Workload
from venturi.plan.lowered import lowered_plan
from venturi.plan.setting import RunSettings

_SECTIONS = ("program", "files")
_WRITTEN_BY_PEOPLE = (Method.HAND, Method.PAPER)
_PROSE = "about"
_GONE = object()


def keys_without_effect(
    workload: Workload, settings: RunSettings, watch: Callable[[str], None] = lambda place: None
) -> list[str]:
    """Return the places of all keys without effect at these settings, such as `files.f.keep`.

    `watch` is told each place that is tried.

    Keys at their default are left out, and so is what is inside a step that itself does nothing,
    such as one under a condition that does not hold. Workloads that a program derived are not
    looked through. Raises UserError for a workload that cannot be planned.
    """
    if workload.origin is not None and workload.origin.method not in _WRITTEN_BY_PEOPLE:
        return []
    data = workload.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    return [path_of(place) for place in _Search(data, settings, watch).idle()]


class _Search:
    """Plans a document with one place changed, and compares."""

    def __init__(
        self, data: dict[str, Any], settings: RunSettings, watch: Callable[[str], None]
    ) -> None:
        self._data = data
        self._settings = settings
        self._watch = watch
        self._plan = self._planned(data)

    def idle(self) -> Iterator[Place]:
        """Places that change nothing, in the order of the document."""
        for section in _SECTIONS:
            yield from self._below((section,), self._data.get(section, {}))

    def _below(self, place: Place, value: Any) -> Iterator[Place]:
        entries = value.items() if isinstance(value, dict) else enumerate(value)
        for key, part in entries:
            inner = (*place, key)
            if key == _PROSE:
                continue
            if isinstance(part, dict | list) and part:
                if not (isinstance(value, list) and self._does_nothing(inner, part)):
                    yield from self._below(inner, part)
            elif isinstance(value, dict) and self._is_idle(inner, part):
                yield inner

    def _does_nothing(self, place: Place, step: Any) -> bool:
        """Whether the plan is the same without a step, or with one more step inside."""
        if self._is_idle(place, step):
            return True
        if not (isinstance(step, dict) and "do" in step):
            return False
        more = {**step, "do": [*step["do"], "barrier"]}
        try:
            return self._planned(_changed(self._data, place, more)) == self._plan
        except UserError:
            return False

    def _is_idle(self, place: Place, value: Any) -> bool:
        """Whether the plan is the same without what is at a place, and with any other number."""
        self._watch(path_of(place))
        could_be_changed = False
        for other in _others(value):
            try:
                plan = self._planned(_changed(self._data, place, other))
            except DocumentError:
                continue
            except UserError:
                return False
            if plan != self._plan:
                return False
            could_be_changed = True
        return could_be_changed

    def _planned(self, data: dict[str, Any]) -> Plan:
        return lowered_plan(parse_data(Workload, data), self._settings).plan


def _others(value: Any) -> Iterator[Any]:
    """What may stand in a value's place."""
    if isinstance(value, int | float | str) and not isinstance(value, bool):
        number = str(value).removesuffix("%")
        unit = "%" if number != str(value) else ""
        yield f"2 * ({number}){unit}"
        yield f"({number}) + 1{unit}"
    yield _GONE


def _changed(data: Any, place: Place, other: Any) -> Any:
    """A copy of a document in which a place holds something else, or nothing."""
    changed = copy.copy(data)
    key = place[0]
    if len(place) > 1:
        changed[key] = _changed(data[key], place[1:], other)
    elif other is _GONE:
        del changed[key]
    else:
        changed[key] = other
    return changed
