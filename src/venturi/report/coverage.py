"""How much of an application a derived workload reproduces, and what it leaves out, in words."""

from __future__ import annotations

from venturi.model.workload import LeftOut, Observed
from venturi.report import quantity
from venturi.report.quantity import Units


def share_text(observed: Observed) -> str:
    """The shares of bytes, calls and files, as far as they are known."""
    shares = (
        ("bytes", observed.coverage_bytes),
        ("calls", observed.coverage_operations),
        ("files", observed.coverage_files),
    )
    known = [
        f"{quantity.percent(share)} of the {what}" for what, share in shares if share is not None
    ]
    if known:
        return ", ".join(known)
    return "unknown share, because part of the run was not recorded"


def left_out_texts(observed: Observed, units: Units) -> list[tuple[str, str]]:
    """A title and a line for each part of the source that is not reproduced, the application's
    own first."""
    entries = sorted(observed.left_out, key=lambda entry: not entry.is_application)
    return [
        ("Left out" if entry.is_application else "Not the application's", _entry(entry, units))
        for entry in entries
    ]


def _entry(entry: LeftOut, units: Units) -> str:
    if not entry.is_counted:
        return f"{entry.what} (amount not known)"
    amounts = (
        quantity.counted(entry.files or 0, "file"),
        quantity.counted(entry.operations or 0, "call"),
        quantity.size(entry.bytes or 0, units),
    )
    return f"{entry.what} ({', '.join(amounts)})"
