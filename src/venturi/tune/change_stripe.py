"""Files over more servers, on file systems that let users choose."""

from __future__ import annotations

from venturi.model.plan import Interface
from venturi.model.workload import FileSpec, StripeSpec
from venturi.tune.change import Change, Variant, count_of
from venturi.tune.rewrite import with_files
from venturi.tune.scene import DoesNotApply, Scene

_STRIPED = ("lustre", "beegfs")
_WITHOUT = (Interface.NULL, Interface.SIMULATED)


def _values(scene: Scene) -> list[str]:
    del scene
    return ["all", "4", "1"]


def _make(scene: Scene, value: str) -> Variant:
    count = -1 if value == "all" else count_of(value, "stripe")
    if scene.file_system not in _STRIPED:
        raise DoesNotApply(f"{scene.file_system} does not let users stripe files")
    touched: list[str] = []

    def stripe(name: str, spec: FileSpec) -> FileSpec | None:
        if spec.foreign or spec.interface in _WITHOUT:
            return None
        touched.append(name)
        old = spec.stripe or StripeSpec()
        return spec.model_copy(update={"stripe": old.model_copy(update={"count": count})})

    workload = with_files(scene.workload, stripe)
    if not touched:
        raise DoesNotApply("the workload makes no files")
    many = "all servers" if count < 0 else f"{count} servers"
    return Variant(
        workload,
        f"files over {many}",
        f"Run lfs setstripe -c {count} (beegfs-ctl --setpattern) on the folder of "
        f"{scene.listed(touched)} before the job.",
    )


CHANGE = Change("stripe", "N or all", _values, _make)
