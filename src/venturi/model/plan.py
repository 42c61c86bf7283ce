"""The plan: what the engine does, with nothing left to decide.

One plan serves all ranks and its size depends on neither ranks, iterations, files nor operations,
but for those that a table lists. Numbers that differ between ranks or iterations are expressions in
postfix form.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from venturi.model.document import Count, Document, Fraction, Integer, Positive, Real, Seconds
from venturi.model.fault import Fault as Fault  # noqa: PLC0414
from venturi.model.fault import FaultKind as FaultKind  # noqa: PLC0414
from venturi.model.interface import DEFAULT_INTERFACE as DEFAULT_INTERFACE  # noqa: PLC0414
from venturi.model.interface import Interface as Interface  # noqa: PLC0414
from venturi.model.layout import Content as Content  # noqa: PLC0414
from venturi.model.layout import Dataset as Dataset  # noqa: PLC0414
from venturi.model.layout import ElementType as ElementType  # noqa: PLC0414
from venturi.model.layout import Option as Option  # noqa: PLC0414
from venturi.model.layout import Stripe as Stripe  # noqa: PLC0414
from venturi.model.operator import Operator as Operator  # noqa: PLC0414
from venturi.model.operator import Slot as Slot  # noqa: PLC0414
from venturi.model.verb import Arrivals as Arrivals  # noqa: PLC0414
from venturi.model.verb import CachePolicy as CachePolicy  # noqa: PLC0414
from venturi.model.verb import ClockKind as ClockKind  # noqa: PLC0414
from venturi.model.verb import ComputeMode as ComputeMode  # noqa: PLC0414
from venturi.model.verb import CopyWay as CopyWay  # noqa: PLC0414
from venturi.model.verb import CountedFrom as CountedFrom  # noqa: PLC0414
from venturi.model.verb import Direction as Direction  # noqa: PLC0414
from venturi.model.verb import ItemKind as ItemKind  # noqa: PLC0414
from venturi.model.verb import ItemOwner as ItemOwner  # noqa: PLC0414
from venturi.model.verb import ItemVerb as ItemVerb  # noqa: PLC0414
from venturi.model.verb import NameField as NameField  # noqa: PLC0414
from venturi.model.verb import NameVerb as NameVerb  # noqa: PLC0414
from venturi.model.verb import OnError as OnError  # noqa: PLC0414
from venturi.model.verb import OperationKind as OperationKind  # noqa: PLC0414
from venturi.model.verb import SyncMode as SyncMode  # noqa: PLC0414

PLAN_SCHEMA = "venturi.plan/2"


class Instruction(Document):
    """One step of the stack machine that evaluates an expression."""

    operator: Operator
    integer: Integer = 0
    """The literal of `integer`, the slot of `variable`, the target index of a jump."""
    real: Real = 0.0
    """The literal of `real`."""


Expression = Annotated[list[Instruction], Field(min_length=1)]


class PathPart(Document):
    """A piece of a path: fixed text, or a number printed with leading zeros."""

    text: str = ""
    value: Expression | None = None
    width: Annotated[int, Field(ge=0, le=20)] = 0


class LiteralContent(Document):
    """Bytes that a workload names: text, or numbers back to back."""

    text: list[PathPart] = []
    """Empty: numbers."""
    numbers: list[Expression] = []
    type: ElementType = ElementType.I32
    """Of the numbers; one that does not fit is refused."""
    big_endian: bool = False


class Sharing(StrEnum):
    """Who shares one file: all ranks of the group, one rank, one node, or every n ranks."""

    ALL = "all"
    RANK = "rank"
    NODE = "node"
    EVERY = "every"


class NamePart(Document):
    """A piece of a name in a tree: text, then a value that is fixed for an owner, then a field."""

    text: str = ""
    value: Expression | None = None
    field: NameField | None = None
    width: Annotated[int, Field(ge=0, le=20)] = 0
    """Leading zeros up to this many digits."""


class SizeShare(Document):
    """A size of items, and how many of every so many items have it."""

    bytes: Expression
    weight: Annotated[int, Field(ge=1, le=1_000_000)]


class Tree(Document):
    """Directories and items below the file's path: node k > 0 is child of (k - 1) // branch."""

    depth: Annotated[int, Field(ge=0, le=64)] = 0
    branch: Annotated[int, Field(ge=1, le=1_000_000)] = 1
    items: Expression
    """Items in each directory, of each owner."""
    size: Expression
    """Bytes of each item, as `write` and `read` move them."""
    sizes: list[SizeShare] = []
    """Instead of `size`: of as many items as the weights add up to, `weight` have that size."""
    kind: ItemKind = ItemKind.FILE
    owner: ItemOwner = ItemOwner.RANK
    leaves: bool = False
    """Items are in the deepest directories only."""
    directory_name: list[NamePart] = []
    """Names of directories below the root; none: `d.<node>`."""
    item_name: list[NamePart] = []
    """Names of items; none: `f.<owner>.<item>`."""


