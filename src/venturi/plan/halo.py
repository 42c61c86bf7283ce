"""How a rank's part of a dataset lies in memory: between guard cells, beside other variables."""

from __future__ import annotations

from venturi.model import plan as p
from venturi.model.error import UserError
from venturi.model.workload import DataStep, FileSpec
from venturi.plan.part import Access
from venturi.plan.scope import Scope

_OTHERS = ("transfer", "memory", "fresh", "reads")


def halo_of(
    step: DataStep, spec: FileSpec, dataset: str, access: Access, scope: Scope, where: str
) -> p.Halo | None:
    """The layout in memory, or nothing where a part is as it will be in the file.

    Raises UserError where a part is not moved whole, one call for each copy, or has other
    dimensions than the guard cells.
    """
    variables = scope.whole(step.interleaved, f"{where}.interleaved", least=1)
    if not step.halo and variables == 1:
        return None
    if not dataset:
        raise UserError(f"{where}.halo: guard cells surround a part of a dataset, not bytes")
    for key in _OTHERS:
        if getattr(step, key):
            raise UserError(
                f"{where}: '{key}' does not go with 'halo', which packs a rank's whole part",
                f"leave out '{key}', or 'halo'",
            )
    if scope.whole(step.depth, f"{where}.depth", least=1) > 1:
        raise UserError(f"{where}: 'halo' has one buffer, so 'depth' is 1", "leave out 'depth'")
    if spec.content.duplicates is not None:
        raise UserError(
            f"{where}: what 'halo' packs cannot have 'duplicates'", "leave out 'duplicates'"
        )
    guard = [scope.whole(cells, f"{where}.halo[{i}]") for i, cells in enumerate(step.halo)]
    if not guard:
        guard = [0] * len(access.extent)
    if len(guard) != len(access.extent):
        raise UserError(
            f"{where}.halo: {len(guard)} numbers for {len(access.extent)} dimensions",
            "say the guard cells along each dimension, 0 where there are none",
        )
    if variables == 1 and not any(guard):
        return None
    return p.Halo(
        extent=[scope.compile(extent, where) for extent in access.extent],
        guard=guard,
        element_bytes=spec.datasets[dataset].type.bytes,
        variables=variables,
    )
