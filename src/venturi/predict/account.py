"""What one captured run spent in I/O: the account of an application or of its proxy."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from venturi.analyse.characterization_data import characterization_data_of
from venturi.derive.footprint import Footprint, footprint_of
from venturi.derive.noise import is_code
from venturi.derive.operation.table import actors_in
from venturi.derive.operation.thread import with_threads_apart
from venturi.derive.operation.two_files import with_copies_said
from venturi.model.characterization_data import CharacterizationData
from venturi.model.operation import Column, Kind
from venturi.model.plan import Interface
from venturi.model.prediction import Sort
from venturi.model.trace import Layer
from venturi.model.trace_folder import Captured
from venturi.model.workload import Workload

_LAYERS = {
    Interface.MPIIO: (Layer.MPIIO,),
    Interface.HDF5: (Layer.MPIIO, Layer.HDF5_FILE, Layer.HDF5_DATASET),
}
HERE = "."
"""How the application's folder itself is called in its account."""

_ALWAYS = (Layer.POSIX, Layer.STDIO)


@dataclass(frozen=True)
class Account:
    """One run in numbers; its times are those of the rank that spends most in I/O."""

    ranks: int
    seconds: float
    seconds_by: dict[str, float]
    run_seconds: float
    span_seconds: float
    """From the beginning of the first request of all ranks to the end of the last; without any, of
    these calls."""
    calls: int
    activity: CharacterizationData
    """Of all ranks, without anything in other layers."""
    paths: dict[str, int]
    """Bytes moved in each file that was used."""
    outside_seconds: dict[str, float] = field(default_factory=dict)
    """Of `seconds`, by folder: in files outside of the place that is measured."""

    @property
    def bytes_moved(self) -> int:
        """Of all ranks, both ways."""
        return self.activity.bytes_written + self.activity.bytes_read

    @property
    def requests(self) -> int:
        """Reads and writes of all ranks."""
        return sum(self.activity.operations.get(kind, 0) for kind in ("read", "write", "copy"))


def layers_of(workload: Workload) -> tuple[Layer, ...]:
    """The layers in which a proxy acts: time is compared in these, on both sides.

    An application's call of a library whose requests the proxy makes by itself holds the
    library's computing, too, which is no I/O of the proxy.
    """
    found = {layer for file in workload.files.values() for layer in _LAYERS.get(file.interface, ())}
    return (*_ALWAYS, *(layer for layer in Layer if layer in found))


def account_of(captured: Captured, layers: Collection[Layer], name: str) -> Account | None:
    """The account of a run, from its operations in `layers`; None where it has no I/O of its own.

    Files of systems, of libraries and interpreters, standard streams and pipes do not count, as
    in `derive`, nor do the folders in which a program looks for its modules; processes act as the
    same ranks as there.
    """
    captured = with_threads_apart(captured)
    ops = captured.operations
    if ops is None:
        return None
    ops = ops.take(ops.is_layer(*layers))
    if not len(ops):
        return None
    chosen = replace(captured, operations=ops)
    found = footprint_of(chosen)
    assert found is not None
    actors = actors_in(captured.trace, with_copies_said(ops))
    rank = actors.of_process[found.ops.process].astype(np.int64)
    counted = found.own & (rank >= 0) & ~_of_modules(found)
    if not counted.any():
        return None
    table = _seconds(found, counted, rank, actors.ranks)
    slowest = int(np.argmax(sum(table.values())))
    seconds_by = {sort.value: float(column[slowest]) for sort, column in table.items()}
    return Account(
        ranks=actors.ranks,
        seconds=sum(seconds_by.values()),
        seconds_by=seconds_by,
        run_seconds=captured.trace.job.seconds,
        span_seconds=_span_seconds(found, counted),
        calls=int(np.count_nonzero(counted)),
        activity=characterization_data_of(chosen, name),
        paths=_bytes_by_path(found, counted),
        outside_seconds=_seconds_outside(found, counted & (rank == slowest)),
    )


def _of_modules(found: Footprint) -> Column:
    """Mask: calls on folders that were listed to find a program's modules.

    They hold code that was asked for, or lie outside of the place, where the proxy lists nothing.
    """
    holders = {os.path.dirname(file.path) or HERE for file in found.files if is_code(file)}
    listed = np.unique(found.root[found.kind(Kind.LIST) & (found.root >= 0)]).tolist()
    folders = [
        index
        for index in listed
        if (path := found.path(index)) in holders or path.startswith(os.sep)
    ]
    return np.asarray(np.isin(found.root, folders) & ~found.data)


def _seconds(
    found: Footprint, counted: Column, rank: Column, ranks: int
) -> dict[Sort, np.ndarray[Any, Any]]:
    """Seconds of each rank in each sort of calls."""
    sorts = {
        Sort.READ: found.reads,
        Sort.WRITE: found.writes & ~found.reads,
        Sort.SYNC: found.syncs,
    }
    rest = ~(found.reads | found.writes | found.syncs)
    spent = np.maximum(found.seconds, 0.0)
    return {
        sort: np.bincount(rank[mask & counted], spent[mask & counted], ranks)
        for sort, mask in {**sorts, Sort.NAMES: rest}.items()
    }


def _seconds_outside(found: Footprint, counted: Column) -> dict[str, float]:
    """Seconds of these calls by the folders of their files, where those have absolute names."""
    spent = np.bincount(found.root[counted], found.seconds[counted], len(found.files))
    folders: dict[str, float] = defaultdict(float)
    for index in np.flatnonzero(spent > 0).tolist():
        if os.path.isabs(path := found.path(index)):
            folders[os.path.dirname(path)] += float(spent[index])
    return folders


def _span_seconds(found: Footprint, counted: Column) -> float:
    """From the beginning of the first of these requests to the end of the last; of other calls,
    where there are none: a program that starts may look at its folder long before."""
    requests = counted & (found.reads | found.writes | found.syncs)
    ops, chosen = found.ops, requests if requests.any() else counted
    return float(ops.end_ns[chosen].max() - ops.start_ns[chosen].min()) * 1e-9


def _bytes_by_path(found: Footprint, counted: Column) -> dict[str, int]:
    data = counted & found.data
    moved = np.bincount(found.root[data], found.ops.bytes[data], len(found.files))
    return {found.path(int(i)): int(moved[i]) for i in np.unique(found.root[counted])}
