"""Chunks of datasets: as large as what a rank moves, or none."""

from __future__ import annotations

from venturi.model.tuning import Meaning
from venturi.model.workload import Dataset, FileSpec
from venturi.plan.dataset import DATASET_INTERFACES
from venturi.tune.change import Change, Variant, listed, one_of
from venturi.tune.rewrite import with_files
from venturi.tune.scene import DoesNotApply, Scene

_MOST_CHUNK_BYTES = 2**32 - 1


def _values(scene: Scene) -> list[str]:
    del scene
    return ["part", "none"]


def _make(scene: Scene, value: str) -> Variant:
    one_of(value, "chunks", ("part", "none"))
    touched: list[str] = []

    def rechunk(name: str, spec: FileSpec) -> FileSpec | None:
        if spec.interface not in DATASET_INTERFACES:
            return None
        changed = {key: _chunked(data, value, scene) for key, data in spec.datasets.items()}
        touched.extend(f"{name}.{key}" for key, d in changed.items() if d != spec.datasets[key])
        return spec.model_copy(update={"datasets": changed})

    workload = with_files(scene.workload, rechunk)
    if not touched:
        raise DoesNotApply("no dataset of HDF5, netCDF or PnetCDF has other chunks than these")
    how = "H5Pset_chunk() (nc_def_var_chunking()) with the shape of one rank's part"
    if value == "none":
        how = "H5D_CONTIGUOUS, without H5Pset_chunk(),"
    return Variant(
        workload,
        "chunks like a rank's part" if value == "part" else "no chunks",
        f"Make {listed(touched)} with {how}.",
        Meaning(assumes="others read these datasets in parts that suit the new form")
        if value == "part"
        else Meaning(assumes="the datasets need not grow"),
    )


def _chunked(dataset: Dataset, value: str, scene: Scene) -> Dataset:
    """The dataset with other chunks; the same where they cannot be."""
    if value == "none":
        if not dataset.chunks or dataset.deflate or dataset.shuffle:
            return dataset
        return dataset.model_copy(update={"chunks": []})
    shape = [scene.whole(extent) for extent in dataset.shape]
    split = [scene.whole(parts) for parts in dataset.split] or [1] * len(shape)
    part = [e // p if e and p else 0 for e, p in zip(shape, split, strict=True)]
    now = [scene.whole(extent) for extent in dataset.chunks]
    bytes_each = dataset.type.bytes
    for extent in part:
        bytes_each *= extent
    if part == now or not 0 < bytes_each <= _MOST_CHUNK_BYTES:
        return dataset
    return dataset.model_copy(update={"chunks": list(part)})


CHANGE = Change("chunks", "part or none", _values, _make)
