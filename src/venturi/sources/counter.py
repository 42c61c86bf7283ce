"""Darshan's modules and counters in the trace's words; shared by both routes into a log."""

from __future__ import annotations

import math
from collections.abc import Iterable

from venturi.model.trace import Gap, Layer

LAYERS: dict[str, tuple[Layer, str]] = {
    "POSIX": (Layer.POSIX, "POSIX_"),
    "STDIO": (Layer.STDIO, "STDIO_"),
    "MPI-IO": (Layer.MPIIO, "MPIIO_"),
    "H5F": (Layer.HDF5_FILE, "H5F_"),
    "H5D": (Layer.HDF5_DATASET, "H5D_"),
    "PNETCDF_FILE": (Layer.PNETCDF_FILE, "PNETCDF_FILE_"),
    "PNETCDF_VAR": (Layer.PNETCDF_VARIABLE, "PNETCDF_VAR_"),
}
"""Modules whose counters are read: layer, and the prefix of the counters' names."""

OWNER_COUNTER = "FILE_REC_ID"
"""Not a count: the id of the file that a dataset or a variable lies in."""

RENAMED_COUNTER = "RENAMED_FROM"
"""Not a count either: the id of the file's former name; nothing here needs it."""

MOST_PLAUSIBLE = 2**56
"""No count or size of one file is larger than this (64 PiB); damaged records are."""

_NO_COUNTS_OF_FILES = frozenset(
    {
        "LUSTRE",
        "BG/Q",
        "DXT_POSIX",
        "DXT_MPIIO",
        "APXC",
        "APXC-HEADER",
        "APMPI",
        "APMPI-HEADER",
        "HEATMAP",
        "NULL",
    }
)
"""Modules without counts of an application's files: what machine it was, MPI's time, single
operations and heatmaps (read elsewhere)."""

WATCHED_ONLY = {"LUSTRE": Layer.LUSTRE}
"""Modules that were on, but whose records describe storage and not the application."""

UNKNOWN = -1
"""What Darshan writes where it could not count; no counter read here may be negative."""

INCOMPLETE = "incomplete: memory for records ran out, so these counts are lower bounds"
UNREAD = "this module counted I/O, but its records cannot be read"
NAMES_BROKEN = "names of files cannot be read: the compressed data is damaged"
BROKEN = "this module's records cannot be read: the compressed data is damaged"


def strip_prefix(module: str, counter: str) -> str:
    """The counter's name without that of its module: `POSIX_READS` is `READS`."""
    return counter.removeprefix(LAYERS[module][1])


def known_counters(
    module: str, pairs: Iterable[tuple[str, int]], rank: int, ranks: int
) -> dict[str, int]:
    """Counters by short name, without those that Darshan marked as unknown.

    A record that is reduced over all `ranks` (its `rank` is -1) may hold the sum of their marks.
    """
    unknown = (UNKNOWN, UNKNOWN * ranks) if rank < 0 else (UNKNOWN,)
    return {
        strip_prefix(module, name): value
        for name, value in pairs
        if value not in unknown and not name.endswith((OWNER_COUNTER, RENAMED_COUNTER))
    }


def is_plausible(rank: int, ranks: int, counters: dict[str, int]) -> bool:
    """Whether a record of a job of `ranks` ranks can be true; shifted or torn ones cannot."""
    return -1 <= rank < ranks and all(0 <= v <= MOST_PLAUSIBLE for v in counters.values())


def unread_modules(modules: Iterable[str]) -> list[Gap]:
    """A gap for each module that counted I/O and that no reader here understands, such as DFS."""
    return [
        Gap(layer=module, what=UNREAD)
        for module in modules
        if module not in LAYERS and module not in _NO_COUNTS_OF_FILES
    ]


def damage(module: str, count: int) -> Gap:
    """The gap that `count` implausible records of a module leave."""
    return Gap(layer=module, what=f"{count} damaged records were left out")


def unmapped(lost_bytes: int) -> str:
    """What a gap says of bytes of a log that its table of modules does not name."""
    return (
        f"{lost_bytes} bytes of the log belong to no module by its table of modules, which is "
        "damaged: what they held is not known"
    )


def known_times(module: str, pairs: Iterable[tuple[str, float]]) -> dict[str, float]:
    """Times in seconds by short name, without those that are unknown or no numbers."""
    return {
        strip_prefix(module, name): value
        for name, value in pairs
        if value != UNKNOWN and math.isfinite(value)
    }


def layers_of(modules: Iterable[str]) -> list[Layer]:
    """The layers that a capture with these modules watched."""
    known = {name: layer for name, (layer, _) in LAYERS.items()} | WATCHED_ONLY
    return [known[module] for module in modules if module in known]
