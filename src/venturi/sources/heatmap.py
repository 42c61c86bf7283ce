"""Darshan's heatmaps: bytes that each rank moved, per bin of time."""

from __future__ import annotations

import math
import struct

import numpy as np

from venturi.model.trace import Gap, Heatmap, HeatRow, Layer
from venturi.sources.darshan_container import Container

TORN = "the log is torn: heatmaps of some ranks are missing"

_LAYERS = {
    "heatmap:POSIX": Layer.POSIX,
    "heatmap:MPIIO": Layer.MPIIO,
    "heatmap:STDIO": Layer.STDIO,
}
"""Names of the records; those of other storage (DFS, DAOS) have no layer here."""

_MOST_BINS = 10_000
"""Darshan makes at most 200."""


def read_heatmaps(container: Container) -> tuple[list[Heatmap], list[Gap]]:
    """The heatmaps of a log, one per layer, and what is missing. Raises ContainerError."""
    if not container.has("HEATMAP"):
        return [], []
    ranks = container.job().ranks
    names = container.names()
    region = container.region("HEATMAP")
    layout = struct.Struct(container.order + "Qqdqqq")
    rows: dict[tuple[Layer, float], dict[int, HeatRow]] = {}
    place = 0
    is_cut = region.is_torn
    while place < len(region.body):
        if place + layout.size > len(region.body):
            is_cut = True
            break
        identity, rank, width_s, bins, _, _ = layout.unpack_from(region.body, place)
        place += layout.size
        is_possible = 0 <= rank < ranks and math.isfinite(width_s) and width_s > 0
        if not is_possible or not 0 <= bins <= _MOST_BINS or place + 16 * bins > len(region.body):
            is_cut = True
            break
        counts = np.frombuffer(region.body, container.order + "i8", 2 * bins, place)
        place += 16 * bins
        layer = _LAYERS.get(names.get(identity, ""))
        if layer is not None and counts.any() and counts.min() >= 0:
            row = HeatRow(rank=rank, written=counts[:bins].tolist(), read=counts[bins:].tolist())
            rows.setdefault((layer, width_s), {})[rank] = row
    gaps = [Gap(layer="HEATMAP", what=TORN)] if is_cut or region.is_partial else []
    return _heatmaps(rows), gaps


def _heatmaps(rows: dict[tuple[Layer, float], dict[int, HeatRow]]) -> list[Heatmap]:
    maps: dict[Layer, Heatmap] = {}
    for (layer, width_s), of_rank in sorted(rows.items(), key=lambda item: len(item[1])):
        ordered = [of_rank[rank] for rank in sorted(of_rank)]
        longest = max(len(row.read) for row in ordered)
        maps[layer] = Heatmap(
            layer=layer,
            bin_seconds=width_s,
            rows=[_padded(row, longest) for row in ordered],
        )
    return [maps[layer] for layer in _LAYERS.values() if layer in maps]


def _padded(row: HeatRow, bins: int) -> HeatRow:
    """Ranks that ended early have fewer bins."""
    missing = [0] * (bins - len(row.read))
    return HeatRow(rank=row.rank, read=row.read + missing, written=row.written + missing)
