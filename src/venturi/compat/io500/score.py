"""The official formula: geometric means of phases, and the root of their product."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from venturi.model.published import Io500Phase, Io500Score

BANDWIDTH = ("ior-easy-write", "ior-hard-write", "ior-easy-read", "ior-hard-read")
METADATA = (
    "mdtest-easy-write",
    "mdtest-hard-write",
    "find",
    "mdtest-easy-stat",
    "mdtest-hard-stat",
    "mdtest-easy-delete",
    "mdtest-hard-read",
    "mdtest-hard-delete",
)
SCORED = BANDWIDTH + METADATA
WRITES = ("ior-easy-write", "mdtest-easy-write", "ior-hard-write", "mdtest-hard-write")
"""The phases that must last as long as the stonewall."""
RANDOM_EXTENDED = ("ior-rnd4K-write", "ior-rnd4K-read", "ior-rnd1MB-write", "ior-rnd1MB-read")
"""What the extended mode had from 2021 to 2025."""
_BANDWIDTH_EXTENDED = (*BANDWIDTH, *RANDOM_EXTENDED)
_METADATA_EXTENDED = (*METADATA, "find-easy", "find-hard", "mdworkbench-bench")


def score(phases: Sequence[Io500Phase], extended: bool = False) -> Io500Score:
    """The score of a run's phases, in GiB/s and kIOPS.

    As the official program does, phases that are missing or 0 are left out, which makes the mean
    of the others: whoever ranks results must look for that.
    """
    bw = _mean(phases, _BANDWIDTH_EXTENDED if extended else BANDWIDTH)
    md = _mean(phases, _METADATA_EXTENDED if extended else METADATA)
    total = math.sqrt(bw * md) if bw is not None and md is not None else None
    return Io500Score(bw=bw, md=md, score=total)


def missing(phases: Sequence[Io500Phase]) -> list[str]:
    """The phases of the standard score that are not there or 0."""
    there = {phase.name for phase in phases if phase.value > 0}
    return [name for name in SCORED if name not in there]


def _mean(phases: Iterable[Io500Phase], names: Sequence[str]) -> float | None:
    values = [phase.value for phase in phases if phase.name in names and phase.value > 0]
    if not values:
        return None
    return math.exp(math.fsum(math.log(value) for value in values) / len(values))
