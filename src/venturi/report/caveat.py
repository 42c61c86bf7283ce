"""What must stand beside a rate so that nobody takes it for the storage's."""

from __future__ import annotations

from venturi.model.plan import Interface, SyncMode
from venturi.model.record import Record
from venturi.report.phase import PhaseSummary

_NO_STORAGE = frozenset((Interface.NULL.value, Interface.SIMULATED.value))
_NOT_FORCED = frozenset((SyncMode.NONE.value, SyncMode.FLUSH.value))
"""A flush hands data to the system, which may keep them in memory."""


def without_storage(record: Record) -> str:
    """`simulated` or `null interface` where no file was on storage; else empty."""
    if record.environment.clock.source == "simulated":
        return "simulated"
    files = record.workload.get("files") or {}
    instead = {entry.file: entry.used for entry in record.substituted}
    used = {
        instead.get(name, spec.get("interface", Interface.POSIX.value))
        for name, spec in files.items()
    }
    if not used or not used <= _NO_STORAGE:
        return ""
    return "simulated" if Interface.SIMULATED.value in used else "null interface"


def place(record: Record) -> str:
    """The directory with its file system; of a run without storage, that it touched none."""
    if kind := without_storage(record):
        return f"{kind}, no storage"
    here = record.environment
    return f"{here.file_system.type} at {here.directory}"


def flushed(phase: PhaseSummary) -> str:
    """By what the phase made its data persistent, or `not forced`."""
    words = {"not forced" if r.flushed in _NOT_FORCED else r.flushed for r in phase.rows}
    return ", ".join(sorted(words))
