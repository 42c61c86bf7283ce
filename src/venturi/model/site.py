"""The results site: what its pages are drawn from, and what was built before."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from venturi.model.calibration import ForecastTrial, ProxyTrial
from venturi.model.campaign import CampaignRow
from venturi.model.document import Count, Document, Fraction, Positive, Real, Seconds
from venturi.model.health import HealthState
from venturi.model.history import ChangePoint, KnownChange, Series, Trend
from venturi.model.notice import Event
from venturi.model.origin import RequestBucket, Severity
from venturi.model.output import Better
from venturi.model.probe import ProbeOperation
from venturi.model.published import Io500Result
from venturi.model.result import Result
from venturi.model.workload import Scalar


class SiteRun(Document):
    """One run in a line."""

    id: str
    name: str
    machine: str
    step: str = ""
    started: str
    level: str
    metric: str = ""
    """The first one that it has; empty: it measured nothing."""
    value: Real | None = None
    unit: str = ""
    of: str = ""
    tags: list[str] = []


class SubjectChange(Document):
    """A change of one series, with the words that name the series."""

    title: str
    metric: str
    unit: str
    of: str
    point: ChangePoint


class SubjectLine(Document):
    """The series that stands for a subject: the one that got worse most, else the first."""

    title: str
    metric: str
    unit: str
    of: str
    better: Better
    values: list[Real]
    """Of the last sessions."""
    sessions: Positive
    trend: Trend
    change: Real | None = None
    """The last change, as a share."""
    since: str = ""


class SiteScore(Document):
    """The score of IO500 that a run reached."""

    run: str
    level: str
    nodes: Positive
    value: Real
    """The median of its repetitions."""


class SiteSubject(Document):
    """What was measured with one name on one machine."""

    machine: str
    name: str
    runs: Positive
    invalid: Count
    first: str
    last: str
    """When its first and its last run began."""
    period_s: Seconds | None = None
    """The median time between its sessions; none with fewer than three."""
    line: SubjectLine | None = None
    series: Count = 0
    worse: Count = 0
    changes: list[SubjectChange] = []
    failed: list[SiteRun] = []
    """The last runs that are INVALID."""
    recent: list[SiteRun] = []
    """The last runs, newest first."""
    days: dict[str, Count] = {}
    """Runs by day."""
    facts: dict[str, str] = {}
    """Of the newest run that says something of its machine."""
    score: SiteScore | None = None
    """Of the newest valid run that has one."""


class SiteHealth(Document):
    """One session of health, without what says who or where."""

    id: str
    machine: str
    suite: str
    started: str
    state: HealthState
    noise: bool
    parts: dict[str, HealthState]
    figures: dict[str, str] = {}


class SiteAudit(Document):
    """What the nodes of a machine are, as the newest session of health found them."""

    session: str
    started: str
    nodes: Positive
    """That the session had."""
    answered: Count
    """Of these, nodes that were audited."""
    facts: dict[str, str]
    """Of all nodes; where they are not alike each value with its nodes."""


class SiteDrift(Document):
    """A fact of a machine's node that was another one in the session of health before."""

    session: str
    started: str
    key: str
    before: str
    now: str


class SiteNightRow(Document):
    """One operation of a probe in one night."""

    operation: ProbeOperation
    samples: Count
    usual_s: Seconds | None
    """The baseline; None while it is learned."""
    p50_s: Seconds
    p95_s: Seconds
    slowdown: Real | None
    word: str
    slowest: str
    """When its slowest hour began, by the median."""
    slowest_s: Seconds
    hours_s: list[Seconds]
    """Medians of the hours."""


class SiteProbeDay(Document):
    """How slow a target of a probe was on one day, by the operation that was slowest."""

    day: str
    """UTC."""
    operation: ProbeOperation
    slowdown: Real
    """The median of the day by the usual time."""
    word: str
    slow_hours: Count
    """Hours in which some operation took three times its usual time or more, by the median."""


class SiteProbe(Document):
    """One target of a probe, and how it did last night."""

    machine: str
    target: str
    node_class: str
    begin: str
    """Of the night, 20:00 UTC; `end` is 8:00 UTC, or the newest measurement."""
    end: str
    rows: list[SiteNightRow]
    newest: str = ""
    """When its newest measurement was."""
    days: list[SiteProbeDay] = []
    """The last 60 days on which something was measured; none before there is a baseline."""


