"""What watching a target costs it: operations, bytes and space, known before the first of them."""

from __future__ import annotations

import os
from pathlib import Path

from venturi.execute.target import check_directory, file_system_of, inodes_of
from venturi.model.error import TargetProblem
from venturi.model.probe import (
    OPERATIONS,
    ProbeCost,
    ProbeDurability,
    ProbeKind,
    ProbeOperation,
    ProbeTarget,
)
from venturi.model.units import size_text
from venturi.probe.placement import commands_for
from venturi.probe.ring import HEADER_BYTES, SAMPLE

_DAY_S = 86_400
_OPEN = ["open DIR (O_PATH)", "openat own directory"]
_CLOSE = ["close", "close"]
_METADATA_CALLS = {
    ProbeOperation.MD_STAT: ["newfstatat"],
    ProbeOperation.MD_READ: ["openat", "cachestat", "pread64", "close"],
    ProbeOperation.MD_DELETE: ["unlinkat"],
    ProbeOperation.MD_CREATE: ["openat (O_CREAT|O_EXCL)", "pwrite64", "close"],
}


def operations_of(kinds: list[ProbeKind]) -> list[ProbeOperation]:
    """The operations of some kinds of workers, in their order."""
    return [one for one in OPERATIONS if kind_of(one) in kinds]


def kind_of(operation: ProbeOperation) -> ProbeKind:
    """The kind of worker that makes an operation."""
    return ProbeKind.DATA if operation.value.startswith("data") else ProbeKind.METADATA


def cost_of(target: ProbeTarget, store: Path) -> ProbeCost:
    """Return what a target costs. Raises TargetProblem where it cannot be watched at all."""
    directory = Path(target.directory)
    if target.server is not None and not directory.exists():
        directory = directory.parent  # it is made at the first start
    check_directory(directory)
    system, space = file_system_of(directory), os.statvfs(directory)
    per_day = _DAY_S / target.interval_s
    files, size = _made(target)
    operations = operations_of(target.kinds)
    a_day = round(per_day) * len(operations)
    has_data, has_names = (kind in target.kinds for kind in (ProbeKind.DATA, ProbeKind.METADATA))
    moved = per_day * (target.block_bytes * int(has_data) + target.file_bytes * int(has_names))
    return ProbeCost(
        target=target,
        operations_per_s=len(operations) / target.interval_s,
        written_bytes_per_day=round(moved),
        read_bytes_per_day=round(moved),
        space_bytes=size,
        files=files,
        free_bytes=system.free_bytes,
        free_inodes=inodes_of(space)[0],
        filesystem=system.type,
        local_bytes=len(target.kinds) * HEADER_BYTES
        + round(a_day * target.ring_days) * SAMPLE.size,
        shares_disk=_nearest(store).stat().st_dev == directory.stat().st_dev,
        calls={one: _calls(one, target.durability) for one in operations},
        placement=[" ".join(words) for words in commands_for(target)],
    )


def check_room(cost: ProbeCost) -> None:
    """Raise TargetProblem where the probe's files do not fit."""
    where, name = cost.target.directory, cost.target.name
    hint = "--small takes 64 MiB and 1000 files; or name other sizes in a configuration file"
    if cost.space_bytes > cost.free_bytes:
        raise TargetProblem(
            f"{where}: the probe of {name} needs {size_text(cost.space_bytes)}, but only "
            f"{cost.free_bytes / 1e9:.1f} GB are free",
            hint,
        )
    if cost.free_inodes is not None and cost.files > cost.free_inodes:
        raise TargetProblem(
            f"{where}: the probe of {name} makes {cost.files} files, but only "
            f"{cost.free_inodes} inodes are free",
            hint,
        )


def _made(target: ProbeTarget) -> tuple[int, int]:
    files, size = 0, 0
    if ProbeKind.METADATA in target.kinds:
        files += target.pool_files + 2
        size += target.pool_files * target.file_bytes
    if ProbeKind.DATA in target.kinds:
        files += 3
        size += target.data_bytes
    return files, size


def _calls(operation: ProbeOperation, durability: ProbeDurability) -> list[str]:
    if operation in _METADATA_CALLS:
        own = _METADATA_CALLS[operation]
    elif operation is ProbeOperation.DATA_READ:
        own = ["openat", "cachestat", "pread64", "fadvise64", "close"]
    else:
        syncs = durability in (ProbeDurability.FDATASYNC, ProbeDurability.AUTO)
        sync = "fdatasync (auto: unless O_DIRECT works)"
        if durability is ProbeDurability.FDATASYNC:
            sync = "fdatasync"
        own = ["openat", "pwrite64", *([sync] if syncs else []), "close"]
    return [*_OPEN, *own, *_CLOSE]


def _nearest(path: Path) -> Path:
    """The path, or the nearest of its parents that is there."""
    return next(one for one in (path, *path.parents) if one.exists())
