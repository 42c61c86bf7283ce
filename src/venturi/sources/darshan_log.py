"""A whole Darshan log: counters from the C library's worker, operations and heatmaps from here."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from venturi.model.error import UserError
from venturi.model.operation import COLLECTIVE, Kind, Operations
from venturi.model.trace import Gap, Layer, Trace
from venturi.model.trace_folder import Captured
from venturi.sources.darshan import read_log
from venturi.sources.darshan_container import Container, ContainerError
from venturi.sources.dxt import DxtContent, container_of, read_dxt
from venturi.sources.heatmap import read_heatmaps


def read_whole_log(path: Path, timeout_s: float = 60.0) -> Captured:
    """Counters, single operations (DXT, all versions) and heatmaps of a binary Darshan log.

    What can be read besides the counters is a gain, never a reason to refuse: where it is damaged,
    the trace says so in its gaps. Raises UserError where the counters cannot be read.
    """
    trace = read_log(path, timeout_s)
    try:
        container = container_of(path.read_bytes())
    except OSError as error:
        raise UserError(f"Darshan log '{path}' cannot be opened: {error.strerror}") from None
    except ContainerError as error:
        return Captured(_with_gap(trace, "DXT", f"could not be looked for: {error}"))
    return _with_dxt(_with_heatmaps(trace, container), container)


def _with_heatmaps(trace: Trace, container: Container) -> Trace:
    try:
        heatmaps, gaps = read_heatmaps(container)
    except ContainerError as error:
        return _with_gap(trace, "HEATMAP", f"cannot be read: {error}")
    return trace.model_copy(update={"heatmaps": heatmaps, "gaps": trace.gaps + gaps})


def _with_dxt(trace: Trace, container: Container) -> Captured:
    content: DxtContent | None
    try:
        content = read_dxt(container)
    except ContainerError as error:
        return Captured(_with_gap(trace, "DXT", f"cannot be read: {error}"))
    if content is None or not len(content.operations):
        gaps = content.gaps if content else []
        return Captured(trace.model_copy(update={"gaps": trace.gaps + gaps}))
    update = {
        "gaps": trace.gaps + content.gaps,
        "files": content.files,
        "processes": content.processes,
        "operation_count": len(content.operations),
    }
    return Captured(trace.model_copy(update=update), _with_collectives(trace, content))


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


def _with_gap(trace: Trace, layer: str, what: str) -> Trace:
    return trace.model_copy(update={"gaps": [*trace.gaps, Gap(layer=layer, what=what)]})