class SiteKeptProbe(Document):
    """What is kept of a probe's target."""

    inputs: str
    """A digest of what it was made from: all that its probe wrote, and the machine's name."""
    end_ns: Count
    """When the newest measurement was, since 1970."""
    night: SiteProbe


class SiteNotices(Document):
    """How people of a machine hear of what happens to campaigns, without who they are."""

    mail: Count = 0
    """Addresses."""
    webhook: bool = False
    on: list[Event] = []
    """What they want to hear of."""


class SiteStatus(Document):
    """The first page."""

    title: str
    runs: Count
    subjects: list[SiteSubject]
    health: list[SiteHealth]
    probes: list[SiteProbe] = []
    newest: str = ""
    """When the newest run began: the site's own now, so that it says the same whenever built."""
    unreadable: Count = 0
    withheld: Count = 0
    published: Count = 0
    """Results of IO500."""
    notices: dict[str, SiteNotices] = {}
    """By machine; one that has no machine file is absent."""


class SiteCeiling(Document):
    """A rate that a machine cannot exceed, as it was measured or is known."""

    what: str
    value: Real
    unit: str
    of: str = ""
    """The operation that a rate in 1/s counts."""
    ranks: Positive | None = None
    """With which it was reached; None: nobody measured it, it is known."""
    bytes: Count = 0
    """Of one request; 0: it has no data."""
    n: Count = 0
    """Repetitions."""
    says: str = ""


class SiteMachineFile(Document):
    """What of a machine file is shown."""

    stamp: str
    """A digest of the file."""
    machine: str
    profiled: str = ""
    """When, UTC; empty: it has no profile."""
    facts: dict[str, str] = {}
    """Of what was profiled."""
    ceilings: list[SiteCeiling]
    notices: SiteNotices = SiteNotices()


class SiteNeighbour(Document):
    """A published result of IO500 beside a score of our own."""

    place: Positive
    """Among all of that size."""
    result: Io500Result


class SiteRankingPosition(Document):
    """A score of IO500 among published results of its size, the best of each system."""

    name: str
    """The workload."""
    score: SiteScore
    least: Positive
    most: Positive
    """Client nodes of what counts as its size."""
    place: Positive
    """That it would take."""
    of: Count
    """Systems of its size."""
    near: list[SiteNeighbour]
    """Those just above and below, best first."""


class SiteMachine(Document):
    """The page of one machine."""

    machine: str
    subjects: list[SiteSubject]
    health: list[SiteHealth]
    known: list[KnownChange]
    probes: list[SiteProbe] = []
    files: list[SiteMachineFile] = []
    ranking_positions: list[SiteRankingPosition] = []
    """Best first."""
    audit: SiteAudit | None = None
    drifts: list[SiteDrift] = []
    """Oldest first."""


class SiteBest(Document):
    """The best configuration of one metric on one machine."""

    machine: str
    step: str
    metric: str
    condition: str
    of: str
    unit: str
    configurations: Positive
    ranks: Positive
    parameters: dict[str, Scalar]
    value: Real
    """Of the newest session."""
    worst: Real


class SiteContrast(Document):
    """Two sets of runs that have a page of their own."""

    key: str
    first: str
    second: str
    headline: str
    """Empty: the two have nothing alike, and no page."""
    inputs: str = ""
    """A digest of the runs of both."""


class SiteIoPhase(Document):
    """What one phase of a workload does, in one repetition on all ranks."""

    name: str
    ranks: Positive
    seconds: Seconds
    bytes: Count
    operations: dict[str, Count]
    """By kind; only kinds that occur."""
    request_sizes: list[RequestBucket] = []


class SiteFinding(Document):
    """What an application does badly, without the files in question."""

    severity: Severity
    what: str
    advice: str
    count: Positive = 1
    """Groups of files of which it was found."""


