"""The workload: what an application does to storage, in the language people read and write.

A value is a number, a number with its unit (`64 MiB`, `30 s`) or an expression over the
parameters, the loop variables and the reserved names; see `venturi.model.expression`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import Field, model_validator

from venturi.model.command import ExecStep as ExecStep  # noqa: PLC0414
from venturi.model.data_step import DataStep as DataStep  # noqa: PLC0414
from venturi.model.data_step import MixSpec as MixSpec  # noqa: PLC0414
from venturi.model.data_step import PatternKind as PatternKind  # noqa: PLC0414
from venturi.model.document import Count, Document, Fraction
from venturi.model.interface import DEFAULT_INTERFACE
from venturi.model.kernel_step import KernelStep as KernelStep  # noqa: PLC0414
from venturi.model.measure import Metric as Metric  # noqa: PLC0414
from venturi.model.measure import RateCurve as RateCurve  # noqa: PLC0414
from venturi.model.measure import Reference as Reference  # noqa: PLC0414
from venturi.model.measure import Rule as Rule  # noqa: PLC0414
from venturi.model.name_step import CopyStep as CopyStep  # noqa: PLC0414
from venturi.model.name_step import RenameStep as RenameStep  # noqa: PLC0414
from venturi.model.name_step import TruncateStep as TruncateStep  # noqa: PLC0414
from venturi.model.name_step import Value as Value  # noqa: PLC0414
from venturi.model.origin import REQUEST_EDGES_BYTES as REQUEST_EDGES_BYTES  # noqa: PLC0414
from venturi.model.origin import Audience as Audience  # noqa: PLC0414
from venturi.model.origin import Confidence as Confidence  # noqa: PLC0414
from venturi.model.origin import Finding as Finding  # noqa: PLC0414
from venturi.model.origin import LeftOut as LeftOut  # noqa: PLC0414
from venturi.model.origin import Method as Method  # noqa: PLC0414
from venturi.model.origin import Observed as Observed  # noqa: PLC0414
from venturi.model.origin import Origin as Origin  # noqa: PLC0414
from venturi.model.origin import RequestBucket as RequestBucket  # noqa: PLC0414
from venturi.model.origin import Severity as Severity  # noqa: PLC0414
from venturi.model.origin import request_class as request_class  # noqa: PLC0414
from venturi.model.plan import (
    CachePolicy,
    ComputeMode,
    CopyWay,
    CountedFrom,
    ElementType,
    FaultKind,
    Interface,
    ItemKind,
    ItemOwner,
    ItemVerb,
    OnError,
    OperationKind,
    Slot,
    SyncMode,
)
from venturi.model.row_table import RowTable as RowTable  # noqa: PLC0414
from venturi.model.verdict import Threshold

RESERVED_NAMES = tuple(slot.value for slot in Slot)

Name = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
Scalar = Annotated[int | float | str, Field(union_mode="left_to_right")]
"""A number, a number with a unit (`64 KiB`), or a word."""


class Parameter(Document):
    """A number that the user may set, and its values for named scales."""

    default: Value
    about: str = ""
    unit: str = ""
    least: Value | None = None
    most: Value | None = None
    role: Literal["ranks"] | None = None
    """`ranks`: `-n` chooses its value so that all groups have that many ranks together. Several
    such parameters share the ranks in the proportion of their own values."""
    laptop: Value | None = None
    paper: Value | None = None
    small: Value | None = None
    large: Value | None = None

    def at_scale(self, scale: str) -> Value:
        """The value for a named scale: its own, or the default."""
        own: Value | None = getattr(self, scale)
        return self.default if own is None else own


DEFAULT_SCALE = "laptop"
SCALES = (DEFAULT_SCALE, "paper", "small", "large")
"""Names of scales."""


class GroupSpec(Document):
    """Ranks that act together."""

    ranks: Value
    instances: Value = 1
    """0: the group is not there."""
    after: Name | None = None
    """Its program begins when all ranks of this group have come to the end of theirs."""
    about: str = ""


class UnevenPartition(Document):
    """Which rows of the first dimension a rank has, where ranks have different numbers of them."""

    first: Value
    """The row with which they begin, an expression of `rank`."""
    rows: Value
    """How many they are. Ranks lie behind each other in their order, without gaps."""


class DatasetSpec(Document):
    """An n-dimensional array in a file, split over the ranks."""

    count: Value = 1
    """That many equal datasets, back to back."""
    type: ElementType = ElementType.F64
    shape: Annotated[list[Value], Field(min_length=1)]
    split: list[Value] = []
    """Parts along each dimension; their product is the number of ranks that share the file."""
    partition: UnevenPartition | None = None
    """Rows of each rank instead of `split`, where their numbers differ."""
    individual: bool = False
    """Each part is a dataset of its own, so that no two ranks touch the same one."""
    chunks: list[Value] = []
    """Elements of a chunk along each dimension; absent: contiguous."""
    deflate: Annotated[int, Field(ge=0, le=9)] = 0
    """Level of compression; needs `chunks`."""
    shuffle: bool = False
    """Bytes of equal weight stand together before they are compressed; needs `chunks`."""


class ContentSpec(Document):
    """What the bytes are."""

    seed: Count = 0
    verify: bool = False
    compressibility: Fraction = 0.0
    """Share of each 4 KiB that is zero."""
    duplicates: Fraction | None = None
    """Share of the 4 KiB pages that repeat the page before them; absent: none."""
    repeats: bool = False
    """All requests of a rank write the same bytes."""


class NamesSpec(Document):
    """Templates of the names in a tree.

    `{node}` is a directory's number, `{item}` an item's number in the tree, `{index}` its number
    in its directory; other fields are expressions that may read the rank, which is the owner's.
    """

    directory: str | None = None
    """Default: `d.{node}`."""
    item: str | None = None
    """Default: `f.{rank}.{item}`, without the rank where items are not one rank's."""