class TurnColumn(Document):
    """What a variable is in each row of a loop's table."""

    variable: Count
    """Its slot."""
    values: str
    """Base64 of a number for each row: little-endian integers with a sign, of 1, 2, 4 or 8 bytes,
    whichever the length shows."""


class StagedLoop(Document):
    """A loop over whose turns the names of a prestaged file run."""

    variable: Count
    """The slot of the loop variable."""
    count: Count
    columns: list[TurnColumn] = []
    """Other variables that have a value of their own in each turn."""


class File(Document):
    """A file, a family of files (one per rank, one per iteration) or a tree of files."""

    name: str
    path: Annotated[list[PathPart], Field(min_length=1)]
    interface: Interface
    options: list[Option] = []
    hints: list[Option] = []
    """Words for MPI-IO's library, which takes those that it knows."""
    stripe: Stripe | None = None
    """Where the file system has it; others are refused before any I/O."""
    sharing: Sharing = Sharing.ALL
    every: Positive = 1
    """The number of ranks that share a file when `sharing` is `every`."""
    content: Content = Content()
    datasets: list[Dataset] = []
    """What a self-describing format holds; others lay the bytes out themselves."""
    tree: Tree | None = None
    append: bool = False
    """All writes go where the file ends."""
    prestage: Expression | None = None
    """Bytes that each rank writes into its part, unmeasured, before the first repetition."""
    staged_loops: list[StagedLoop] = []
    """Where loops choose the name: every name of theirs is prestaged."""
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


class BoxLoop(Document):
    """One level of a walk over a dataset: a step along one dimension, or to the next copy."""

    dimension: Annotated[int, Field(ge=-1, le=7)]
    """-1 is the next of several equal datasets."""
    count: Expression
    step: Expression
    """Elements (or copies) between two turns."""


class Box(Document):
    """Parts of an n-dimensional dataset: one request is a box of `extent` elements.

    Request (i, j, ...) begins at `start` + i * step + j * step ... along the loops' dimensions,
    outermost loop first. Its bytes are the step's `size`.
    """

    kind: Literal["box"] = "box"
    dataset: Count
    """Index into the file's datasets."""
    first_copy: Expression | None = None
    """Which of several equal datasets is the first; absent: 0."""
    start: Annotated[list[Expression], Field(min_length=1)]
    extent: Annotated[list[Expression], Field(min_length=1)]
    loops: list[BoxLoop] = []


class Random(Document):
    """Random access: request i touches slot p(first + i * step) at base + slot * size.

    `p` is a keyed permutation of the slots, or, with replacement, a uniform choice, or, with an
    exponent, one whose k-th most frequent slot comes in proportion to k ** -zipf.
    """

    kind: Literal["random"] = "random"
    base: Expression
    slots: Expression
    count: Expression
    first: Expression
    step: Expression
    replacement: bool = False
    zipf: Annotated[float, Field(ge=0.0, le=100.0, allow_inf_nan=False)] = 0.0
    """Only with replacement; 0: uniform."""


class Packed(Document):
    """Requests back to back from `base` on, whatever their sizes."""

    kind: Literal["packed"] = "packed"
    base: Expression
    count: Expression


class Append(Document):
    """Requests that go where the file ends."""

    kind: Literal["append"] = "append"
    count: Expression


class Sequential(Document):
    """Requests from the rank's position in the open file on, moved to `base` before if that is."""

    kind: Literal["sequential"] = "sequential"
    base: Expression | None = None
    count: Expression


class TableRow(Document):
    """One request of a table."""

    offset: Count
    bytes: Positive


class Table(Document):
    """At most 4096 requests in order; in turn k all of them `base` + k * `stride` further on."""

    kind: Literal["table"] = "table"
    base: Expression
    turns: Expression
    stride: Expression
    rows: Annotated[list[TableRow], Field(min_length=1)]


_AnyPattern = Nest | Random | Box | Packed | Append | Sequential | Table
Pattern = Annotated[_AnyPattern, Field(discriminator="kind")]


