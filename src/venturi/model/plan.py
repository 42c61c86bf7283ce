"""The plan: what the engine does, with nothing left to decide.

One plan serves all ranks and its size depends on neither ranks, iterations, files nor
operations. Numbers that differ between ranks or iterations are expressions in postfix form.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from venturi.model.document import Count, Document, Fraction, Integer, Positive, Real, Seconds

PLAN_SCHEMA = "venturi.plan/1"


class Operator(StrEnum):
    """The closed set of instructions of an expression (integers are checked 64-bit)."""

    INTEGER = "integer"
    REAL = "real"
    VARIABLE = "variable"
    ADD = "add"
    SUBTRACT = "subtract"
    MULTIPLY = "multiply"
    DIVIDE = "divide"
    FLOOR_DIVIDE = "floor_divide"
    MODULO = "modulo"
    POWER = "power"
    NEGATE = "negate"
    LESS = "less"
    LESS_EQUAL = "less_equal"
    GREATER = "greater"
    GREATER_EQUAL = "greater_equal"
    EQUAL = "equal"
    NOT_EQUAL = "not_equal"
    NOT = "not"
    MINIMUM = "minimum"
    MAXIMUM = "maximum"
    CEIL = "ceil"
    FLOOR = "floor"
    ISQRT = "isqrt"
    LOG2 = "log2"
    CEIL_TO = "ceil_to"
    NUMROC = "numroc"
    BLOCK = "block"
    SKEW = "skew"
    JUMP = "jump"
    JUMP_IF_FALSE = "jump_if_false"


class Instruction(Document):
    """One step of the stack machine that evaluates an expression."""

    operator: Operator
    integer: Integer = 0
    """The literal of `integer`, the slot of `variable`, the target index of a jump."""
    real: Real = 0.0
    """The literal of `real`."""


Expression = Annotated[list[Instruction], Field(min_length=1)]


class Slot(StrEnum):
    """The variables that every expression may read; loop variables follow in later slots."""

    RANK = "rank"
    RANKS = "ranks"
    WORLD = "world"
    INSTANCE = "instance"
    NODE = "node"
    ITERATION = "iteration"


class PathPart(Document):
    """A piece of a path: fixed text, or a number printed with leading zeros."""

    text: str = ""
    value: Expression | None = None
    width: Annotated[int, Field(ge=0, le=20)] = 0


class Option(Document):
    """One setting of a storage interface, by the name that `engine describe` gives."""

    name: str
    value: str


class Interface(StrEnum):
    """How storage is reached. What is built is said by `engine describe`."""

    POSIX = "posix"
    URING = "uring"
    MMAP = "mmap"
    STDIO = "stdio"
    MPIIO = "mpiio"
    HDF5 = "hdf5"
    PNETCDF = "pnetcdf"
    NETCDF = "netcdf"
    NULL = "null"
    SIMULATED = "simulated"


class Sharing(StrEnum):
    """Who shares one file: all ranks of the group, one rank, one node, or every n ranks."""

    ALL = "all"
    RANK = "rank"
    NODE = "node"
    EVERY = "every"


class Content(Document):
    """What the bytes are."""

    seed: Count = 0
    verify: bool = False
    """Stamp every word with seed, file, generation and offset, and check what is read."""
    compressibility: Fraction = 0.0
    """Share of each 4 KiB that is zero: 0 does not compress, 1 is all zeros."""


class Tree(Document):
    """Directories and items below the file's path: node k > 0 is child of (k - 1) // branch."""

    depth: Annotated[int, Field(ge=0, le=64)] = 0
    branch: Annotated[int, Field(ge=1, le=1_000_000)] = 1
    items: Expression
    """Items in each directory, for each rank."""
    size: Expression
    """Bytes of each item, as `write` and `read` move them."""


class FaultKind(StrEnum):
    """What the faulty wrapper does to an operation."""

    EIO = "eio"
    ENOSPC = "enospc"
    SHORT = "short"
    DELAY = "delay"
    FLIP = "flip"
    HANG = "hang"


class OperationKind(StrEnum):
    """The operations whose counts, bytes, times and latencies are kept apart."""

    WRITE = "write"
    READ = "read"
    OPEN = "open"
    CREATE = "create"
    CLOSE = "close"
    STAT = "stat"
    UNLINK = "unlink"
    MKDIR = "mkdir"
    RMDIR = "rmdir"
    SYNC = "sync"


class Fault(Document):
    """A fault that the faulty wrapper injects into the file's interface."""

    kind: FaultKind
    operation: OperationKind
    nth: Positive = 1
    """The first operation of that kind on a rank that is hit, from 1."""
    every: Count = 0
    """0: only that one; n: every n-th from there on."""
    rank: Annotated[int, Field(ge=-1, le=2**31)] = -1
    """-1 means every rank."""
    seconds: Seconds = 0.0
    """How long `delay` lasts."""


class File(Document):
    """A file, a family of files (one per rank, one per iteration) or a tree of files."""

    name: str
    path: Annotated[list[PathPart], Field(min_length=1)]
    interface: Interface
    options: list[Option] = []
    sharing: Sharing = Sharing.ALL
    every: Positive = 1
    """The number of ranks that share a file when `sharing` is `every`."""
    content: Content = Content()
    tree: Tree | None = None
    prestage: Expression | None = None
    """Bytes that each rank writes into its part, unmeasured, before the first repetition."""
    keep: bool = False
    foreign: bool = False
    """An existing file that somebody else made: it is only ever read."""
    faults: list[Fault] = []


