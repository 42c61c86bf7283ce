"""A sheet: many points of a profile in one start of the engine, as a workload.

Each family of phases measures several manners at one size, in the order in which an application
meets them: data are made, synced, read again, replaced, dropped from the cache and read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from venturi.model.document import parse_data
from venturi.model.interface import DEFAULT_INTERFACE
from venturi.model.plan import Interface, OperationKind
from venturi.model.profile import (
    MUCH_MEMORY_BYTES,
    AccessClass,
    ContextEffect,
    DataState,
    FileSharing,
    Order,
    Volume,
)
from venturi.model.workload import Workload

_KIB, _MIB = 1024, 1024**2
_MOST_CALLS = 16_384
_COLLECTIVE_CALLS = 2_048
"""Ranks wait for each other in each of these."""
_RANDOM_CALLS = 8_192
_COLD_CALLS = 512
_FEWEST_CALLS = 4
_FEWEST_ITEMS = 2
SMALL_BYTES = _MIB
_TURNS = 12
_THINKS_S = (1e-7, 1e-6, 5e-6, 5e-5, 5e-4)
"""Computing before each call: the shortest leaves all in the processor's caches, the longest
nothing."""
_PACED_CALLS = 400
_PACED_S = 0.02
"""Of computing in one phase."""
_FEWEST_PACED = 40
_BLOCK = 4 * _KIB
_CONTEXT_EFFECT_CALLS = 1_024


class Family(StrEnum):
    """Phases that belong together at one size."""

    STREAM = "stream"
    SMALL = "small"
    """Streams of a megabyte, repeatedly: they stay in the processor's caches."""
    STRIDED = "strided"
    RANDOM = "random"
    EACH = "each"
    """A sync after every write."""
    PACED = "paced"
    """Calls with computing between them, which find less in the processor's caches."""
    CONTEXT_EFFECT = "context_effect"
    """Calls that differ from a plain loop, and one beside them."""
    ITEM = "item"
    """Files that are moved at once, and names."""


@dataclass(frozen=True)
class Setup:
    """What one start of the engine fixes."""

    ranks: int
    place: FileSharing
    interface: Interface = DEFAULT_INTERFACE
    collective: bool = False

    @property
    def text(self) -> str:
        """In words, for progress and the journal."""
        who = "1 rank" if self.ranks == 1 else f"{self.ranks} ranks"
        files = "own files" if self.place is FileSharing.OWN else "shared"
        together = " collective" if self.collective else ""
        return f"{who}, {files}, {self.interface.value}{together}"


@dataclass(frozen=True)
class MatrixCell:
    """One family at one size: what is measured together."""

    family: Family
    bytes: int


@dataclass(frozen=True)
class CellReading:
    """What the operations of one kind in a phase tell."""

    operation: OperationKind
    access: AccessClass
    bytes: int


@dataclass
class MeasurementMatrix:
    """A workload and how its record is read: by a phase's path."""

    setup: Setup
    cells: tuple[MatrixCell, ...]
    workload: Workload
    readings: dict[str, list[CellReading]]


