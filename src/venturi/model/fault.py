"""Faults that are injected on purpose."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from venturi.model.document import Count, Document, Positive, Seconds
from venturi.model.verb import OperationKind


class FaultKind(StrEnum):
    """What the faulty wrapper does to an operation; `drop`: a write is told as made, and is not."""

    EIO = "eio"
    ENOSPC = "enospc"
    SHORT = "short"
    DELAY = "delay"
    FLIP = "flip"
    HANG = "hang"
    DROP = "drop"


class Fault(Document):
    """A fault that the faulty wrapper injects into the file's interface."""

    kind: FaultKind
    operation: OperationKind
    nth: Positive = 1
    """The first operation of that kind on a rank that is hit, from 1."""
    every: Count = 0
    """0: only that one; n: every n-th from there on."""
    rank: Annotated[int, Field(ge=-1, le=2**31)] = -1  # -1: every rank
    seconds: Seconds = 0.0
    """How long `delay` lasts."""
