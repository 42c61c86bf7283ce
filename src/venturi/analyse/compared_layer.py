"""In which layer an application and its proxy are compared: the one that the proxy replays.

Where no steps on datasets tell what an application does to a file, its proxy makes the calls that
the library made below. HDF5 calls of the application have no counterpart then, though nothing is
missing: on such files, its own calls below are what the proxy is held against.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from venturi.derive.operation.below import (
    moved_below,
    moved_by_library,
    used_beside,
    without_library,
)
from venturi.derive.operation.workload import known_streams
from venturi.model.error import UserError
from venturi.model.trace_folder import Captured
from venturi.model.workload import Workload


def in_layers_of(application: Captured, proxy: Captured) -> Captured:
    """The application without library calls on files of which its proxy replays the calls below.

    It is as it was where the capture of the proxy does not tell what its files stand for.
    """
    if application.operations is None or proxy.operations is None:
        return application
    known = [file.stands_for for file in proxy.trace.files]
    of_library = np.flatnonzero(moved_by_library(proxy)).tolist()
    return _in_layers(application, known, {known[file] for file in of_library})


def in_layers_of_workload(application: Captured, workload: Workload) -> Captured:
    """The same for a proxy that is not run."""
    if application.operations is None:
        return application
    specs = workload.files.values()
    above = {spec.about for spec in specs if spec.interface.entry.has_datasets}
    return _in_layers(application, [spec.about for spec in specs], above)


def _in_layers(application: Captured, known: Collection[str], above: Collection[str]) -> Captured:
    """`known` are the names of the proxy's streams, `above` those that it replays by a library."""
    both = moved_by_library(application) & moved_below(application)
    if not np.any(both) or not any(known):
        return application
    try:
        names = known_streams(without_library(application, used_beside(application))).streams
    except UserError:
        return application
    below = both & np.array([bool(name) and name not in above for name in names], bool)
    if not np.any(below):
        return application
    lower = without_library(application, below)
    # Files that a workload does not know by these names are not those of a proxy of this run.
    of_lower = np.array(known_streams(lower).streams)[below]
    return lower if set(of_lower.tolist()) & set(known) - {""} else application
