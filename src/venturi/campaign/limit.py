"""What a campaign would write, against what its target has and allows, before anything runs."""

from __future__ import annotations

import os
from pathlib import Path

from venturi.execute.target import inodes_of
from venturi.model.campaign import CampaignEstimate, PlannedPoint
from venturi.model.error import TargetProblem, UserError
from venturi.model.machine import Machine, Target

_MOST_FULL = 0.95
"""A storage that is fuller than this behaves otherwise, and others need some."""


def check_limits(estimate: CampaignEstimate, machine: Machine, directory: Path) -> None:
    """Refuses a campaign that writes more than its target allows, or than there is room for.

    All runs together count against `most_bytes` and `most_files` of the machine's target
    (UserError); the largest runs that may be there at once, against the free space and the free
    inodes of the file system (TargetProblem). A run that does not say what it writes counts as
    nothing.
    """
    target = _target_of(machine, directory)
    if target is not None:
        written = sum((row.bytes_written or 0) * row.runs for row in estimate.rows)
        files = sum((row.files or 0) * row.runs for row in estimate.rows)
        _check(target.name, "bytes", written, target.most_bytes)
        _check(target.name, "files", files, target.most_files)
    at_once = machine.scheduler.most_jobs
    room = os.statvfs(directory)
    _check_room(
        directory,
        "bytes",
        _largest(estimate.rows, "bytes_written", at_once),
        room.f_bavail * room.f_frsize,
    )
    free_inodes, _ = inodes_of(room)
    if free_inodes is not None:
        _check_room(directory, "inodes", _largest(estimate.rows, "files", at_once), free_inodes)


def _target_of(machine: Machine, directory: Path) -> Target | None:
    """The machine's target that a directory lies in, the closest of several."""
    places = [directory, *directory.parents]
    found = [target for target in machine.targets if Path(target.path) in places]
    return max(found, key=lambda target: len(target.path), default=None)


def _check(target: str, what: str, wanted: int, most: int | None) -> None:
    if most is not None and wanted > most:
        raise UserError(
            f"the campaign's runs make {wanted:,} {what}; target {target} allows {most:,}",
            "take fewer points or repetitions, or ask for more",
        )


def _largest(rows: list[PlannedPoint], what: str, at_once: int) -> int:
    """The sum of the largest runs that jobs may be at, at the same time."""
    amounts = sorted(
        (amount for row in rows for amount in [getattr(row, what) or 0] * min(row.runs, at_once)),
        reverse=True,
    )
    return sum(amounts[:at_once])


def _check_room(directory: Path, what: str, wanted: int, free: int) -> None:
    if wanted > free * _MOST_FULL:
        raise TargetProblem(
            f"{directory}: {free:,} {what} are free; runs at the same time take {wanted:,}",
            "make room, choose another target, or lower most_jobs",
        )
