"""How far short runs were from longer ones on the same storage, by the runs that are kept."""

from __future__ import annotations

from collections.abc import Sequence

from venturi.model.result import Result
from venturi.model.statistic import median

LONGER = 3.0
"""A stonewall so many times as long makes a run that a short one is measured by."""
_FREE = frozenset({"stonewall", "wear_out", "students"})
_PLACE = ("host", "file system", "file system's source")


def error_in_words(run: Result, runs: Sequence[Result]) -> str:
    """The error of runs with this run's stonewall, by their scores and those of longer runs.

    Compared are runs of as many ranks and nodes with the same sizes and counts on the same file
    system of the same host. Each longer run is set beside the short one that began nearest to it.
    """
    whole = [one for one in runs if "score" in one.metrics and one.level != "INVALID"]
    alike = [one for one in whole if _likeness(one) == _likeness(run)]
    wall_s = _stonewall_s(run)
    short = [one for one in alike if _stonewall_s(one) == wall_s]
    longer = [one for one in alike if _stonewall_s(one) >= LONGER * wall_s]
    if not longer or not short:
        return (
            "How far its score is from that of a full run is not known here: no longer run with "
            "the same sizes and as many ranks on this file system is in the store "
            "(--stonewall 300 makes one)."
        )
    errors = sorted(_error(one, short, alike) for one in longer)
    walls = sorted({_stonewall_s(one) for one in longer})
    span = f"{walls[0]:g}" if len(walls) == 1 else f"{walls[0]:g} to {walls[-1]:g}"
    spread = f", {errors[0]:+.0%} to {errors[-1]:+.0%}" if len(errors) > 1 else ""
    pairs = "1 pair" if len(errors) == 1 else f"{len(errors)} pairs"
    return (
        f"Scores at {wall_s:g} s were off by {median(errors):+.0%} from those at {span} s on this "
        f"file system ({pairs}{spread})."
    )


def _error(longer: Result, short: Sequence[Result], order: Sequence[Result]) -> float:
    """Of the short run that stands nearest in the order in which runs began."""
    places = {one.id: index for index, one in enumerate(order)}
    near = min(short, key=lambda one: abs(places[one.id] - places[longer.id]))
    return _score(near) / _score(longer) - 1


def _score(run: Result) -> float:
    return median(run.metrics["score"].values)


def _stonewall_s(run: Result) -> float:
    return float(run.parameters.get("stonewall", 0.0))


def _likeness(run: Result) -> object:
    settings = {name: value for name, value in run.parameters.items() if name not in _FREE}
    return run.name, run.ranks, run.nodes, settings, [run.facts.get(name) for name in _PLACE]