class MixPart(Document):
    """A size of requests and how many of every so many have it."""

    bytes: Expression
    weight: Annotated[int, Field(ge=1, le=1_000_000)]


class Halo(Document):
    """A rank's part of a dataset lies between guard cells in memory: writes are packed from there.

    Reads are put there. In row-major order; copy i is the variable i modulo `variables`.
    """

    extent: Annotated[list[Expression], Field(min_length=1)]
    """Elements of the part along each dimension, without guard cells."""
    guard: list[Count]
    """Guard cells on each side along each dimension."""
    element_bytes: Positive
    variables: Positive = 1
    """So many lie beside each other, element by element."""


class For(Document):
    """Run the body `count` times; the variable runs over 0 ... count - 1, or over so many rows."""

    kind: Literal["for"] = "for"
    variable: Count
    """The slot of the loop variable."""
    count: Expression
    columns: list[TurnColumn] = []
    """Other variables that have a value of their own in each row of a table."""
    rows: Count = 0
    """How many there are in all; 0 without columns."""
    first: Expression | None = None
    """The row of the first turn, where it is not 0: each rank has rows of its own."""
    body: list[Step]


class Choose(Document):
    """Do one step of the body: the one with this number, from 0."""

    kind: Literal["choose"] = "choose"
    number: Expression
    body: Annotated[list[Step], Field(min_length=1)]


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
    deadline_s: Seconds | None = None
    """A phase that is not over then ends the run, even if a rank cannot be stopped."""
    cache: CachePolicy = CachePolicy.KEEP
    overfill_bytes: Count = 0
    """Before the phase all ranks together write and read a scratch file of this size."""
    occupy_share: Fraction = 0.0
    """Share of each node's memory that is locked while the phase runs."""
    on_error: OnError = OnError.STOP
    """Of requests, and of operations on items; whatever else fails ends the run."""
    body: list[Step]


class Repeat(Document):
    """Run the body, and again from its beginning until the phase is so old."""

    kind: Literal["repeat"] = "repeat"
    at_least_s: Seconds
    body: list[Step]


class Barrier(Document):
    """All ranks of the group wait for each other."""

    kind: Literal["barrier"] = "barrier"


class Signal(Document):
    """Let groups know that something happened once more; nobody waits for their answer."""

    kind: Literal["signal"] = "signal"
    name: Annotated[list[PathPart], Field(min_length=1)]
    to: list[Count]
    """Indices of the groups that wait for signals that this one may be."""


class Wait(Document):
    """All ranks of the group wait until a signal was given so often in this repetition."""

    kind: Literal["wait"] = "wait"
    name: Annotated[list[PathPart], Field(min_length=1)]
    count: Expression


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
    """Bytes of each request; of the largest, where sizes differ."""
    pattern: Pattern
    mix: list[MixPart] = []
    """Sizes of requests: of all requests of the step, the exact share of the weights."""
    reads: Fraction = 0.0
    """Exact share of the requests of a `write` that read instead."""
    rate_per_s: Annotated[float, Field(ge=0.0, le=1e9, allow_inf_nan=False)] = 0.0
    """Requests begin at this rate, whenever those before them end; latency counts from the
    intended start. 0: each begins when the one before it has ended."""
    arrivals: Arrivals = Arrivals.FIXED
    sync: SyncMode = SyncMode.NONE
    """Done after every request."""
    think_s: Seconds = 0.0
    """Pause before every request."""
    memory_bytes: Count = 0
    """Requests move through so much memory, each behind the one before; 0: all the same memory."""
    fresh: Fraction = 0.0
    """Share of the reads that get memory without pages, so that they meet page faults."""
    halo: Halo | None = None
    seeks: Annotated[float, Field(ge=0.0, le=1000.0, allow_inf_nan=False)] = 0.0
    """Of n requests, floor(n * seeks + 0.5) times the file's position is moved before one."""
    empty_reads: Annotated[float, Field(ge=0.0, le=1000.0, allow_inf_nan=False)] = 0.0
    """As many times, by this number, what lies behind the file's end is read before one."""
    depth: Annotated[int, Field(ge=1, le=4096)] = 1
    """Requests in flight."""
    collective: bool = False
    """All sharers of the file make each call together."""
    literal: LiteralContent | None = None
    """What each request of a `write` writes; absent: made-up bytes."""
    verify: bool = True
    """Stamped data that are read are checked; false leaves that out of the time of a read."""


