"""Chunks of datasets: shaped like what one call moves, or a rank's part, or none."""

from __future__ import annotations

import math

from venturi.model.tuning import Meaning
from venturi.model.workload import Dataset, FileSpec
from venturi.plan.dataset import DATASET_INTERFACES
from venturi.tune.change import Change, Variant, one_of
from venturi.tune.rewrite import with_files
from venturi.tune.scene import DoesNotApply, Scene, uses_of

_WORDS = ("call", "part", "none")
_MOST_CHUNK_BYTES = 2**32 - 1
_LEAST_CHUNK_BYTES = 4096
"""Smaller chunks cost more to find than to move: several calls share one."""


def _values(scene: Scene) -> list[str]:
    del scene
    return list(_WORDS)


def _make(scene: Scene, value: str) -> Variant:
    one_of(value, "chunks", _WORDS)
    touched: list[str] = []

    def rechunk(name: str, spec: FileSpec) -> FileSpec | None:
        if spec.interface not in DATASET_INTERFACES:
            return None
        changed = {
            key: _chunked(data, value, _call_bytes(name, key, scene), scene)
            for key, data in spec.datasets.items()
        }
        touched.extend(f"{name}.{key}" for key, d in changed.items() if d != spec.datasets[key])
        return spec.model_copy(update={"datasets": changed})

    workload = with_files(scene.workload, rechunk)
    if not touched:
        raise DoesNotApply("no dataset of HDF5, netCDF or PnetCDF has other chunks than these")
    shape = "what one call writes" if value == "call" else "one rank's part"
    how = f"H5Pset_chunk() (nc_def_var_chunking()) with the shape of {shape}"
    if value == "none":
        how = "H5D_CONTIGUOUS, without H5Pset_chunk(),"
    assumes = "others read these datasets in parts that suit the new form"
    if value == "none":
        assumes = "the datasets need not grow"
    what = {"call": "chunks like one call's data", "part": "chunks like a rank's part"}
    return Variant(
        workload,
        what.get(value, "no chunks"),
        f"Make {scene.listed(touched)} with {how}.",
        Meaning(assumes=assumes),
    )


def _call_bytes(file: str, dataset: str, scene: Scene) -> int | None:
    """The most that one call moves of a dataset; None where calls move whole parts."""
    sizes = [
        scene.whole(use.step.transfer)
        for use in uses_of(scene.workload)
        if use.name == file and use.dataset == dataset and use.step.transfer is not None
    ]
    return max((size for size in sizes if size is not None), default=None)


def _chunked(dataset: Dataset, value: str, call_bytes: int | None, scene: Scene) -> Dataset:
    """The dataset with other chunks; the same where they cannot be."""
    if value == "none":
        if not dataset.chunks or dataset.deflate or dataset.shuffle:
            return dataset
        return dataset.model_copy(update={"chunks": []})
    if dataset.deal is not None:
        return dataset
    shape = [scene.whole(extent) for extent in dataset.shape]
    split = [scene.whole(parts) for parts in dataset.split] or [1] * len(shape)
    part = [e // p if e and p else 0 for e, p in zip(shape, split, strict=True)]
    now = [scene.whole(extent) for extent in dataset.chunks]
    whole_bytes = dataset.type.bytes * math.prod(part)
    if not 0 < whole_bytes <= _MOST_CHUNK_BYTES and value == "part":
        return dataset
    if value == "call":
        if call_bytes is None or whole_bytes == 0:
            return dataset
        part = _of_bytes(part, max(call_bytes, _LEAST_CHUNK_BYTES) // dataset.type.bytes)
    return dataset if part == now else dataset.model_copy(update={"chunks": list(part)})


def _of_bytes(part: list[int], elements: int) -> list[int]:
    """The block of so many elements at most that calls move: whole along the last dimensions."""
    block, left = [], max(1, elements)
    for extent in reversed(part):
        block.append(min(extent, max(1, left)))
        left //= max(1, extent)
    return block[::-1]


CHANGE = Change("chunks", "call, part or none", _values, _make)
