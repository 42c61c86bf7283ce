"""One run of requests over all loops and ranks, and what becomes of it in the workload."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from venturi.derive.operation.beside import look_keys
from venturi.derive.operation.fit import affine, by_rank_text, linear_text
from venturi.derive.operation.memory import memory_keys
from venturi.derive.operation.pace import UNKNOWN, usual_ns
from venturi.derive.operation.scene import Scene
from venturi.derive.operation.table import TOGETHER, Table
from venturi.derive.operation.token import Tokens
from venturi.model.operation import KIND_CODES, Column, Kind
from venturi.model.plan import Interface, SyncMode
from venturi.model.units import size_text
from venturi.model.workload import BareStep, DataStep, StepSpec

Steps = list[StepSpec | BareStep]


def sync_mode(kind: int, interface: Interface) -> SyncMode:
    """What a sync of this kind's code does; that of a stream hands its buffer to the system."""
    if interface.entry.buffers:
        return SyncMode.FLUSH
    return SyncMode.FSYNC if kind == KIND_CODES[Kind.SYNC] else SyncMode.FDATASYNC


@dataclass
class Said:
    """The steps of one run, and what they mean."""

    steps: Steps
    pattern: str
    transfer: str
    rule: str
    confidence: float
    reach: Column
    """The end of what is moved in the file of each rank (one number where it is shared)."""
    notes: list[str] = field(default_factory=list)
    turns: Column | None = None
    """The end of what each turn of each rank moves, where each has a file of its own."""
    length: str = ""
    """The same as an expression of the loop around it; empty: none."""
    has_sizes: bool = True
    """Whether the sizes of requests are those of the application, and no means."""


