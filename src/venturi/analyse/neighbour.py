"""What else worked on the host while phases ran, and whether it can explain what was measured.

Counters of the whole host less those of the run itself are the work of others. A suspicion needs
a share of the time that is larger than the interval of the phase's rate, and than what a quiet
machine does anyway.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from venturi.model.event import Warning
from venturi.model.host_sample import HostSample
from venturi.model.record import PhaseRow
from venturi.model.verdict import Suspicion, SuspicionCause

QUIET_SHARE = 0.05
"""Daemons of a quiet machine take less; it is what a share must exceed in any case."""
THROTTLED_SHARE = 0.01
_TICK_S = 0.01
"""The kernel counts CPU time in ticks of this length, for each process and each CPU."""
_CLOCK_STEP_S = 0.05
"""A wall clock that is slewed (at most 500 ppm) does not drift so far between two looks."""
_LEAST_FOREIGN_BYTES = 16 << 20
_JOURNAL_FACTOR = 3
"""A journal writes data and metadata twice at most; beside the data itself."""
_FOREIGN_SHARE = 0.25
_SERVED_IN_USER_SPACE = "fuse"


@dataclass(frozen=True)
class LoadWindow:
    """What counters grew by while a phase ran, over all repetitions."""

    seconds: float = 0.0
    foreign_cpu_s: float = 0.0
    """CPU time of other processes, in user mode, less what the ticks may have rounded."""
    wait_s: float = 0.0
    """Time in which the run's processes waited for a CPU."""
    steal_s: float = 0.0
    memory_s: float = 0.0
    throttled_s: float = 0.0
    thermal: int = 0


@dataclass(frozen=True)
class ObservedLoad:
    """All that was seen of the host, and what it is judged with."""

    samples: Sequence[HostSample]
    ranks_here: int
    """Ranks on the host that was observed."""
    file_system: str
    half_widths: Mapping[str, float]
    """By phase: how far the interval reaches from the median, as a share of it."""


def notices(warnings: Sequence[Warning]) -> list[Suspicion]:
    """What the engine itself noticed: ranks or watchers that did not run for a while."""
    return [
        Suspicion(cause=SuspicionCause.GAP, what=warning.what)
        for warning in warnings
        if warning.stopped_s is not None
    ]


def suspicions_of(phases: Sequence[PhaseRow], seen: ObservedLoad) -> list[Suspicion]:
    """What can explain more of a number than its interval says, phase by phase, then overall."""
    if len(seen.samples) < 2:
        return []
    found = []
    for path in dict.fromkeys(row.path for row in phases):
        rows = [row for row in phases if row.path == path]
        least = max(seen.half_widths.get(path, 0.0), QUIET_SHARE)
        found += _of_window(path, _window(rows, seen), seen, least)
    return [*_merged(found), *_of_the_run(seen)]


def _window(rows: Sequence[PhaseRow], seen: ObservedLoad) -> LoadWindow:
    """The growth of all counters between the samples that enclose the rows."""
    pairs = _joined(sorted({_around(row, seen.samples) for row in rows}))
    total = LoadWindow()
    for first, last in pairs:
        total = _sum(total, _between(seen.samples[first], seen.samples[last]))
    newest = seen.samples[-1]
    # What ticks round in one window is independent of the next one.
    ticks_s = _TICK_S * math.sqrt(len(pairs))
    rounding_s = ticks_s * (newest.cpus + 2 * max(s.own_processes for s in seen.samples))
    return replace(
        total,
        foreign_cpu_s=max(0.0, total.foreign_cpu_s - rounding_s),
        steal_s=max(0.0, total.steal_s - ticks_s * newest.cpus),
    )


def _around(row: PhaseRow, samples: Sequence[HostSample]) -> tuple[int, int]:
    """The last sample before a row began, and the first after it ended."""
    end_s = row.at_s + row.seconds.total
    first = max((i for i, s in enumerate(samples) if s.at_s <= row.at_s), default=0)
    last = min((i for i, s in enumerate(samples) if s.at_s >= end_s), default=len(samples) - 1)
    return first, max(last, first)


