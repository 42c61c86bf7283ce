"""Made-up histories: samples of days, written as a worker would have left them."""

from __future__ import annotations

import os
import struct
from pathlib import Path

import numpy as np

from probe.conftest import Place
from venturi.model.probe import ProbeKind
from venturi.probe.columns import Array
from venturi.probe.ring import HEADER_BYTES, SAMPLE
from venturi.probe.rollup import DAY_NS
from venturi.probe.sample import DTYPE

BEGIN_NS = 20_000 * DAY_NS
_HEAD_AT = 2248


def samples_of(
    first: int, count: int, begin_ns: int, step_ns: int, median_ns: float, seed: int = 1
) -> Array:
    """Metadata samples on a grid, with log-normal latencies."""
    random = np.random.default_rng(seed)
    samples = np.zeros(count, DTYPE)
    samples["scheduled_ns"] = begin_ns + np.arange(count, dtype=np.int64) * step_ns
    samples["service_ns"] = median_ns * random.lognormal(0, 0.3, count)
    samples["response_ns"] = samples["service_ns"] + random.integers(40_000, 90_000, count)
    samples["sequence"] = first + np.arange(count)
    samples["operation"] = np.arange(count) % 4
    return samples


def put(place: Place, samples: Array, head: int | None = None) -> Path:
    """Write samples into the metadata ring, at their numbers, and say how many there are."""
    path = place.make(ProbeKind.METADATA)
    capacity = place.header(ProbeKind.METADATA).capacity
    with path.open("r+b") as file:
        slots = samples["sequence"].astype(np.int64) % capacity
        for part in np.split(samples, np.flatnonzero(slots == 0)):
            if len(part):
                file.seek(HEADER_BYTES + int(part["sequence"][0]) % capacity * SAMPLE.size)
                file.write(part.tobytes())
        file.seek(_HEAD_AT)
        last = int(samples["sequence"][-1]) + 1 if head is None else head
        file.write(struct.pack("<Q", last))
        os.fsync(file.fileno())
    return path
