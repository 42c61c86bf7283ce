"""Whether both sides of a comparison ask their storage for the same: hints and stripes.

Both inherit what holds for all of the place: the environment's hints, the folder's stripes. What
differs is what an application or a workload asks for beside that.
"""

from __future__ import annotations

import os

from venturi.model.error import TargetProblem
from venturi.model.operation import OPENED_HINTED, Kind
from venturi.model.plan import File
from venturi.model.trace import Layer
from venturi.model.trace_folder import Captured
from venturi.model.workload import Workload
from venturi.plan.make import make_plan
from venturi.plan.setting import RunSettings


def check_captured(proxy: Workload, captured: Captured, may_differ: bool) -> list[str]:
    """What the reader must know of the hints and stripes of a proxy and of its application's run.

    A capture tells which files are opened with hints, not with which ones, and nothing of stripes.
    Raises TargetProblem where one side alone asks for some, unless `may_differ`.
    """
    given, asked, stripes = _hinted(captured), _hints(proxy), _stripes(proxy)
    texts = []
    if given and not asked:
        texts.append(f"the application gives MPI-IO hints for {_listed(given)}, the proxy has none")
    if asked and not given:
        texts.append(f"the proxy asks for hints ({_listed(asked)}), the application gives none")
    if stripes:
        texts.append(
            f"the proxy asks for stripes ({_listed(stripes)}); whether the application does, a "
            "capture does not tell"
        )
    _refuse(texts, may_differ, "write the same ('hints', 'stripe') under the proxy's files")
    if given and asked:
        texts.append("both sides give MPI-IO hints; whether the same ones, a capture does not tell")
    return texts


def check_alike(proxy: Workload, other: Workload, may_differ: bool) -> list[str]:
    """What the reader must know of hints and stripes that one of two workloads alone asks for.

    Raises TargetProblem for a difference, unless `may_differ`.
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
        texts.append(f"{asks}, the other workload for {_listed(theirs) or 'none'}")
    _refuse(texts, may_differ, "give both the same")
    return texts


def _refuse(texts: list[str], may_differ: bool, what_to_do: str) -> None:
    if texts and not may_differ:
        raise TargetProblem(
            f"they do not ask for the same: {'; '.join(texts)}",
            f"{what_to_do}, or --unlike compares them all the same",
        )


def _hinted(captured: Captured) -> set[str]:
    """Names of the files that are opened with hints."""
    ops = captured.operations
    if ops is None:
        return set()
    opens = ops.take(ops.is_layer(Layer.MPIIO) & ops.is_kind(Kind.OPEN))
    hinted = opens.file[(opens.detail & OPENED_HINTED) != 0]
    return {os.path.basename(captured.trace.files[index].path) for index in set(hinted.tolist())}


def _files(workload: Workload) -> list[File]:
    """Files as a plan has them, of a workload that may ask for something."""
    specs = workload.files.values()
    if not any(spec.hints or spec.stripe is not None for spec in specs):
        return []
    return make_plan(workload, RunSettings()).plan.files


def _hints(workload: Workload) -> set[str]:
    """Those for the library of MPI-IO, `name=value`, of all files."""
    return {f"{hint.name}={hint.value}" for file in _files(workload) for hint in file.hints}


def _stripes(workload: Workload) -> set[str]:
    """Layouts over servers that files have of their own."""
    found = [file.stripe for file in _files(workload) if file.stripe is not None]
    return {
        ", ".join(f"{key} {value}" for key, value in stripe.model_dump().items() if value)
        for stripe in found
    }


def _listed(settings: set[str]) -> str:
    return ", ".join(sorted(settings))
