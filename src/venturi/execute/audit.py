"""The audit of this node: what it is and how it is set, as far as the system says without rights.

Every probe gives a value, or `unavailable` and why.
"""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterator
from pathlib import Path

from venturi.model.health import DEGRADED, AuditEntry

_ROOT = Path("/")
_FILES = {
    "kernel command line": "proc/cmdline",
    "clock source": "sys/devices/system/clocksource/clocksource0/current_clocksource",
    "frequency governor": "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
    "frequency driver": "sys/devices/system/cpu/cpu0/cpufreq/scaling_driver",
    "highest frequency, kHz": "sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq",
    "boost": "sys/devices/system/cpu/cpufreq/boost",
    "threads of a core": "sys/devices/system/cpu/smt/control",
    "isolated processors": "sys/devices/system/cpu/isolated",
    "transparent huge pages": "sys/kernel/mm/transparent_hugepage/enabled",
    "defragmentation for huge pages": "sys/kernel/mm/transparent_hugepage/defrag",
    "NUMA balancing": "proc/sys/kernel/numa_balancing",
    "NUMA nodes": "sys/devices/system/node/online",
    "overcommit of memory": "proc/sys/vm/overcommit_memory",
    "swappiness": "proc/sys/vm/swappiness",
    "dirty ratio": "proc/sys/vm/dirty_ratio",
    "dirty background ratio": "proc/sys/vm/dirty_background_ratio",
    "dirty bytes": "proc/sys/vm/dirty_bytes",
    "reclaim in zones": "proc/sys/vm/zone_reclaim_mode",
    "processors of the control group": "sys/fs/cgroup/cpuset.cpus.effective",
    "processor quota of the control group": "sys/fs/cgroup/cpu.max",
    "memory limit of the control group": "sys/fs/cgroup/memory.max",
}
_VOLATILE_FILES = {
    "boot id": "proc/sys/kernel/random/boot_id",
    "load average": "proc/loadavg",
    "pressure on processors": "proc/pressure/cpu",
    "pressure on memory": "proc/pressure/memory",
    "pressure on storage": "proc/pressure/io",
}
_CPU_KEYS = {"model name": "processor", "stepping": "stepping", "microcode": "microcode"}
_PCI_CLASSES = {"0x01": "storage", "0x02": "network", "0x03": "display", "0x12": "accelerator"}


def audited(root: Path = _ROOT) -> list[AuditEntry]:
    """All facts of this node, in a fixed order."""
    return [
        AuditEntry(key="host name", value=platform.node()),
        AuditEntry(key="system", value=_os_release(root)),
        AuditEntry(key="kernel", value=platform.release()),
        AuditEntry(key="architecture", value=platform.machine()),
        *_processor(root),
        AuditEntry(key="usable processors", value=_ranges(sorted(os.sched_getaffinity(0)))),
        *_memory(root),
        *(AuditEntry(key=key, value=_text(root / path)) for key, path in _FILES.items()),
        *_vulnerabilities(root),
        *_links(root),
        *_interfaces(root),
        *(
            AuditEntry(key=key, value=_text(root / path), volatile=True)
            for key, path in _VOLATILE_FILES.items()
        ),
    ]


def _text(path: Path) -> str:
    try:
        text = path.read_text("utf-8", "replace")
    except OSError as error:
        return f"unavailable: {error.strerror}"
    return " | ".join(text.split("\n")).strip(" |") or "empty"


def _os_release(root: Path) -> str:
    match = re.search(r'^PRETTY_NAME="?([^"\n]*)', _raw(root / "etc/os-release"), re.MULTILINE)
    return match[1] if match else "unavailable: etc/os-release does not say"


def _raw(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""


def _processor(root: Path) -> Iterator[AuditEntry]:
    text = _raw(root / "proc/cpuinfo")
    for key, shown in _CPU_KEYS.items():
        found = sorted(set(re.findall(rf"^{key}\s*:\s*(.*)$", text, re.MULTILINE)))
        value = ", ".join(found) if found else "unavailable: proc/cpuinfo does not say"
        yield AuditEntry(key=shown, value=value)
    count = len(re.findall(r"^processor\s*:", text, re.MULTILINE))
    yield AuditEntry(key="processors", value=str(count))
    flags = re.search(r"^flags\s*:\s*(.*)$", text, re.MULTILINE)
    yield AuditEntry(
        key="instructions", value=flags[1] if flags else "unavailable: proc/cpuinfo does not say"
    )


def _memory(root: Path) -> Iterator[AuditEntry]:
    text = _raw(root / "proc/meminfo")
    for key, shown, volatile in (
        ("MemTotal", "memory", False),
        ("SwapTotal", "swap", False),
        ("HugePages_Total", "huge pages", False),
        ("MemAvailable", "available memory", True),
    ):
        match = re.search(rf"^{key}:\s*(.*)$", text, re.MULTILINE)
        value = match[1] if match else "unavailable: proc/meminfo does not say"
        yield AuditEntry(key=shown, value=value, volatile=volatile)


def _vulnerabilities(root: Path) -> Iterator[AuditEntry]:
    folder = root / "sys/devices/system/cpu/vulnerabilities"
    for path in sorted(folder.glob("*")):
        yield AuditEntry(key=f"mitigation of {path.name}", value=_text(path))


def _links(root: Path) -> Iterator[AuditEntry]:
    """Speed and width of the PCI links of storage, network, displays and accelerators."""
    for device in sorted((root / "sys/bus/pci/devices").glob("*")):
        kind = _PCI_CLASSES.get(_raw(device / "class")[:4])
        if kind is None:
            continue
        now, most = (
            f"{_text(device / f'{word}_link_speed')} x{_text(device / f'{word}_link_width')}"
            for word in ("current", "max")
        )
        if "unavailable" in now or "Unknown" in now:
            value = "unavailable: the link does not say its speed"
        else:
            value = now if now == most else f"{DEGRADED}{now} of {most}"
        yield AuditEntry(key=f"PCI link of {kind} {device.name}", value=value)


def _interfaces(root: Path) -> Iterator[AuditEntry]:
    """Network interfaces with a device, their speed and packet size; ports of InfiniBand."""
    for path in sorted((root / "sys/class/net").glob("*")):
        if (path / "device").exists():
            speed, packet = _text(path / "speed"), _text(path / "mtu")
            yield AuditEntry(key=f"network {path.name}", value=f"{speed} Mbit/s, MTU {packet}")
    for port in sorted((root / "sys/class/infiniband").glob("*/ports/*")):
        value = f"{_text(port / 'rate')}, {_text(port / 'state')}"
        yield AuditEntry(key=f"port {port.parts[-3]}/{port.name}", value=value)


def _ranges(numbers: list[int]) -> str:
    """Numbers as the kernel writes lists of processors: `0-3,8`."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][-1] + 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return ",".join(f"{p[0]}-{p[-1]}" if len(p) > 1 else str(p[0]) for p in parts)
