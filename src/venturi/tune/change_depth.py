"""Several requests in flight at a time, through io_uring."""

from __future__ import annotations

from venturi.model.plan import Interface, SyncMode
from venturi.model.tuning import Meaning
from venturi.model.workload import DataStep, FileSpec
from venturi.tune.change import Change, Variant, count_of
from venturi.tune.change_transfer import part_bytes, request_bytes
from venturi.tune.rewrite import altered, with_data, with_files
from venturi.tune.scene import DoesNotApply, Scene, Use, uses_of

_LOCAL = (Interface.POSIX, Interface.URING)
_MOST = 4096


def _values(scene: Scene) -> list[str]:
    del scene
    return ["8", "32"]


def _make(scene: Scene, value: str) -> Variant:
    depth = min(count_of(value, "depth", 2), _MOST)
    files = scene.workload.files
    uses = [use for use in uses_of(scene.workload) if files[use.name].interface in _LOCAL]
    chosen = {use.name for use in uses if _can(use, scene)}
    if not chosen:
        raise DoesNotApply(
            "each request is synced, paused or alone in its step"
            if uses
            else "no file is reached by POSIX or io_uring"
        )

    def through(name: str, spec: FileSpec) -> FileSpec | None:
        if name not in chosen:
            return None
        return spec.model_copy(update={"interface": Interface.URING, "options": {}})

    def deepen(use: Use) -> DataStep | None:
        return altered(use.step, depth=depth) if use.name in chosen and _can(use, scene) else None

    return Variant(
        with_files(with_data(scene.workload, deepen), through),
        f"{depth} requests in flight",
        f"Keep {depth} requests of {scene.listed(sorted(chosen))} in flight with "
        "io_uring_submit(), instead of waiting for each.",
        Meaning(assumes="requests may be done in another order"),
    )


def _can(use: Use, scene: Scene) -> bool:
    step = use.step
    now = request_bytes(step, scene)
    alone = now is not None and now == part_bytes(step, now, scene)
    waits = step.sync is not SyncMode.NONE or step.think or step.rate is not None
    return not (alone or waits or step.collective)


CHANGE = Change("depth", "N", _values, _make)
