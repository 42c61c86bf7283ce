"""A program of loops and conditions as the steps of a workload."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from venturi.derive.nest.call import COMPUTE, DATA, RankCalls
from venturi.derive.nest.fit import RANKS, Fit
from venturi.derive.nest.position import PositionMove
from venturi.derive.nest.price import LoopScope, StatementText, count_of, said_of
from venturi.derive.nest.tree import ABSENT, LoopNode, Node, Statement, in_shape, statements
from venturi.derive.operation.attribute import item_verb_of
from venturi.derive.operation.memory import memory_keys
from venturi.derive.operation.pace import least_rest_ns, usual_ns
from venturi.derive.operation.run import Steps, seconds_text, sync_mode
from venturi.derive.operation.table import Table
from venturi.model.expression import (
    Compiled,
    compile_tree,
    compiled,
    names_in,
    parse,
)
from venturi.model.operation import KIND_CODES, KINDS, Column, Kind
from venturi.model.plan import SyncMode
from venturi.model.units import size_text
from venturi.model.workload import (
    DataStep,
    PatternKind,
    RenameStep,
    StepSpec,
    SyncStep,
    TruncateStep,
    Value,
)

NameOf = Callable[[int, str, bool], str]
"""The name of an entry, for a family, the expression that says which of it, and whether the call
makes the file."""


class Unsaid(Exception):
    """What these words cannot say."""


@dataclass(frozen=True)
class StepWriter:
    """Writes the steps; `name_of` keeps the entries."""

    calls: RankCalls
    table: Table
    name_of: NameOf
    _used: dict[int, list[str]] = field(default_factory=lambda: defaultdict(list))
    """Of each family, the expressions that chose a file so far."""

    def steps(self, nodes: list[Node], scope: LoopScope) -> Steps:
        """The steps of a list of nodes. Raises Unsaid."""
        told: list[tuple[str, Steps]] = []
        rests: list[Column] = []
        """Computing before each call of a node that no step tells yet, in seconds."""
        for node in nodes:
            if isinstance(node, Statement):
                when, steps = self._statement(node, scope)
            else:
                when, steps = self._loop(node, scope)
            told.append((when, steps))
            first = steps[0]
            is_loop = isinstance(first, StepSpec) and first.for_ is not None
            rests.append(np.zeros(0) if is_loop else self._rests_s(node))
        rest_s = np.concatenate(rests)
        longest = max(range(len(nodes)), key=lambda number: float(rests[number].sum()))
        least_s = least_rest_ns(self.table.span_ns, len(rest_s)) / 1e9
        out: Steps = []
        for number, (when, steps) in enumerate(told):
            if number == longest and rest_s.sum() >= least_s:
                mean = seconds_text(float(rest_s.sum()) / _times(nodes[number]))
                _add(out, when, [StepSpec(compute=mean)])
            _add(out, when, steps)
        return out

    def _rests_s(self, node: Node) -> Column:
        """Computing before the calls of a step that neither stands by itself nor is told with it,
        in seconds; it may be less than none."""
        (statement,) = [node] if isinstance(node, Statement) else statements([node])
        rows = statement.calls
        told_s = self._think_s(rows) if int(self.calls.kind[rows[0]]) in DATA else 0.0
        rest: Column = self.calls.rest[rows] - told_s
        return rest

    def _think_s(self, rows: Column) -> float:
        """How long a rank computes before each of these requests."""
        at_once = self.calls.kind[np.maximum(rows - 1, 0)] != COMPUTE
        return usual_ns(self.table.computing_ns[self.calls.row[rows[at_once]]]) / 1e9

    def _loop(self, loop: LoopNode, scope: LoopScope) -> tuple[str, Steps]:
        when, count = count_of(loop, scope)
        if when is None or count is None:
            raise Unsaid("a loop's turns")
        inner = scope.inside(loop.count)
        short = self._in_one_step(loop, inner, count)
        if short is not None:
            return when.text, [short]
        body = self.steps(loop.body, inner)
        return when.text, [StepSpec(for_=inner.names[-1], in_=_value(count), do=body)]

    def _in_one_step(self, loop: LoopNode, inner: LoopScope, count: Fit) -> StepSpec | None:
        """Requests of one size that follow each other, as one step."""
        only = loop.body[0]
        if len(loop.body) > 1 or not isinstance(only, Statement):
            return None
        said = said_of(only, inner, self.calls)
        rows = only.calls
        kind = int(self.calls.kind[rows[0]])
        if kind not in DATA or not said.is_whole:
            return None
        assert said.when is not None
        assert said.size is not None
        assert said.place is not None
        variable = inner.names[-1]
        texts = (said.when.text, said.ordinal.text if said.ordinal else "", said.size.text)
        if said.when.text or any(variable in text for text in texts):
            return None
        keys: dict[str, Any] = {"transfer": _size(said.size), "count": _value(count)}
        if said.place.text:
            at = _behind_each_other(said.place.text, said.size.text, variable)
            if at is None:
                return None
            keys |= at
        return self._data(only, said, inner, keys)

    def _statement(self, statement: Statement, scope: LoopScope) -> tuple[str, Steps]:
        said = said_of(statement, scope, self.calls)
        if not said.is_whole:
            raise Unsaid("numbers without a rule")
        assert said.when is not None
        assert said.ordinal is not None
        row = int(statement.calls[0])
        kind = int(self.calls.kind[row])
        if kind == COMPUTE:
            assert said.seconds is not None
            plain = said.seconds.text
            text = seconds_text(float(plain)) if not plain.startswith("pick") else plain
            return said.when.text, [StepSpec(compute=text)]
        if kind in DATA:
            assert said.size is not None
            assert said.place is not None
            keys: dict[str, Any] = {"size": _size(said.size)}
            if said.place.text not in ("", "0"):
                keys["at"] = _size(said.place)
            return said.when.text, [self._data(statement, said, scope, keys)]
        return said.when.text, [self._named(kind, statement, said, scope)]

    def _name(self, statement: Statement, said: StatementText, scope: LoopScope) -> str:
        row = int(statement.calls[0])
        assert said.ordinal is not None
        makes = bool(self.calls.makes[row]) or self.calls.kind[row] == KIND_CODES[Kind.MKDIR]
        slot = int(self.calls.slot[row])
        which = self._as_before(slot, said.ordinal.text, statement, scope)
        return self.name_of(slot, which, makes)

    def _as_before(self, slot: int, which: str, statement: Statement, scope: LoopScope) -> str:
        """An expression that chose a file of the family before and is right here too: what is
        opened by one name is not closed by another. Else `which`."""
        used = self._used[slot]
        if which in used:
            return which
        at = in_shape(statement.at, scope.valid.shape, ABSENT)
        ordinals = self.calls.ordinal[at[at != ABSENT]].tolist()
        turns = np.argwhere(at != ABSENT).tolist()
        for text in used:
            chosen = _chosen_by(text, (*scope.names, RANKS))
            if chosen and all(
                chosen([*turn, self.calls.ranks]) == ordinal
                for turn, ordinal in zip(turns, ordinals, strict=True)
            ):
                return text
        if not which.isdigit():
            used.append(which)
        return which

    def _named(
        self, kind: int, statement: Statement, said: StatementText, scope: LoopScope
    ) -> StepSpec:
        row, name = int(statement.calls[0]), self._name(statement, said, scope)
        match KINDS[kind]:
            case Kind.OPEN:
                return StepSpec(create=name) if self.calls.makes[row] else StepSpec(open=name)
            case Kind.CLOSE | Kind.STAT | Kind.MISS | Kind.UNLINK | Kind.MKDIR | Kind.RMDIR as word:
                return StepSpec.model_validate({word.value: name})
            case Kind.RENAME:
                assert said.to is not None
                to = self.name_of(int(self.calls.to_slot[row]), said.to.text, True)
                return StepSpec(rename=RenameStep(on=name, to=to))
            case Kind.TRUNCATE:
                assert said.place is not None
                if said.place.text == "0":
                    return StepSpec(truncate=name)
                return StepSpec(truncate=TruncateStep(on=name, size=_size(said.place)))
            case Kind.ATTRIBUTE:
                verb = item_verb_of(int(self.calls.about[row]))
                return StepSpec.model_validate({verb.value: name})
            case Kind.SYNC | Kind.DATA_SYNC:
                interface = self.table.interfaces[int(self.table.file[int(self.calls.row[row])])]
                mode: SyncMode = sync_mode(kind, interface)
                return StepSpec(sync=SyncStep(on=name, mode=mode))
            case other:
                raise Unsaid(other.value)

    def _data(
        self, statement: Statement, said: StatementText, scope: LoopScope, keys: dict[str, Any]
    ) -> StepSpec:
        rows = np.sort(statement.calls)
        moves = self.calls.move[rows]
        assert said.place is not None
        if self.calls.appends[rows[0]]:
            keys = {
                "transfer": keys.pop("size", None),
                "count": 1,
                "pattern": PatternKind.APPEND,
            } | keys
        elif not said.place.text:
            keys["pattern"] = PatternKind.SEQUENTIAL
        elif np.all(moves == PositionMove.JUMP):
            keys = {"at": 0, "pattern": PatternKind.SEQUENTIAL} | keys
        is_shared = self.calls.families[int(self.calls.slot[rows[0]])].is_shared
        if is_shared and "pattern" not in keys and not re.search(r"\brank\b", str(keys.get("at"))):
            keys["apart"] = False
        keys |= memory_keys(self.table, self.calls.row[rows])
        think_s = self._think_s(rows)
        if think_s:
            keys["think"] = seconds_text(think_s)
        name = self._name(statement, said, scope)
        if int(self.calls.kind[rows[0]]) == KIND_CODES[Kind.WRITE]:
            return StepSpec(write=DataStep(to=name, **keys))
        return StepSpec(read=DataStep.model_validate({"from": name, **keys}))


@lru_cache(maxsize=4096)
def _chosen_by(text: str, names: tuple[str, ...]) -> Compiled | None:
    """What an expression gives for values of these names; None where it needs others."""
    tree = parse(text)
    if not names_in(tree) <= set(names):
        return None
    return compiled(compile_tree(tree, {name: number for number, name in enumerate(names)}))


def _times(node: Node) -> int:
    """How often a step is done."""
    return len(node.calls) if isinstance(node, Statement) else int(np.count_nonzero(node.count))


def _add(out: Steps, when: str, steps: Steps) -> None:
    """Adds steps; those under one condition stand below it together."""
    if not when:
        out += steps
        return
    last = out[-1] if out else None
    if isinstance(last, StepSpec) and last.when == when and last.do is not None:
        out[-1] = StepSpec(when=when, do=[*last.do, *steps])
        return
    out.append(StepSpec(when=when, do=steps))


def _value(fit: Fit) -> Value:
    return int(fit.text) if fit.is_constant else fit.text


def _size(fit: Fit) -> Value:
    return size_text(int(fit.text)) if fit.is_constant else fit.text


def _behind_each_other(place: str, size: str, variable: str) -> dict[str, Any] | None:
    """Where requests begin that lie behind each other in the turns of a loop; None where they do
    not."""
    if not size.isdigit():
        return None
    rise = variable if size == "1" else f"{size} * {variable}"
    if place == rise:
        return {}
    for text in (f" + {rise}", f"{rise} + "):
        if place.endswith(text) and text.startswith(" "):
            rest = place.removesuffix(text)
        elif place.startswith(text) and not text.startswith(" "):
            rest = place.removeprefix(text)
        else:
            continue
        if variable not in rest.split():
            return {"at": int(rest) if rest.isdigit() else rest}
    return None
