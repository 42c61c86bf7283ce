"""A table of whole numbers, as a program's loop takes its rows one after the other.

What has no rule that people could read is kept in one, exactly, beside the text.
"""

from __future__ import annotations

import base64
import binascii
import zlib
from array import array
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Annotated, Literal

from pydantic import Field, model_validator

from venturi.model.document import Document

MOST_ROWS = 4_000_000
"""A plan with more would take longer to read than most programs to run."""
_CODES = {array(code).itemsize: code for code in "bhiq"}
"""Integers with a sign, by their bytes."""
_LEVEL = 9
ColumnName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]


class RowTable(Document):
    """Rows of whole numbers, column by column."""

    table: Literal[1] = 1
    """Version of the form."""
    rows: Annotated[int, Field(ge=1, le=MOST_ROWS)]
    columns: Annotated[dict[ColumnName, str], Field(min_length=1)]
    """Each column as base64 of zlib's form of its numbers, one after the other: little-endian
    integers with a sign, of 1, 2, 4 or 8 bytes, whichever the length shows."""

    @model_validator(mode="after")
    def _is_sound(self) -> RowTable:
        for name in self.columns:
            if len(self._plain(name)) not in [self.rows * width for width in _CODES]:
                raise ValueError(f"the column '{name}' has not {self.rows} numbers")
        return self

    @staticmethod
    def of(columns: Mapping[str, Sequence[int]]) -> RowTable:
        """A table of columns of one length."""
        packed = {
            name: base64.b64encode(zlib.compress(narrow_bytes(column), _LEVEL)).decode()
            for name, column in columns.items()
        }
        return RowTable(rows=len(next(iter(columns.values()))), columns=packed)

    @property
    def bytes_packed(self) -> int:
        """How much there is to keep, without its form as text."""
        return sum(len(text) * 3 // 4 for text in self.columns.values())

    def column(self, name: str) -> array[int]:
        """The numbers of a column."""
        return _numbers(self._plain(name), self.rows)

    def _plain(self, name: str) -> bytes:
        """A column's bytes. Raises ValueError where they are damaged, or too many."""
        reader = zlib.decompressobj()
        try:
            packed = base64.b64decode(self.columns[name], validate=True)
            plain = reader.decompress(packed, max(_CODES) * self.rows + 1)
        except (binascii.Error, zlib.error) as error:
            raise ValueError(f"the column '{name}' is damaged: {error}") from None
        if not reader.eof:
            raise ValueError(f"the column '{name}' has not {self.rows} numbers")
        return plain


class RowTables(Document):
    """Several tables of one workload, by their names in it."""

    tables: Annotated[dict[ColumnName, RowTable], Field(min_length=1)]


def narrow_bytes(numbers: Sequence[int]) -> bytes:
    """Numbers as little-endian integers of the fewest bytes that all of them fit into."""
    least, most = min(numbers), max(numbers)
    width = next(n for n in _CODES if -(2 ** (8 * n - 1)) <= least <= most < 2 ** (8 * n - 1))
    return array(_CODES[width], numbers).tobytes()


def _numbers(plain: bytes, count: int) -> array[int]:
    found = array(_CODES[len(plain) // count])
    found.frombytes(plain)
    return found


@lru_cache(maxsize=64)
def numbers_in(text: str, count: int) -> array[int]:
    """So many numbers out of base64 of their bytes."""
    return _numbers(base64.b64decode(text), count)