class Manage(Document):
    """One operation on the name of a file, or on every directory of its tree."""

    kind: Literal["manage"] = "manage"
    verb: NameVerb
    file: Count
    owner: Expression
    to: Count | None = None
    """The file whose name a renamed one, or a copy, gets; what the run made under it is gone."""
    bytes: Expression | None = None
    """What a truncation leaves of an open file."""
    way: CopyWay | None = None
    """How a copy is tried at first."""


class Items(Document):
    """The verbs, in order, on each item of a tree, item by item."""

    kind: Literal["items"] = "items"
    file: Count
    owner: Expression
    verbs: Annotated[list[ItemVerb], Field(min_length=1)]
    shuffled: bool = False
    first: Expression | None = None
    """Where the window begins in the owner's items, directory by directory; default 0."""
    count: Expression | None = None
    """Items in the window; default: all from `first` on."""
    counted_from: CountedFrom = CountedFrom.START
    """Of the owner's items: the first one; as the phase begins, the oldest that was not removed;
    or the place behind the newest."""
    bytes: Expression | None = None
    """What writes and reads move of each item, from its beginning; default: all of it."""
    wait_factor: Annotated[float, Field(ge=0.0, le=1e6, allow_inf_nan=False)] = 0.0
    """After each item, a pause of that many times what its operations took."""
    thinks_s: list[Seconds] = []
    """Computing before each of the verbs; empty: none."""
    attribute_bytes: Annotated[int, Field(ge=1, le=65_536)] = 16
    """Size of extended attributes."""
    source: Count | None = None
    """The tree whose items `copy` copies."""
    way: CopyWay | None = None
    """How a copy is tried at first."""


class Find(Document):
    """All ranks walk over what lies below a directory and count the names that fit."""

    kind: Literal["find"] = "find"
    top: list[PathPart] = []
    """Below the run's directory; none: all of that."""
    foreign: bool = False
    """`top` is absolute and somebody else's: it is only looked at."""
    name: str = ""
    """A pattern of the shell for the last part of a name; empty: any."""
    bytes: Expression | None = None
    """Exactly this size."""
    newer: Count | None = None
    """Changed (ctime) after this file of the plan was changed."""


class Exec(Document):
    """The first rank has a command run by whoever started the engine; all wait for its end."""

    kind: Literal["exec"] = "exec"
    number: Count
    """Which of the workload's commands it is."""
    command: Annotated[list[PathPart], Field(min_length=1)]
    """For the shell."""
    limit_s: Seconds


class Kernel(Document):
    """Measure the machine itself: all ranks of the group run a kernel together."""

    kind: Literal["kernel"] = "kernel"
    name: Annotated[str, Field(min_length=1)]
    options: list[Option] = []


class Sync(Document):
    """Make what was written to an open file persistent."""

    kind: Literal["sync"] = "sync"
    file: Count
    mode: SyncMode
    is_named: bool = False
    """Of the entry's open files only the one that its path names here; else all."""


Step = Annotated[
    For
    | Choose
    | When
    | Phase
    | Repeat
    | Barrier
    | Signal
    | Wait
    | Compute
    | Transfer
    | Manage
    | Items
    | Find
    | Exec
    | Kernel
    | Sync,
    Field(discriminator="kind"),
]


class Group(Document):
    """Ranks that act together, beside those of other groups.

    Instance k has the ranks from `first` + k * `ranks` on, and all instances run the program.
    """

    name: str
    first: Count = 0
    ranks: Positive
    """Of one instance."""
    instances: Positive = 1
    program: list[Step]


class Plan(Document):
    """All that one run of the engine does."""

    schema_: Literal["venturi.plan/2"] = Field("venturi.plan/2", alias="schema")
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
    expect_fstype: str = ""
    """The type of file system that the directory must lie on; empty: any."""
    stall_s: Seconds = 10.0
    """A rank that completes nothing for this long is reported; 0: never."""
    deadline_s: Seconds | None = None
    """The run is ended when it takes longer, even if a rank cannot be stopped."""
    log_operations: bool = False
    """Every operation is written to `operations.<rank>` in the journal."""
    slots: Annotated[list[str], Field(min_length=6)]
    """Names of the variables: those of `Slot`, then one for each loop."""
    files: list[File]
    groups: Annotated[list[Group], Field(min_length=1)]


For.model_rebuild()
Choose.model_rebuild()
When.model_rebuild()
Phase.model_rebuild()
Repeat.model_rebuild()
Group.model_rebuild()
