"""The rows of one stream, as findings look at them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from venturi.derive.footprint import Footprint
from venturi.model.operation import LAYER_CODES, LAYERS, UNKNOWN_OFFSET, Column, Kind
from venturi.model.trace import Layer


@dataclass(frozen=True)
class StreamRows:
    """Indices of rows of one stream, in the order of time."""

    found: Footprint
    name: str
    rows: Column
    """Everything that was done to the stream's files, by lower layers too."""

    @cached_property
    def reads(self) -> Column:
        """The application's reads."""
        return self.rows[self.found.reads[self.rows]]

    @cached_property
    def writes(self) -> Column:
        """The application's writes."""
        return self.rows[self.found.writes[self.rows]]

    @cached_property
    def data(self) -> Column:
        """Both."""
        return self.rows[self.found.data[self.rows]]

    @cached_property
    def names(self) -> Column:
        """Work on names and sizes."""
        return self.rows[self.found.names[self.rows]]

    @cached_property
    def syncs(self) -> Column:
        """Syncs."""
        return self.rows[self.found.syncs[self.rows]]

    @cached_property
    def own(self) -> Column:
        """All of the application's own calls."""
        return self.rows[self.found.own[self.rows]]

    @cached_property
    def layer(self) -> Layer:
        """The layer of most of the application's calls for data, or else of all its calls."""
        rows = self.data if len(self.data) else self.own
        counts = np.bincount(self.found.ops.layer[rows], minlength=len(LAYERS))
        return LAYERS[int(counts.argmax())]

    @cached_property
    def lanes(self) -> Column:
        """Lanes that move data of the stream."""
        return np.unique(self.found.lane[self.data])

    @cached_property
    def ranks(self) -> Column:
        """Those of them that are ranks: programs that are started one after the other share no
        work."""
        return self.lanes[self.lanes < self.found.ranks]

    @cached_property
    def files(self) -> Column:
        """The files that the application touches."""
        return np.unique(self.found.root[self.own])

    @cached_property
    def shared(self) -> Column:
        """Files that several lanes move data of."""
        pairs = np.unique(self.pairs(self.data))
        roots, counts = np.unique(pairs // len(self.found.lanes), return_counts=True)
        return np.asarray(roots[counts > 1])

    def of_kind(self, *kinds: Kind) -> Column:
        """The application's own calls of these kinds."""
        return self.own[self.found.kind(*kinds)[self.own]]

    def names_of_kind(self, *kinds: Kind) -> Column:
        """The application's own work on names of these kinds."""
        return self.names[self.found.kind(*kinds)[self.names]]

    def at_posix(self, *kinds: Kind) -> Column:
        """What reached POSIX, whoever asked for it."""
        is_posix = self.found.ops.layer[self.rows] == LAYER_CODES[Layer.POSIX]
        return np.asarray(self.rows[is_posix & self.found.kind(*kinds)[self.rows]])

    def pairs(self, rows: Column) -> Column:
        """A number for each row's file and lane together."""
        return np.asarray(self.found.root[rows] * len(self.found.lanes) + self.found.lane[rows])

    def holder(self, rows: Column) -> Column:
        """A number for what the rows' offsets count in: a dataset, or else a file."""
        return np.asarray(self.found.ops.file[rows].astype(np.int64))

    def longest_s(self, rows: Column) -> float:
        """Seconds inside these calls, of the lane that is in them longest."""
        return float(self.lane_seconds(rows).max(initial=0.0))

    def lane_seconds(self, rows: Column) -> Column:
        """Return the seconds inside these calls, lane by lane."""
        return self.found.inside_s(rows)

    def bytes(self, rows: Column) -> int:
        """What these calls moved."""
        return int(self.found.ops.bytes[rows].sum())

    def common_size(self, rows: Column) -> int:
        """The most frequent size of these calls."""
        sizes, counts = np.unique(self.found.ops.bytes[rows], return_counts=True)
        return int(sizes[counts.argmax()]) if len(sizes) else 0

    def by_chain(self, rows: Column) -> tuple[Column, Column]:
        """Rows of known place, by what holds them and by lane, each in the order of time; and
        where one follows another of the same chain."""
        rows = rows[self.found.ops.offset[rows] != UNKNOWN_OFFSET]
        pairs = self.holder(rows) * len(self.found.lanes) + self.found.lane[rows]
        order = np.argsort(pairs, kind="stable")
        return rows[order], np.append(False, pairs[order][1:] == pairs[order][:-1])[: len(rows)]


def rows_by_stream(found: Footprint) -> Iterator[StreamRows]:
    """Each stream's rows."""
    order = np.argsort(found.stream, kind="stable")
    of_row = found.stream[order]
    for stream, name in enumerate(found.streams):
        low, high = np.searchsorted(of_row, (stream, stream + 1))
        rows = StreamRows(found, name, order[low:high])
        if len(rows.own):
            yield rows
