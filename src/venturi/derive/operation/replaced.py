"""Files that were there before the run and are replaced in it, apart from what replaces them.

Who saves safely writes `x.tmp` and renames it to `x`. If `x` was there before, it is another file
than the one that gets its name: it is read (or only looked at) till then, and gone afterwards.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from venturi.model.operation import KIND_CODES, Kind
from venturi.model.trace import Layer
from venturi.model.trace_folder import Captured

_O_CREAT = 0o100


def with_replaced_apart(captured: Captured) -> Captured:
    """The capture with each file that a rename replaces, and that the run did not make, as a file
    of its own, whose name is the same."""
    ops, files = captured.operations, captured.trace.files
    if ops is None:
        return captured
    fine = (ops.error == 0) & (ops.file < len(files))
    rename = fine & ops.is_kind(Kind.RENAME) & ops.is_layer(Layer.POSIX)
    rows = np.flatnonzero(rename & (ops.detail < len(files)) & (ops.detail != ops.file))
    if not len(rows):
        return captured
    never = np.iinfo(np.int64).max
    replaced_ns = np.full(len(files) + 1, never)
    np.minimum.at(replaced_ns, ops.detail[rows].astype(np.int64), ops.start_ns[rows])
    named = np.minimum(ops.file, len(files)).astype(np.int64)
    before = fine & (ops.start_ns < replaced_ns[named]) & (replaced_ns[named] < never)
    makes = (ops.kind == KIND_CODES[Kind.OPEN]) & (ops.detail & _O_CREAT > 0)
    makes |= ops.is_kind(Kind.RENAME, Kind.UNLINK, Kind.MKDIR, Kind.LINK, Kind.WRITE)
    made = np.bincount(named[before & makes], minlength=len(files) + 1) > 0
    others = np.flatnonzero(before & ~made[named])
    if not len(others):
        return captured
    apart, number = np.unique(named[others], return_inverse=True)
    file = np.array(ops.file)
    file[others] = len(files) + number
    added = [files[one] for one in apart.tolist()]
    trace = captured.trace.model_copy(update={"files": [*files, *added]})
    return replace(captured, trace=trace, operations=replace(ops, file=file))
