"""The campaign: many runs over a space of parameters, and what became of each.

The file that people write (`Campaign`), what a job writes about each of its tasks (`Begun`,
`Ended`), and the table of results (`CampaignResult`).
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, model_validator

from venturi.model.aim import Aim
from venturi.model.ceiling import PhaseCeilings
from venturi.model.document import Count, Document, Positive, Real, Seconds
from venturi.model.latency_sample import LatencyRequest, LatencySample
from venturi.model.output import Better, OutputMetric
from venturi.model.published_figure import CampaignContrast, ContrastRow, PublishedFigure
from venturi.model.scaling import ScalingStudy, Study, StudyKind
from venturi.model.traced_run import StepCapture, TracedRun
from venturi.model.verdict import Outcome, Threshold, ThresholdRow
from venturi.model.workload import Name, Scalar, Value

Levels = Annotated[list[Scalar], Field(min_length=1)]


class SampleMethod(StrEnum):
    """How points are drawn from a space that is too large to measure."""

    RANDOM = "random"
    LATIN = "latin"
    """A Latin hypercube: every level of every parameter comes equally often."""


class SpaceSample(Document):
    """A part of a space, drawn once for all."""

    size: Positive
    method: SampleMethod = SampleMethod.LATIN
    seed: Count = 1


class Space(Document):
    """The points of a campaign: a value of every parameter for each."""

    product: dict[Name, Levels] = {}
    """Every level of each with every level of all others."""
    zip: list[dict[Name, Levels]] = []
    """Parameters that change together: lists of one length; each group is crossed with the rest."""
    points: list[dict[Name, Scalar]] = []
    """More points, each with a value of every parameter."""
    derive: dict[Name, Value] = {}
    """Parameters that follow from others, by expression."""
    exclude: list[str] = []
    """Points for which one of these holds are left out; words stand for themselves."""
    sample: SpaceSample | None = None

    @model_validator(mode="after")
    def _zipped_alike(self) -> Space:
        for group in self.zip:
            lengths = {name: len(levels) for name, levels in group.items()}
            if len(set(lengths.values())) > 1:
                said = ", ".join(f"{name} has {n}" for name, n in lengths.items())
                raise ValueError(f"zipped lists must have one length: {said}")
        return self


class CampaignMetric(OutputMetric):
    """A number in what a run wrote, or one that follows from others."""

    derive: str = ""
    """An expression over the metrics before it and the numbers among the parameters."""
    also_in: list[str] = []
    """More files, read after `file`. They and it may be patterns (`*.txt`) and name parameters."""
    every_bracket: bool = False
    """All brackets of `regex` are values, from left to right; what is empty is none."""
    optional: bool = False
    """A run in which it is missing, or is no number, has no value of it and has not failed."""
    text: bool = False
    """It is a text, which tables show; it has neither statistics nor a verdict."""

    @property
    def ways(self) -> dict[str, str]:
        """How it is found: one of these is not empty."""
        return {**super().ways, "derive": self.derive}


class Tool(Document):
    """What a well-known tool prints."""

    about: str
    metrics: dict[Name, CampaignMetric]
    """Those that are there; a run in which none is has failed."""
    reported: dict[Name, CampaignMetric] = {}
    """Settings that the tool says it used."""


class Version(StrEnum):
    """Which version of a program is measured."""

    PINNED = "pinned"
    """Always the same, so that what changes is the machine: for synthetic tests."""
    NEWEST = "newest"
    """What the repository has when the campaign is begun: for applications."""


class Build(Document):
    """A program that the step's command builds from a git repository.

    It is built once for each commit, flags and software, for all campaigns of a store. The command
    works in the sources and ends at its first failure; `{prefix}` is the build's folder, as is
    `{folder_NAME}` for later steps.
    """

    source: str
    """The repository: an address, or a folder (`{home}/code`)."""
    version: Version = Version.PINNED
    commit: str = ""
    """Of a pinned version: a commit, or a tag."""
    branch: str = ""
    """Of the newest version; default: the repository's."""
    flags: dict[str, str] = {}
    """Variables of the environment: `CFLAGS: -O3`."""

    @model_validator(mode="after")
    def _fits(self) -> Build:
        if self.version is Version.PINNED and (self.branch or not self.commit):
            raise ValueError("a pinned version has a 'commit', which may be a tag")
        if self.version is Version.NEWEST and self.commit:
            raise ValueError("the newest version has a 'branch', not a 'commit'")
        return self


