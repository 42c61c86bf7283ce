"""Names that a program asks for again and again: some are there and used in no other way, others
are not there.

A run that looks for a file `STOP` in every step, for the size of its input, or for a module in
each folder of a search path, spends its time in these looks. A name that is not there is looked up
in the storage again and again where the system does not remember that: a proxy asks for such a name
by `miss`.
"""

from __future__ import annotations

from dataclasses import replace
from errno import EEXIST, EINVAL, ENOENT, ENOTDIR
from pathlib import PurePosixPath

import numpy as np

from venturi.derive.known_name import numbered
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


def with_looks_said(operations: Operations, trace: Trace) -> tuple[Operations, Column]:
    """The operations with those lookups that failed as `miss`, or as looks at what was there; and
    the mask of the files whose looks are kept, though nothing else is done to them.

    Names alike but for digits count together: a module is missing in each folder of a path. Those
    asked for less than LEAST_ASKS times fail as before.
    """
    asked = names_asked_for(operations, trace)
    count = len(trace.files)
    plain = (operations.file < count) & operations.is_layer(Layer.POSIX, Layer.STDIO)
    error = operations.error
    missed = plain & np.isin(error, (ENOENT, ENOTDIR))
    missed &= operations.is_kind(Kind.STAT, Kind.OPEN, Kind.UNLINK, Kind.ATTRIBUTE)
    met = plain & (error == EEXIST) & operations.is_kind(Kind.MKDIR, Kind.OPEN)
    met |= plain & (error == EINVAL) & operations.is_kind(Kind.STAT)  # readlink of what is no link
    of_file = np.append(asked, False)[np.minimum(operations.file, count)]
    missed &= of_file | _often(operations, trace, missed)
    met &= _often(operations, trace, met)
    if not np.any(missed | met):
        return operations, asked
    asked[np.unique(operations.file[missed])] = True
    kind = operations.kind.copy()
    kind[missed], kind[met] = KIND_CODES[Kind.MISS], KIND_CODES[Kind.STAT]
    said = missed | met
    return replace(
        operations,
        kind=kind,
        error=np.where(said, 0, error).astype(error.dtype),
        detail=np.where(said, 0, operations.detail).astype(operations.detail.dtype),
    ), asked


def _often(operations: Operations, trace: Trace, chosen: Column) -> Column:
    """Mask: of names that, with those alike but for digits, have so many of the chosen calls."""
    result = np.zeros(len(chosen), bool)
    files, times = np.unique(operations.file[chosen], return_counts=True)
    if not len(files):
        return result
    alike = [numbered(trace.files[index].path) for index in files.tolist()]
    _, group = np.unique(np.array(alike), return_inverse=True)
    often = np.bincount(group, times)[group] >= LEAST_ASKS
    result[chosen] = np.isin(operations.file[chosen], files[often])
    return result
