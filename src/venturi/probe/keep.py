"""What is over goes from the ring into files of a day, and what is old goes away.

A crash at any moment loses nothing: a day's files are written before they count, and the ring keeps
its samples for days after that. Only one process keeps at a time.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from venturi.model.error import UserError
from venturi.model.probe import ProbeKind, ProbeTarget
from venturi.probe.columns import Array, read_columns, read_facts, write_columns
from venturi.probe.place import ring_path, target_of
from venturi.probe.rollup import DAY_NS, day_begin_ns, day_name, hours_of, minutes_of
from venturi.probe.sample import COLUMNS, from_ring, from_segment, rounded
from venturi.store.parquet import write_parquet

SAMPLES, MINUTES, HOURS = "samples", "minutes", "hours"
_MINUTE_DAYS = 730
_NEVER_NS = 2**62
_DELTAS = {
    SAMPLES: frozenset({"scheduled_ns"}),
    MINUTES: frozenset({"begin_ns"}),
    HOURS: frozenset({"begin_ns"}),
}

Clock = Callable[[], int]


@dataclass(frozen=True)
class Kept:
    """What one round of keeping did."""

    days: int
    removed: int


def keep(folder: Path, clock: Clock = time.time_ns, everything: bool = False) -> Kept:
    """Move each day that is over out of the rings of a target, and forget what is too old.

    With `everything`, a day that is not over goes into files, too.
    """
    target = target_of(folder)
    with _alone(folder):
        limit_ns = _NEVER_NS if everything else clock()
        days = sum(_keep_kind(folder, kind, limit_ns) for kind in target.kinds)
        removed = _forget(folder, target, clock())
    return Kept(days, removed)


def day_files(folder: Path, what: str, kind: ProbeKind) -> list[Path]:
    """The files of days that are over, the oldest first."""
    return sorted((folder / what).glob(f"*.{kind.value}"))


def next_number(folder: Path, kind: ProbeKind) -> int:
    """The number of the first sample that is in no file of a day."""
    files = day_files(folder, HOURS, kind)
    if not files:
        return 0
    facts = read_facts(files[-1])
    return int(facts["first"]) + int(facts["count"])


def samples_between(folder: Path, kind: ProbeKind, begin_ns: int, end_ns: int) -> Iterator[Array]:
    """Yield the samples that were due in [begin_ns, end_ns), those of the ring, too."""
    for path in day_files(folder, SAMPLES, kind):
        facts = read_facts(path)
        if facts["begin_ns"] < end_ns and facts["end_ns"] >= begin_ns:
            yield _within(from_segment(path), begin_ns, end_ns)
    yield _within(open_samples(folder, kind), begin_ns, end_ns)


def open_samples(folder: Path, kind: ProbeKind) -> Array:
    """Return the samples that are in no file of a day yet."""
    path = ring_path(folder, kind)
    if not path.exists():
        return from_nothing()
    return from_ring(path, next_number(folder, kind))[1]


def from_nothing() -> Array:
    """No samples."""
    from venturi.probe.sample import joined

    return joined(())


def rows_between(
    folder: Path, what: str, kind: ProbeKind, begin_ns: int, end_ns: int
) -> dict[str, Array]:
    """Return minutes or hours that begin in [begin_ns, end_ns), those of the ring, too."""
    parts = [
        read_columns(path)
        for path in day_files(folder, what, kind)
        if day_begin_ns(path) - DAY_NS < end_ns and day_begin_ns(path) + 2 * DAY_NS > begin_ns
    ]
    roll_up = minutes_of if what == MINUTES else hours_of
    parts.append(roll_up(open_samples(folder, kind)))
    whole = {name: np.concatenate([part[name] for part in parts]) for name in parts[-1]}
    inside = (whole["begin_ns"] >= begin_ns) & (whole["begin_ns"] < end_ns)
    return {name: values[inside] for name, values in whole.items()}


def _within(samples: Array, begin_ns: int, end_ns: int) -> Array:
    due = samples["scheduled_ns"]
    inside: Array = samples[(due >= begin_ns) & (due < end_ns)]
    return inside


def _keep_kind(folder: Path, kind: ProbeKind, limit_ns: int) -> int:
    path = ring_path(folder, kind)
    if not path.exists():
        return 0
    first, samples = from_ring(path, next_number(folder, kind))
    if not len(samples):
        return 0
    # A clock that goes back begins no day a second time.
    day = np.maximum.accumulate(samples["scheduled_ns"] // DAY_NS)
    days = 0
    for part_day in np.unique(day):
        if (int(part_day) + 1) * DAY_NS > limit_ns:
            break
        at = np.flatnonzero(day == part_day)
        _write_day(folder, kind, first + int(at[0]), samples[at], int(part_day))
        days += 1
    return days


def _write_day(folder: Path, kind: ProbeKind, first: int, samples: Array, day: int) -> None:
    name = f"{day_name(day * DAY_NS)}.{kind.value}"
    earlier = folder / SAMPLES / name
    if earlier.exists():  # the clock went back by more than a day since
        samples = np.concatenate((from_segment(earlier), samples))
        first = int(read_facts(earlier)["first"])
    columns = {column: np.ascontiguousarray(samples[column]) for column in COLUMNS}
    delay = samples["response_ns"] - samples["service_ns"]
    columns["service_ns"] = rounded(samples["service_ns"])
    columns["response_ns"] = columns["service_ns"] + rounded(delay)
    facts = {
        "kind": kind.value,
        "first": first,
        "count": len(samples),
        "begin_ns": int(samples["scheduled_ns"].min()),
        "end_ns": int(samples["scheduled_ns"].max()),
    }
    write_columns(folder / SAMPLES / name, facts, columns, _DELTAS[SAMPLES])
    write_parquet(folder / SAMPLES / f"{name}.parquet", columns)
    write_columns(folder / MINUTES / name, facts, minutes_of(samples), _DELTAS[MINUTES])
    # Last: from now on the day counts as kept.
    write_columns(folder / HOURS / name, facts, hours_of(samples), _DELTAS[HOURS])


def _forget(folder: Path, target: ProbeTarget, now_ns: int) -> int:
    removed = 0
    for what, days in ((SAMPLES, target.keep_days), (MINUTES, _MINUTE_DAYS)):
        for path in (folder / what).glob("????-??-??.*"):
            if day_begin_ns(path) + (days + 1) * DAY_NS <= now_ns:
                path.unlink()
                removed += 1
    return removed


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    descriptor = os.open(folder / "keep.lock", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise UserError(f"{folder}: another process keeps its samples just now") from None
    try:
        yield
    finally:
        os.close(descriptor)
