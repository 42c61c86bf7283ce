"""What a machine is, by the audits of its sessions of health: an allow-list of facts, no names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from venturi.model.health import AuditEntry, Health
from venturi.model.site import SiteAudit, SiteDrift
from venturi.store.public import names_somebody

_FACTS = (
    "system",
    "kernel",
    "architecture",
    "processor",
    "stepping",
    "microcode",
    "processors",
    "NUMA nodes",
    "threads of a core",
    "highest frequency, kHz",
    "frequency governor",
    "frequency driver",
    "boost",
    "memory",
    "swap",
    "huge pages",
    "transparent huge pages",
    "NUMA balancing",
    "overcommit of memory",
    "swappiness",
    "dirty ratio",
    "dirty background ratio",
    "dirty bytes",
    "reclaim in zones",
    "clock source",
)
"""Facts that say what a machine is. The command line of its kernel and its mounts may name hosts,
and how it is open to attacks is nobody else's business."""
_DEVICES = {
    "PCI link of storage": "PCI links of storage",
    "PCI link of network": "PCI links of network",
    "PCI link of accelerator": "PCI links of accelerators",
    "network": "network interfaces",
    "port": "ports of InfiniBand",
}
"""By how a fact's key begins; the rest of it, the device's name, is not shown."""
_NOTHING = ("unavailable", "empty", "absent")


def audit_of(health: Health) -> SiteAudit:
    """The facts of a session that may be shown."""
    hosts = _hosts(health)
    nodes = health.nodes
    audits = [(len(one.hosts), one.entries) for one in nodes.distinct] if nodes else []
    values: dict[str, Counter[str]] = {}
    for count, entries in audits or [(1, health.audit)]:
        for key, value in _facts(entries).items():
            if not names_somebody(value, *hosts):
                values.setdefault(key, Counter())[value] += count
    return SiteAudit(
        session=health.id,
        started=health.started,
        nodes=nodes.expected if nodes else 1,
        answered=sum(count for count, _ in audits) or 1,
        facts={key: _text(found) for key, found in values.items()},
    )


def drift_of(health: Health) -> list[SiteDrift]:
    """What was another one in the session before, of the same facts."""
    hosts = _hosts(health) if health.drift else set()
    return [
        SiteDrift(
            session=health.id,
            started=health.started,
            key=key,
            before=_said(one.before),
            now=_said(one.now),
        )
        for one in health.drift
        if (key := _key(one.key))
        and not any(names_somebody(v, *hosts) for v in (one.before, one.now))
    ]


def _hosts(health: Health) -> set[str]:
    """Every host that a session names."""
    found = {entry.value for entry in health.audit if entry.key == "host name"}
    found |= {one.host for one in health.ranks}
    if health.nodes is not None:
        found |= {host for one in health.nodes.distinct for host in one.hosts}
    return found


def _facts(entries: Sequence[AuditEntry]) -> dict[str, str]:
    """What one node says, its devices of one kind together; unknown facts are left out."""
    plain: dict[str, str] = {}
    devices: dict[str, list[str]] = {}
    for entry in entries:
        key = _key(entry.key)
        if not key or entry.volatile or entry.value.startswith(_NOTHING):
            continue
        if key in _FACTS:
            plain[key] = entry.value
        else:
            devices.setdefault(key, []).append(entry.value)
    ordered = {key: plain[key] for key in _FACTS if key in plain}
    return ordered | {key: _counted(own) for key, own in sorted(devices.items())}


def _key(key: str) -> str:
    """What a fact is called on a page; empty: it is not shown."""
    if key in _FACTS:
        return key
    begins = (name for name in _DEVICES if key.startswith(f"{name} "))
    return _DEVICES.get(max(begins, key=len, default=""), "")


def _counted(values: Sequence[str]) -> str:
    """Devices alike once, with how many they are."""
    found = sorted(Counter(values).items(), key=lambda one: (-one[1], one[0]))
    return "; ".join(f"{count} × {value}" if count > 1 else value for value, count in found)


def _text(found: Mapping[str, int]) -> str:
    """What all nodes say; each value with its nodes where they are not alike."""
    if len(found) == 1:
        return next(iter(found))
    ordered = sorted(found.items(), key=lambda one: (-one[1], one[0]))
    return "; ".join(f"{value} ({count} of the nodes)" for value, count in ordered)


def _said(value: str) -> str:
    """A value of a drift; of what is not known only that."""
    return "not known" if value.startswith(_NOTHING) else value
