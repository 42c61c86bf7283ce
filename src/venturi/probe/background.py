"""A probe beside a run: found when the run starts, and read when it is over."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from venturi.model.background import (
    FEWEST_SAMPLES,
    Background,
    BackgroundOperation,
    BackgroundWhen,
    BackgroundWindow,
)
from venturi.model.error import UserError
from venturi.model.probe import OPERATIONS, ProbeOperation, ProbeTarget
from venturi.probe.place import TARGET_NAME, probe_folder, ring_path, target_of
from venturi.probe.ring import RingHeader, is_held, read_header
from venturi.probe.run_phase import mount_of
from venturi.store.background import BackgroundReader, RunTimes

if TYPE_CHECKING:
    from venturi.probe.columns import Array

STORES = "VENTURI_PROBE_STORE"
"""Names stores of probes that others run, separated by colons."""
SERVICE = Path("/var/lib/venturi-probe")
"""Where the unit of systemd keeps a store for each of its configurations."""
BEFORE_S = 600.0
AFTER_INTERVALS = 5
MOST_AFTER_S = 10.0
_POLL_S = 0.1
_HANGS_AFTER_S = 1.0


def reader_beside(store: Path, directory: Path, service: Path = SERVICE) -> BackgroundReader | None:
    """Return what reads the probes that work on the file system of a directory; None: none does.

    Looked for are probes of this store, of those that `$VENTURI_PROBE_STORE` names, and of the
    service. Storage is not asked: mounts are told apart by the names of directories.
    """
    folders = probes_beside(store, directory, service)
    return partial(_read, folders) if folders else None


def probes_beside(store: Path, directory: Path, service: Path = SERVICE) -> list[Path]:
    """Return the folders of the probes that work on the file system of a directory."""
    mount = mount_of(os.path.realpath(directory))
    folders: list[Path] = []
    for place in _stores(store, service):
        for path in sorted(probe_folder(place).glob(f"*/{TARGET_NAME}")):
            try:
                target = target_of(path.parent)
                if mount_of(target.directory) == mount and _is_running(path.parent, target):
                    folders.append(path.parent)
            except (UserError, OSError):
                continue  # one of another version, or not for this user to read
    return folders


def _stores(store: Path, service: Path) -> Iterator[Path]:
    named = [Path(one) for one in os.environ.get(STORES, "").split(os.pathsep) if one]
    try:
        served = sorted(service.iterdir()) if service.is_dir() else []
    except OSError:
        served = []
    yield from dict.fromkeys((store, *named, *served))


def _is_running(folder: Path, target: ProbeTarget) -> bool:
    rings = [ring_path(folder, kind) for kind in target.kinds]
    return any(ring.exists() and is_held(ring) for ring in rings)


def _read(
    folders: Sequence[Path], times: RunTimes, is_hurried: Callable[[], bool]
) -> list[Background]:
    targets = [target_of(folder) for folder in folders]
    end_s = times.hello_s + times.repetitions[-1].end_s
    patience_s = patience_of([one.interval_s for one in targets])
    give_up_s = time.monotonic() + patience_s
    while time.time() < end_s + patience_s and time.monotonic() < give_up_s and not is_hurried():
        time.sleep(_POLL_S)
    return [
        background_of(folder, target, times, time.time())
        for folder, target in zip(folders, targets, strict=True)
    ]


def patience_of(intervals_s: Sequence[float]) -> float:
    """Return how long to wait for what comes after a run; 0 for probes that measure too seldom."""
    useful = [one for one in intervals_s if FEWEST_SAMPLES * one <= MOST_AFTER_S]
    return min(MOST_AFTER_S, AFTER_INTERVALS * max(useful, default=0.0))


def background_of(folder: Path, target: ProbeTarget, times: RunTimes, now_s: float) -> Background:
    """Return what one probe felt before, during and after a run."""
    from venturi.probe.baseline import learn
    from venturi.probe.keep import samples_between
    from venturi.probe.sample import joined

    begin_ns = round((times.hello_s - BEFORE_S) * 1e9)
    end_ns = round(now_s * 1e9) + 1
    learned = learn(folder, target, round(times.hello_s * 1e9))
    usual = {
        operation: expected.value_s for operation, (expected, _) in learned.items() if expected
    }
    samples = joined(
        part for kind in target.kinds for part in samples_between(folder, kind, begin_ns, end_ns)
    )
    last_s = times.repetitions[-1].end_s
    spans = [
        (BackgroundWhen.BEFORE, None, -BEFORE_S, 0.0),
        *(
            (BackgroundWhen.DURING, one.repetition, one.begin_s, one.end_s)
            for one in times.repetitions
        ),
        (BackgroundWhen.AFTER, None, last_s, max(last_s, now_s - times.hello_s)),
    ]
    windows = [
        BackgroundWindow(
            when=when,
            repetition=repetition,
            begin_s=first_s,
            end_s=end_s,
            operations=_operations(samples, usual, times.hello_s + first_s, times.hello_s + end_s),
        )
        for when, repetition, first_s, end_s in spans
    ]
    hanging = hanging_worker(folder, target)
    return Background(
        target=target.name,
        directory=target.directory,
        node_class=target.node_class,
        interval_s=target.interval_s,
        windows=[window for window in windows if window.operations],
        hanging=OPERATIONS[hanging.in_flight_operation or 0] if hanging else None,
        hanging_s=hanging.in_flight_s() if hanging else 0.0,
    )


def _operations(
    samples: Array, usual: Mapping[ProbeOperation, float], begin_s: float, end_s: float
) -> list[BackgroundOperation]:
    """Statistics of each operation that was due in a time."""
    import numpy as np

    from venturi.probe.ring import FAILED
    from venturi.probe.sample import is_felt

    due = samples["scheduled_ns"]
    inside = samples[(due >= begin_s * 1e9) & (due < end_s * 1e9)]
    found = []
    for number, operation in enumerate(OPERATIONS):
        own = inside[inside["operation"] == number]
        response_ns = own["response_ns"][is_felt(own)]
        if not len(response_ns):
            continue
        response_s = float(np.median(response_ns)) / 1e9
        expected_s = usual.get(operation)
        found.append(
            BackgroundOperation(
                operation=operation,
                samples=len(response_ns),
                errors=int(np.count_nonzero(own["flags"] & FAILED)),
                response_s=response_s,
                longest_s=float(response_ns.max()) / 1e9,
                slowdown=response_s / expected_s if expected_s else None,
            )
        )
    return found


def felt_between(
    folder: Path,
    target: ProbeTarget,
    usual: Mapping[ProbeOperation, float],
    begin_s: float,
    end_s: float,
) -> list[BackgroundOperation]:
    """Return statistics of each operation of a probe that was due in a time, by its clock."""
    from venturi.probe.keep import samples_between
    from venturi.probe.sample import joined

    begin_ns, end_ns = round(begin_s * 1e9), round(end_s * 1e9) + 1
    samples = joined(
        part for kind in target.kinds for part in samples_between(folder, kind, begin_ns, end_ns)
    )
    return _operations(samples, usual, begin_s, end_s)


def hanging_worker(folder: Path, target: ProbeTarget) -> RingHeader | None:
    """Return the worker whose operation has been waiting longest, if for long."""
    headers = [
        read_header(ring) for kind in target.kinds if (ring := ring_path(folder, kind)).exists()
    ]
    waiting = max(headers, key=lambda one: one.in_flight_s(), default=None)
    if waiting is None or waiting.in_flight_s() < max(_HANGS_AFTER_S, 2 * target.interval_s):
        return None
    return waiting