class Loop(Document):
    """One level of an affine nest."""

    count: Expression
    stride: Expression
    """Bytes between two turns of this level."""


class Nest(Document):
    """Regular access: offset = base + sum(index * stride), outermost loop first."""

    kind: Literal["nest"] = "nest"
    base: Expression
    loops: list[Loop]


class Random(Document):
    """Random access: request i touches slot p(first + i * step) at base + slot * size.

    `p` is a keyed permutation of the slots, or, with replacement, a uniform choice.
    """

    kind: Literal["random"] = "random"
    base: Expression
    slots: Expression
    count: Expression
    first: Expression
    step: Expression
    replacement: bool = False


Pattern = Annotated[Nest | Random, Field(discriminator="kind")]


class Direction(StrEnum):
    """Which way the bytes go."""

    WRITE = "write"
    READ = "read"


class SyncMode(StrEnum):
    """What makes data persistent."""

    NONE = "none"
    FSYNC = "fsync"
    FDATASYNC = "fdatasync"
    FLUSH = "flush"


class CachePolicy(StrEnum):
    """What happens to cached pages of the phase's files before the phase starts."""

    KEEP = "keep"
    DROP = "drop"


class ComputeMode(StrEnum):
    """How a rank spends the time between its I/O."""

    SLEEP = "sleep"
    SPIN = "spin"


class NameVerb(StrEnum):
    """What is done to one name."""

    CREATE = "create"
    OPEN = "open"
    CLOSE = "close"
    STAT = "stat"
    UNLINK = "unlink"
    MKDIR = "mkdir"
    RMDIR = "rmdir"


class ItemVerb(StrEnum):
    """What is done to each item of a tree, one item after the other."""

    CREATE = "create"
    OPEN = "open"
    WRITE = "write"
    READ = "read"
    SYNC = "sync"
    CLOSE = "close"
    STAT = "stat"
    UNLINK = "unlink"


class For(Document):
    """Run the body `count` times; the variable runs over 0 ... count - 1."""

    kind: Literal["for"] = "for"
    variable: Count
    """The slot of the loop variable."""
    count: Expression
    body: list[Step]


class When(Document):
    """Run the body if the condition is not 0."""

    kind: Literal["when"] = "when"
    condition: Expression
    body: list[Step]


class Phase(Document):
    """The measured unit: all ranks start it together, and it becomes one row of the record."""

    kind: Literal["phase"] = "phase"
    path: str
    """Its name, with the names of enclosing phases before it: `a/b`."""
    limit_s: Seconds | None = None
    """Each rank stops here; then all do the largest count, for `bound_s` at most."""
    bound_s: Seconds = 0.0
    cache: CachePolicy = CachePolicy.KEEP
    body: list[Step]


class Barrier(Document):
    """All ranks of the group wait for each other."""

    kind: Literal["barrier"] = "barrier"


class Compute(Document):
    """Time in which the application computes."""

    kind: Literal["compute"] = "compute"
    seconds: Expression
    mode: ComputeMode = ComputeMode.SLEEP


class Transfer(Document):
    """Move data between memory and an open file, one request after the other."""

    kind: Literal["transfer"] = "transfer"
    operation: Direction
    file: Count
    """Index into the plan's files."""
    owner: Expression
    """The rank in whose place this rank acts: its own, or that of another writer."""
    size: Expression
    """Bytes of each request."""
    pattern: Pattern
    sync: SyncMode = SyncMode.NONE
    """Done after every request."""
    think_s: Seconds = 0.0
    """Pause before every request."""


class Manage(Document):
    """One operation on the name of a file, or on every directory of its tree."""

    kind: Literal["manage"] = "manage"
    verb: NameVerb
    file: Count
    owner: Expression


class Items(Document):
    """The verbs, in order, on each item of a tree, item by item."""

    kind: Literal["items"] = "items"
    file: Count
    owner: Expression
    verbs: Annotated[list[ItemVerb], Field(min_length=1)]
    shuffled: bool = False


class Sync(Document):
    """Make what was written to an open file persistent."""

    kind: Literal["sync"] = "sync"
    file: Count
    mode: SyncMode


Step = Annotated[
    For | When | Phase | Barrier | Compute | Transfer | Manage | Items | Sync,
    Field(discriminator="kind"),
]


class Group(Document):
    """Ranks that act together: `ranks` of them from `first` on run the program."""

    name: str
    first: Count = 0
    ranks: Positive
    instance: Count = 0
    program: list[Step]


class ClockKind(StrEnum):
    """Whether time passes by itself or only as the simulated storage says."""

    REAL = "real"
    SIMULATED = "simulated"


class Plan(Document):
    """All that one run of the engine does."""

    schema_: Literal["venturi.plan/1"] = Field("venturi.plan/1", alias="schema")
    run: Annotated[str, Field(min_length=1)]
    """The run's id."""
    name: str
    seed: Count
    ranks: Positive
    """The engine refuses to start on another number."""
    repetitions: Positive
    clock: ClockKind = ClockKind.REAL
    directory: Annotated[str, Field(min_length=1)]
    """The run's own directory; the engine makes it and nothing outside it is written."""
    journal: Annotated[str, Field(min_length=1)]
    """An existing directory for the manifest and the stop file."""
    slots: Annotated[list[str], Field(min_length=6)]
    """Names of the variables: those of `Slot`, then one for each loop."""
    files: list[File]
    groups: Annotated[list[Group], Field(min_length=1)]


For.model_rebuild()
When.model_rebuild()
Phase.model_rebuild()
Group.model_rebuild()
