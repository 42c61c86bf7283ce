"""What is kept of samples for years: statistics of each minute, a histogram for each hour."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from venturi.model.probe import OPERATIONS, ProbeOperation
from venturi.probe.columns import Array
from venturi.probe.ring import CACHED, FAILED, MISSED
from venturi.probe.sample import is_felt, is_usual

MINUTE_NS = 60 * 10**9
HOUR_NS = 60 * MINUTE_NS
DAY_NS = 24 * HOUR_NS
_BITS = 6
_MOST_BIN = 64 << _BITS


def bin_of(values_ns: Array) -> Array:
    """Return the bin of each time: 64 bins for each doubling, so a bin is 1.6 % wide at most."""
    values = np.maximum(values_ns, 1).astype(np.int64)
    exponent = np.frexp(values.astype(np.float64))[1] - 1
    shift = np.maximum(0, exponent - _BITS)
    result: Array = (shift << _BITS) + (values >> shift)
    return result.astype(np.uint16)


def middle_of(bins: Array) -> Array:
    """Return the middle of each bin, in nanoseconds: off by 0.8 % at most."""
    wide = bins.astype(np.int64)
    shift = np.maximum(0, (wide >> _BITS) - 1)
    low = (wide - (shift << _BITS)) << shift
    result: Array = low + (np.int64(1) << shift) // 2
    return result


def minutes_of(samples: Array) -> dict[str, Array]:
    """Return a row for each minute and operation, by the time at which samples were due."""
    key = samples["scheduled_ns"] // MINUTE_NS * 8 + samples["operation"]
    keys, where = np.unique(key, return_inverse=True)
    flags = samples["flags"]

    def counted(chosen: Array) -> Array:
        return np.bincount(where, weights=chosen, minlength=len(keys))

    felt, usual = is_felt(samples), is_usual(samples)
    usual_count = np.maximum(1, counted(usual))
    rows = {
        "begin_ns": keys // 8 * MINUTE_NS,
        "operation": keys % 8,
        "samples": counted(np.ones(len(samples))),
        "felt": counted(felt),
        "errors": counted(flags & FAILED != 0),
        "missed": counted(flags & MISSED != 0),
        "cached": counted(flags & CACHED != 0),
        **_statistics(where[felt], samples["response_ns"][felt], len(keys)),
        "service_mean_ns": counted(samples["service_ns"] * usual) / usual_count,
    }
    return {name: values.astype(_MINUTE_TYPES[name]) for name, values in rows.items()}


def _statistics(where: Array, values: Array, groups: int) -> dict[str, Array]:
    """Return statistics of the values of each group; 0 for a group that has none."""
    order = np.lexsort((values, where))
    # One more value, so that the place behind the last group can be looked at.
    ordered = np.append(values[order], 0).astype(np.float64)
    count = np.bincount(where, minlength=groups)
    begin = np.cumsum(count) - count
    last = np.maximum(0, count - 1)
    is_there = count > 0

    def quantile(share: float) -> Array:
        low = np.floor(share * last).astype(np.int64)
        high = np.minimum(low + 1, last)
        part = share * last - low
        result: Array = ordered[begin + low] * (1 - part) + ordered[begin + high] * part
        return result * is_there

    total = np.bincount(where, weights=values, minlength=groups)
    return {
        "min_ns": quantile(0),
        "p50_ns": quantile(0.5),
        "p95_ns": quantile(0.95),
        "p99_ns": quantile(0.99),
        "max_ns": quantile(1),
        "mean_ns": total / np.maximum(1, count),
    }


_MINUTE_TYPES = {
    "begin_ns": "<i8",
    "operation": "u1",
    **dict.fromkeys(("samples", "felt", "errors", "missed", "cached"), "<u4"),
    **dict.fromkeys(("min_ns", "p50_ns", "p95_ns", "p99_ns", "max_ns"), "<i8"),
    **dict.fromkeys(("mean_ns", "service_mean_ns"), "<i8"),
}


def hours_of(samples: Array) -> dict[str, Array]:
    """Return a row for each hour, operation and bin: what users felt, and what was usual."""
    felt = samples[is_felt(samples)]
    hour = felt["scheduled_ns"] // HOUR_NS
    key = (hour * 8 + felt["operation"]) * _MOST_BIN + bin_of(felt["response_ns"])
    keys, where, counts = np.unique(key, return_inverse=True, return_counts=True)
    usual = np.bincount(where, weights=is_usual(felt), minlength=len(keys))
    upper = keys // _MOST_BIN
    return {
        "begin_ns": upper // 8 * HOUR_NS,
        "operation": (upper % 8).astype("u1"),
        "bin": (keys % _MOST_BIN).astype("<u2"),
        "felt": counts.astype("<u4"),
        "usual": usual.astype("<u4"),
    }


def quantile_of(bins: Array, counts: Array, share: float) -> float | None:
    """Return a quantile of a histogram in nanoseconds; None where it is empty."""
    total = int(counts.sum())
    if total == 0:
        return None
    order = np.argsort(bins, kind="stable")
    reached = np.cumsum(counts[order].astype(np.int64))
    at = int(np.searchsorted(reached, share * total, side="left"))
    return float(middle_of(bins[order][min(at, len(order) - 1)][np.newaxis])[0])


def operation_of(number: int) -> ProbeOperation:
    """The operation with a number of samples."""
    return OPERATIONS[number]


def day_name(at_ns: int) -> str:
    """The name of the day, in UTC: `2026-11-25`."""
    return str(np.datetime64(at_ns // DAY_NS, "D"))


def day_begin_ns(path: Path) -> int:
    """The beginning of the day that a file is called by."""
    return int(np.datetime64(path.name.partition(".")[0], "D").astype(np.int64)) * DAY_NS
