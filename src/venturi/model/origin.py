"""Where a derived workload comes from, what was seen there, and how far it can be trusted."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from enum import StrEnum

from venturi.model.document import INT64_MAX, Count, Document, Fraction, Real, Seconds
from venturi.model.likeness import Likeness


class Method(StrEnum):
    """How a workload came to be."""

    PAPER = "paper"
    DARSHAN = "darshan"
    DXT = "dxt"
    TRACE = "trace"
    HAND = "hand"


class Severity(StrEnum):
    """How much a finding is likely to cost."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"
    NOTE = "note"


class Audience(StrEnum):
    """Who can follow an advice."""

    DEVELOPER = "developer"
    USER = "user"
    """Whoever runs the application: its settings, hints, the place of its files."""
    ADMINISTRATOR = "administrator"


class Finding(Document):
    """Something that an application does badly, and the numbers that show it."""

    id: str
    """A stable word: `small-requests`, `misaligned`, `random`, ..."""
    severity: Severity
    what: str
    evidence: str
    advice: str
    audience: Audience = Audience.DEVELOPER
    """Whom the advice is for."""
    at_stake_s: Seconds | None = None
    """What mending brings, on the rank where it is most, or else the time in the calls in question,
    which the evidence then says; None: not known."""


class Confidence(Document):
    """How sure an inferred field is, and by which rule it was inferred."""

    stream: str
    field: str
    value: str
    """As text; `unknown` where the source cannot show it."""
    confidence: Fraction
    rule: str


_KIB, _MIB, _GIB = 1024, 1024**2, 1024**3
REQUEST_EDGES_BYTES = (
    100, _KIB, 10 * _KIB, 100 * _KIB, _MIB, 4 * _MIB, 10 * _MIB, 100 * _MIB, _GIB, INT64_MAX,
)  # fmt: skip
"""Inclusive upper edges of Darshan's ten classes (`SIZE_*_0_100` to `SIZE_*_1G_PLUS`)."""


def request_class(size_bytes: int) -> int:
    """The index of the class that a request of this size falls into."""
    return bisect_left(REQUEST_EDGES_BYTES, size_bytes)


class RequestBucket(Document):
    """Requests of a range of sizes, by one of `REQUEST_EDGES_BYTES`."""

    up_to_bytes: Count
    """2^63 - 1 for the last, open bucket."""
    writes: Count
    reads: Count


def request_classes(buckets: Iterable[RequestBucket]) -> dict[str, list[int]]:
    """Requests in each of the ten classes, of writes and of reads, added up."""
    counts = {"write": [0] * len(REQUEST_EDGES_BYTES), "read": [0] * len(REQUEST_EDGES_BYTES)}
    for bucket in buckets:
        place = request_class(bucket.up_to_bytes)
        counts["write"][place] += bucket.writes
        counts["read"][place] += bucket.reads
    return counts


class LeftOut(Document):
    """A part of the source that the workload does not reproduce, and why."""

    what: str
    """What it is, and why it is left out."""
    files: Count | None = None
    """Files of which nothing is reproduced; absent: not known."""
    operations: Count | None = None
    """Calls; absent: not known."""
    bytes: Count | None = None
    """Absent: not known."""
    is_application: bool = True
    """False for what is no I/O of the application: libraries, standard streams, launchers. That
    lowers no coverage."""

    @property
    def is_counted(self) -> bool:
        """Whether all its amounts are known."""
        return None not in (self.files, self.operations, self.bytes)


class Observed(Document):
    """What the source of a derived workload counted, for the comparison with the proxy.

    Totals are over the streams that the workload reproduces; `coverage_*` says which share
    of the application's I/O that is, `left_out` what else there was.
    """

    layer: str
    """The layer the counts are from: `posix`, `mpiio`, `stdio`, ..."""
    ranks: Count
    seconds: Real | None = None
    """Run time of the job."""
    io_seconds: Real | None = None
    """The slowest rank's time inside I/O calls, where the source tells."""
    bytes_written: Count
    bytes_read: Count
    operations: dict[str, Count]
    """By operation kind; only kinds that the source can see."""
    request_sizes: list[RequestBucket]
    """Classes without a request may be left out."""
    bytes_per_rank: list[Count] | None = None
    """Data moved by each rank; absent where the source reduced it over the ranks."""
    files: Count | None = None
    """Files that are reproduced; absent in workloads of earlier versions."""
    coverage_bytes: Fraction | None
    """Null: not known, because the source lacks a part whose amount it does not tell."""
    coverage_operations: Fraction | None
    coverage_files: Fraction | None = None
    coverage_seconds: Fraction = 1.0
    """Of the time inside calls, where the source times each of them."""
    left_out: list[LeftOut] = []
    """With `files` and the totals, all that the source holds of the application's I/O."""

    def request_classes(self) -> dict[str, list[int]]:
        """Requests in each of the ten classes, of writes and of reads."""
        return request_classes(self.request_sizes)


class Origin(Document):
    """Where a workload comes from and how far it can be trusted."""

    source: str
    method: Method = Method.HAND
    confidence: list[Confidence] = []
    assumed: list[str] = []
    truncated: bool = False
    observed: Observed | None = None
    likeness: Likeness | None = None
    """Of workloads from operations."""
    findings: list[Finding] = []
    ior: str | None = None
    """The IOR command line that does the same, where one exists."""