class CampaignStep(Document):
    """One thing that is done at points of the space: a workload, or any command.

    It runs once for each combination of the parameters that its texts name in braces, however
    many others the space has: a build step that names `{compiler}` runs once per compiler.
    """

    workload: str = ""
    """A name from the library, or a file beside the campaign's."""
    command: str = ""
    """A line for the shell, in a folder of the run's own."""
    build: Build | None = None
    """The command builds this, unless that was done before."""
    after: list[Name] = []
    """Steps that must be done before, at the same values; `{folder_NAME}` is where they worked."""
    set: dict[str, Scalar] = {}
    """Parameters of the workload, as `--set`; `interface` too."""
    scale: str = "laptop"
    ranks: Value = ""
    nodes: Value = 1
    environment: dict[str, str] = {}
    needs: list[str] = []
    """What the machine's file says how to have: its `software`."""
    per: list[Name] = []
    """Parameters that a run depends on though none of its texts names them."""
    metrics: dict[Name, CampaignMetric] = {}
    tool: str = ""
    """The command is this tool (ior, mdtest, fio ...): its metrics are known."""
    confirm: dict[Name, Scalar] = {}
    """What the tool must report: a run that used something else has failed."""
    writes: Value = 0
    """Bytes that a command writes in one run; a workload's are known."""
    files: Value = 0
    """Files and directories that a command makes in one run."""
    time: Value = "10 min"
    """What one run may take; then it is ended, and is a `timeout`."""
    thresholds: dict[str, Threshold] = {}
    """By metric: what it must reach at every point, judged over all repetitions."""
    repeat: Positive | None = None
    """Default: the campaign's where the step measures something, else 1."""
    sample_latency: LatencyRequest | None = None
    """Single operations that the page draws over time, of each point's last repetition."""
    capture: bool | StepCapture = False
    """The I/O of a command's runs is captured; what it does to storage joins the result."""
    darshan: bool = False
    """The same by Darshan: the library of the machine's software `darshan`, whose setup may say
    where it is (`export DARSHAN_LIBRARY=/opt/darshan/lib/libdarshan.so`)."""

    @model_validator(mode="after")
    def _one_kind(self) -> CampaignStep:
        if bool(self.workload) == bool(self.command):
            raise ValueError("a step is either a workload or a command")
        if self.command and self.set:
            raise ValueError("'set' is for workloads; a command takes {parameters} in its text")
        if self.build is not None and (self.workload or self.metrics or self.tool):
            raise ValueError("a step that builds is a command, and measures nothing")
        if self.build is not None and self.thresholds:
            raise ValueError("a step that builds has no thresholds")
        if (self.tool and not self.command) or (self.confirm and not self.tool):
            raise ValueError("'tool' is for commands, and 'confirm' for tools")
        if self.darshan and self.capture:
            raise ValueError("'capture' and 'darshan' record the same calls; choose one")
        if (self.darshan or self.capture) and (self.workload or self.build is not None):
            raise ValueError("'capture' and 'darshan' are for commands that measure")
        if self.command and self.sample_latency is not None:
            raise ValueError("'sample_latency' is for workloads, whose operations are known")
        return self


class ResultColumn(Document):
    """A column of a table."""

    of: str
    """A parameter or a metric of the table's step; empty: a column without values."""
    step: str = ""
    """A step before the table's that has the metric, at the same values of its parameters."""
    optional: bool = False
    """Nothing is wrong if no run has it."""
    title: str = ""
    """Default: its name and its unit."""
    format: str = ""
    """As Python formats a number: `.2f`."""


