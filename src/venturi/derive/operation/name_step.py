"""What is done to names: opening, closing, removing, renaming, and cutting files to a size.

A file is opened before it is used and closed where it was opened. One that was made under another
name and renamed is made under an entry of its own, and gets its name where it got it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from venturi.derive.operation.apart import Apart
from venturi.derive.operation.attribute import attribute_of
from venturi.derive.operation.linked import link_verb_of
from venturi.derive.operation.naming import Choice, Names, Use
from venturi.derive.operation.run import Run, Steps
from venturi.derive.operation.scene import Scene
from venturi.derive.operation.state import State
from venturi.derive.operation.stream import Streams
from venturi.derive.operation.table import (
    ASIDE,
    CREATES,
    TRUNCATES,
    Table,
)
from venturi.derive.operation.token import Tokens
from venturi.model.operation import KIND_CODES, KINDS, Column, Kind
from venturi.model.workload import VERBS, RenameStep, StepSpec, TruncateStep

_AGAIN = frozenset("%/")
"""What a number that loops give may have if the same one comes again."""


@dataclass
class NameSteps:
    """Writes the steps on names; `state` is what they leave."""

    table: Table
    tokens: Tokens
    streams: Streams
    names: Names
    staged: dict[str, int]
    lasting: set[int]
    """Streams of which nothing that was there before may be removed; more may be found."""
    notes: Counter[str]
    apart: Apart
    state: State = field(default_factory=State)
    made_before: list[str] = field(default_factory=list)
    """Entries whose one file the first turn of a loop makes and others find: they are made before
    the loop, and closed."""
    implied: list[StepSpec] = field(default_factory=list)
    """Openings of single files that the application did not make here."""

    def open(self, ids: Column, scene: Scene, use: Use, out: Steps) -> None:
        """An opening; what is open already stays so."""
        state, name = self.state, use.name
        if name in state.opened:
            self._note(f"{name}: opened while it is open already, which is left out")
            return
        flags = int(np.bitwise_or.reduce(self.tokens.flags[ids].ravel()))
        is_there = name in state.made
        if flags & ASIDE and flags & CREATES and self._may_be_aside(name):
            is_there = name in state.aside and self.names.entries[name].is_shared
            state.aside.add(name)
        creates = bool(flags & CREATES) and (not is_there or bool(flags & TRUNCATES))
        is_first = self.tokens.flags[ids] & CREATES > 0
        if creates and scene.loops and not np.all(is_first) and not self._is_indexed(name):
            self.made_before.append(name)
            state.made[name] = ()
            creates = False
        self.opened(name, creates, scene, use, out)

    def opened(self, name: str, creates: bool, scene: Scene, use: Use, out: Steps) -> None:
        """Opens a file, or makes it; what was not made must be there before the run."""
        state = self.state
        is_there = name in self.staged
        if not creates and not is_there and name not in state.made:
            self.staged.setdefault(name, 0)
            is_there = True
        state.opened[name] = len(scene.loops)
        if not scene.crew.is_all and not self.names.entries[name].is_shared:
            state.conditions[name] = scene.crew.condition
        if creates and not is_there:
            state.made[name] = scene.loops
            state.forget(name)
            out.append(StepSpec(create=state.said(name, self.names), **_shifted(use)))
        else:
            out.append(StepSpec(open=state.said(name, self.names), **_shifted(use)))

    def imply(self, name: str, creates: bool, scene: Scene, use: Use, out: Steps) -> None:
        """Opens what is used without having been opened."""
        self.opened(name, creates, scene, use, out)
        self.state.implied.add(name)
        step = out[-1]
        if isinstance(step, StepSpec) and step.open is not None and not self._is_indexed(name):
            self.implied.append(step)

    def closing(self, scene: Scene, use: Use, out: Steps) -> None:
        """A close, where the file was opened in the same loops."""
        depth = self.state.opened.get(use.name)
        if depth is None:
            return
        if depth == len(scene.loops):
            self.shut(use.name, use, out)

    def shut(self, name: str, use: Use | None, out: Steps) -> None:
        """Closes a file."""
        del self.state.opened[name]
        self.state.implied.discard(name)
        said = self.state.said(name, self.names)
        out.append(StepSpec(close=said, **(_shifted(use) if use else {})))

    def close(self, depth: int, out: Steps) -> None:
        """Closes what was opened within so many loops and still is open."""
        for name, where in list(self.state.opened.items()):
            if where < depth:
                continue
            condition = self.state.conditions.get(name)
            closing: Steps = []
            self.shut(name, None, closing)
            out += [StepSpec(when=condition, do=closing)] if condition else closing

    def call(self, ids: Column, scene: Scene, use: Use, out: Steps) -> None:
        """Any other call on a name."""
        state, name = self.state, use.name
        kind = KINDS[int(self.tokens.kind[ids.flat[0]])]
        there = name in state.made or name in self.staged
        if kind is Kind.MKDIR:
            if not there:
                state.made[name] = scene.loops
                out.append(StepSpec(mkdir=name))
            return
        if kind in (Kind.STAT, Kind.ATTRIBUTE):
            flags = int(self.tokens.flags[ids.flat[0]])
            word = "stat" if kind is Kind.STAT else attribute_of(flags).value
            if word not in VERBS:
                self._note(f"{name}: '{word}' of what is no item of many is left out")
                return
            if not there:
                self.staged.setdefault(name, 0)
            said: dict[str, Any] = {word: state.said(name, self.names)}
            out.append(StepSpec(**said, **_shifted(use)))
            return
        if kind is Kind.MISS:
            out.append(StepSpec(miss=state.said(name, self.names), **_shifted(use)))
            return
        link = link_verb_of(KIND_CODES[kind], int(self.tokens.flags[ids.flat[0]]))
        if link is not None:
            self._beside(
                name,
                kind,
                self.apart.linked(name, link, self.tokens.file[ids], scene.loops),
                use,
                out,
            )
            return
        if kind is Kind.UNLINK and self._ends_here(ids, name, scene):
            self.staged.setdefault(name, 0)
            state.gone.add(name)
            out.append(StepSpec(unlink=name, **_shifted(use)))
            return
        if kind is Kind.RMDIR and name not in state.made and self.tokens.are_last(ids):
            self._beside(name, kind, self.apart.removed(name, self.tokens.file[ids]), use, out)
            return
        is_staged = any(one in self.staged for one in (name, *self.names.entries[name].made_by))
        if is_staged or not there or self._is_elsewhere(name, scene):
            self._note(f"{name}: '{kind.value}' of what was there before is left out")
            return
        gone = state.said(name, self.names)
        del state.made[name]
        state.forget(name)
        state.aside.discard(name)
        call: dict[str, Any] = {"unlink": gone} if kind is Kind.UNLINK else {"rmdir": gone}
        out.append(StepSpec(**call, **_shifted(use)))

    def _beside(self, name: str, kind: Kind, step: StepSpec | None, use: Use, out: Steps) -> None:
        """Adds a step on a tree beside the entry, where there is one."""
        if step is None or use.shift:
            self._note(f"{name}: '{kind.value}' of a name that is taken is left out")
        else:
            out.append(step)

    def used(self, name: str, chosen: Choice) -> None:
        """An entry is used, its files chosen so: they must not be gone."""
        self.apart.is_exact = chosen.names_all
        if chosen.note:
            self.state.loose.add(name)
        if name in self.state.gone:
            self.lasting.add(self.names.entries[name].stream)

    def _ends_here(self, ids: Column, name: str, scene: Scene) -> bool:
        """Whether what is removed was there before the run, each file by itself, and nobody uses it
        afterwards."""
        entry = self.names.entries[name]
        chooses = entry.is_indexed and not _AGAIN.intersection(entry.index)
        if name in self.state.made or name in self.state.opened or entry.made_by:
            return False
        if self.has_datasets(entry.stream) or entry.stream in self.lasting:
            return False
        if not (chooses or not scene.loops) or not self.tokens.are_last(ids):
            return False
        return len(np.unique(self.tokens.file[ids])) == (1 if entry.is_shared else ids.size)

    def _is_indexed(self, name: str) -> bool:
        return self.names.entries[name].is_indexed

    def _is_elsewhere(self, name: str, scene: Scene) -> bool:
        """Whether a file is open, or was made less often than steps are done here."""
        around = self.state.made.get(name, ())
        is_again = not self._is_indexed(name) and not scene.is_around(around)
        return is_again or name in self.state.opened

    def _may_be_aside(self, name: str) -> bool:
        """Whether files of an entry may be made under another name first."""
        entry = self.names.entries[name]
        return name not in self.staged and not entry.made_by and not self.has_datasets(entry.stream)

    def rename(self, scene: Scene, use: Use, out: Steps) -> None:
        """A file that was made under another name gets its own."""
        state, name = self.state, use.name
        if name not in state.aside or self._is_elsewhere(name, scene):
            self._note(f"{name}: 'rename' of or over what was there before is left out")
            return
        state.aside.discard(name)
        rename = RenameStep(on=self.names.aside(name), to=name)
        out.append(StepSpec(rename=rename, **_shifted(use)))

    def truncate(self, ids: Column, scene: Scene, use: Use, out: Steps) -> None:
        """Cuts an open file; after it no more than what is left can be read."""
        state, name = self.state, use.name
        run = Run(self.table, self.tokens, ids, scene, name, False, use.shift)
        size = run.amount(self.tokens.base[ids], is_size=True)
        plain = self.streams.kept[self.names.entries[name].stream].interface.entry.can_truncate
        if name not in state.opened or size is None or not plain:
            self._note(f"{name}: 'truncate' of what is not open here is left out")
            return
        on = state.said(name, self.names)
        short = size in (0, "0", "0 B")
        step = StepSpec(truncate=on if short else TruncateStep(on=on, size=size), **_shifted(use))
        out.append(step)
        ends = self.tokens.base[ids].reshape(-1, ids.shape[-1]).min(axis=0)
        is_shared = self.names.entries[name].is_shared
        if name in state.reach:
            state.turns.pop(name, None)
            state.reach[name] = np.array([ends.min()]) if is_shared else ends
            state.least[name] = int(ends.min())

    def has_datasets(self, stream: int) -> bool:
        """Whether files of the stream hold datasets."""
        return self.streams.kept[stream].interface.entry.has_datasets

    def _note(self, text: str) -> None:
        self.notes[text] += 1


def _shifted(use: Use) -> dict[str, Any]:
    return {"from_": f"shift {use.shift}"} if use.shift else {}
