"""Openings that nobody made: of what a process reads that a shell opened for it.

A program opens a file before it uses it. Such an opening stands once, before all that its rank does
where the file is there before the run, and before the first use of it where the program makes it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from venturi.model.operation import KIND_CODES, Column, Kind

_OPEN, _CLOSE = KIND_CODES[Kind.OPEN], KIND_CODES[Kind.CLOSE]
_ON_OPEN = frozenset(
    KIND_CODES[kind] for kind in (Kind.READ, Kind.WRITE, Kind.SYNC, Kind.DATA_SYNC)
)
_ON_HANDLE = _ON_OPEN | {_OPEN, _CLOSE}


@dataclass(frozen=True)
class ImpliedCalls:
    """Openings, and closes behind the last use or before the opening that somebody made."""

    before: Column
    """The place of the call that each stands before; behind the last call the number of all."""
    use: Column
    """The place of a call that uses the file."""
    kind: Column


def implied_calls(rank: Column, kind: Column, handle: Column, is_made: Column) -> ImpliedCalls:
    """What calls, rank after rank, need beside them; `handle` numbers files as ranks know them, and
    `is_made` says whether any rank makes the file of a call."""
    starts = np.searchsorted(rank, np.arange(int(rank[-1]) + 2)).tolist()
    opened: dict[int, int] = {}
    implied: dict[int, int] = {}
    """Of files that are open by what nobody said, the place of the first use."""
    used: set[int] = set()
    found: list[tuple[int, int, int]] = []
    columns = (rank.tolist(), kind.tolist(), handle.tolist(), is_made.tolist())
    for place, (who, what, which, made) in enumerate(zip(*columns, strict=True)):
        if what == _OPEN:
            if which in implied:
                found.append((place, implied.pop(which), _CLOSE))
            opened[which] = opened.get(which, 0) + 1
        elif what == _CLOSE:
            if not opened.get(which):
                implied.pop(which, None)
            opened[which] = max(0, opened.get(which, 0) - 1)
        elif what in _ON_OPEN and not opened.get(which) and which not in implied:
            is_first = not made and which not in used
            found.append((starts[who] if is_first else place, place, _OPEN))
            implied[which] = place
        if what in _ON_HANDLE:
            used.add(which)
    for place in implied.values():
        found.append((starts[int(rank[place]) + 1], place, _CLOSE))
    # Where one rank ends and the next begins, closes come first.
    found.sort(key=lambda call: (call[0], call[2] == _OPEN))
    before, use, what_kind = np.array(found, np.int64).reshape(-1, 3).T
    return ImpliedCalls(before, use, what_kind)
