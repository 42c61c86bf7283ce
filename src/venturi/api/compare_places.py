"""Which of two directories is faster: a workload runs in both in turn."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from venturi.api.compare import ComparisonView
from venturi.api.view import progress_lines
from venturi.api.workload import Source, settings, workload_of
from venturi.campaign.places import ROUNDS, PlacesRequest
from venturi.campaign.places import compare_places as run_in_turn
from venturi.model.error import UserError


def compare_places(
    first: str | os.PathLike[str],
    second: str | os.PathLike[str],
    workload: Source,
    *,
    on: str | os.PathLike[str] = "local",
    ranks: int | None = None,
    repeat: int = ROUNDS,
    scale: str = "laptop",
    parameters: Mapping[str, object] | None = None,
    store: str | None = None,
    quiet: bool = False,
) -> ComparisonView:
    """Run a workload in two directories in turn, `repeat` times in each, and compare the runs.

    Each run is a record of the store. Both directories are checked before anything runs:
    UserError or TargetProblem. Where the runs were interrupted, or one failed, what was measured is
    compared and `.document.in_turn.ended` says why there is no more; RunFailed where that is not
    enough.
    """
    from venturi.execute.launcher import machine_named
    from venturi.probe.background import reader_beside
    from venturi.store.place import store_directory

    if repeat < 1:
        raise UserError(f"repeat={repeat}: each directory needs a run", "such as repeat=6")
    opened = workload_of(workload, store)
    place = store_directory(store)
    directories = Path(first).absolute(), Path(second).absolute()
    request = PlacesRequest(
        workload=opened.document,
        workload_text=opened.text,
        settings=settings(ranks, scale, parameters),
        machine=machine_named(os.fspath(on)),
        directories=directories,
        store=place,
        command=["venturi.compare_places", opened.name or opened.document.name],
        rounds=repeat,
        backgrounds=(reader_beside(place, directories[0]), reader_beside(place, directories[1])),
    )
    return ComparisonView(run_in_turn(request, progress_lines(quiet)))
