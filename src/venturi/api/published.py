"""A run beside published results of IO500, by their names."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from venturi.api.source import is_capture
from venturi.compat.io500.compare import compared_values, matching, named
from venturi.compat.io500.own import result_of
from venturi.model.error import UserError
from venturi.model.published import Io500Result
from venturi.model.review import ComparedValue
from venturi.store.archive import find, is_choice, load_record
from venturi.store.place import store_directory
from venturi.store.published import load_all


@dataclass(frozen=True)
class PublishedPair:
    """Two results, phase by phase, in all and for each process."""

    first: Io500Result
    second: Io500Result
    rows: list[ComparedValue]

    def to_data(self) -> dict[str, Any]:
        """As `--json` prints it."""
        rows = [row.to_data() for row in self.rows]
        return {"a": self.first.to_data(), "b": self.second.to_data(), "rows": rows}


def names_published(names: tuple[str, ...], store: str | None) -> bool:
    """Whether a word is no run, capture, file or choice, and fits an imported result."""
    place = store_directory(store)
    unknown = [name for name in names if name and not _is_known(place, name)]
    if not unknown:
        return False
    published = list(load_all(place))
    return any(matching(published, name) for name in unknown)


def _is_known(place: Path, name: str) -> bool:
    if name.startswith("@") or is_choice(name) or Path(name).exists() or is_capture(name):
        return True
    try:
        find(place, name)
    except UserError:
        return False
    return True


def beside_published(first: str, others: tuple[str, ...], store: str | None) -> list[PublishedPair]:
    """One result beside each of the others: runs of ours or imported ones.

    Raises UserError for a name that is none or several, and for a run of another workload.
    """
    place = store_directory(store)
    published = list(load_all(place))

    def opened(name: str) -> Io500Result:
        try:
            folder = find(place, name)
        except UserError:
            if name.startswith("@"):
                raise
            return named(published, name)
        return result_of(load_record(folder))

    if not others:
        raise UserError("name one or more results to set it beside", "venturi results rank --all")
    one = opened(first)
    return [PublishedPair(one, two, compared_values(one, two)) for two in map(opened, others)]