@dataclass
class _MatrixDraft:
    """A workload that grows phase by phase."""

    setup: Setup
    volume_bytes: int
    files: dict[str, Any] = field(default_factory=dict)
    phases: list[dict[str, Any]] = field(default_factory=list)
    readings: dict[str, list[CellReading]] = field(default_factory=dict)

    def file(self, name: str, **more: Any) -> None:
        shared = "rank" if self.setup.place is FileSharing.OWN else "all"
        entry = {"path": name, "shared": shared, **more}
        if "tree" not in more:
            entry["interface"] = self.setup.interface.value
        self.files[name] = entry

    def moves(self, name: str, **access: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """The write of a file's requests, and their read."""
        if self.setup.collective:
            access["collective"] = True
        return {"write": {"to": name, **access}}, {"read": {"from": name, **access}}

    def calls(self, size_bytes: int) -> int:
        """Calls of one rank that stream a file."""
        most = _COLLECTIVE_CALLS if self.setup.collective else _MOST_CALLS
        return calls_for(size_bytes, self.volume_bytes, most)

    def phase(
        self, path: str, steps: list[dict[str, Any]], *readings: CellReading, cold: bool = False
    ) -> None:
        phase: dict[str, Any] = {"phase": path, "do": steps}
        if cold:
            phase["cache"] = "drop"
        self.phases.append(phase)
        self.readings[path] = list(readings)

    def reading(
        self,
        operation: OperationKind,
        order: Order,
        state: DataState,
        size_bytes: int,
        volume: Volume = Volume.LARGE,
        think_s: float = 0.0,
        context_effect: ContextEffect = ContextEffect.NONE,
    ) -> CellReading:
        moves = operation in (OperationKind.WRITE, OperationKind.READ)
        access = AccessClass(
            operation=operation,
            order=order,
            place=self.setup.place,
            interface=self.setup.interface,
            state=state,
            volume=volume,
            collective=self.setup.collective and moves,
            think_s=think_s,
            context_effect=context_effect,
        )
        return CellReading(operation, access, size_bytes)

    def names(self, *operations: OperationKind) -> list[CellReading]:
        """What names cost through a library; those of posix are measured on many files."""
        if self.setup.interface is DEFAULT_INTERFACE:
            return []
        return [self.reading(each, Order.ITEM, DataState.NONE, 0) for each in operations]


def matrix_of(setup: Setup, cells: Iterable[MatrixCell], volume_bytes: int) -> MeasurementMatrix:
    """The workload that measures these cells; each rank moves about `volume_bytes` per phase."""
    chosen = tuple(cells)
    draft = _MatrixDraft(setup, volume_bytes)
    if any(cell.family is Family.RANDOM for cell in chosen):
        _base(draft)
    for cell in chosen:
        _FAMILIES[cell.family](draft, cell.bytes)
    data = {
        "workload": 1,
        "name": "profile",
        "groups": {"tasks": {"ranks": setup.ranks}},
        "files": draft.files,
        "program": {"tasks": draft.phases},
    }
    return MeasurementMatrix(setup, chosen, parse_data(Workload, data), draft.readings)


def calls_for(size_bytes: int, volume_bytes: int, most: int) -> int:
    """Calls of one rank in a phase: enough to time, not more than the volume asks for."""
    return max(_FEWEST_CALLS, min(most, volume_bytes // size_bytes))


_WRITE, _READ, _SYNC = OperationKind.WRITE, OperationKind.READ, OperationKind.SYNC


def _stream(draft: _MatrixDraft, size: int) -> None:
    name, calls = f"stream{size}", draft.calls(size)
    part, order = calls * size, Order.SEQUENTIAL
    draft.file(name)
    write, read = draft.moves(name, transfer=size, size=part)
    sync = {"sync": {"on": name, "mode": "fsync"}}
    draft.phase(
        f"new-{size}",
        [{"create": name}, write, sync, {"close": name}],
        draft.reading(_WRITE, order, DataState.NEW, size),
        draft.reading(_SYNC, order, DataState.NEW, part),
        *draft.names(OperationKind.CREATE, OperationKind.CLOSE),
    )
    draft.phase(
        f"again-{size}",
        [{"open": name}, read, sync, {"close": name}],
        draft.reading(_READ, order, DataState.CACHED, size),
        *draft.names(OperationKind.OPEN, OperationKind.CLOSE),
    )
    draft.phase(
        # A read may have left a time of access to write; only this sync has nothing at all.
        f"still-{size}",
        [{"open": name}, sync, {"close": name}],
        draft.reading(_SYNC, order, DataState.NEW, 0),
        draft.reading(_SYNC, order, DataState.CACHED, 0),
    )
    draft.phase(
        f"over-{size}",
        [{"open": name}, write, sync, {"close": name}],
        draft.reading(_WRITE, order, DataState.CACHED, size),
        draft.reading(_SYNC, order, DataState.CACHED, part),
    )
    draft.phase(
        f"cold-{size}",
        [{"open": name}, read, {"close": name}],
        draft.reading(_READ, order, DataState.COLD, size),
        cold=True,
    )
    draft.phase(f"gone-{size}", [{"unlink": name}])


def _small(draft: _MatrixDraft, size: int) -> None:
    name, order, part = f"small{size}", Order.SEQUENTIAL, max(SMALL_BYTES, size)
    draft.file(name)
    write, read = draft.moves(name, transfer=size, size=part)
    turn = [{"create": name}, write, read, {"close": name}, {"unlink": name}]
    draft.phase(
        f"small-{size}",
        [{"for": "turn", "in": _TURNS, "do": turn}],
        draft.reading(_WRITE, order, DataState.NEW, size, Volume.SMALL),
        draft.reading(_READ, order, DataState.CACHED, size, Volume.SMALL),
    )
    draft.phase(f"small-made-{size}", [{"create": name}, write, {"close": name}])
    draft.phase(
        f"small-over-{size}",
        [{"open": name}, {"for": "turn", "in": _TURNS, "do": [write]}, {"close": name}],
        draft.reading(_WRITE, order, DataState.CACHED, size, Volume.SMALL),
    )
    draft.phase(f"small-gone-{size}", [{"unlink": name}])


def _strided(draft: _MatrixDraft, size: int) -> None:
    name, calls = f"strided{size}", draft.calls(size)
    draft.file(name)
    write, read = draft.moves(name, pattern="strided", transfer=size, count=calls)
    sync = {"sync": {"on": name, "mode": "fsync"}}
    draft.phase(
        f"strided-new-{size}",
        [{"create": name}, write, sync, {"close": name}],
        draft.reading(_WRITE, Order.STRIDED, DataState.NEW, size),
    )
    draft.phase(
        f"strided-again-{size}",
        [{"open": name}, read, {"close": name}],
        draft.reading(_READ, Order.STRIDED, DataState.CACHED, size),
    )
    draft.phase(
        f"strided-over-{size}",
        [{"open": name}, write, sync, {"close": name}],
        draft.reading(_WRITE, Order.STRIDED, DataState.CACHED, size),
    )
    draft.phase(
        f"strided-cold-{size}",
        [{"open": name}, read, {"close": name}],
        draft.reading(_READ, Order.STRIDED, DataState.COLD, size),
        cold=True,
    )
    draft.phase(f"strided-gone-{size}", [{"unlink": name}])


def _base(draft: _MatrixDraft) -> None:
    """The file of random access, made by large writes: how it was made shows in what follows."""
    draft.file("base")
    part = _region(draft)
    draft.phase(
        "base",
        [
            {"create": "base"},
            {"write": {"to": "base", "transfer": min(part, _MIB), "size": part}},
            {"sync": {"on": "base", "mode": "fsync"}},
            {"close": "base"},
        ],
    )


def _region(draft: _MatrixDraft) -> int:
    return 2 * draft.volume_bytes


def _random(draft: _MatrixDraft, size: int) -> None:
    region, order = _region(draft), Order.RANDOM

    def move(calls: int) -> dict[str, Any]:
        return {"pattern": "random", "transfer": size, "size": region, "count": calls}

    warm = min(calls_for(size, draft.volume_bytes, _RANDOM_CALLS), region // size)
    cold = min(calls_for(size, draft.volume_bytes, _COLD_CALLS), region // size)
    dirty = min(warm * max(size, _BLOCK), region)
    sync = {"sync": {"on": "base", "mode": "fsync"}}
    draft.phase(
        f"random-cold-{size}",
        [{"open": "base"}, {"read": {"from": "base", **move(cold)}}, {"close": "base"}],
        draft.reading(_READ, order, DataState.COLD, size),
        cold=True,
    )
    whole = {"from": "base", "transfer": min(region, _MIB), "size": region}
    draft.phase(f"random-warm-{size}", [{"open": "base"}, {"read": whole}, {"close": "base"}])
    draft.phase(
        f"random-read-{size}",
        [{"open": "base"}, {"read": {"from": "base", **move(warm)}}, {"close": "base"}],
        draft.reading(_READ, order, DataState.CACHED, size),
    )
    draft.phase(
        f"random-write-{size}",
        [{"open": "base"}, {"write": {"to": "base", **move(warm)}}, sync, {"close": "base"}],
        draft.reading(_WRITE, order, DataState.CACHED, size),
        draft.reading(_SYNC, order, DataState.CACHED, dirty),
    )


def _each(draft: _MatrixDraft, size: int) -> None:
    name = f"each{size}"
    calls = calls_for(size, draft.volume_bytes // 4, 48)
    draft.file(name)
    step = {"to": name, "transfer": size, "count": calls, "sync": "fsync"}
    draft.phase(
        f"each-{size}",
        [{"create": name}, {"write": step}, {"close": name}],
        draft.reading(_SYNC, Order.SEQUENTIAL, DataState.NEW, size),
    )
    draft.phase(
        f"each-over-{size}",
        [{"open": name}, {"write": step}, {"close": name}],
        draft.reading(_SYNC, Order.SEQUENTIAL, DataState.CACHED, size),
    )
    draft.phase(f"each-gone-{size}", [{"unlink": name}])


def _paced(draft: _MatrixDraft, size: int) -> None:
    """The same calls with more and more computing before each."""
    for number, think_s in enumerate(_THINKS_S):
        calls = max(_FEWEST_PACED, min(_PACED_CALLS, round(_PACED_S / think_s)))
        steps = _paced_data if size else _paced_names
        steps(draft, f"paced{number}_{size}", size, calls, think_s)


def _paced_data(draft: _MatrixDraft, name: str, size: int, calls: int, think_s: float) -> None:
    draft.file(name)
    write, read = draft.moves(name, transfer=size, count=calls, think=_seconds(think_s))
    for verb, step, operation, state in (
        ("new", write, _WRITE, DataState.NEW),
        ("again", read, _READ, DataState.CACHED),
    ):
        opened = {"create" if verb == "new" else "open": name}
        draft.phase(
            f"{name}-{verb}",
            [opened, step, {"close": name}],
            draft.reading(operation, Order.SEQUENTIAL, state, size, think_s=think_s),
        )
    draft.phase(f"{name}-gone", [{"unlink": name}])


def _paced_names(draft: _MatrixDraft, name: str, size: int, calls: int, think_s: float) -> None:
    draft.file(name, path=f"{name}.{{i}}")
    kind = OperationKind

    def each(*verbs: str) -> list[dict[str, Any]]:
        pace = {"compute": _seconds(think_s)}
        steps = [step for verb in verbs for step in (pace, {verb: name})]
        return [{"for": "i", "in": calls, "do": steps}]

    for verbs, operations in (
        (("create", "close"), (kind.CREATE,)),
        (("stat",), (kind.STAT,)),
        (("miss",), (kind.MISS,)),
        (("open", "close"), (kind.OPEN, kind.CLOSE)),
        (("unlink",), (kind.UNLINK,)),
    ):
        told = (
            draft.reading(operation, Order.ITEM, DataState.NONE, size, think_s=think_s)
            for operation in operations
        )
        draft.phase(f"{name}-{verbs[0]}", each(*verbs), *told)


def _seconds(think_s: float) -> str:
    return f"{1e9 * think_s:.0f} ns"


def _context_effect(draft: _MatrixDraft, size: int) -> None:
    """Equal streams but for one thing each, right after each other; then two that take turns."""
    calls = calls_for(size, draft.volume_bytes // 2, _CONTEXT_EFFECT_CALLS)
    much = {"memory": MUCH_MEMORY_BYTES}
    off = size - size // 43
    plain = f"{ContextEffect.PLAIN.value}{size}"
    _with_context_effect(draft, plain, ContextEffect.PLAIN, (size, calls))
    _with_context_effect(
        draft, f"{ContextEffect.OFF_PAGE.value}{size}", ContextEffect.OFF_PAGE, (off, calls)
    )
    _with_context_effect(
        draft, f"{ContextEffect.MEMORY.value}{size}", ContextEffect.MEMORY, (size, calls), **much
    )
    fresh = {"read": {"from": plain, "transfer": size, "count": calls, "fresh": 1.0, **much}}
    draft.phase(
        f"{plain}-fresh",
        [{"open": plain}, fresh, {"close": plain}],
        draft.reading(
            _READ, Order.SEQUENTIAL, DataState.CACHED, size, context_effect=ContextEffect.FRESH
        ),
    )
    other = f"{ContextEffect.IN_TURN.value}{size}"
    draft.file(other)
    turn = [
        {"read": {"from": plain, "size": size, "at": f"{size} * i"}},
        {"write": {"to": other, "size": size, "at": f"{size} * i"}},
    ]
    draft.phase(
        f"{other}-both",
        [
            {"open": plain},
            {"create": other},
            {"for": "i", "in": calls, "do": turn},
            {"close": plain},
            {"close": other},
        ],
        draft.reading(
            _READ, Order.SEQUENTIAL, DataState.CACHED, size, context_effect=ContextEffect.IN_TURN
        ),
        draft.reading(
            _WRITE, Order.SEQUENTIAL, DataState.NEW, size, context_effect=ContextEffect.IN_TURN
        ),
    )
    kinds = (
        ContextEffect.PLAIN,
        ContextEffect.OFF_PAGE,
        ContextEffect.MEMORY,
        ContextEffect.IN_TURN,
    )
    draft.phase(f"{plain}-gone", [{"unlink": f"{kind.value}{size}"} for kind in kinds])


def _with_context_effect(
    draft: _MatrixDraft,
    name: str,
    context_effect: ContextEffect,
    stream: tuple[int, int],
    **more: Any,
) -> None:
    """A stream of so many bytes and calls, new, read and replaced."""
    size, calls = stream
    draft.file(name)
    write, read = draft.moves(name, transfer=size, count=calls, **more)
    for verb, step, operation, state in (
        ("new", write, _WRITE, DataState.NEW),
        ("again", read, _READ, DataState.CACHED),
        ("over", write, _WRITE, DataState.CACHED),
    ):
        opened = {"create" if verb == "new" else "open": name}
        draft.phase(
            f"{name}-{verb}",
            [opened, step, {"close": name}],
            draft.reading(operation, Order.SEQUENTIAL, state, size, context_effect=context_effect),
        )


def _item(draft: _MatrixDraft, size: int) -> None:
    name, kind = f"item{size}", OperationKind
    calls = max(_FEWEST_ITEMS, min(1000, draft.volume_bytes // 2 // max(size, 16 * _KIB)))
    draft.file(name, tree={"depth": 0, "items": calls, "size": size})

    def verbs(*words: str) -> list[dict[str, Any]]:
        return [{"each": {"on": name, "do": list(words)}}]

    def of(operation: OperationKind, state: DataState = DataState.NONE) -> CellReading:
        return draft.reading(operation, Order.ITEM, state, size)

    moves = [("write", "read")] if size else []
    made = [of(_WRITE, DataState.NEW)] if size else []
    read = [of(_READ, DataState.CACHED)] if size else []
    make = ("create", *(w for w, _ in moves), "close")
    look = ("open", *(r for _, r in moves), "close")
    draft.phase(f"make-{size}", verbs(*make), of(kind.CREATE), of(kind.CLOSE), *made)
    draft.phase(f"stat-{size}", verbs("stat"), of(kind.STAT))
    draft.phase(f"look-{size}", verbs(*look), of(kind.OPEN), *read)
    if size:
        draft.phase(f"look-cold-{size}", verbs(*look), of(_READ, DataState.COLD), cold=True)
        _copies(draft, name, calls, size)
    if size == 0:
        draft.file("absent", path="absent.{i}")
        asks = [{"for": "i", "in": calls, "do": [{"miss": "absent"}]}]
        draft.phase("miss-0", asks, of(kind.MISS))
        draft.phase("rename-0", verbs("rename"), of(kind.RENAME))
        draft.phase("attribute-0", verbs("set_times"), of(kind.SET_ATTRIBUTE))
        draft.phase("link-0", verbs("link"), of(kind.LINK))
        draft.phase("symlink-0", verbs("symlink"), of(kind.SYMLINK))
        draft.phase("links-gone-0", verbs("unlink_link", "unlink_symlink"))
    draft.phase(f"remove-{size}", verbs("unlink"), of(kind.UNLINK))
    if size == 0:
        tree = {"depth": 0, "items": calls, "kind": "directory"}
        draft.file("directories", tree=tree)
        each = {"on": "directories"}
        draft.phase("mkdir-0", [{"each": {**each, "do": ["mkdir"]}}], of(kind.MKDIR))
        draft.phase("rmdir-0", [{"each": {**each, "do": ["rmdir"]}}], of(kind.RMDIR))
        _seeks(draft, calls)


def _seeks(draft: _MatrixDraft, calls: int) -> None:
    """Seeks, one before each read of a small file."""
    name, size = "sought", 512
    draft.file(name)
    write, read = draft.moves(name, transfer=size, count=calls)
    sought = {"read": {**read["read"], "seeks": 1}}
    draft.phase("sought-0", [{"create": name}, write, {"close": name}])
    draft.phase(
        "seek-0",
        [{"open": name}, sought, {"close": name}],
        draft.reading(OperationKind.SEEK, Order.ITEM, DataState.NONE, 0),
    )
    draft.phase("sought-gone", [{"unlink": name}])


def _copies(draft: _MatrixDraft, source: str, calls: int, size: int) -> None:
    """Copies of files that are not written out yet, and of the same ones again, which are.

    The storage shows whether it shares blocks or copies; where neither is, it reads and writes.
    """
    for way, state in (("copied", DataState.NEW), ("again", DataState.CACHED)):
        target = f"{way}{size}"
        draft.file(target, tree={"depth": 0, "items": calls, "size": size})
        draft.phase(
            f"copy-{target}",
            [{"each": {"on": target, "from": source, "do": ["copy"]}}],
            *(
                draft.reading(operation, Order.ITEM, state, size)
                for operation in (OperationKind.CLONE, OperationKind.COPY)
            ),
        )
        draft.phase(f"gone-{target}", [{"each": {"on": target, "do": ["unlink"]}}])


_FAMILIES: dict[Family, Callable[[_MatrixDraft, int], None]] = {
    Family.STREAM: _stream,
    Family.SMALL: _small,
    Family.STRIDED: _strided,
    Family.RANDOM: _random,
    Family.EACH: _each,
    Family.PACED: _paced,
    Family.CONTEXT_EFFECT: _context_effect,
    Family.ITEM: _item,
}
