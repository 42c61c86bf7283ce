"""Turns each of which goes to another place, in no order: a record is read, changed, written back.

In one run such places are random requests. Where something else comes between them, each is a run
of its own, and all turns at one place, or one behind the other, would never leave the caches
(rule 5).
"""

from __future__ import annotations

import numpy as np

from venturi.derive.operation.deal import GROUP_NOTE
from venturi.derive.operation.place import LEAST_RANDOM, RANDOM_BACKWARD_SHARE
from venturi.derive.operation.run import Run, Said
from venturi.derive.operation.token import mixed_hash
from venturi.model.operation import Column
from venturi.model.units import size_text

KEYS = 1000
"""Of random orders: the same places in the same order have the same key."""


def random_turns(run: Run) -> Said | None:
    """The step of turns that each make a request at a place of their own, or equally many one
    behind the other, if these places go back and forth."""
    scene, unit = run.scene, int(run.unit.max())
    if not scene.loops or run.ids.size != scene.units or np.any(run.base < 0):
        return None
    if np.any(run.jumps) or not _are_alike(run, unit):
        return None
    if not _are_in_one_file(run) or not _goes_to_and_fro(run.base.reshape(-1, run.ids.shape[-1])):
        return None
    places, moved = run.base.ravel(), int(run.bytes.sum())
    size = size_text(unit * int(run.count.flat[0]))
    if np.any(run.bytes != run.bytes.flat[0]):
        size = f"block({moved}, {scene.units}, {scene.unit})"
    most = -(-moved // scene.units)
    low = int(places.min())
    step = int(np.gcd.reduce(places - low)) or 1
    slots = (int(places.max()) - low) // step + 1
    if run.written is not None and int(run.end.max()) <= run.written:
        slots = max(1, min(slots, (run.written - low - most) // step + 1))
    is_once = len(np.unique(places)) == len(places) <= slots
    key = int(mixed_hash(places.astype(np.uint64) + np.arange(len(places), dtype=np.uint64)).sum())
    chosen = f"{'permute' if is_once else 'draw'}({scene.unit}, {slots}, {key % KEYS})"
    at = f"{size_text(low)} + " if low else ""
    keys = {"size": size, **run.at(f"{at}{size_text(step)} * {chosen}")}
    if int(run.count.flat[0]) > 1:
        keys["transfer"] = size_text(unit)
    notes = ["random places within the region that was touched"]
    rule = "5: each turn goes to another place, back and forth"
    reach = np.array([0 if run.is_write else low + (slots - 1) * step + most])
    said = Said(run.guarded([run.step(**keys)]), "random", size, rule, 0.8, reach, notes)
    if size.startswith("block"):
        notes.append(GROUP_NOTE)
        said.confidence, said.has_sizes = 0.5, False
    return said


def _are_alike(run: Run, unit: int) -> bool:
    """Whether each turn makes one request, or equally many of one size."""
    if np.all(run.count == 1):
        return True
    return bool(np.all(run.count == run.count.flat[0]) and np.all(run.bytes == run.count * unit))


def _are_in_one_file(run: Run) -> bool:
    """Whether each rank has one file, for all turns."""
    file = run.tokens.file[run.ids].reshape(-1, run.ids.shape[-1])
    return bool(np.all(file == file[0]))


def _goes_to_and_fro(places: Column) -> bool:
    """Whether turns go backwards as often as random ones do."""
    steps = np.diff(places, axis=0)
    jumps = int(np.count_nonzero(steps))
    backward = int(np.count_nonzero(steps < 0))
    return len(places) >= LEAST_RANDOM and backward >= RANDOM_BACKWARD_SHARE * max(jumps, 1)
