"""The moments of computing between a program's calls, which cool the processor's caches.

Most programs compute for some microseconds between two requests. That takes no time in I/O, but
what it uses takes the place of the kernel's code and data in the processor's caches, and so the
next request takes longer than one of a bare loop: sqlite's 4 KiB in memory a quarter longer.
"""

from __future__ import annotations

import numpy as np

from venturi.model.operation import Column

UNKNOWN = -1
MOST_NS = 20_000
"""What is longer may be waiting for others; a pause between requests on one file says it better."""
LEAST_NS = 400
"""Less than this is the program's way from call to call, and what recording takes."""
RECORDED_BY = "venturi"
"""The format of our own captures: others take microseconds to record a call, or leave calls out."""


def computing_ns(process: Column, start_ns: Column, end_ns: Column, source: str) -> Column:
    """What each process did between its operations, which come in the order of time, before each of
    them; UNKNOWN of the first ones, and of captures that cannot know."""
    found = np.full(len(process), UNKNOWN, np.int64)
    if source != RECORDED_BY or not len(process):
        return found
    order = np.argsort(process, kind="stable")
    owner, start, end = process[order], start_ns[order], end_ns[order]
    same = owner[1:] == owner[:-1]
    found[order[1:][same]] = np.maximum(start[1:] - end[:-1], 0)[same]
    return found


def usual_ns(computing: Column) -> float:
    """The mean of the short ones, where most are; 0 where operations follow each other at once."""
    known = computing[computing != UNKNOWN]
    short = known[known < MOST_NS]
    mean = float(np.mean(short)) if 2 * len(short) > len(known) else 0.0
    return mean if mean >= LEAST_NS else 0.0
