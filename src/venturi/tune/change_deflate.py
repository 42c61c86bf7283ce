"""Compression of datasets in chunks: more, less or none."""

from __future__ import annotations

from venturi.model.error import UserError
from venturi.model.tuning import Meaning
from venturi.model.workload import FileSpec
from venturi.plan.dataset import DATASET_INTERFACES
from venturi.tune.change import Change, Variant, count_of
from venturi.tune.rewrite import with_files
from venturi.tune.scene import DoesNotApply, Scene

_MOST = 9


def _values(scene: Scene) -> list[str]:
    del scene
    return ["0", "1"]


def _make(scene: Scene, value: str) -> Variant:
    level = count_of(value, "deflate", 0)
    if level > _MOST:
        raise UserError(f"deflate={value}: levels are from 0 (none) to {_MOST}")
    touched: list[str] = []

    def compress(name: str, spec: FileSpec) -> FileSpec | None:
        if spec.interface not in DATASET_INTERFACES:
            return None
        datasets = dict(spec.datasets)
        for key, data in spec.datasets.items():
            if data.chunks and data.deflate != level:
                touched.append(f"{name}.{key}")
                datasets[key] = data.model_copy(update={"deflate": level})
        return spec.model_copy(update={"datasets": datasets})

    workload = with_files(scene.workload, compress)
    if not touched:
        raise DoesNotApply("no dataset is in chunks")
    share = scene.workload.files[touched[0].partition(".")[0]].content.compressibility
    return Variant(
        workload,
        f"deflate {level}" if level else "no compression",
        f"Call H5Pset_deflate(plist, {level}) for {scene.listed(touched)}."
        if level
        else f"Leave out H5Pset_deflate() for {scene.listed(touched)}.",
        Meaning(assumes=f"the data compress like the workload's content ({share:.0%} zeros)"),
    )


CHANGE = Change("deflate", "LEVEL", _values, _make)