class SizeSpec(Document):
    """A size of items and its weight, a whole number."""

    bytes: Value
    weight: Value = 1


class TreeSpec(Document):
    """Directories and items below the file's path."""

    depth: Value = 0
    branch: Value = 1
    items: Value
    """In each directory, of each owner."""
    owner: ItemOwner = ItemOwner.RANK
    """`rank`: each rank's own; `all`: one set dealt to the ranks; `shared`: one set that every
    rank uses."""
    kind: ItemKind = ItemKind.FILE
    leaves: bool = False
    """Items are in the deepest directories only."""
    size: Value = 0
    sizes: list[SizeSpec] = []
    """A distribution of sizes instead of one `size`."""
    names: NamesSpec = NamesSpec()


class StripeSpec(Document):
    """How a file system lays out each new file over its servers, where it lets users choose."""

    count: Value | None = None
    """Servers (or targets) of a file; -1: all that there are. Default: the directory's."""
    size: Value | None = None
    """Bytes that lie together on one of them, a multiple of 64 KiB. Default: the directory's."""


class FaultSpec(Document):
    """A fault to inject, for tests of the tool and of its readers."""

    kind: FaultKind
    operation: OperationKind
    nth: Annotated[int, Field(ge=1)] = 1
    every: Count = 0
    rank: Annotated[int, Field(ge=-1)] = -1
    seconds: Value = 0


