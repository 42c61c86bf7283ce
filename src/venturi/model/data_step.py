"""The long form of `write` and `read` in a workload: which requests, and of what."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from venturi.model.document import Document
from venturi.model.name_step import Value
from venturi.model.plan import Arrivals, ElementType, SyncMode


class PatternKind(StrEnum):
    """How the requests of one step lie in the file."""

    CONTIGUOUS = "contiguous"
    SEGMENTED = "segmented"
    STRIDED = "strided"
    TILED = "tiled"
    RANDOM = "random"
    APPEND = "append"
    SEQUENTIAL = "sequential"
    TABLE = "table"


class MixSpec(Document):
    """A size of requests and its weight."""

    bytes: Value
    weight: Value = 1
    """A whole number: of as many requests as all weights add up to, so many have this size."""


class DataStep(Document):
    """The long form of `write` and `read`."""

    to: str | None = None
    """What is written: a file or `file.dataset`."""
    from_: str | None = Field(None, alias="from")
    """What is read."""
    pattern: PatternKind = PatternKind.CONTIGUOUS
    transfer: Value | None = None
    """Bytes of one request; absent: the whole part in one."""
    size: Value | None = None
    """Bytes that each rank moves."""
    block: Value | None = None
    """Bytes that lie together, in a segmented pattern."""
    segments: Value | None = None
    count: Value | None = None
    """Requests of each rank; of several equal datasets, how many are moved."""
    first: Value | None = None
    """Of several equal datasets the first that is moved; `count` follow, or all that there are."""
    total: Value | None = None
    """Requests of all ranks, dealt to them."""
    at: Value | None = None
    """Where the pattern begins in the file; of `sequential`, where the position is moved to."""
    apart: bool = True
    """Ranks that share a file move parts behind each other; `false`: the same part, all of them."""
    replacement: bool = False
    """Random access may touch a place twice."""
    zipf: Value | None = None
    """Exponent of a Zipf distribution of the places of random access, with replacement."""
    table: Annotated[list[list[Value]], Field(max_length=4096)] = []
    """`[offset, bytes]` of each request of a table, or with `transfer` of requests behind each
    other; the whole of it `segments` times, each `block` bytes further on."""
    shape: list[Value] = []
    """Elements of the array of a tiled pattern along each dimension, the slowest first."""
    tile: list[Value] = []
    """Elements of each rank's tile; tiles fill the array in the order of the ranks."""
    element: Value = 1
    """Bytes of an element."""
    mix: list[MixSpec] = []
    """Sizes of requests instead of one `transfer`."""
    reads: Value = 0
    """Share of the requests of a `write` that read instead; the file must be written before."""
    rate: Value | None = None
    """Requests per second of each rank, whenever those before end (an open loop)."""
    arrivals: Arrivals = Arrivals.FIXED
    """With `rate`: at equal distances, or as a Poisson process."""
    split: list[Value] = []
    """Parts of a dataset along each dimension, where they are others than when it was made."""
    part: Value | None = None
    """The number of the part that is moved, in row-major order of `split`; default: the rank's."""
    collective: bool = False
    sync: SyncMode = SyncMode.NONE
    """After every request."""
    think: Value = 0
    """Pause before every request."""
    memory: Value = 0
    """Bytes of memory through which requests move, each behind the one before, as those of a
    program with many buffers; default: all use the same, which stays in the processor's caches."""
    fresh: Value = 0
    """Share of the requests of a `read` that bring their data into memory which was not used
    before, so that page faults are a part of them."""
    halo: list[Value] = []
    """Guard cells around the rank's part of a dataset in memory, on each side along each dimension:
    writes are packed from between them, reads unpacked, as a part of the phase's computing."""
    interleaved: Value = 1
    """With `halo`: so many variables lie beside each other in memory, element by element."""
    seeks: Value = 0
    """How often the file's position is moved before a request, in the mean."""
    empty_reads: Value = 0
    """How many reads where the file ends come before a request, in the mean: who reads what is
    there before it is written over asks so. They bring nothing."""
    depth: Value = 1
    """Requests in flight."""
    text: str | None = None
    """What is written, instead of made-up bytes: a template whose numbers have a width, such as
    `step {step:04d}`; `count` times."""
    numbers: Annotated[list[Value], Field(max_length=4096)] = []
    """The same as numbers, back to back: expressions."""
    type: ElementType = ElementType.I32
    """Of `numbers`."""
    big_endian: bool = False
    """The order of the bytes of `numbers`."""
    verify: bool = True
    """A read checks what it brings where the file's content is to be verified."""
