"""In how many pieces a call on a dataset reaches its file.

A part of an array is one piece only where it covers all of the faster dimensions. HDF5 hands
each piece of an independent call on a shared file to MPI-IO alone, chunked or not (counted with
strace, HDF5 1.10 on MPICH and Open MPI: 1000 rows of 32 bytes are 1000 writes and 1000 reads of a
rank), and so do the writes of PnetCDF on Open MPI. Calls of all ranks together are joined.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from venturi.model import plan as p
from venturi.model.interface_entry import Split


def run_elements(extent: Sequence[int], stored: Sequence[int]) -> int:
    """Elements of a box that lie together where arrays of the shape `stored` lie one by one.

    `stored` is the shape of the dataset, or that of its chunks.
    """
    together = 1
    for length, whole in zip(reversed(extent), reversed(stored), strict=True):
        together *= min(length, whole)
        if length < whole:
            break
    return together


def pieces_of(extent: Sequence[int], dataset: p.Dataset) -> int:
    """The pieces of a box of the dataset in the file, as if it began where a chunk begins."""
    together = run_elements(extent, dataset.chunk or dataset.shape)
    return max(1, -(-prod(extent) // together))


def is_cut(interface: p.Interface, direction: p.Direction) -> bool:
    """Whether a library moves the pieces of an independent call on a shared file one by one."""
    if interface.entry.splits is Split.WRITES:
        return direction is p.Direction.WRITE
    return interface.entry.splits is Split.ALL
