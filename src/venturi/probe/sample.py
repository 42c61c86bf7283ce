"""Samples as columns, and what is counted among them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from venturi.probe.columns import Array, read_columns, read_facts
from venturi.probe.ring import (
    ABANDONED,
    CACHED,
    FAILED,
    MISSED,
    SAMPLE,
    WITHHELD,
    read_samples,
)

DTYPE = np.dtype(
    [
        ("scheduled_ns", "<i8"),
        ("response_ns", "<i8"),
        ("service_ns", "<i8"),
        ("sequence", "<u4"),
        ("operation", "u1"),
        ("flags", "u1"),
        ("error", "<i2"),
    ]
)
assert DTYPE.itemsize == SAMPLE.size
COLUMNS = ("scheduled_ns", "response_ns", "service_ns", "operation", "flags", "error")
_DIGITS = 9
"""Binary digits that a kept time has: an error of at most 0.1 %."""


def from_ring(path: Path, begin: int) -> tuple[int, Array]:
    """Return the number of the first sample and all samples of a ring from `begin` on."""
    _, first, data = read_samples(path, begin)
    return first, np.frombuffer(data, DTYPE)


def from_segment(path: Path) -> Array:
    """Return the samples of a day that is over."""
    columns = read_columns(path)
    samples = np.zeros(len(columns["scheduled_ns"]), DTYPE)
    for name in COLUMNS:
        samples[name] = columns[name]
    samples["sequence"] = read_facts(path)["first"] + np.arange(len(samples), dtype=np.int64)
    return samples


def rounded(values: Array) -> Array:
    """Times with nine binary digits; more would be noise that does not compress."""
    magnitude = np.frexp(np.abs(values).astype(np.float64))[1]
    unit = np.int64(1) << np.maximum(0, magnitude - _DIGITS).astype(np.int64)
    result: Array = (values + unit // 2) // unit * unit
    return result


def is_felt(samples: Array) -> Array:
    """Whether a sample says how long a user would have waited: errors and withheld ones do not."""
    result: Array = (samples["flags"] & (FAILED | WITHHELD)) == 0
    return result


def is_usual(samples: Array) -> Array:
    """Whether a sample may shape the baseline: a whole operation that reached the storage."""
    wrong = FAILED | WITHHELD | MISSED | ABANDONED | CACHED
    result: Array = (samples["flags"] & wrong) == 0
    return result


def joined(parts: Iterable[Array]) -> Array:
    """All samples of several parts in their order."""
    found = [part for part in parts if len(part)]
    return np.concatenate(found) if found else np.zeros(0, DTYPE)