class SiteIoAccount(Document):
    """What a workload does to storage: as a log counted it, and as a run of it did."""

    run: str
    """Whose record says so."""
    ranks: Positive
    """Of the application, or of the run where no log was counted."""
    method: str = ""
    """How the application was observed: `darshan`, `trace`; empty: it is no derived workload, and
    all of the application's fields are empty."""
    is_truncated: bool = False
    """The capture was incomplete, so counts are lower bounds."""
    layer: str = ""
    seconds: Seconds | None = None
    """Run time of the application."""
    io_seconds: Seconds | None = None
    """Inside I/O calls, on its slowest rank."""
    bytes_written: Count = 0
    bytes_read: Count = 0
    operations: dict[str, Count] = {}
    request_sizes: list[RequestBucket] = []
    files: Count | None = None
    covered_bytes: Fraction | None = None
    """The share of the application's bytes that the workload reproduces; None: not known."""
    covered_operations: Fraction | None = None
    phases: list[SiteIoPhase] = []
    findings: list[SiteFinding] = []
    """Most severe first."""


class SiteWorkload(Document):
    """The page of one workload: every machine side by side."""

    name: str
    subjects: list[SiteSubject]
    series: list[Series]
    """Those that got worse first."""
    best: list[SiteBest]
    points: list[CampaignRow] = []
    """The newest session of every configuration, with `ranks`, `nodes` and `machine`."""
    contrasts: list[SiteContrast] = []
    account: SiteIoAccount | None = None
    trials: list[ForecastTrial] = []
    """Of forecasts of this workload, oldest first."""
    proxies: list[ProxyTrial] = []


class SiteRunPage(Document):
    """The page of one run."""

    result: Result


class SiteRunList(Document):
    """One page of all runs, oldest first."""

    number: Positive
    runs: list[SiteRun]


class ListInterval(Document):
    """An interval for the median score of a system's repeated results."""

    low: Real
    high: Real
    coverage: Real
    """How sure the interval is, from 0 to 1."""
    repetitions: Positive


class ListRow(Document):
    """A line of a list of IO500."""

    place: Positive | None
    result: Io500Result
    interval: ListInterval | None = None
    """None: the result was not repeated."""
    shared: bool = False
    """Others have the same place."""

    @property
    def place_text(self) -> str:
        """The place with `=` where it is shared; empty for a result that has none."""
        return "" if self.place is None else f"{self.place}{'=' * self.shared}"


class SiteList(Document):
    """One list of IO500."""

    key: str
    title: str
    about: str
    rows: list[ListRow]


class SystemPage(Document):
    """All results of one system, newest first."""

    title: str
    results: list[Io500Result]
    places: dict[str, dict[str, str]]
    """By the result's key and the list's name; `3=` is shared with others."""


class SiteGroup(Document):
    """One subject with its history."""

    subject: SiteSubject
    newest: list[Result]
    """The valid runs of the newest session of each configuration."""
    series: list[Series]


class SiteTested(Document):
    """What a run says of forecasts."""

    inputs: str
    """The run's stamp, and the forecasts of the same work."""
    trials: list[ForecastTrial]


class SiteKept(Document):
    """What is kept of a subject beside its site."""

    inputs: str
    """A digest of what it was made from: its runs in their order, and the known changes."""
    data: str
    """A digest of the file of its `SiteGroup`."""
    subject: SiteSubject


class SiteKeptWorkload(Document):
    """What is kept of the pages of a workload."""

    inputs: str
    """A digest of what they were made from: its subjects."""
    contrasts: list[SiteContrast]


class SiteState(Document):
    """What a site was built from, and the files that it has."""

    schema_: Literal["venturi.site-state/3"] = Field("venturi.site-state/3", alias="schema")
    program: str
    """A digest of what draws pages and of the options; another one builds everything anew."""
    runs: str
    """The name of the file beside this one that has a line for each run."""
    files: str
    """The same, for each file of the site."""
    kept: dict[str, SiteKept]
    """By group."""
    workloads: dict[str, SiteKeptWorkload]
    """By name."""
    tested: dict[str, SiteTested] = {}
    """By source and place in it: runs that do what a forecast is about."""
    machines: dict[str, SiteMachineFile] = {}
    """By source and name of the file."""
    probes: dict[str, SiteKeptProbe] = {}
    """By source and name of the target's folder."""
