"""What the kernel counts, read from its files: CPUs, pressure, control groups, processes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path("/")
_TICKS = os.sysconf("SC_CLK_TCK")
_SECTOR_BYTES = 512
_MOST_THERMAL = 64


def text_of(path: Path) -> str:
    """The text of a file of the kernel; empty where there is none, or it may not be read."""
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""


@dataclass(frozen=True)
class Cpus:
    """`/proc/stat`: sums over all CPUs, in seconds."""

    count: int = 1
    user_s: float = 0.0
    system_s: float = 0.0
    io_wait_s: float = 0.0
    steal_s: float = 0.0
    running: int = 0


def cpus(root: Path = ROOT) -> Cpus:
    """What all CPUs did since the host was started."""
    count, found, running = 0, [0.0] * 8, 0
    for line in text_of(root / "proc/stat").splitlines():
        name, *words = line.split()
        if name == "cpu":
            found = [int(word) / _TICKS for word in words[:8]]
            found += [0.0] * (8 - len(found))
        elif name.startswith("cpu"):
            count += 1
        elif name == "procs_running":
            running = int(words[0])
    user, nice, system, _, io_wait, irq, soft_irq, steal = found
    return Cpus(max(count, 1), user + nice, system + irq + soft_irq, io_wait, steal, running)


def pressure_s(kind: str, line: str, root: Path = ROOT) -> float | None:
    """PSI of `cpu`, `io` or `memory`: seconds of `some` or `full` stalls; None: not counted."""
    for text in text_of(root / "proc/pressure" / kind).splitlines():
        name, *words = text.split()
        for word in words:
            if name == line and word.startswith("total="):
                return int(word.removeprefix("total=")) / 1e6
    return None


@dataclass(frozen=True)
class Held:
    """How a control group was held at its CPU limit."""

    periods: int
    seconds: float


def group_folders(pid: int, controller: str, root: Path = ROOT) -> list[Path]:
    """The folders of a process's control group and of those above it, of version 2 and 1."""
    found = []
    for line in text_of(root / f"proc/{pid}/cgroup").splitlines():
        _, _, rest = line.partition(":")
        names, _, path = rest.partition(":")
        if names == "":
            tops = [root / "sys/fs/cgroup", root / "sys/fs/cgroup/unified"]
        elif controller in names.split(","):
            tops = [root / "sys/fs/cgroup" / names, root / "sys/fs/cgroup" / controller]
        else:
            continue
        relative = Path(path.lstrip("/"))
        for top in tops:
            found += [top / part for part in (relative, *relative.parents) if top.is_dir()]
    return list(dict.fromkeys(found))


def throttled(folders: list[Path]) -> Held | None:
    """How often and how long the groups were held, all together; None where nobody counts it."""
    periods, seconds, is_known = 0, 0.0, False
    for folder in folders:
        words = dict(
            line.split()[:2]
            for line in text_of(folder / "cpu.stat").splitlines()
            if len(line.split()) == 2
        )
        if "nr_throttled" in words:
            is_known = True
            periods += int(words["nr_throttled"])
            seconds += int(words.get("throttled_usec", 0)) / 1e6
            seconds += int(words.get("throttled_time", 0)) / 1e9
    return Held(periods, seconds) if is_known else None


def cpu_quota(folders: list[Path]) -> float | None:
    """The smallest number of CPUs that the groups may use; None: no limit."""
    found = []
    for folder in folders:
        words = text_of(folder / "cpu.max").split()
        if not words:
            words = [text_of(folder / f"cpu.cfs_{name}_us").strip() for name in ("quota", "period")]
        if len(words) == 2 and all(word.isdecimal() for word in words) and int(words[1]):
            found.append(int(words[0]) / int(words[1]))
    return min(found, default=None)


def memory_limit(folders: list[Path], most: int) -> int | None:
    """The smallest memory limit of the groups below `most`, in bytes; None: there is none."""
    found = []
    for folder in folders:
        for name in ("memory.max", "memory.limit_in_bytes"):
            word = text_of(folder / name).strip()
            if word.isdecimal() and int(word) < most:
                found.append(int(word))
    return min(found, default=None)


def thermal_throttles(root: Path = ROOT) -> int | None:
    """How often CPUs were throttled for heat; None where nobody counts it."""
    pattern = "sys/devices/system/cpu/cpu[0-9]*/thermal_throttle/core_throttle_count"
    words = [text_of(path).strip() for path in sorted(root.glob(pattern))[:_MOST_THERMAL]]
    counts = [int(word) for word in words if word.isdecimal()]
    return sum(counts) if counts else None


def device_bytes(device: int, root: Path = ROOT) -> tuple[int, int] | None:
    """Bytes read from and written to a block device by all; None for what is none."""
    path = root / f"sys/dev/block/{os.major(device)}:{os.minor(device)}/stat"
    words = text_of(path).split()
    if len(words) < 7:
        return None
    return int(words[2]) * _SECTOR_BYTES, int(words[6]) * _SECTOR_BYTES


@dataclass(frozen=True)
class ProcessTree:
    """The processes below one."""

    top: int
    root: Path = ROOT

    def members(self) -> list[int]:
        """The process and all below it, that are there now."""
        found, todo = [], [self.top]
        while todo:
            pid = todo.pop()
            if not (self.root / f"proc/{pid}").exists():
                continue
            found.append(pid)
            todo += self._children(pid)
        return found

    def _children(self, pid: int) -> Iterator[int]:
        try:
            tasks = os.listdir(self.root / f"proc/{pid}/task")
        except OSError:
            return
        for task in tasks:
            words = text_of(self.root / f"proc/{pid}/task/{task}/children").split()
            yield from map(int, words)


def pids_with(word: str, root: Path = ROOT) -> list[int]:
    """The processes that have a word among their arguments."""
    found = []
    for name in os.listdir(root / "proc"):
        if name.isdecimal() and word in text_of(root / f"proc/{name}/cmdline").split("\0"):
            found.append(int(name))
    return sorted(found)


@dataclass
class Waits:
    """Time in which processes could run and had no CPU; what an ended one waited stays."""

    root: Path = ROOT
    of: dict[int, float] = field(default_factory=dict)

    def total_s(self, members: list[int]) -> float | None:
        """Of all processes seen so far, with these as they are now; None: it is not counted."""
        for pid in members:
            words = text_of(self.root / f"proc/{pid}/schedstat").split()
            if len(words) == 3:
                self.of[pid] = int(words[1]) / 1e9
        return sum(self.of.values()) if self.of else None


@dataclass(frozen=True)
class Used:
    """What a process used, with its children that have ended."""

    state: str
    user_s: float
    system_s: float


def used_by(pid: int, root: Path = ROOT) -> Used | None:
    """State and CPU time of a process; None: it is gone."""
    _, _, rest = text_of(root / f"proc/{pid}/stat").rpartition(")")
    words = rest.split()
    if len(words) < 15:
        return None
    user, system, of_children, system_of_children = (int(word) / _TICKS for word in words[11:15])
    return Used(words[0], user + of_children, system + system_of_children)


def storage_bytes(pid: int, root: Path = ROOT) -> tuple[int, int] | None:
    """Bytes that a process had read from and written to storage, with those of ended children."""
    words = dict(
        line.split(": ", 1)
        for line in text_of(root / f"proc/{pid}/io").splitlines()
        if ": " in line
    )
    if "read_bytes" not in words:
        return None
    written = int(words["write_bytes"]) - int(words.get("cancelled_write_bytes", 0))
    return int(words["read_bytes"]), max(0, written)