class ResultTable(Document):
    """A table of results: a line for each point of a step, medians over its repetitions."""

    step: Name
    columns: Annotated[list[ResultColumn], Field(min_length=1)]
    sort: list[str] = []
    """By these columns."""
    separator: str = ","
    """Between columns with `--csv`."""


class QuietWait(Document):
    """Before each run the storage must be quiet, as `venturi probe wait` finds it."""

    slowdown: Annotated[Real, Field(gt=0)]
    """Times its usual latency that no operation of the probes there may take."""
    over: Value = "60 s"
    """What is compared are medians of so long."""
    within: Value = "30 min"
    """A run that has waited so long is not done; its state is `blocked`."""


SlowdownLimit = Annotated[
    str, Field(pattern=r"^slowdown < ([1-9][0-9]*([.][0-9]+)?|0[.][0-9]*[1-9][0-9]*)$")
]
"""`slowdown < 1.5`: the wait with its usual times."""


class CampaignScale(Document):
    """What a campaign changes at a named scale; steps run their workloads at the same one."""

    about: str = ""
    """How large it is, in words: nodes, ranks, bytes."""
    space: Space | None = None
    """In place of the campaign's."""
    repeat: Positive | None = None
    time: Value | None = None
    """What one run of any step may take."""


class Campaign(Document):
    """Steps over a space of points, repeated and interleaved."""

    campaign: Literal[1]
    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]
    about: str = ""
    study: StudyKind | Study | None = None
    """How its metrics scale over a number of ranks, nodes or clients; a word, or more of it."""
    space: Space = Space()
    steps: Annotated[dict[Name, CampaignStep], Field(min_length=1)]
    repeat: Positive = 6
    until: Aim | None = None
    """More repetitions than that, point by point, until medians are known so well."""
    when: SlowdownLimit | QuietWait | None = None
    """What each run waits for: `slowdown < 1.5`, or more of it."""
    pack: Positive | None = None
    """Points that share one job (an allocation); none: all of equal size."""
    seed: Count = 1
    """Of all randomness: the order of points within each repetition, and what workloads draw."""
    every: Value = ""
    """How often a result is due; `venturi campaign due` tells when none comes."""
    tables: dict[str, ResultTable] = {}
    """What `venturi campaign table` prints."""
    scales: dict[Literal["laptop", "paper", "small", "large"], CampaignScale] = {}
    """By the name that `--scale` takes; without an entry only `laptop` is there."""
    leave_out_unbuilt: bool = False
    """Points whose interface the machine's engine does not have are left out and named, instead
    of failing."""
    contrasts: dict[Name, CampaignContrast] = {}
    """Ratios of metrics of two steps, or of one metric at two values of a parameter."""
    published: list[PublishedFigure] = []
    """What documents show of this experiment; it stands beside ours, and is no pass mark."""

    @property
    def quiet_wait(self) -> QuietWait | None:
        """What runs wait for, in full; None: they do not."""
        if isinstance(self.when, str):
            return QuietWait(slowdown=float(self.when.rpartition(" ")[2]))
        return self.when

    @property
    def scaling(self) -> Study | None:
        """The study in full; None: the campaign is none."""
        return Study(kind=self.study) if isinstance(self.study, StudyKind) else self.study


class TaskState(StrEnum):
    """What has become of a task."""

    PLANNED = "planned"
    SUBMITTED = "submitted"
    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"
    OUT_OF_MEMORY = "out of memory"
    NODE_FAILURE = "node failure"
    LOST = "lost"
    """Begun, without an end, and its job is known to nobody."""
    BLOCKED = "blocked"
    """A step before it did not come to a good end."""

    @property
    def is_final(self) -> bool:
        """Whether nothing more will come of it by itself."""
        return self not in (
            TaskState.PLANNED,
            TaskState.SUBMITTED,
            TaskState.QUEUED,
            TaskState.RUNNING,
        )


class EndReason(StrEnum):
    """What ended a task."""

    EXIT = "exit"
    BUDGET = "budget"
    CANCEL = "cancel"
    SIGNAL = "signal"
    """The job was told to end."""
    BLOCKED = "blocked"
    NOT_STARTED = "not started"


