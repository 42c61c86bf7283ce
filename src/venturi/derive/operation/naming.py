"""Which file of its stream an act uses: the name of its entry in the workload, and its path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from venturi.derive.operation.fit import affine, linear_text
from venturi.derive.operation.scene import Scene
from venturi.derive.operation.stream import Streams
from venturi.derive.operation.table import Table
from venturi.derive.operation.token import Tokens
from venturi.model.operation import Column
from venturi.model.workload import BareStep, DataStep, EachStep, StepSpec, SyncStep


@dataclass(frozen=True)
class Owners:
    """For each file of the table: whose it is, and the how many-th of its owner or stream."""

    owner: Column
    nth: Column


def owners_of(table: Table, tokens: Tokens, streams: Streams) -> Owners:
    """A file belongs to the rank that used it first; shared ones are counted in their stream."""
    count = len(table.paths)
    order = np.argsort(tokens.start_ns, kind="stable")[::-1]
    owner = np.zeros(count, np.int64)
    owner[tokens.file[order]] = tokens.rank[order]
    nth = np.zeros(count, np.int64)
    for stream in streams.kept:
        files = stream.files
        if stream.is_shared:
            nth[files] = np.arange(len(files))
            continue
        by_owner = np.argsort(owner[files], kind="stable")
        sorted_owner = owner[files][by_owner]
        edges = np.flatnonzero(np.concatenate([[True], sorted_owner[1:] != sorted_owner[:-1]]))
        length = np.diff(np.append(edges, len(files)))
        nth[files[by_owner]] = np.arange(len(files)) - np.repeat(edges, length)
    return Owners(owner, nth)


@dataclass(frozen=True)
class Use:
    """The file of an act."""

    name: str
    shift: int
    """Each rank uses the file of the one so many further."""
    note: str = ""


@dataclass
class Entry:
    """A file of the workload while it is written."""

    stream: int
    is_shared: bool
    index: str
    """The file's number in its stream, as an expression over loops; "0" where there is one."""

    @property
    def is_indexed(self) -> bool:
        """Whether loops choose the file."""
        return not self.index.isdigit()


@dataclass
class Names:
    """Entries by name; the same files in the same order share one."""

    owners: Owners
    streams: Streams
    entries: dict[str, Entry] = field(default_factory=dict)
    _keys: dict[tuple[bytes, int, str], str] = field(default_factory=dict)

    def use(self, stream: int, file: Column, scene: Scene) -> Use:
        """The entry for files with an axis for each loop and a last one for ranks."""
        kept = self.streams.kept[stream]
        shift, note = 0, ""
        nth = self.owners.nth[file]
        if not kept.is_shared:
            shift = self._shift(file, scene)
        index = nth[..., 0]
        fitted = affine(index)
        if np.any(nth != index[..., None]) or fitted is None:
            note = "which of its files a rank takes follows no rule; assumed in order"
            is_one = len(np.unique(file)) <= len(scene.crew)
            text = "0" if is_one else scene.turn
        else:
            text = linear_text(fitted.constant, scene.terms(fitted.slopes), is_size=False)
        return Use(
            self._name(b"" if kept.is_shared else scene.crew.ranks.tobytes(), stream, text),
            shift,
            note,
        )

    def fresh(self, stream: int, index: str = "0") -> str:
        """A new entry of the stream."""
        base = self.streams.kept[stream].name
        used = sum(1 for entry in self.entries.values() if entry.stream == stream)
        letters = "bcdefghijklmnopqrstuvwxyz"
        suffix = "" if not used else letters[used - 1] if used <= len(letters) else f"_{used}"
        name = base + suffix
        self.entries[name] = Entry(stream, self.streams.kept[stream].is_shared, index)
        return name

    def _name(self, ranks: bytes, stream: int, index: str) -> str:
        key = (ranks, stream, index)
        if key not in self._keys:
            self._keys[key] = self.fresh(stream, index)
        return self._keys[key]

    def _shift(self, file: Column, scene: Scene) -> int:
        """How many ranks further the owner of each file is; 0 where that differs."""
        if not scene.crew.is_all or len(scene.crew) < 2:
            return 0
        owner = self.owners.owner[file]
        ranks = scene.crew.world
        shift = int(owner.flat[0])
        return shift if np.all(owner == (np.arange(ranks) + shift) % ranks) else 0


def named_in(steps: Sequence[StepSpec | BareStep]) -> set[str]:
    """Entries that steps name."""
    names: set[str] = set()
    for step in steps:
        if not isinstance(step, StepSpec):
            continue
        verb = step.verb
        said = getattr(step, verb)
        if isinstance(said, str) and verb != "phase":
            names.add(said)
        elif isinstance(said, DataStep):
            names.add(str(said.to or said.from_).partition(".")[0])
        elif isinstance(said, EachStep | SyncStep):
            names.add(said.on)
        names |= named_in(step.do or [])
    return names
