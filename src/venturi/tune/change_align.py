"""Aligned requests: they begin and end at multiples of a block, with padding between ranks."""

from __future__ import annotations

from venturi.model.tuning import Meaning
from venturi.model.workload import DataStep, PatternKind
from venturi.tune.call import call
from venturi.tune.change import Change, Variant, size_of
from venturi.tune.change_transfer import part_bytes, request_bytes
from venturi.tune.rewrite import altered, with_data
from venturi.tune.scene import DoesNotApply, Scene, Use


def _values(scene: Scene) -> list[str]:
    del scene
    return ["4KiB", "1MiB"]


def _make(scene: Scene, value: str) -> Variant:
    unit = size_of(value, "align")
    touched: list[Use] = []
    reasons: list[str] = []
    padded: list[str] = []

    def align(use: Use) -> DataStep | None:
        changed = _aligned(use, unit, scene)
        if isinstance(changed, str):
            reasons.append(changed)
            return None
        touched.append(use)
        if changed.at is not None:
            padded.append(use.name)
        return changed

    workload = with_data(scene.workload, align)
    if not touched:
        raise DoesNotApply(reasons[0] if reasons else "no step moves data of a plain file")
    use = touched[0]
    names = scene.listed([use.name for use in touched])
    where = f", and begin each rank's part of {scene.listed(padded)} there, too" if padded else ""
    return Variant(
        workload,
        f"requests at multiples of {value}",
        f"Round the requests of {names} up to multiples of {value} in "
        f"{call(scene.workload.files[use.name], use.is_write)}{where}.",
        Meaning(assumes="the file has unused bytes between the parts of ranks")
        if padded
        else Meaning(),
    )


def _aligned(use: Use, unit: int, scene: Scene) -> DataStep | str:
    """The step aligned, or why that cannot be."""
    step = use.step
    now = request_bytes(step, scene)
    if use.dataset or step.pattern is not PatternKind.CONTIGUOUS or step.mix:
        return f"places of {scene.known(use.name)} are given by its form"
    if now is None or step.total is not None or step.at is not None:
        return f"requests of {scene.known(use.name)} have no one size or place"
    size = part_bytes(step, now, scene)
    if size is None:
        return f"ranks move different amounts of {scene.known(use.name)}"
    if now < unit and size > now:
        known = scene.known(use.name)
        return f"requests of {known} are smaller than {unit} B: larger ones are another change"
    transfer = min(-(-now // unit) * unit, size)
    sharers = scene.sharers(scene.workload.files[use.name])
    shift = sharers != 1 and size % unit != 0 and scene.ranks > 1
    if transfer == now and not shift:
        return f"{scene.known(use.name)} is aligned already"
    if shift and sharers not in (None, scene.ranks):
        return f"parts of {scene.known(use.name)} belong to some of the ranks"
    at = f"rank * {-(-size // unit) * unit}" if shift else None
    return altered(step, transfer=transfer, size=size, count=None, at=at)


CHANGE = Change("align", "SIZE", _values, _make)