@dataclass(frozen=True)
class Run:
    """One run as it stands in the tokens: arrays with an axis for each loop and one for ranks."""

    table: Table
    tokens: Tokens
    ids: Column
    scene: Scene
    file: str
    is_shared: bool
    shift: int
    """The rank reads in the place of the one so many further."""
    written: int | None = None
    """How far the file was written before by all; None: it was there, or this writes it."""
    span: tuple[int, int | None] = (0, None)
    """The first request of each token that its steps stand for, and the one behind the last."""

    @property
    def backward(self) -> Column:
        """Requests that go backwards."""
        return self._of(self.tokens.backward)

    @property
    def base(self) -> Column:
        """Offset of the first request, in bytes; -1: unknown."""
        return self._of(self.tokens.base)

    @property
    def bytes(self) -> Column:
        """Bytes of all requests."""
        return self._of(self.tokens.bytes)

    @property
    def count(self) -> Column:
        """Requests."""
        return self._of(self.tokens.count)

    @property
    def each(self) -> Column:
        """Sync kind after every write, plus 1; 0: none."""
        return self._of(self.tokens.each)

    @property
    def end(self) -> Column:
        """Offset behind the last byte."""
        return self._of(self.tokens.end)

    @property
    def flags(self) -> Column:
        """TOGETHER, and APPENDS where the file was opened so."""
        return self._of(self.tokens.flags)

    @property
    def jumps(self) -> Column:
        """Requests that do not follow the one before."""
        return self._of(self.tokens.jumps)

    @property
    def low(self) -> Column:
        """Lowest offset, in bytes."""
        return self._of(self.tokens.low)

    @property
    def shape(self) -> Column:
        """Hash of relative places and sizes."""
        return self._of(self.tokens.shape)

    @property
    def unit(self) -> Column:
        """Size of all requests but the last, which may be shorter; 0 where they differ."""
        return self._of(self.tokens.unit)

    def _of(self, column: Column) -> Column:
        """Return a column's values of its tokens: an axis for each loop and one for ranks."""
        return np.asarray(column[self.ids])

    @property
    def is_write(self) -> bool:
        """Whether it writes."""
        return bool(self.tokens.kind[self.ids.flat[0]] == KIND_CODES[Kind.WRITE])

    def rows(self, token: int) -> Column:
        """The table's rows of one of its tokens."""
        return self.tokens.rows_of(token)

    @property
    def datasets(self) -> set[int]:
        """The datasets that it moves data of, as in the table."""
        found = (self.table.dataset[self.rows(token)] for token in self.ids.ravel().tolist())
        return set(np.unique(np.concatenate(list(found))).tolist())

    def sizes(self) -> Column:
        """All sizes of requests; in order for a single token."""
        found = [self.table.bytes[self.rows(int(token))] for token in self.ids.ravel()]
        return np.concatenate(found)

    def reach(self) -> Column:
        """How far each rank comes; where a file is shared, all together."""
        end = self.end.reshape(-1, self.ids.shape[-1]).max(axis=0)
        return np.array([end.max()]) if self.is_shared else end

    def amount(self, values: Column, is_size: bool) -> str | int | None:
        """A number that may change with loops and ranks, as text; None where none fits."""
        found = affine(values)
        if found is not None:
            if found.is_constant:
                return size_text(found.constant) if is_size else found.constant
            *slopes, by_rank = found.slopes
            terms = [*self.scene.terms(tuple(slopes)), (by_rank, self.scene.crew.place)]
            return linear_text(found.constant, terms, is_size)
        flat = values.reshape(-1, values.shape[-1])
        if np.any(flat != flat[0]):
            return self._amount_of_turns(values, is_size)
        return by_rank_text(flat[0], self.scene.crew.place, is_size)

    def _amount_of_turns(self, values: Column, is_size: bool) -> str | None:
        """A number that one of the loops chooses, the same for all ranks; None: it is none."""
        loops = self.scene.loops
        if np.any(values != values[..., :1]) or values.ndim != len(loops) + 1:
            return None
        for axis, (variable, turns) in enumerate(loops):
            of_turn = np.moveaxis(values, axis, 0).reshape(turns, -1)
            if np.all(of_turn == of_turn[:, :1]):
                return by_rank_text(of_turn[:, 0], variable, is_size)
        return None

    def step(self, **keys: Any) -> StepSpec:
        """A `write` or `read` with these keys; what goes without saying is left out."""
        keys["to" if self.is_write else "from_"] = self.file
        if self.flags.flat[0] & TOGETHER and self.scene.crew.is_all and self.is_shared:
            keys["collective"] = True
        each = int(self.each.flat[0])
        if each:
            interface = self.table.interfaces[int(self.tokens.file[self.ids.flat[0]])]
            keys["sync"] = sync_mode(each - 1, interface)
        keys |= self._between()
        keys |= self._looks()
        if keys.get("at") in ("0 B", "0", 0):
            del keys["at"]
        data = DataStep(**keys)
        shift: dict[str, Any] = {"from_": f"shift {self.shift}"} if self.shift else {}
        return StepSpec(write=data, **shift) if self.is_write else StepSpec(read=data, **shift)

    def _between(self) -> dict[str, Any]:
        """The keys of what is done between requests, and of the memory of the first rank's."""
        rows = _rows_of_first(self.tokens, self.ids)
        keys: dict[str, Any] = {}
        if (think_ns := think_ns_of(self.table, self.tokens, self.ids)) > 0:
            keys["think"] = seconds_text(think_ns / 1e9)
        in_time = rows[np.argsort(self.table.start_ns[rows], kind="stable")]
        return keys | memory_keys(self.table, in_time)

    def _looks(self) -> dict[str, Any]:
        """The keys of the calls that move nothing beside all of its requests."""
        interface = self.table.interfaces[int(self.tokens.file[self.ids.flat[0]])]
        if not self.table.has_looks or interface.entry.is_mapping:
            return {}
        span = slice(*self.span)
        rows = np.concatenate([self.rows(int(token))[span] for token in self.ids.ravel()])
        return look_keys(self.table.seeks[rows], self.table.empty[rows])

    def at(self, text: str) -> dict[str, Any]:
        """The keys for a beginning that holds for every rank as it stands."""
        crew = self.scene.crew
        is_first = len(crew) == 1 and (not crew.is_true or int(crew.ranks[0]) == 0)
        if self.is_shared and "rank" not in text and not is_first:
            return {"at": text, "apart": False}
        return {"at": text}

    def guarded(self, steps: Steps) -> Steps:
        """Steps on a shared file that only some ranks do."""
        crew = self.scene.crew
        if not self.is_shared or crew.is_all:
            return steps
        return [StepSpec(when=crew.condition, do=steps)]


def _rows_of_first(tokens: Tokens, ids: Column) -> Column:
    """The table's rows of the first rank's tokens."""
    of_first = ids.reshape(-1, ids.shape[-1])[:, 0].tolist()
    return np.concatenate([tokens.rows_of(one) for one in of_first])


def think_ns_of(table: Table, tokens: Tokens, ids: Column) -> float:
    """How long the ranks compute before each request of these tokens, as their steps tell it; 0
    where they do not."""
    paced = tokens.think_ns[ids]
    computed = table.computing_ns[_rows_of_first(tokens, ids)]
    if np.count_nonzero(paced) * 2 <= paced.size:
        return usual_ns(computed)
    pace_ns = float(np.mean(paced[paced > 0]))
    known = computed[computed != UNKNOWN]
    return min(pace_ns, float(np.mean(known))) if len(known) else pace_ns


def seconds_text(seconds: float) -> str:
    """A duration with three digits."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= scale:
            return f"{float(f'{seconds / scale:.3g}'):g} {unit}"
    return f"{max(seconds, 0.0) / 1e-9:.0f} ns"
