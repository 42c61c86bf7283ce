"""Chunks of datasets: shaped like what one call moves, or a rank's part, or none."""

from __future__ import annotations

import math
from dataclasses import dataclass

from venturi.model.tuning import Meaning
from venturi.model.workload import DatasetSpec, FileSpec
from venturi.tune.change import TuningChange, Variant, one_of
from venturi.tune.evaluation_context import DoesNotApply, EvaluationContext, uses_of
from venturi.tune.rewrite import with_files

_WORDS = ("call", "part", "none")
_MOST_CHUNK_BYTES = 2**32 - 1
_LEAST_CHUNK_BYTES = 4096
"""Smaller chunks cost more to find than to move: several calls share one."""


def _values(context: EvaluationContext) -> list[str]:
    del context
    return list(_WORDS)


def _make(context: EvaluationContext, value: str) -> Variant:
    one_of(value, "chunks", _WORDS)
    touched: list[str] = []

    def rechunk(name: str, spec: FileSpec) -> FileSpec | None:
        if not spec.interface.entry.has_datasets:
            return None
        changed = {
            key: _chunked(data, value, _calls_of(name, key, context), context)
            for key, data in spec.datasets.items()
        }
        touched.extend(f"{name}.{key}" for key, d in changed.items() if d != spec.datasets[key])
        return spec.model_copy(update={"datasets": changed})

    workload = with_files(context.workload, rechunk)
    if not touched:
        raise DoesNotApply("no dataset of HDF5, netCDF or PnetCDF has other chunks than these")
    shape = "what one call moves" if value == "call" else "one rank's part"
    how = (
        f"with chunks of the shape of {shape}: H5Pset_chunk(), nc_def_var_chunking(), in Python "
        "`chunks=` of h5py's create_dataset() or `chunksizes=` of netCDF4's createVariable()"
    )
    if value == "none":
        how = (
            "without chunks: no H5Pset_chunk(), nc_def_var_chunking(NC_CONTIGUOUS), in Python no "
            "`chunks=` of h5py's create_dataset() or `contiguous=True` of netCDF4's "
            "createVariable()"
        )
    assumes = "others read these datasets in parts that suit the new form"
    if value == "none":
        assumes = "the datasets need not grow"
    what = {"call": "chunks like one call's data", "part": "chunks like a rank's part"}
    return Variant(
        workload,
        what.get(value, "no chunks"),
        f"Make {context.listed(touched)} {how}.",
        Meaning(assumes=assumes),
    )


@dataclass(frozen=True)
class _Calls:
    """What the calls on a dataset move."""

    most_bytes: int | None
    """The most that one moves; None where calls move whole parts."""
    split: list[int | None] | None
    """Into how many pieces along each dimension a loop cuts it to move one with each call."""


def _calls_of(file: str, dataset: str, context: EvaluationContext) -> _Calls:
    own = [
        use.step for use in uses_of(context.workload) if use.name == file and use.dataset == dataset
    ]
    sizes = [context.whole(step.transfer) for step in own if step.transfer is not None]
    most = max((size for size in sizes if size is not None), default=None)
    splits = [[context.whole(parts) for parts in step.split] for step in own if step.split]
    return _Calls(most, splits[0] if len(splits) == 1 else None)


def _chunked(
    dataset: DatasetSpec, value: str, calls: _Calls, context: EvaluationContext
) -> DatasetSpec:
    """The dataset with other chunks; the same where they cannot be."""
    if value == "none":
        if not dataset.chunks or dataset.deflate or dataset.shuffle:
            return dataset
        return dataset.model_copy(update={"chunks": []})
    if dataset.partition is not None:
        return dataset
    shape = [context.whole(extent) for extent in dataset.shape]
    is_piece = value == "call" and calls.most_bytes is None and calls.split is not None
    pieces = calls.split if is_piece else [context.whole(parts) for parts in dataset.split]
    split = pieces or [1] * len(shape)
    part = [e // p if e and p else 0 for e, p in zip(shape, split, strict=True)]
    now = [context.whole(extent) for extent in dataset.chunks]
    whole_bytes = dataset.type.bytes * math.prod(part)
    if not 0 < whole_bytes <= _MOST_CHUNK_BYTES and (value == "part" or is_piece):
        return dataset
    if value == "call" and not is_piece:
        if calls.most_bytes is None or whole_bytes == 0:
            return dataset
        part = _of_bytes(part, max(calls.most_bytes, _LEAST_CHUNK_BYTES) // dataset.type.bytes)
    return dataset if part == now else dataset.model_copy(update={"chunks": list(part)})


def _of_bytes(part: list[int], elements: int) -> list[int]:
    """The block of so many elements at most that calls move: whole along the last dimensions."""
    block, left = [], max(1, elements)
    for extent in reversed(part):
        block.append(min(extent, max(1, left)))
        left //= max(1, extent)
    return block[::-1]


CHANGE = TuningChange("chunks", "call, part or none", _values, _make)
