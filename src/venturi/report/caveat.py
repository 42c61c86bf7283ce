"""What must stand beside a rate so that nobody takes it for the storage's."""

from __future__ import annotations

from venturi.model.interface import DEFAULT_INTERFACE, Interface
from venturi.model.plan import SyncMode
from venturi.model.record import Record
from venturi.report.phase import PhaseSummary

_LABELS = {
    interface.value: interface.entry.label
    for interface in sorted(Interface, key=lambda one: not one.entry.is_simulated)
    if not interface.entry.reaches_storage
}
"""By interface, those with simulated time first."""
_NOT_FLUSHED = frozenset((SyncMode.NONE.value, SyncMode.FLUSH.value))
"""A flush hands data to the system, which may keep them in memory."""


def without_storage(record: Record) -> str:
    """`simulated` or `null interface` where no file was on storage; else empty."""
    if record.environment.clock.source == "simulated":
        return "simulated"
    files = record.workload.get("files") or {}
    instead = {entry.file: entry.used for entry in record.substituted}
    used = {
        instead.get(name, spec.get("interface", DEFAULT_INTERFACE.value))
        for name, spec in files.items()
    }
    if not used <= _LABELS.keys():
        return ""
    return next((label for name, label in _LABELS.items() if name in used), "")


def place(record: Record) -> str:
    """The directory with its file system; of a run without storage, that it touched none."""
    if kind := without_storage(record):
        return f"{kind}, no storage"
    here = record.environment
    return f"{here.file_system.type} at {here.directory}"


def flushed(phase: PhaseSummary) -> str:
    """By what the phase made its data persistent, or `no`."""
    words = {"no" if r.flushed in _NOT_FLUSHED else r.flushed for r in phase.rows}
    return ", ".join(sorted(words))
