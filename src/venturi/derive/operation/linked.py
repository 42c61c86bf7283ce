"""Links, hard and symbolic, as what is done to their new names.

A link is told as a second name of a file that was there before: what such a call costs does not
depend on which file that is, and what is done to the new name later is done to that file. Removing
the link removes the second name alone.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

import numpy as np

from venturi.model.operation import KIND_CODES, Column, Kind, Operations
from venturi.model.plan import ItemVerb
from venturi.model.trace import Layer

_LINK, _UNLINK = KIND_CODES[Kind.LINK], KIND_CODES[Kind.UNLINK]
_BIT = 5
"""In `flags` of links and removals: from this bit on the `detail`."""
HARD, SYMBOLIC = 1, 2
"""`detail` of a link, and of a removal of one; 0: no word says it."""

_VERBS = {
    (_LINK, HARD): ItemVerb.LINK,
    (_LINK, SYMBOLIC): ItemVerb.SYMLINK,
    (_UNLINK, HARD): ItemVerb.UNLINK_LINK,
    (_UNLINK, SYMBOLIC): ItemVerb.UNLINK_SYMLINK,
}


def with_links_by_new_name(operations: Operations) -> Operations:
    """The operations with each link of files on its new name; `detail` is what it is."""
    rows = np.flatnonzero(operations.is_kind(Kind.LINK) & operations.is_layer(Layer.POSIX))
    if not len(rows):
        return operations
    file, detail = np.array(operations.file), np.array(operations.detail)
    file[rows] = operations.detail[rows]
    detail[rows] = np.where(operations.bytes[rows] > 0, SYMBOLIC, HARD)
    return replace(operations, file=file, detail=detail)


def with_links_removed(operations: Operations) -> Operations:
    """The operations with what each removal of a link removes as its `detail`.

    Where a name becomes a link twice, and nobody removed the first one, its links have no word.
    """
    is_fine = (operations.error == 0) & operations.is_layer(Layer.POSIX)
    is_link = is_fine & operations.is_kind(Kind.LINK)
    if not np.any(is_link):
        return operations
    files = np.unique(operations.file[is_link])
    chosen = is_fine & operations.is_kind(Kind.LINK, Kind.UNLINK, Kind.RENAME)
    rows = np.flatnonzero(chosen & np.isin(operations.file, files))
    detail = np.array(operations.detail)
    of_file: dict[int, list[int]] = defaultdict(list)
    for row, file in zip(rows.tolist(), operations.file[rows].tolist(), strict=True):
        of_file[file].append(row)
    for mine in of_file.values():
        _told(operations.kind, detail, mine)
    return replace(operations, detail=detail)


def _told(kind: Column, detail: Column, rows: list[int]) -> None:
    """Sets `detail` of the removals among the rows of one name, in the order of time."""
    links = [row for row in rows if kind[row] == _LINK]
    removals: dict[int, int] = {}
    there = 0
    for row in rows:
        if kind[row] == _LINK:
            if there:
                detail[links] = 0
                return
            there = int(detail[row])
        elif kind[row] == _UNLINK and there:
            removals[row], there = there, 0
        elif there:
            detail[links] = 0  # the link itself gets another name
            return
    for row, what in removals.items():
        detail[row] = what


def wordless_links(operations: Operations, rows: Column) -> Column:
    """Mask: links that no word says."""
    mask: Column = (operations.kind[rows] == _LINK) & (operations.detail[rows] == 0)
    return mask


def link_flags(kind: Column, detail: Column) -> Column:
    """What links and removals are about, as bits of `flags`."""
    return np.where((kind == _LINK) | (kind == _UNLINK), detail << _BIT, 0)


def links_counted(kind: Column, flags: Column) -> dict[str, int]:
    """The links in the engine's words."""
    made = flags[kind == _LINK] >> _BIT
    return {
        word: count
        for word, what in (("link", HARD), ("symlink", SYMBOLIC))
        if (count := int(np.count_nonzero(made == what)))
    }


def link_verb_of(kind: int, flags: int) -> ItemVerb | None:
    """What a link, or the removal of one, does to an item; None: it is neither."""
    return _VERBS.get((kind, flags >> _BIT))