class TaskStart(Document):
    """Written by the job when it begins a task, before anything of it runs."""

    job: str
    host: str
    begin_utc: str


class TaskEnd(Document):
    """Written by the job when a task has ended: the truth about it."""

    ending: EndReason
    code: int | None = None
    """The exit code; negative: the signal that ended it."""
    begin_utc: str
    end_utc: str
    seconds: Seconds
    host: str
    job: str
    out_of_memory_kills: Count = 0
    """Processes that the kernel of this host killed for want of memory meanwhile."""
    reason: str = ""


class MetricSummary(Document):
    """One metric at one point."""

    name: str
    unit: str
    better: Better
    values: list[Real]
    """Of each repetition that came to a good end, in their order."""
    median: Real
    low: Real
    high: Real
    coverage: float
    """How sure the interval from low to high is; 95 % needs six repetitions."""
    of: str = ""
    """The operation that a rate in 1/s counts; empty: several kinds, or no such rate."""
    labels: list[str] = []
    """Part of the metric's name, where a workload measured it."""


class CampaignRow(Document):
    """One step at one combination of its parameters."""

    step: str
    point: str
    """The name of its folder."""
    parameters: dict[str, Scalar]
    states: dict[str, Count]
    """How many repetitions are in which state."""
    commit: str = ""
    """What was built."""
    reasons: list[str] = []
    """Why those that failed did, each once."""
    metrics: list[MetricSummary] = []
    texts: dict[str, str] = {}
    """Metrics that are texts: those of the first repetition that has one."""
    thresholds: list[ThresholdRow] = []
    broken_rules: list[str] = []
    """Rules of the workload that a run broke, in words."""
    enough: str = ""
    """Why there are enough repetitions, where their number was left open."""
    latency: LatencySample | None = None
    ceilings: dict[str, PhaseCeilings] = {}
    """By phase: what the machine can move at most, as the runs of a workload knew it."""
    traced: TracedRun | None = None
    """What the first repetition that has a log did to storage."""
    untraced: str = ""
    """Why runs whose I/O was to be logged have no log."""

    @property
    def failed_gates(self) -> list[str]:
        """Thresholds that are surely missed, and rules that were broken, in words."""
        missed = [one for one in self.thresholds if one.outcome is Outcome.FAIL]
        return [*(f"{one.metric} {one.rule}: {one.says}" for one in missed), *self.broken_rules]


class CampaignResult(Document):
    """Where a campaign stands."""

    schema_: Literal["venturi.campaign-result/1"] = Field(
        "venturi.campaign-result/1", alias="schema"
    )
    name: str
    about: str
    machine: str
    directory: str
    points: Count
    states: dict[str, Count]
    """How many tasks are in which state."""
    rows: list[CampaignRow]
    study: ScalingStudy | None = None
    scale: str = ""
    """The scale at which it ran; empty: its file has none."""
    scale_about: str = ""
    left_out: list[str] = []
    """Points that were not planned, and why."""
    contrasts: list[ContrastRow] = []
    published: list[PublishedFigure] = []

    @property
    def fails_a_gate(self) -> bool:
        """Whether a point surely misses a threshold, or broke a rule of its workload."""
        return any(row.failed_gates for row in self.rows)


class PlannedPoint(Document):
    """One step at one combination of its parameters, before anything runs."""

    step: str
    point: str
    parameters: dict[str, Scalar]
    runs: Count
    ranks: Positive
    nodes: Positive
    bytes_written: Count | None = None
    """Of one run; None: a command, which does not say."""
    bytes_read: Count | None = None
    files: Count | None = None
    """Of one run; None: it is not known without planning each point."""


class CampaignEstimate(Document):
    """What a campaign will cost."""

    schema_: Literal["venturi.campaign-estimate/1"] = Field(
        "venturi.campaign-estimate/1", alias="schema"
    )
    name: str
    points: Count
    runs: Count
    bytes_written: Count
    """Of all runs of workloads."""
    bytes_read: Count
    most_hours: Seconds
    """If every run takes all that it may."""
    rows: list[PlannedPoint]