class FileSpec(Document):
    """What is touched."""

    path: Annotated[str, Field(min_length=1)]
    """A template: `{name}` or `{name:04d}` over parameters, loop variables, reserved names."""
    about: str = ""
    """What it is; of a derived workload the application's name for it, digits that vary as `#`."""
    interface: Interface = DEFAULT_INTERFACE
    options: dict[str, str | int | float | bool] = {}
    """Of the interface. A text may have `{expressions}` over parameters."""
    hints: dict[str, str | int | float | bool] = {}
    """Words for MPI-IO's library; the record says which are in force."""
    stripe: StripeSpec | None = None
    """Lustre and BeeGFS have it; a run elsewhere is refused before any I/O."""
    shared: Annotated[str, Field(pattern=r"^(all|rank|node|every .+)$")] = "all"
    """`every n`: each n ranks, a number or an expression of parameters."""
    datasets: dict[Name, DatasetSpec] = {}
    content: ContentSpec = ContentSpec()
    tree: TreeSpec | None = None
    prestage: Value | None = None
    """Bytes of each rank's part that exist before the run; made unmeasured."""
    made_by: list[Name] = []
    """Entries that make these files; this one makes none, but chooses among them in its own way,
    by a path that gives the names of theirs."""
    keep: bool = False
    foreign: bool = False
    """An existing file of somebody else's: only read."""
    faults: list[FaultSpec] = []


def _sum_of(values: Iterable[Value]) -> Value:
    """The sum of values that may be expressions; 0 of none."""
    some = [value for value in values if value != 0]
    if len(some) < 2:
        return some[0] if some else 0
    return " + ".join(f"({value})" for value in some)


class EachStep(Document):
    """The long form of `each`: verbs on every item of a tree, item by item."""

    on: str
    do: Annotated[list[ItemVerb], Field(min_length=1)]
    from_: str | None = Field(None, alias="from")
    """The tree whose items are copied."""
    by: CopyWay = CopyWay.CLONE
    """How `copy` does it at first."""
    order: Literal["sorted", "shuffled"] = "sorted"
    first: Value = 0
    """Where a window of the owner's items begins."""
    count: Value | None = None
    """Items in the window; default: all that follow."""
    counted_from: CountedFrom = CountedFrom.START
    """What `first` counts from: the owner's first item, the `oldest` that is there when the phase
    begins, or the place behind the `newest`; then `count` says how many. For a working set that
    is made at one end and removed at the other, wherever a limit stopped the phase before."""
    bytes: Value | None = None
    """What `write` and `read` move of each item, from its beginning; default: all of it."""
    wait: Value = 0
    """Waiting factor: after each item a pause of that many times what its operations took."""
    think: Value | list[Value] = 0
    """How long each item is computed for before its operations; a list: before each of them."""

    def without(self, verb: ItemVerb) -> EachStep:
        """The same without a verb, another of which is left; what is computed before that is
        computed before the verb that follows, or else the last one."""
        kept = [number for number, one in enumerate(self.do) if one is not verb]
        think = self.think
        if isinstance(think, list):
            nearest = [next((k for k in kept if k >= at), kept[-1]) for at in range(len(self.do))]
            think = [
                _sum_of(t for t, k in zip(think, nearest, strict=True) if k == one) for one in kept
            ]
        return self.model_copy(update={"do": [self.do[one] for one in kept], "think": think})

    attribute: Value = 16
    """Bytes of extended attributes."""


class FindStep(Document):
    """A walk of all ranks over directories; counts the names to which all that is said applies.

    Links are not followed, and what vanishes meanwhile is passed over.
    """

    in_: str = Field("", alias="in")
    """A path below the run's directory, a template; default: all that the run made."""
    foreign: str | None = None
    """Instead of `in` an absolute path of somebody else's, which is only looked at."""
    name: str = ""
    """A pattern of the shell (`*01*`) for the last part of the name."""
    bytes: Value | None = None
    """Exactly this size."""
    newer: Name | None = None
    """A file of the workload: changed after it was."""


class SyncStep(Document):
    """The long form of `sync`."""

    on: str
    mode: SyncMode = SyncMode.FSYNC


class ComputeStep(Document):
    """The long form of `compute`."""

    seconds: Value
    mode: ComputeMode = ComputeMode.SLEEP


