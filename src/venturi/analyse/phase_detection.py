"""Phases of a trace: stretches of work between pauses, cut where the data turn round."""

from __future__ import annotations

from typing import Literal

import numpy as np

from venturi.derive.footprint import Footprint
from venturi.model.characterization_data import PhaseCharacterization
from venturi.model.operation import Column

PAUSE_SHARE = 0.02
"""Of the run time: a shorter silence of all lanes ends no phase."""
LEAST_PAUSE_S = 0.005
MOST_TURNS = 32
"""Data that turn round more often within a phase go both ways at once."""
FEW = 0.01
"""Of a phase's calls: a turn with fewer is the border between two, where ranks overlap."""
MOST_PHASES = 1000


def phases_of(found: Footprint) -> list[PhaseCharacterization]:
    """The phases in the order of time; at most 1000, then only data count."""
    rows = np.flatnonzero(found.data | found.names | found.syncs)
    if not len(rows):
        return []
    cuts = _pauses(found, rows)
    parts = np.split(rows, cuts)
    if len(parts) > MOST_PHASES:
        parts = [rows]
    return [_phase(found, piece) for part in parts for piece in _by_direction(found, part)]


def _pauses(found: Footprint, rows: Column) -> Column:
    starts, ends = found.ops.start_ns[rows], found.ops.end_ns[rows]
    silent_ns = starts[1:] - np.maximum.accumulate(ends)[:-1]
    least_ns = max(LEAST_PAUSE_S, PAUSE_SHARE * found.job_s) * 1e9
    return np.flatnonzero(silent_ns > least_ns) + 1


def _by_direction(found: Footprint, rows: Column) -> list[Column]:
    """The rows cut where data begin to go the other way."""
    is_data = found.data[rows]
    data = rows[is_data]
    if len(data) < 2:
        return [rows]
    reading = found.reads[data]
    begins = np.flatnonzero(reading[1:] != reading[:-1]) + 1
    if len(begins) > MOST_TURNS:
        return [rows]
    lengths = np.diff(np.concatenate(([0], begins, [len(data)])))
    least = FEW * len(data)
    kept: list[int] = []
    direction = bool(reading[0])
    for at, length in zip(begins, lengths[1:], strict=True):
        if length >= least and bool(reading[at]) != direction:
            kept.append(int(at))
            direction = bool(reading[at])
    places = np.flatnonzero(is_data)[kept] if kept else np.array([], np.int64)
    return [part for part in np.split(rows, places) if len(part)]


def _phase(found: Footprint, rows: Column) -> PhaseCharacterization:
    lane, moved = found.lane[rows], found.ops.bytes[rows]
    written = int(moved[found.writes[rows]].sum())
    read = int(moved[found.reads[rows]].sum())
    return PhaseCharacterization(
        kind=_kind(written, read),
        first_s=max(0.0, float(found.ops.start_ns[rows].min()) * 1e-9),
        last_s=max(0.0, float(found.ops.end_ns[rows].max()) * 1e-9),
        bytes_written=written,
        bytes_read=read,
        operations=len(rows),
        active=len(np.unique(lane)),
        busy_s=max(0.0, float(np.bincount(lane, found.seconds[rows]).max())),
    )


def _kind(written: int, read: int) -> Literal["write", "read", "both", "names"]:
    if not written and not read:
        return "names"
    if read <= FEW * written:
        return "write"
    return "read" if written <= FEW * read else "both"
