"""Compression of datasets in chunks: more, less or none."""

from __future__ import annotations

from venturi.model.error import UserError
from venturi.model.tuning import Meaning
from venturi.model.workload import FileSpec
from venturi.tune.change import TuningChange, Variant, count_of
from venturi.tune.evaluation_context import DoesNotApply, EvaluationContext
from venturi.tune.rewrite import with_files

_MOST = 9


def _values(context: EvaluationContext) -> list[str]:
    del context
    return ["0", "1"]


def _make(context: EvaluationContext, value: str) -> Variant:
    level = count_of(value, "deflate", 0)
    if level > _MOST:
        raise UserError(f"deflate={value}: levels are from 0 (none) to {_MOST}")
    touched: list[str] = []

    def compress(name: str, spec: FileSpec) -> FileSpec | None:
        if not spec.interface.entry.has_datasets:
            return None
        datasets = dict(spec.datasets)
        for key, data in spec.datasets.items():
            if data.chunks and data.deflate != level:
                touched.append(f"{name}.{key}")
                datasets[key] = data.model_copy(update={"deflate": level})
        return spec.model_copy(update={"datasets": datasets})

    workload = with_files(context.workload, compress)
    if not touched:
        raise DoesNotApply("no dataset is in chunks")
    share = context.workload.files[touched[0].partition(".")[0]].content.compressibility
    return Variant(
        workload,
        f"deflate {level}" if level else "no compression",
        f"Call H5Pset_deflate(plist, {level}) for {context.listed(touched)}."
        if level
        else f"Leave out H5Pset_deflate() for {context.listed(touched)}.",
        Meaning(assumes=f"the data compress like the workload's content ({share:.0%} zeros)"),
    )


CHANGE = TuningChange("deflate", "LEVEL", _values, _make)
