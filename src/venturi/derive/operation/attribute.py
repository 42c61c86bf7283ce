"""Calls that set modes, owners and times, or extended attributes, and the words for them.

What such a call is about stands in the `flags` of the table's rows and tokens, so calls about
different things are different acts.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np

from venturi.model.operation import ATTRIBUTES, KIND_CODES, Attribute, Column, Kind, Operations
from venturi.model.plan import ItemVerb
from venturi.model.trace import Layer
from venturi.model.verb import operation_of

_CODE = KIND_CODES[Kind.ATTRIBUTE]
_BIT = 5
"""In `flags`: from this bit on the `detail` of the call."""
_ITEM_WORDS = {verb.value for verb in ItemVerb}
_SAID = np.array([False] + [one.value in _ITEM_WORDS for one in ATTRIBUTES])
"""By `detail`: whether the language has a word for it."""
_ASKS = 1 + ATTRIBUTES.index(Attribute.GET_EXTENDED)


def with_questions_said(operations: Operations) -> tuple[Operations, int]:
    """The operations with each question for extended attributes as one for the file's status, and
    how many there are.

    A program that copies files asks for attributes which most files do not have.
    """
    asks = (operations.kind == _CODE) & (operations.detail == _ASKS)
    asks &= operations.is_layer(Layer.POSIX)
    if not np.any(asks):
        return operations, 0
    kind = np.where(asks, KIND_CODES[Kind.STAT], operations.kind).astype(operations.kind.dtype)
    detail = np.where(asks, 0, operations.detail).astype(operations.detail.dtype)
    fine = asks & (operations.error == 0)
    return replace(operations, kind=kind, detail=detail), int(np.count_nonzero(fine))


def counted(kind: Column, flags: Column) -> dict[str, int]:
    """The calls about attributes in the engine's words."""
    codes = flags[kind == _CODE] >> _BIT
    found = Counter(operation_of(item_verb_of(code << _BIT)).value for code in codes.tolist())
    return dict(found)


def without_word(operations: Operations, rows: Column) -> Column:
    """Mask: calls about attributes that the language has no word for, such as those that a library
    keeps in its files."""
    detail = np.minimum(operations.detail[rows], len(_SAID) - 1)
    said = _SAID[detail] & (operations.detail[rows] < len(_SAID))
    posix = operations.is_layer(Layer.POSIX)[rows]
    mask: Column = (operations.kind[rows] == _CODE) & ~(said & posix)
    return mask


def attribute_flags(kind: Column, detail: Column) -> Column:
    """What the calls about attributes are about, as bits of `flags`."""
    return np.where(kind == _CODE, detail << _BIT, 0)


def attribute_of(flags: int) -> Attribute:
    """What the calls with these flags are about."""
    return ATTRIBUTES[(flags >> _BIT) - 1]


def item_verb_of(flags: int) -> ItemVerb:
    """The same as what is done to an item."""
    return ItemVerb(attribute_of(flags).value)
