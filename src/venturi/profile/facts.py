"""What must be known of a machine beside the points: the host, the directory, its device."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from pathlib import Path

import venturi
from venturi.execute import host
from venturi.execute.target import file_system_of
from venturi.model.document import Count, Document, Positive, Real, Seconds
from venturi.model.record import FileSystem


class ProfileFacts(Document):
    """The fields of a profile that are known before the first measurement."""

    started: str
    budget_s: Seconds
    directory: str
    host: str
    kernel: str
    cpu: str
    cores: Positive
    memory_bytes: Count
    dirty_limit_bytes: Count
    file_system: FileSystem
    has_journal: bool | None = None
    started_by: str = "local"
    device: str
    load_average: Real
    venturi: str


def facts_of(directory: Path, budget_s: float, started_by: str) -> ProfileFacts:
    """The facts as they are now; ranks are started on the machine `started_by`."""
    return ProfileFacts(
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        budget_s=budget_s,
        directory=str(directory),
        host=platform.node(),
        kernel=platform.release(),
        cpu=host.cpu_name(),
        cores=os.cpu_count() or 1,
        memory_bytes=host.memory_bytes(),
        dirty_limit_bytes=_dirty_limit_bytes(),
        file_system=file_system_of(directory),
        has_journal=journal_in(directory),
        started_by=started_by,
        device=_device_of(directory),
        load_average=os.getloadavg()[0],
        venturi=venturi.__version__,
    )


def _dirty_limit_bytes() -> int:
    """Where the kernel begins to make writers wait: halfway between its two thresholds.

    (Linux, mm/page-writeback.c: `dirty_freerun_ceiling`.) 0 where it does not tell.
    """
    try:
        available = _available_bytes()
        background = _threshold("dirty_background", available)
        return (background + _threshold("dirty", available)) // 2
    except (OSError, ValueError, IndexError):
        return 0


def _threshold(name: str, available: int) -> int:
    fixed = int(Path(f"/proc/sys/vm/{name}_bytes").read_text())
    share = int(Path(f"/proc/sys/vm/{name}_ratio").read_text())
    return fixed or available * share // 100


def _available_bytes() -> int:
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    raise ValueError("the kernel does not say what is available")


def journal_in(directory: Path) -> bool | None:
    """Whether the directory's ext4 has a journal; None: it is no ext4, or does not tell.

    One that has a journal lists how it treats data (`data=ordered`).
    """
    name = _device_place(directory).resolve().name
    try:
        options = Path(f"/proc/fs/ext4/{name}/options").read_text().splitlines()
    except OSError:
        return None
    return any(line.startswith("data=") for line in options)


def _device_place(directory: Path) -> Path:
    number = directory.stat().st_dev
    return Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}")


def _device_of(directory: Path) -> str:
    """The block device's name, model and kind; empty where the directory lies on none."""
    place = _device_place(directory)
    if not place.exists():
        return ""
    name = place.resolve().name
    disk = place.resolve()
    if (disk / "partition").exists():
        disk = disk.parent
    model = _word(disk / "device" / "model")
    kind = {"1": "rotating", "0": "not rotating"}.get(_word(disk / "queue" / "rotational"), "")
    return ", ".join(word for word in (name, model, kind) if word)


def _word(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""
