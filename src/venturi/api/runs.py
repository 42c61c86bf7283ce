"""The runs of a store, a row each."""

from __future__ import annotations

from dataclasses import asdict

from venturi.api.table import DataTable
from venturi.store.archive import chosen
from venturi.store.index import entries
from venturi.store.place import store_directory


def runs(choice: str | None = None, store: str | None = None) -> DataTable:
    """A row for each run, newest last, with the columns of `venturi results ls --json`.

    `choice` leaves out others, as there: tag:T, machine:M, session:S, campaign:C, name:N, joined
    by commas. Raises UserError where none is left.
    """
    place = store_directory(store)
    found = chosen(place, choice) if choice else entries(place)
    return DataTable([asdict(entry) for entry in found])
