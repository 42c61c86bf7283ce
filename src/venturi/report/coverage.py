"""How much of an application a derived workload reproduces, and what it leaves out, in words."""

from __future__ import annotations

from typing import Final

from venturi.model.likeness import Likeness
from venturi.model.workload import LeftOut, Observed, Origin
from venturi.report import quantity
from venturi.report.quantity import Units

SHORT_S: Final = 0.01
"""Less computing than this is not told of."""


def reproduced_text(origin: Origin) -> str:
    """How much of the application the workload does, measured where it can be; empty where the
    source counted nothing."""
    if origin.likeness is not None:
        return likeness_text(origin.likeness)
    if origin.observed is None:
        return ""
    return f"streams with {share_text(origin.observed)}; not compared one by one"


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


def likeness_text(likeness: Likeness) -> str:
    """How far a workload's operations are the application's, one by one."""
    most = max(likeness.application, likeness.proxy)
    of = quantity.counted(likeness.application, "operation")
    if not likeness.is_whole:
        of = f"the first {likeness.application} operations"
    if likeness.ranks > 1:
        of += f" of {likeness.ranks} ranks"
    if likeness.is_equal:
        parts = [f"{of}: the same, one by one"]
    else:
        beside = f" beside {likeness.proxy}" if likeness.proxy != likeness.application else ""
        alike, placed, ordered = (
            _part(count, most) for count in (likeness.alike, likeness.placed, likeness.ordered)
        )
        parts = [
            f"{of}{beside}: {alike} of the same kind and size, {placed} at the same place, "
            f"{ordered} in the same order"
        ]
    if likeness.requests_alike < likeness.requests:
        alike = quantity.percent(likeness.requests_alike / likeness.requests)
        parts.append(
            f"of all {likeness.requests} reads and writes {alike} match the application's in size"
        )
    if likeness.unplaced:
        parts.append(f"places of {likeness.unplaced} not compared")
    times = (likeness.seconds_between, likeness.proxy_seconds_between)
    if max(times) >= SHORT_S:
        parts.append(
            f"computing for {quantity.seconds(times[1])} between them, "
            f"{quantity.seconds(times[0])} in the application"
        )
    return "; ".join(parts)


def _part(count: int, most: int) -> str:
    """A share; `all` needs all."""
    return "all" if count == most else quantity.percent(count / most)


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
