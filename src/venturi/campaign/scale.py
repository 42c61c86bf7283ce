"""A campaign at a named scale, and in several directories instead of one."""

from __future__ import annotations

from pathlib import Path

from venturi.campaign.template import names_of
from venturi.model.campaign import Campaign, CampaignStep
from venturi.model.error import UserError
from venturi.model.workload import DEFAULT_SCALE, Scalar

TARGET = "target"
"""The parameter that says in which of several directories a run is."""


def at_scale(campaign: Campaign, name: str | None) -> Campaign:
    """The campaign as its `scales` change it; None: the default, `laptop`.

    Steps that name no scale of their own run their workloads at this one. Raises UserError for a
    scale that the campaign does not have.
    """
    wanted = name or DEFAULT_SCALE
    own = campaign.scales.get(wanted)  # type: ignore[call-overload]  # any word may be asked for
    if own is None:
        if name is None or name == DEFAULT_SCALE:
            return campaign
        known = ", ".join(dict.fromkeys([DEFAULT_SCALE, *campaign.scales]))
        raise UserError(f"--scale {name}: {campaign.name} has no such scale", f"use {known}")
    steps = {
        step_name: step.model_copy(
            update={
                "scale": wanted if step.scale == DEFAULT_SCALE else step.scale,
                "time": step.time if own.time is None else own.time,
            }
        )
        for step_name, step in campaign.steps.items()
    }
    changes: dict[str, object] = {"steps": steps}
    if own.space is not None:
        changes["space"] = own.space
    if own.repeat is not None:
        changes["repeat"] = own.repeat
    return campaign.model_copy(update=changes)


def in_targets(campaign: Campaign, names: list[str]) -> Campaign:
    """The campaign with the parameter `target`, whose levels are `names`, for each point.

    Workloads, and commands that name `{dir}`, run in each of them. UserError where the
    campaign has a parameter of that name.
    """
    space = campaign.space
    taken = {*space.product, *space.derive, *(n for group in space.zip for n in group)}
    if TARGET in taken or any(TARGET in point for point in space.points):
        raise UserError(
            f"{campaign.name} has a parameter '{TARGET}' of its own", "give one directory with -d"
        )
    points = [{**point, TARGET: name} for name in names for point in space.points]
    levels: list[Scalar] = list(names)
    has_cross = bool(space.product or space.zip or not points)
    product = {TARGET: levels, **space.product} if has_cross else {}
    steps = {
        name: step.model_copy(update={"per": [*step.per, TARGET]} if _uses_target(step) else {})
        for name, step in campaign.steps.items()
    }
    changed = space.model_copy(update={"product": product, "points": points})
    return campaign.model_copy(update={"space": changed, "steps": steps})


def _uses_target(step: CampaignStep) -> bool:
    return step.build is None and (bool(step.workload) or "dir" in names_of(step.command))


def target_names(directories: tuple[Path, ...]) -> list[str]:
    """What directories are called: the last part of each, or all of it where two are alike.

    UserError for one directory that is given twice.
    """
    for directory in directories:
        if directories.count(directory) > 1:
            raise UserError(f"-d {directory} is given twice", "give each directory once")
    short = [directory.name or str(directory) for directory in directories]
    if len(set(short)) == len(short):
        return short
    return [str(directory) for directory in directories]
