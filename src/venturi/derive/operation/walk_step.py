"""Walks through folders as steps of a program: a tree of as many folders and names, a phase."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from venturi.derive.known_name import known_name
from venturi.derive.operation.naming import named_in
from venturi.derive.operation.program import Program
from venturi.derive.operation.run import Steps
from venturi.derive.operation.scene import crew_of
from venturi.derive.operation.walk import Walk
from venturi.model.plan import ItemOwner, ItemVerb
from venturi.model.workload import EachStep, FileSpec, StepSpec, TreeSpec

NOTE = (
    "folders that are listed are told as a walk over as many with as many names each; when, among "
    "other calls, is told by before or after"
)


@dataclass
class Walked:
    """What walks add to a workload."""

    files: dict[str, FileSpec] = field(default_factory=dict)
    steps: Steps = field(default_factory=list)
    """The whole program with them."""


def with_walks(
    walks: Sequence[Walk], ranks: int, steps: Steps, program: Program | None = None
) -> Walked:
    """The steps of a program, if there is one, with those of walks before, after or among them."""
    done = Walked(steps=list(steps))
    middle = _middle_ns(program)
    first = 0
    for number, walk in enumerate(walks, start=1):
        title = "walk" if number == 1 else f"walk {number}"
        tree = None if program is None else _tree_of(walk, program, steps)
        name = tree or f"folders{number}"
        phase = _phase(walk, ranks, name, title)
        if tree is None:
            done.files[name] = _spec(walk, ranks, name)
        if tree is not None and program is not None and not program.trees.trees[tree].is_staged:
            _put(phase, tree, program.trees.trees[tree].exists, done.steps)
        elif tree is not None or walk.start_ns <= middle:
            done.steps.insert(first, phase)
            first += 1
        else:
            done.steps.append(phase)
    return done


def _middle_ns(program: Program | None) -> float:
    """When half of the calls that the program tells were made."""
    return float("inf") if program is None else float(np.median(program.table.start_ns))


def _tree_of(walk: Walk, program: Program, steps: Steps) -> str | None:
    """A tree of the program whose items lie in these very folders."""
    used = named_in(steps)
    for name, tree in program.trees.trees.items():
        if name not in used or walk.looked_at:
            continue
        paths = {program.table.paths[file] for file in np.unique(tree.files).tolist()}
        homes = {path.rpartition("/")[0] for path in paths}
        beyond = set(walk.paths) - homes
        if (
            homes
            and homes <= set(walk.paths)
            and len(beyond) <= 1
            and len(walk.ranks) == program.table.ranks
        ):
            return name
    return None


def _put(phase: StepSpec, tree: str, stays: bool, steps: Steps) -> None:
    """Puts a phase where the tree is there: at the end, or before what removes it."""
    last = max(at for at, step in enumerate(steps) if tree in named_in([step]))
    steps.insert(len(steps) if stays else last, phase)


def _phase(walk: Walk, ranks: int, name: str, title: str) -> StepSpec:
    body: Steps = [StepSpec(read_dir=name)]
    body += [StepSpec(each=EachStep(on=name, do=[ItemVerb.STAT]))] * walk.looks
    if walk.times > 1:
        body = [StepSpec(for_="i", in_=walk.times, do=body)]
    crew = crew_of(walk.ranks, ranks)
    if not crew.is_all:
        body = [StepSpec(when=crew.condition, do=body)]
    return StepSpec(phase=title, do=body)


def _spec(walk: Walk, ranks: int, name: str) -> FileSpec:
    """A tree with as many folders, and as many names in each."""
    shape = TreeSpec(items=walk.names)
    if walk.has_top:
        shape = TreeSpec(items=walk.names, depth=1, branch=walk.folders, leaves=True)
    elif walk.folders > 1:
        shape = TreeSpec(items=walk.names, depth=1, branch=walk.folders - 1)
    is_shared = ranks > 1 and not walk.is_own
    if is_shared:
        shape = shape.model_copy(update={"owner": ItemOwner.SHARED})
    return FileSpec(
        path=name,
        about=known_name(walk.paths),
        shared="all" if is_shared else "rank",
        tree=shape,
        prestage=0,
    )
