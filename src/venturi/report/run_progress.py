"""The course of a run as its events tell it: what is running, how fast, how far."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from venturi.model.event import Event, Hello, PhaseFinished, PhaseStarted, Progress

_HISTORY = 32
_SHORTEST_STEP_S = 1e-6


@dataclass
class Done:
    """A phase that has ended at least once: its last size and rate."""

    bytes: int
    operations: int
    rate: float
    in_bytes: bool
    times: int


@dataclass
class RunProgress:
    """The state of a run; `feed` moves it on."""

    expected_bytes: Mapping[str, int] = field(default_factory=dict)
    """Bytes of a phase, by path, where the plan knows them."""
    ranks: int = 0
    path: str = ""
    """The running phase; empty between phases."""
    repetition: int = 0
    at_s: float = 0.0
    """Seconds since the phase started."""
    limit_s: float | None = None
    bytes: int = 0
    operations: int = 0
    active: int = 0
    now_rate: float = 0.0
    """Since the progress before this one; bytes, or operations where no bytes move."""
    history: deque[float] = field(default_factory=lambda: deque(maxlen=_HISTORY))
    done: dict[str, Done] = field(default_factory=dict)

    def feed(self, event: Event) -> None:
        """Take in one event; kinds that say nothing of the course are passed over."""
        match event:
            case Hello():
                self.ranks = event.ranks
            case PhaseStarted():
                self._start(event)
            case Progress() if event.path == self.path:
                self._progress(event)
            case PhaseFinished():
                self._finish(event)
            case _:
                pass

    @property
    def in_bytes(self) -> bool:
        """Whether the running phase moves data."""
        return self.bytes > 0

    @property
    def mean_rate(self) -> float:
        """Bytes or operations per second since the phase started."""
        amount = self.bytes if self.in_bytes else self.operations
        return amount / self.at_s if self.at_s > 0 else 0.0

    @property
    def share(self) -> float | None:
        """How much of the phase is done, 0 to 1; none where nobody can know."""
        before = self.done.get(self.path)
        expected = self.expected_bytes.get(self.path) or (before.bytes if before else 0)
        shares = []
        if self.limit_s:
            shares.append(self.at_s / self.limit_s)
        if expected:
            shares.append(self.bytes / expected)
        elif before is not None and before.operations:
            shares.append(self.operations / before.operations)
        return min(max(shares), 1.0) if shares else None

    def _start(self, event: PhaseStarted) -> None:
        self.path, self.repetition = event.path, event.repetition
        self.limit_s = event.limit_s
        self.at_s, self.bytes, self.operations, self.now_rate = 0.0, 0, 0, 0.0
        self.active = self.ranks
        self.history.clear()

    def _progress(self, event: Progress) -> None:
        step_s = event.at_s - self.at_s
        moved = event.bytes - self.bytes if event.bytes else event.operations - self.operations
        if step_s > _SHORTEST_STEP_S:
            self.now_rate = max(0, moved) / step_s
            self.history.append(self.now_rate)
        self.at_s, self.active, self.repetition = event.at_s, event.active, event.repetition
        self.bytes, self.operations = event.bytes, event.operations

    def _finish(self, event: PhaseFinished) -> None:
        in_bytes = event.bytes > 0
        amount = event.bytes if in_bytes else event.operations
        total_s = event.seconds.total
        before = self.done.pop(event.path, None)
        self.done[event.path] = Done(
            bytes=event.bytes,
            operations=event.operations,
            rate=amount / total_s if total_s > 0 else 0.0,
            in_bytes=in_bytes,
            times=before.times + 1 if before else 1,
        )
        if event.path == self.path:
            self.path = ""
