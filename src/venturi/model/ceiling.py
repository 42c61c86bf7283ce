"""Ceilings: what a machine can move at most, each with the layer and the source that says so."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from venturi.model.document import Document

Moves = Literal["write", "read"]
MOVES: tuple[Moves, ...] = ("write", "read")


class CeilingLayer(StrEnum):
    """What limits."""

    STORAGE = "storage"
    """The system behind a directory, as its owner states it."""
    DEVICE = "device"
    NETWORK = "network"
    MEMORY = "memory"


class CeilingSource(StrEnum):
    """Where a ceiling is from."""

    MACHINE_FILE = "machine file"
    PROFILE = "profile"
    HEALTH = "health"


class Ceiling(Document):
    """A rate that all ranks together cannot exceed."""

    operation: Literal["write", "read", "both"]
    bytes_per_second: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    layer: CeilingLayer
    source: CeilingSource
    about: str
    """What was stated or measured, and by which session."""

    @property
    def is_nominal(self) -> bool:
        """Whether somebody states it, as opposed to a measurement."""
        return self.source is CeilingSource.MACHINE_FILE


class PhaseCeilings(Document):
    """What a machine can move at most in a phase that only writes or only reads."""

    operation: Moves
    ceilings: list[Ceiling]
    """Those of its operation, the lowest first."""