class ChooseStep(Document):
    """One of several steps, by a number."""

    by: Value
    """From 0."""
    of: Annotated[list[StepSpec], Field(min_length=1)]


class WaitStep(Document):
    """The long form of `wait`."""

    on: Annotated[str, Field(min_length=1)]
    """A template of the signal's name, as in `signal`."""
    count: Value | None = None
    """So many signals are enough; default: all that are given in a repetition."""


class CacheStep(Document):
    """The long form of a phase's `cache`."""

    policy: CachePolicy = CachePolicy.KEEP
    overfill: Value | None = None
    """Bytes that are written and read before the phase, such as `2 * server_memory`."""
    occupy: Annotated[str, Field(pattern=r"^[^%]+%$")] | None = None
    """Share of each node's memory that is locked while the phase runs, such as `90 %`; before the
    sign a number or an expression of parameters."""


class LimitStep(Document):
    """A phase's limit of time."""

    after: Value
    then: Literal["same count", "stop"] = "same count"
    bound: Value | None = None
    """How long the rest may take; default: as long as the limit again."""


VERBS = (
    "for_", "choose", "when", "phase", "barrier", "compute", "write", "read", "create", "open",
    "close", "stat", "unlink", "mkdir", "rmdir", "read_dir", "each", "find", "sync", "signal",
    "wait", "rename", "truncate", "copy_", "exec", "kernel", "set_mode", "set_owner", "set_times",
    "miss",
)  # fmt: skip


_OF_FILES = (
    "write", "read", "create", "open", "close", "stat", "unlink", "mkdir", "rmdir", "read_dir",
    "each", "find", "sync", "rename", "truncate", "copy_", "set_mode", "set_owner", "set_times",
    "miss",
)  # fmt: skip
"""Verbs that act on files."""
_NAMES_OF_FILES = ("on", "to", "from_", "newer")
"""Their keys that hold the name of a file, or of a dataset in one."""

BareStep = Literal["barrier"]
"""A step that is a single word."""


