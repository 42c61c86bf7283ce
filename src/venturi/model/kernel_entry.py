"""The entry of a kernel: what it measures of the machine, as it says beside its code.

Entries are written in C++ and carried here by `make gen`; see `venturi.model.kernel`.
"""

from __future__ import annotations

from dataclasses import dataclass

from venturi.model.interface_entry import InterfaceOption


@dataclass(frozen=True)
class KernelFigure:
    """A number by which a kernel is known, a metric of each run of it."""

    name: str
    unit: str
    about: str


@dataclass(frozen=True)
class KernelEntry:
    """What one kernel is and needs, whether it is built here or not."""

    about: str
    likeness: str
    """The class of benchmarks that it belongs to; it is none of that name."""
    version: int = 1
    least_ranks: int = 1
    needs_mpi: bool = False
    figures: tuple[KernelFigure, ...] = ()
    options: tuple[InterfaceOption, ...] = ()
