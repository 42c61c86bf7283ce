"""Whether both sides of a comparison ask their storage for the same: hints and stripes.

Both inherit what holds for all of the place: the environment's hints, the folder's stripes. What
differs is what a workload asks for beside that.
"""

from __future__ import annotations

from venturi.model.error import TargetProblem
from venturi.model.plan import File
from venturi.model.workload import Workload
from venturi.plan.make import make_plan
from venturi.plan.setting import Settings


def check_alike(proxy: Workload, other: Workload | None, may_differ: bool) -> list[str]:
    """What the reader must know of hints and stripes that only one side asks for.

    `other` is the workload in the application's stead; None: a command, of which a capture tells
    neither. Raises TargetProblem for a difference, unless `may_differ`.
    """
    texts = []
    for word, ours, theirs in (
        ("hints", _hints(proxy), _hints(other)),
        ("stripes", _stripes(proxy), _stripes(other)),
    ):
        if ours == theirs:
            continue
        asks = (
            f"the proxy asks for {word} ({_listed(ours)})" if ours else f"the proxy has no {word}"
        )
        beside = f"the other workload for {_listed(theirs) or 'none'}"
        texts.append(
            f"{asks}, {beside}"
            if other is not None
            else f"{asks}, and of the application a capture does not tell whether it does"
        )
    if texts and not may_differ:
        raise TargetProblem(
            f"they do not ask for the same: {'; '.join(texts)}",
            "take them out of the workload, or --unlike compares them all the same",
        )
    return texts


def _files(workload: Workload | None) -> list[File]:
    """Files as a plan has them, of a workload that may ask for something."""
    if workload is None:
        return []
    specs = workload.files.values()
    if not any(spec.hints or spec.stripe is not None for spec in specs):
        return []
    return make_plan(workload, Settings()).plan.files


def _hints(workload: Workload | None) -> set[str]:
    """Those for the library of MPI-IO, `name=value`, of all files."""
    return {f"{hint.name}={hint.value}" for file in _files(workload) for hint in file.hints}


def _stripes(workload: Workload | None) -> set[str]:
    """Layouts over servers that files have of their own."""
    found = [file.stripe for file in _files(workload) if file.stripe is not None]
    return {
        ", ".join(f"{key} {value}" for key, value in stripe.model_dump().items() if value)
        for stripe in found
    }


def _listed(settings: set[str]) -> str:
    return ", ".join(sorted(settings))
