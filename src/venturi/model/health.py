"""A session of health: what kernels measured of a machine, what it is, and how it does."""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum
from typing import Literal

from pydantic import Field

from venturi.model.document import Count, Document, Fraction, Positive, Real, Seconds
from venturi.model.output import Better
from venturi.model.record import Record


class HealthState(StrEnum):
    """How a part of a machine does."""

    FAILED = "FAILED"
    """A kernel failed its check, or could not run: there is no number of it."""
    OK = "OK"
    WATCH = "WATCH"
    FAIL = "FAIL"
    NOISY = "NOISY"
    """Others used the machine meanwhile: not comparable."""
    NEW = "NEW"
    """There is no baseline yet, so nothing is said of it."""
    NOT_RUN = "NOT RUN"


_WORST_FIRST = (
    HealthState.FAILED,
    HealthState.FAIL,
    HealthState.NOISY,
    HealthState.WATCH,
    HealthState.NEW,
    HealthState.OK,
)


def worst(states: Collection[HealthState]) -> HealthState:
    """The state that matters most; NOT RUN where there is no other."""
    return next((state for state in _WORST_FIRST if state in states), HealthState.NOT_RUN)


DEGRADED = "degraded: "
"""Before the value of a PCI link that is below its own maximum."""


class AuditEntry(Document):
    """One fact of a node."""

    key: str
    value: str
    """Or `unavailable: why`."""
    volatile: bool = False
    """It changes from session to session, so it is no drift."""


class NodeAudit(Document):
    """Facts that some nodes have in common."""

    hosts: list[str]
    sha256: str
    """Of what is not volatile; the name of the host is no part of it."""
    entries: list[AuditEntry]
    """Volatile ones are those of the first host."""


class NodeAudits(Document):
    """The audit of every node of a session, each distinct one once."""

    expected: Positive
    """Nodes that the session has."""
    why_fewer: str = ""
    """What the launcher said, where it failed."""
    distinct: list[NodeAudit]

    def values_by_host(self) -> dict[str, dict[str, str]]:
        """What is not volatile, by host and key."""
        return {
            host: {entry.key: entry.value for entry in node.entries if not entry.volatile}
            for node in self.distinct
            for host in node.hosts
        }

    def differing(self) -> dict[str, dict[str, str]]:
        """The keys that are not the same on all nodes, with the value by host."""
        by_host = self.values_by_host()
        keys = dict.fromkeys(key for values in by_host.values() for key in values)
        rows = {key: {h: v.get(key, "absent") for h, v in by_host.items()} for key in keys}
        return {key: row for key, row in rows.items() if len(set(row.values())) > 1}


class LoadSample(Document):
    """What others did on the node for a second in which nothing of ours ran."""

    busy_cpus: Real
    """CPUs' worth of work."""
    cpus: Positive
    load_average: Real
    """Of the last minute; it remembers what ran before."""


class HealthReference(Document):
    """What a figure should be, as ReFrame writes it: a value, and shares below and above it."""

    value: Real
    lower: Real
    """At most 0: -0.1 is 10 % less than `value`."""
    upper: Real
    unit: str


class HealthBaseline(Document):
    """References of one series of sessions, learned or written by hand."""

    schema_: Literal["venturi.health-baseline/1"] = Field(
        "venturi.health-baseline/1", alias="schema"
    )
    series: str
    sessions: Count
    """From how many they were learned; 0: written by hand."""
    references: dict[str, HealthReference]


class HealthRow(Document):
    """One figure of the session beside those before it."""

    metric: str
    part: str
    """The part of the machine that it is about: `memory`."""
    unit: str
    better: Better
    value: Real
    values: list[Real]
    """Of each repetition."""
    before: list[Real]
    """Of the sessions before, oldest first, without noisy ones."""
    reference: HealthReference | None = None
    state: HealthState
    says: str


class HealthPart(Document):
    """A part of the machine in one line."""

    name: str
    state: HealthState
    says: str


class RankTime(Document):
    """The median time of one rank for work that all ranks did at the same moment."""

    phase: str
    rank: Count
    host: str
    processor: str
    """Empty: not known."""
    seconds: Seconds
    waited: Fraction
    """The share of its time in which its processor did other work."""


class NamedFault(Document):
    """A rank, a node or a link that is slow, by name."""

    part: str
    phase: str
    says: str


class Consistency(Document):
    """Two numbers of the session that must fit each other."""

    what: str
    holds: bool
    says: str


class Drift(Document):
    """A fact of the node that was another one in the session before."""

    key: str
    before: str
    now: str


class Health(Document):
    """One session."""

    schema_: Literal["venturi.health/1"] = Field("venturi.health/1", alias="schema")
    id: str
    """That of its run."""
    suite: str
    series: str
    """Sessions with the same text are comparable: suite, host, ranks, launcher, kernels."""
    started: str
    """UTC, ISO 8601."""
    seconds: Seconds
    load_before: LoadSample
    load_after: LoadSample
    noise: str = ""
    """Why the session is not comparable; empty: it is."""
    parts: list[HealthPart]
    rows: list[HealthRow]
    consistency: list[Consistency]
    ranks: list[RankTime] = []
    """Of the first 1024 ranks; absent in older sessions."""
    slow: list[NamedFault] = []
    """Ranks, nodes and links that stand out among the others of this session, or from their own
    sessions before."""
    failed: list[str] = []
    """Kernels that have no number, and why."""
    audit: list[AuditEntry]
    audit_sha256: str
    """Of what is not volatile."""
    drift: list[Drift]
    drift_since: str = ""
    """The session that the audit was compared with; empty: there is none."""
    nodes: NodeAudits | None = None
    """Every node before the suite, as the launcher reached them; absent in older sessions."""
    changed: list[Drift] = []
    """What was set otherwise on a node after the suite than before; its key ends in the host."""
    record: Record | None = None
    """The run; absent in what is kept beside the store's record."""
