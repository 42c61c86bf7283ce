"""What HDF5 does with chunked datasets beyond moving the bytes of a call.

A file of one rank keeps chunks in a cache: each call copies through it, and a chunk that is no
larger than the cache is moved whole. A file that ranks share has no such cache, but all chunks
are filled when the dataset is created (HDF5 1.10; a create of two chunks of 8.4 MiB took 6 ms in
memory, as their write does).
"""

from __future__ import annotations

from math import prod

from venturi.model import plan as p
from venturi.model.units import with_unit

CHUNK_CACHE = "chunk_cache"
_CACHE_BYTES = 2**20
"""HDF5's own default."""


def passes_cache(file: p.File, dataset: p.Dataset, shared: bool) -> bool:
    """Whether calls on a dataset go through a cache of chunks, so that their data move twice."""
    if shared or not dataset.chunk or not file.interface.entry.has_datasets:
        return False
    return _chunk_bytes(dataset) <= _cache_bytes(file)


def filled_bytes(file: p.File, shared: bool) -> int:
    """What all ranks together write when they create a file, before any data of theirs."""
    if not shared or not file.interface.entry.has_datasets:
        return 0
    return sum(_whole_bytes(dataset) for dataset in file.datasets if dataset.chunk)


def _whole_bytes(dataset: p.Dataset) -> int:
    chunks = (-(-length // of) for length, of in zip(dataset.shape, dataset.chunk, strict=True))
    return prod(chunks) * _chunk_bytes(dataset) * dataset.copies


def _chunk_bytes(dataset: p.Dataset) -> int:
    return prod(dataset.chunk) * dataset.type.bytes


def _cache_bytes(file: p.File) -> int:
    for option in file.options:
        if option.name == CHUNK_CACHE:
            number, _, unit = option.value.partition(" ")
            return int(with_unit(number, unit or "B"))
    return _CACHE_BYTES