def _joined(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Windows that overlap, as one."""
    out: list[tuple[int, int]] = []
    for first, last in pairs:
        if out and first <= out[-1][1]:
            out[-1] = (out[-1][0], max(last, out[-1][1]))
        else:
            out.append((first, last))
    return out


def _between(a: HostSample, b: HostSample) -> LoadWindow:
    # Who is held at a limit waits, too, and nobody else is the cause.
    held_s = _grown(a.throttled_s, b.throttled_s)
    others_s = (b.user_s - a.user_s) - (b.own_user_s - a.own_user_s)
    return LoadWindow(
        seconds=b.at_s - a.at_s,
        foreign_cpu_s=others_s,
        wait_s=max(0.0, _grown(a.own_wait_s, b.own_wait_s) - held_s),
        steal_s=b.steal_s - a.steal_s,
        memory_s=_grown(a.pressure_memory_s, b.pressure_memory_s),
        throttled_s=held_s,
        thermal=max(0, (b.thermal_throttles or 0) - (a.thermal_throttles or 0)),
    )


def _sum(a: LoadWindow, b: LoadWindow) -> LoadWindow:
    return LoadWindow(
        a.seconds + b.seconds,
        a.foreign_cpu_s + b.foreign_cpu_s,
        a.wait_s + b.wait_s,
        a.steal_s + b.steal_s,
        a.memory_s + b.memory_s,
        a.throttled_s + b.throttled_s,
        a.thermal + b.thermal,
    )


def _grown(before: float | None, after: float | None) -> float:
    return max(0.0, after - before) if before is not None and after is not None else 0.0


def _of_window(
    path: str, seen: LoadWindow, observed: ObservedLoad, least: float
) -> list[Suspicion]:
    if seen.seconds <= 0:
        return []
    cpus = observed.samples[-1].cpus
    rows = (
        (
            SuspicionCause.NEIGHBOUR,
            neighbour_share(seen, cpus, observed),
            least,
            "other processes used the CPUs or delayed ranks",
        ),
        (
            SuspicionCause.STEAL,
            seen.steal_s / (cpus * seen.seconds),
            least,
            "the hypervisor took CPU time",
        ),
        (
            SuspicionCause.MEMORY,
            seen.memory_s / seen.seconds,
            least,
            "all processes waited for memory",
        ),
        (
            SuspicionCause.THROTTLED,
            seen.throttled_s / seen.seconds,
            THROTTLED_SHARE,
            "the control group's CPU limit held the run",
        ),
    )
    found = [_suspect(cause, path, share, what) for cause, share, at, what in rows if share > at]
    if seen.thermal:
        what = f"the CPU throttled for heat ({seen.thermal} times)"
        found.append(Suspicion(cause=SuspicionCause.THROTTLED, phase=path, what=what))
    return found


def neighbour_share(seen: LoadWindow, cpus: int, observed: ObservedLoad) -> float:
    """Share of a window's time that work of others can explain.

    Others take CPUs, or delay ranks that could run. Where there are more ranks than CPUs these
    wait for each other, so only as much of it counts as others worked. Daemons of a file system
    in user space cannot be told from neighbours there; their CPU time does not count.
    """
    others_s = seen.foreign_cpu_s
    if observed.file_system.startswith(_SERVED_IN_USER_SPACE):
        others_s = 0.0
    ranks = max(observed.ranks_here, 1)
    waits_s = seen.wait_s / ranks
    if ranks > cpus or observed.file_system.startswith(_SERVED_IN_USER_SPACE):
        waits_s = min(waits_s, others_s)
    return max(others_s / (cpus * seen.seconds), waits_s / seen.seconds)


def _suspect(cause: SuspicionCause, path: str, share: float, what: str) -> Suspicion:
    share = min(share, 1.0)
    return Suspicion(cause=cause, phase=path, share=share, what=f"{what} ({share:.0%} of the time)")


def _merged(found: Sequence[Suspicion]) -> list[Suspicion]:
    """One suspicion for each cause: that of the phase with the largest share, with the others."""
    out = []
    for cause in dict.fromkeys(one.cause for one in found):
        own = [one for one in found if one.cause is cause]
        worst = max(own, key=lambda one: one.share or 0.0)
        paths = list(dict.fromkeys(one.phase for one in own))
        more = f", and {len(paths) - 1} more phases" if len(paths) > 1 else ""
        more = ", and 1 more phase" if len(paths) == 2 else more
        out.append(worst.model_copy(update={"what": f"{worst.phase}{more}: {worst.what}"}))
    return out


def _of_the_run(seen: ObservedLoad) -> list[Suspicion]:
    """What is no matter of single phases: stops, gaps, clock steps, others on the device."""
    first, last = seen.samples[0], seen.samples[-1]
    found = []
    stopped_s = last.stopped_s - first.stopped_s
    if stopped_s > 0:
        what = f"processes of the run were stopped for {stopped_s:.2g} s (SIGSTOP or a debugger)"
        found.append(Suspicion(cause=SuspicionCause.STOPPED, what=what))
    gap_s = last.gap_s - first.gap_s
    if gap_s > 0:
        what = f"the command that watches the run did not get to run for {gap_s:.2g} s"
        found.append(Suspicion(cause=SuspicionCause.GAP, what=what))
    step_s = last.clock_step_s - first.clock_step_s
    if step_s > _CLOCK_STEP_S:
        what = f"the wall clock was stepped by {step_s:.2g} s"
        found.append(Suspicion(cause=SuspicionCause.CLOCK, what=what))
    share = foreign_bytes_share(first, last)
    if share > _FOREIGN_SHARE:
        what = f"{share:.0%} of the bytes on the target's device were not the run's"
        found.append(Suspicion(cause=SuspicionCause.NEIGHBOUR, share=min(share, 1.0), what=what))
    return found


def foreign_bytes_share(a: HostSample, b: HostSample) -> float:
    """Share of the device's traffic that the run cannot have caused; 0 where that is not known."""
    device = [
        _bytes(a.device_read_bytes, b.device_read_bytes),
        _bytes(a.device_written_bytes, b.device_written_bytes),
    ]
    own = [
        _bytes(a.own_read_bytes, b.own_read_bytes),
        _bytes(a.own_written_bytes, b.own_written_bytes),
    ]
    if sum(own) < _LEAST_FOREIGN_BYTES:
        return 0.0
    foreign = max(0, device[0] - own[0]) + max(0, device[1] - _JOURNAL_FACTOR * own[1])
    return foreign / sum(device) if foreign >= _LEAST_FOREIGN_BYTES else 0.0


def _bytes(before: int | None, after: int | None) -> int:
    return max(0, after - before) if before is not None and after is not None else 0
