"""Names that a program asks for again and again, and uses in no other way.

A run that looks for a file `STOP` in every step, or for the size of its input, spends its time in
these looks. They are repeated on a file that is there: a name that is missing is looked up in the
same folder, by the same call.
"""

from __future__ import annotations

from dataclasses import replace
from errno import ENOENT
from pathlib import PurePosixPath

import numpy as np

from venturi.model.operation import KIND_CODES, Column, Kind, Operations
from venturi.model.trace import Layer, Trace

LEAST_ASKS = 200
"""Names that are looked at less often cost nothing that shows; most are a program's start."""
_TWO_NAMES = (Kind.RENAME, Kind.LINK, Kind.COPY, Kind.CLONE, Kind.SEND)
"""Calls of which `detail` is a second file."""


def names_asked_for(operations: Operations, trace: Trace) -> Column:
    """Mask of the trace's files that are looked at so often, and used in no other way.

    Names in folders that are listed are not among them: looks at these are a walk.
    """
    count = len(trace.files)
    named = operations.file < count
    asks = named & operations.is_kind(Kind.STAT) & operations.is_layer(Layer.POSIX)
    asks &= np.isin(operations.error, (0, ENOENT))
    times = np.bincount(operations.file[asks], minlength=count)
    used = np.zeros(count, bool)
    used[operations.file[named & ~asks & (operations.error == 0)]] = True
    second = operations.detail[operations.is_kind(*_TWO_NAMES)]
    used[second[second < count]] = True
    found = (times >= LEAST_ASKS) & ~used
    lists = operations.file[named & (operations.kind == KIND_CODES[Kind.LIST])]
    listed = {trace.files[index].path for index in np.unique(lists).tolist()}
    for index in np.flatnonzero(found).tolist():
        path = trace.files[index].path
        found[index] = path not in listed and str(PurePosixPath(path).parent) not in listed
    return found


def with_misses_said(
    operations: Operations, trace: Trace, notes: list[str]
) -> tuple[Operations, Column]:
    """The operations with looks at names asked for as if all were there, and the mask of these.

    Where some were not, `notes` gets what is assumed.
    """
    asked = names_asked_for(operations, trace)
    of_file = np.append(asked, False)[np.minimum(operations.file, len(asked))]
    missed = of_file & (operations.error == ENOENT) & operations.is_kind(Kind.STAT)
    if not np.any(missed):
        return operations, asked
    notes.append("looks at names that are missing are repeated at names that are there")
    error = np.where(missed, 0, operations.error).astype(operations.error.dtype)
    return replace(operations, error=error), asked