class StepSpec(Document):
    """One step: exactly one verb, and the keys that belong to it."""

    for_: Name | None = Field(None, alias="for")
    in_: Value | None = Field(None, alias="in")
    """How often the loop runs: over 0 ... n - 1. Without it `for` names a table: the loop has a
    turn for each of its rows, and the columns are names for the numbers in the row."""
    choose: ChooseStep | None = None
    when: Value | None = None
    phase: Annotated[str, Field(pattern=r"^[A-Za-z0-9_. -]+$")] | None = None
    limit: LimitStep | Value | None = None
    cache: CacheStep | CachePolicy = CachePolicy.KEEP
    deadline: Value | None = None
    """A phase that is not over then ends the run."""
    at_least: Value | None = None
    """A phase's transfers repeat from their beginning until it is so old."""
    on_error: OnError | None = None
    """Of a phase's requests and operations on items: `stop` (the default) or `go on`; phases
    inside do likewise, unless they say otherwise."""
    barrier: Literal["all"] | None = None
    compute: ComputeStep | Value | None = None
    write: DataStep | str | None = None
    read: DataStep | str | None = None
    create: str | None = None
    open: str | None = None
    close: str | None = None
    stat: str | None = None
    unlink: str | None = None
    mkdir: str | None = None
    rmdir: str | None = None
    read_dir: str | None = None
    rename: RenameStep | None = None
    copy_: CopyStep | None = Field(None, alias="copy")
    truncate: TruncateStep | str | None = None
    set_mode: str | None = None
    set_owner: str | None = None
    set_times: str | None = None
    miss: str | None = None
    """A name that is not there is asked for: that of the file, with `~` behind it."""
    each: EachStep | None = None
    find: FindStep | None = None
    exec: ExecStep | None = None
    kernel: KernelStep | None = None
    sync: SyncStep | SyncMode | None = None
    signal: Annotated[str, Field(min_length=1)] | None = None
    """Tells who waits for this name that the rank came here; a template such as `step {step}`."""
    wait: WaitStep | Annotated[str, Field(min_length=1)] | None = None
    """The ranks of the group go on when all signals of this name were given."""
    from_: Annotated[
        str, Field(pattern=r"^(self|next node|nodes .+|shift .+|random|permuted)$")
    ] = Field("self", alias="from")
    """In whose place a rank acts: `self`, its own; `shift n`, n ranks further; `next node` or
    `nodes n`, the same place n nodes further; `random`, any rank of another node; `permuted`,
    the rank that a random permutation, the same for all, gives."""
    do: list[StepSpec | BareStep] | None = None

    @property
    def inner(self) -> list[StepSpec | BareStep]:
        """The steps inside of this one."""
        return list(self.choose.of) if self.choose is not None else self.do or []

    @property
    def named(self) -> set[str]:
        """The files that this step itself speaks of."""
        said = getattr(self, self.verb) if self.verb in _OF_FILES else None
        if isinstance(said, SyncMode):
            return set()
        names = [said] if isinstance(said, str) else [getattr(said, k, "") for k in _NAMES_OF_FILES]
        return {name.partition(".")[0] for name in names if name}

    @property
    def verb(self) -> str:
        """The one verb of this step."""
        return next(verb for verb in VERBS if getattr(self, verb) is not None)

    @model_validator(mode="after")
    def _one_verb(self) -> StepSpec:
        verbs = [verb.rstrip("_") for verb in VERBS if getattr(self, verb) is not None]
        if len(verbs) != 1:
            raise ValueError(f"a step has exactly one verb; this one has {verbs or 'none'}")
        nests = verbs[0] in ("for", "when", "phase")
        if nests != (self.do is not None):
            raise ValueError(f"'{verbs[0]}' {'needs' if nests else 'does not take'} a 'do'")
        if verbs[0] != "for" and self.in_ is not None:
            raise ValueError("'in' belongs to 'for'")
        for key in ("limit", "cache", "deadline", "at_least", "on_error"):
            is_said = getattr(self, key) != type(self).model_fields[key].default
            if is_said and verbs[0] != "phase":
                raise ValueError(f"'{key}' belongs to a 'phase'")
        return self


class Workload(Document):
    """A whole workload file."""

    workload: Literal[1]
    """Version of the language."""
    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")]
    about: str = ""
    origin: Origin | None = None
    repeat: Annotated[int, Field(ge=1)] | None = None
    """Repetitions where the user does not say; default 6."""
    repeat_within: Value | None = None
    """Where the user does not say how many: none begins when they have taken so long."""
    heartbeat: Value = "10 s"
    """A rank that completes nothing for this long is reported."""
    deadline: Value | None = None
    """The run is ended when it takes longer."""
    log_operations: bool = False
    """Keep every single operation in the record's `operations.npz`."""
    parameters: dict[Name, Parameter | Value] = {}
    define: dict[Name, Value] = {}
    """Names for expressions that may read the rank and the loops around a step; later ones may
    use earlier ones."""
    groups: dict[Name, GroupSpec] = {}
    files: dict[Name, FileSpec] = {}
    tables: dict[Name, RowTable | str] = {}
    """Tables over whose rows loops run; a text is the name of the table's file, beside this one."""
    program: dict[Name, list[StepSpec | BareStep]]
    metrics: dict[Name, Metric] = {}
    curves: dict[Name, RateCurve] = {}
    """Pictures for the page of a run."""
    rules: dict[Name, Rule] = {}
    """Those that a result must keep to be ranked among others of this workload."""
    thresholds: dict[str, Threshold] = {}
    """By metric or phase: what its value must reach; a run that surely does not exits with 4."""
    expect: dict[str, Value] = {}
    references: list[Reference] = []


ChooseStep.model_rebuild()
StepSpec.model_rebuild()
