"""A whole Darshan log: counters from the C library's worker, operations and heatmaps from here."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from venturi.model.error import UserError
from venturi.model.operation import COLLECTIVE, LAYERS, Kind, Operations
from venturi.model.trace import Gap, Heatmap, Layer, Trace
from venturi.model.trace_folder import Captured
from venturi.sources.contradiction import contradictions
from venturi.sources.darshan import read_counters, refuse_unreadable
from venturi.sources.darshan_container import ContainerError
from venturi.sources.dxt import DxtContent, container_of, read_dxt
from venturi.sources.heatmap import read_heatmaps


def read_whole_log(path: Path, timeout_s: float = 60.0) -> Captured:
    """Counters, single operations (DXT, all versions) and heatmaps of a binary Darshan log.

    What can be read besides the counters is a gain, never a reason to refuse: where it is damaged,
    the trace says so in its gaps, and so it does where modules contradict each other. Raises
    UserError where the counters cannot be read.
    """
    beside: list[_Beside] = []
    trace = read_counters(path, timeout_s, lambda: beside.append(_beside_counters(path)))
    [found] = beside
    gaps = trace.gaps + found.gaps
    update: dict[str, object] = {"heatmaps": found.heatmaps, "gaps": gaps}
    operations = None
    if found.dxt is not None and len(found.dxt.operations):
        operations = _with_collectives(trace, found.dxt)
        update |= {
            "files": found.dxt.files,
            "processes": found.dxt.processes,
            "operation_count": len(operations),
        }
    trace = trace.model_copy(update=update)
    refuse_unreadable(path, trace, _layers(operations))
    gaps = gaps + contradictions(trace, operations)
    return Captured(trace.model_copy(update={"gaps": gaps}), operations)


@dataclass
class _Beside:
    """What a log holds beside its counters."""

    heatmaps: list[Heatmap] = field(default_factory=list)
    dxt: DxtContent | None = None
    gaps: list[Gap] = field(default_factory=list)


def _beside_counters(path: Path) -> _Beside:
    found = _Beside()
    try:
        container = container_of(path.read_bytes())
    except OSError as error:
        raise UserError(f"Darshan log '{path}' cannot be opened: {error.strerror}") from None
    except ContainerError as error:
        found.gaps.append(Gap(layer="DXT", what=f"could not be looked for: {error}"))
        return found
    try:
        found.heatmaps, found.gaps = read_heatmaps(container)
    except ContainerError as error:
        found.gaps.append(Gap(layer="HEATMAP", what=f"cannot be read: {error}"))
    try:
        found.dxt = read_dxt(container)
    except ContainerError as error:
        found.gaps.append(Gap(layer="DXT", what=f"cannot be read: {error}"))
    if found.dxt is not None:
        found.gaps += found.dxt.gaps
    return found


def _layers(operations: Operations | None) -> list[Layer]:
    """The layers of which there are operations."""
    return [] if operations is None else [LAYERS[n] for n in np.unique(operations.layer).tolist()]


def _with_collectives(trace: Trace, content: DxtContent) -> Operations:
    """Marks the requests on files whose counters say that all of a direction were collective."""
    operations = content.operations
    numbers = {file.path: number for number, file in enumerate(content.files)}
    detail = operations.detail.copy()
    for kind, word in ((Kind.READ, "READS"), (Kind.WRITE, "WRITES")):
        counts: dict[str, tuple[int, int]] = {}
        for record in trace.records:
            if record.layer is Layer.MPIIO:
                together = record.counters.get(f"COLL_{word}", 0)
                alone = sum(record.counters.get(p + word, 0) for p in ("INDEP_", "NB_", "SPLIT_"))
                before = counts.get(record.file, (0, 0))
                counts[record.file] = (before[0] + together, before[1] + alone)
        sure = [numbers[f] for f, (c, a) in counts.items() if c and not a and f in numbers]
        rows = operations.is_kind(kind) & operations.is_layer(Layer.MPIIO)
        detail[rows & np.isin(operations.file, sure)] |= COLLECTIVE
    return replace(operations, detail=detail)
