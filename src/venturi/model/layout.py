"""How what a file holds is laid out: elements, what the bytes are, stripes over servers."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from venturi.model.document import Count, Document, Fraction, Positive


class ElementType(StrEnum):
    """Types of the elements of a dataset."""

    F64 = "f64"
    F32 = "f32"
    I64 = "i64"
    I32 = "i32"
    I16 = "i16"
    I8 = "i8"

    @property
    def bytes(self) -> int:
        """Size of one element."""
        return int(self.value[1:]) // 8


class Stripe(Document):
    """How a file system lays out a new file over its servers."""

    count: Annotated[int, Field(ge=-1, le=65534)] = 0
    """Servers (or targets) of a file; 0: the directory's own setting, -1: all that there are."""
    bytes: Annotated[int, Field(ge=0, le=4294901760)] = 0
    """What lies together on one of them; 0: the directory's own setting."""


class Content(Document):
    """What the bytes are."""

    seed: Count = 0
    verify: bool = False
    """Stamp every word with seed, file, generation and offset, and check what is read."""
    compressibility: Fraction = 0.0
    """Share of each 4 KiB that is zero: 0 does not compress, 1 is all zeros."""
    duplicates: Fraction | None = None
    """Share of the 4 KiB pages that repeat the page before them; absent: none."""
    repeats: bool = False
    """All requests of a rank write the same bytes, as IOR's do; not with `verify`."""


class Option(Document):
    """One setting of a storage interface, by the name that `engine describe` gives."""

    name: str
    value: str


class Dataset(Document):
    """Equal n-dimensional arrays in a self-describing file; several bear a number: `name_0003`."""

    name: Annotated[str, Field(min_length=1)]
    copies: Positive = 1
    type: ElementType
    shape: Annotated[list[Positive], Field(min_length=1)]
    chunk: list[Positive] = []
    """Elements of a chunk along each dimension; empty: contiguous."""
    deflate: Annotated[int, Field(ge=0, le=9)] = 0
    """Level of compression; 0 is none."""
    shuffle: bool = False
