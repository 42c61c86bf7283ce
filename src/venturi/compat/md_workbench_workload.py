"""md-workbench's command line as a workload: precreation, passes over a constant working set,
cleanup, in its order and with its names.
"""

from __future__ import annotations

import json
from typing import Any

from venturi.compat.md_workbench_option import MdWorkbenchArguments
from venturi.compat.md_workbench_text import BENCHMARK, CLEANUP, PRECREATE, PREPARATION
from venturi.compat.perform import PlannedRun
from venturi.model.workload import Workload

Step = dict[str, Any]
_DATA = "objects"


def workbench_trial(arguments: MdWorkbenchArguments, ranks: int) -> PlannedRun:
    """The run of one command line on that many ranks."""
    a = arguments
    steps = [_precreate(a)]
    if a.benchmark:
        steps.append({"for": "round", "in": a.rounds, "do": _round(a)})
    if a.cleanup:
        steps.append(_cleanup(a))
    objects = a.first_item + a.precreated + (0 if a.read_only else a.objects * a.passes)
    data = {
        "workload": 1,
        "name": "md-workbench",
        "about": "A constant working set of small objects: look up, read, delete, make anew",
        "origin": {"source": "a command line of md-workbench"},
        "repeat": 1,
        **({"log_operations": True} if a.latency_prefix else {}),
        "parameters": {"np": {"default": ranks, "role": "ranks"}},
        "groups": {"tasks": {"ranks": "np"}},
        "files": {_DATA: _files(a, objects)},
        "program": {"tasks": steps},
    }
    return PlannedRun(Workload.model_validate_json(json.dumps(data)), ranks, repetitions=1, seed=1)


def _files(a: MdWorkbenchArguments, objects: int) -> dict[str, Any]:
    spec: dict[str, Any] = {
        "path": "{rank}_{set}",
        "shared": "rank",
        "interface": a.interface,
        "tree": {"items": objects, "size": a.size, "names": {"item": "file-{item}"}},
        "content": {"seed": a.seed, "verify": a.verify},
    }
    if not a.cleanup:
        spec["keep"] = True
    if a.direct:
        spec["options"] = {"direct": True}
    return spec


def _precreate(a: MdWorkbenchArguments) -> Step:
    """The directories of the datasets, then their objects, dataset after dataset."""
    verbs = ["create", "write", "close"] if a.size else ["create", "close"]
    sets = _over_sets(a, [{"mkdir": _DATA}])
    objects = _over_objects(
        a.precreated, _over_sets(a, [_each(verbs, {"first": f"{a.first_item} + object"})])
    )
    return {"phase": PRECREATE if a.precreate else PREPARATION, "do": [sets, objects]}


def _round(a: MdWorkbenchArguments) -> list[Step]:
    """One pass for each waiting factor; the position in the objects moves on from pass to pass."""
    passes = len(a.factors)
    steps = []
    for number, factor in enumerate(a.factors):
        moved = "0" if a.read_only else f"(round * {passes} + {number}) * {a.objects}"
        position = f"{a.first_item} + {moved}"
        name = BENCHMARK if passes == 1 else f"{BENCHMARK} {number}"
        step: Step = {"phase": name, "do": [_pass(a, position, factor)]}
        if a.limit_s:
            then = "same count" if a.wear_out else "stop"
            step["limit"] = {"after": f"{a.limit_s} s", "then": then}
        steps.append(step)
    return steps


def _pass(a: MdWorkbenchArguments, position: str, factor: float) -> Step:
    """Every object once: of a set of ranks before this one, then a new one for ranks behind it.

    Where a pass may be cut, it goes on from what is there of every set, and what is left is known.
    """
    reads = ["open", "read", "close"] if a.size else ["open", "close"]
    makes = ["create", "write", "close"] if a.size else ["create", "close"]
    old: Step = {"first": f"{position} + object"}
    new: Step = {"first": f"{a.precreated} + {position} + object"}
    if a.limit_s and not a.read_only:
        old = {"first": "object", "counted_from": "oldest"}
        new = {"first": "object", "counted_from": "newest"}
    behind = f"shift ranks - {a.offset} * (set + 1) % ranks"
    steps = [
        _each(["stat"], old, behind, factor),
        _each(reads, old, behind, factor),
    ]
    if not a.read_only:
        before = f"shift {a.offset} * (set + 1)"
        steps.append(_each(["unlink"], old, behind, factor))
        steps.append(_each(makes, new, before, factor))
    return _over_objects(a.objects, _over_sets(a, steps))


def _cleanup(a: MdWorkbenchArguments) -> Step:
    """What is left of each dataset, and its directory."""
    gone = a.first_item + (0 if a.read_only else a.objects * a.passes)
    left: Step = {"each": {"on": _DATA, "do": ["unlink"]}}
    if not a.limit_s:  # else it is known in the run only, and what is there is removed
        left["each"] |= {"first": gone, "count": a.precreated}
    return {"phase": CLEANUP, "do": [_over_sets(a, [left, {"rmdir": _DATA}])]}


def _each(verbs: list[str], window: Step, owner: str = "", factor: float = 0.0) -> Step:
    each: Step = {"on": _DATA, "do": verbs, **window, "count": 1}
    if factor:
        each["wait"] = factor
    return {"each": each, **({"from": owner} if owner else {})}


def _over_sets(a: MdWorkbenchArguments, body: list[Step]) -> Step:
    return {"for": "set", "in": a.datasets, "do": body}


def _over_objects(count: int, body: Step) -> Step:
    return {"for": "object", "in": count, "do": [body]}
