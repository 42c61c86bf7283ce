"""What a phase demands of storage, operation by operation, on one rank."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from venturi.model.document import INT64_MAX
from venturi.model.plan import OperationKind
from venturi.model.profile import AccessClass, ContextEffect, DataState, FileSharing, Order
from venturi.predict.warm import Warm


@dataclass(frozen=True)
class Demand:
    """Equal operations of one rank."""

    access: AccessClass
    bytes: int
    """Of one operation; of `sync`: what it has to write."""
    count: float
    note: str = ""
    """What was assumed to say this much."""
    written_back: bool = False
    """A write that waits for the device, because memory for unwritten data is full."""
    on_fresh_pages: bool = False
    """A write whose pages no file gave back before, so that they are in no processor's cache."""
    think_s: float = 0.0
    """What the rank computes before each."""
    of_bytes: int = 0
    """Of a read: what its file holds, which all passes by before any of it is read again."""
    context_effects: tuple[tuple[ContextEffect, float], ...] = ()
    """In what its calls differ from a plain loop, each with the share of calls that do."""
    passes_cache: bool = False
    """Its data are copied once more in memory, because a library keeps chunks there."""

    def cut_to(self, share: float) -> Demand:
        """The same when a limit of time lets only a share of the data be moved before it."""
        if share >= 1.0 or self.access.operation is not OperationKind.SYNC:
            return self
        return replace(self, bytes=round(self.bytes * share))


@dataclass
class PhaseDemand:
    """One turn of a phase on one rank."""

    path: str
    times: int
    """So many turns are alike."""
    limit_s: float | None = None
    at_least_s: float = 0.0
    computing_s: float = 0.0
    demands: list[Demand] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    _places: dict[Demand, int] = field(default_factory=dict)
    """Of demands that are alike but for their count, which is 0 here."""

    def add(self, demand: Demand) -> None:
        """One more; equal ones are put together where no time is kept, which cuts some of them."""
        if self.limit_s is not None or self.at_least_s > 0:
            self.demands.append(demand)
            return
        place = self._places.setdefault(replace(demand, count=0), len(self.demands))
        if place == len(self.demands):
            self.demands.append(demand)
            return
        before = self.demands[place]
        self.demands[place] = replace(before, count=before.count + demand.count)


@dataclass
class FileState:
    """What is known of a file, or of all items of a tree, at one moment of the program."""

    end_bytes: int = 0
    """Bytes that were written, from the beginning."""
    position_bytes: int = 0
    """Where sequential requests go on."""
    cached: bool = False
    """All of it is in memory."""
    warm: Warm = field(default_factory=Warm)
    """What of it is in memory where not all is."""
    dirty_bytes: int = 0
    """Of this rank, not yet made persistent."""
    dirty_order: Order = Order.SEQUENTIAL
    dirty_state: DataState = DataState.NEW
    filled: bool = False
    """All of it was written as it was created."""
    entries: set[int] = field(default_factory=set)
    """The plan's files that mean it."""

    @property
    def held_bytes(self) -> int:
        """What it holds; 0 where that is not known."""
        return self.end_bytes if self.end_bytes < INT64_MAX else 0

    def forget(self) -> None:
        """Nothing of it is in memory any more, and all was written out."""
        self.cached, self.dirty_bytes = False, 0
        self.warm = Warm()


def sync_of(state: FileState, like: AccessClass) -> Demand:
    """Making persistent what is unwritten of a file; `like` says who shares it and through what.

    Nothing is unwritten afterwards.
    """
    access = AccessClass(
        operation=OperationKind.SYNC,
        order=Order.SEQUENTIAL if state.dirty_state is DataState.NEW else state.dirty_order,
        place=like.place,
        interface=like.interface,
        state=state.dirty_state,
    )
    demand = Demand(access, state.dirty_bytes, 1)
    state.dirty_bytes = 0
    return demand


def place_of(alone: bool) -> FileSharing:
    """Of files that one rank has for itself, or that several share."""
    return FileSharing.OWN if alone else FileSharing.SHARED
