"""What the phases of a derived program are called, and which acts need no phase of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from venturi.derive.operation.fold import Node
from venturi.derive.operation.sequence import leaves_of
from venturi.derive.operation.stream import Streams
from venturi.derive.operation.view import View
from venturi.derive.operation.visit import Acts
from venturi.model.operation import KIND_CODES, KINDS, Kind

SMALL_SHARE = 0.02
"""Acts with less of the bytes and of the time are small."""
_MORE = " and more"


@dataclass
class Titles:
    """Names of phases, each given once."""

    view: View
    streams: Streams
    _given: dict[str, int] = field(default_factory=dict)

    def of(self, nodes: Sequence[Node], verb: str = "") -> str:
        """A name for the phase of some acts; `verb` where it is not all that they do."""
        acts = self.view.acts
        words: list[str] = []
        for leaf in leaves_of(nodes):
            act = int(leaf.places.flat[0])
            part = self.view.parts[int(acts.part[act])]
            said = verb or self._verb(act)
            several = len(self.streams.kept) > 1
            word = f"{self.streams.kept[part.stream].name} {said}" if several else said
            if word not in words:
                words.append(word)
        return self.numbered(" and ".join(words[:2]) + (_MORE if len(words) > 2 else ""))

    def numbered(self, name: str) -> str:
        """The name, with a number from its second use on."""
        self._given[name] = self._given.get(name, 0) + 1
        return name if self._given[name] == 1 else f"{name} {self._given[name]}"

    def with_more(self, name: str) -> str:
        """The name of a phase to which something is added."""
        return name if _MORE in name else self.numbered(name + _MORE)

    def _verb(self, act: int) -> str:
        acts, tokens = self.view.acts, self.view.tokens
        first = int(acts.first[acts.at[act]])
        kinds = set(tokens.kind[first : first + int(acts.count[act])].tolist())
        data = [kind for kind in (Kind.WRITE, Kind.READ) if KIND_CODES[kind] in kinds]
        if data:
            return " ".join(kind.value for kind in data)
        return KINDS[int(tokens.kind[first])].value.replace("_", " ")


class Small:
    """Which acts matter little."""

    def __init__(self, acts: Acts) -> None:
        self._acts = acts
        self._spans = acts.end_ns - acts.start_ns
        self._all_bytes = max(int(acts.bytes.sum()), 1)
        self._all_ns = max(int(self._spans.sum()), 1)

    def is_small(self, nodes: Sequence[Node]) -> bool:
        """Whether these acts, which no pause precedes, move few bytes in little time."""
        chosen = np.concatenate([leaf.places.ravel() for leaf in leaves_of(nodes)])
        return bool(
            not np.any(self._acts.pause_ns[chosen])
            and self._acts.bytes[chosen].sum() < SMALL_SHARE * self._all_bytes
            and self._spans[chosen].sum() < SMALL_SHARE * self._all_ns
        )
