"""The profile of a machine: what each kind of operation takes in one directory, measured once."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from venturi.model.document import Count, Document, Fraction, Positive, Real, Seconds
from venturi.model.interface import DEFAULT_INTERFACE
from venturi.model.plan import Interface, OperationKind
from venturi.model.record import FileSystem


class Order(StrEnum):
    """How the requests of a rank lie in its file, or that each file is one request."""

    SEQUENTIAL = "sequential"
    RANDOM = "random"
    STRIDED = "strided"
    """Requests of the ranks take turns in one shared file."""
    ITEM = "item"
    """A small file after the other, each moved at once; also all that is done to names."""


class FileSharing(StrEnum):
    """Whose the files are: each rank's own, or all ranks'; of names: the directory."""

    OWN = "own"
    SHARED = "shared"


class DataState(StrEnum):
    """Where the data of a request were before it."""

    NEW = "new"
    """Nowhere: a write makes its file longer."""
    CACHED = "cached"
    """In memory: a write replaces pages, a read copies them."""
    COLD = "cold"
    """On the device only."""
    NONE = "none"
    """The operation has no data, or it is what makes them persistent."""


class Volume(StrEnum):
    """How much a rank moves at a time: data of the last megabyte are in the processor's caches."""

    SMALL = "small"
    LARGE = "large"


MUCH_MEMORY_BYTES = 16 * 2**20
"""Through which calls move whose memory is not in a processor's own caches."""


class ContextEffect(StrEnum):
    """In what calls differ from a loop of equal ones at page boundaries, in one file and memory."""

    NONE = "none"
    PLAIN = "plain"
    """In nothing: what is measured beside the others, to be compared with them."""
    OFF_PAGE = "off_page"
    """They do not begin and end at page boundaries."""
    IN_TURN = "in_turn"
    """A read of one file and a write of another take turns."""
    MEMORY = "memory"
    """Their data lie in MUCH_MEMORY_BYTES."""
    FRESH = "fresh"
    """Likewise, and that memory has no pages yet (only reads)."""


class AccessClass(Document):
    """One way to do one operation: what a curve of the profile is about."""

    operation: OperationKind
    order: Order = Order.ITEM
    place: FileSharing = FileSharing.OWN
    interface: Interface = DEFAULT_INTERFACE
    state: DataState = DataState.NONE
    volume: Volume = Volume.LARGE
    collective: bool = False
    """All ranks make the request together."""
    think_s: Seconds = 0.0
    """What the rank computes before each operation, which uses up the processor's caches."""
    context_effect: ContextEffect = ContextEffect.NONE

    @property
    def is_plain(self) -> bool:
        """Whether nothing is computed before its calls, and a plain loop makes them."""
        return not self.think_s and self.context_effect is ContextEffect.NONE

    def text(self) -> str:
        """The manner in words, as pages and messages name it."""
        words = [self.operation.value]
        if self.state is not DataState.NONE:
            words.append(self.state.value)
        words.append("of items" if self.order is Order.ITEM else self.order.value)
        words.append("own" if self.place is FileSharing.OWN else "shared")
        if self.interface is not DEFAULT_INTERFACE:
            words.append(self.interface.value)
        if self.collective:
            words.append("collective")
        if self.volume is Volume.SMALL:
            words.append("in small volumes")
        if self.think_s:
            words.append(f"after {1e6 * self.think_s:g} us of computing")
        if self.context_effect is not ContextEffect.NONE:
            words.append(_CONTEXT_EFFECTS[self.context_effect])
        return " ".join(words)


_CONTEXT_EFFECTS = {
    ContextEffect.PLAIN: "beside others",
    ContextEffect.OFF_PAGE: "off page boundaries",
    ContextEffect.IN_TURN: "in turn with another file",
    ContextEffect.MEMORY: "through much memory",
    ContextEffect.FRESH: "to memory without pages",
}


class Point(Document):
    """One measured point of a curve.

    `seconds` is the median over the first repetitions of all starts of the slowest rank's time per
    operation.
    """

    bytes: Count
    """Of one request; of `sync`: what is to be made persistent by one rank; of names: of the
    file. 0 where there is no data."""
    ranks: Positive
    """All at the same time."""
    seconds: Seconds
    low: Seconds
    high: Seconds
    """The extremes of the repetitions."""
    n: Positive
    """Repetitions, spread over the time of the profile."""
    operations: Positive
    """Of one rank in one repetition."""

    @property
    def operations_per_second(self) -> float:
        """Of all ranks together."""
        return self.ranks / max(self.seconds, 1e-12)

    @property
    def bytes_per_second(self) -> float:
        """Of all ranks together."""
        return self.bytes * self.operations_per_second


class MeasuredCurve(Document):
    """All points of one manner."""

    access: AccessClass
    points: Annotated[list[Point], Field(min_length=1)]


class Profile(Document):
    """What a directory's storage does, as `venturi profile` measured it."""

    started: str
    """UTC, ISO 8601."""
    seconds: Seconds
    """Spent on measuring."""
    budget_s: Seconds
    complete: bool
    """Every point of the coarse grid was measured; refinement goes as far as the budget."""
    directory: str
    host: str
    kernel: str
    cpu: str
    cores: Positive
    memory_bytes: Count
    dirty_limit_bytes: Count
    """Unwritten data at which the kernel makes writers wait; 0: not known."""
    file_system: FileSystem
    has_journal: bool | None = None
    """Whether the ext4 has one: without, a new name steps over all that were removed in its group
    in the last minutes. None: another file system, or not known."""
    started_by: str = "local"
    """The machine that its ranks were started on: `local` has no MPI."""
    device: str = ""
    """The block device below, by the kernel's name and model; empty where there is none."""
    small_bytes: Count = 2**20
    """What a rank moved at a time in small volumes."""
    large_bytes: Count = 2**25
    """And in large ones."""
    load_average: Real
    """Of the last minute, when it was begun."""
    others_share: Fraction | None = None
    """Of the time of all processors, what other processes had while it was measured; None: not
    known. In this profile work of the processor takes as much longer as that left too little."""
    venturi: str
    notes: list[str] = []
    """What a reader must know: what was left out and why."""
    curves: Annotated[list[MeasuredCurve], Field(min_length=1)]
