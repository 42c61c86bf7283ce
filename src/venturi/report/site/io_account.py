"""What a workload does to storage: the application's account, and each phase of a run of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from venturi.model.origin import (
    REQUEST_EDGES_BYTES,
    RequestBucket,
    Severity,
    request_class,
    request_classes,
)
from venturi.model.site import SiteFinding, SiteIoAccount, SiteIoPhase
from venturi.report import quantity
from venturi.report.block import (
    Block,
    Cell,
    Column,
    Facts,
    Note,
    Notes,
    Paragraph,
    Section,
    TableBlock,
    Tone,
)
from venturi.report.figure import request
from venturi.report.quantity import Units
from venturi.report.site import address

_SOURCES = {
    "darshan": "As Darshan counted it in the application.",
    "dxt": "As Darshan traced it in the application.",
    "trace": "As it was captured in the application.",
}
_TONES: dict[Severity, Tone] = {Severity.HIGH: "bad", Severity.MEDIUM: "fair"}
_MOST_KINDS = 8


def section(account: SiteIoAccount, units: Units) -> Section:
    """The whole characterization: totals, sizes of requests, phases, and what hurts."""
    blocks: list[Block] = [_totals(account, units)]
    if account.is_truncated:
        blocks.append(Paragraph("The capture was incomplete: counts are lower bounds.", "fair"))
    who = "application" if account.method else "run"
    sizes = account.request_sizes or [b for one in account.phases for b in one.request_sizes]
    figure = request.of_capture(
        request_classes(sizes), units, who if account.request_sizes else "run"
    )
    if figure is not None:
        blocks.append(figure)
    if account.phases:
        blocks.append(_phases(account.phases, units))
    if account.findings:
        blocks.append(_findings(account.findings))
    lead = _SOURCES.get(account.method, "") if account.method else "As its newest run did it."
    return Section("account", "What it does to storage", lead, tuple(blocks))


def _totals(account: SiteIoAccount, units: Units) -> Facts:
    ranks = quantity.count(account.ranks)
    of_run = Cell(account.run, address.run(account.run))
    if not account.method:
        moved = sum(one.bytes for one in account.phases)
        operations: Counter[str] = Counter()
        for phase in account.phases:
            operations.update(phase.operations)
        rows = [("Ranks", ranks), ("Moved in a repetition", quantity.size(moved, units))]
        return Facts((*rows, ("Operations", _kinds(operations)), ("As the run", of_run)))
    rows = [
        ("Ranks", ranks),
        ("Written", quantity.size(account.bytes_written, units)),
        ("Read", quantity.size(account.bytes_read, units)),
        ("Operations", _kinds(account.operations)),
    ]
    if account.files is not None:
        rows.append(("Files", quantity.count(account.files)))
    if account.seconds is not None:
        rows.append(("Run time", quantity.seconds(account.seconds)))
    if account.io_seconds is not None:
        rows.append(("In I/O, slowest rank", quantity.seconds(account.io_seconds)))
    rows.append(("Counted at", account.layer))
    shares = (("bytes", account.covered_bytes), ("calls", account.covered_operations))
    known = [f"{quantity.percent(v)} of its {what}" for what, v in shares if v is not None]
    if known:
        rows.append(("The workload reproduces", ", ".join(known)))
    rows.append(("Phases of the run", of_run))
    return Facts(tuple(rows))


def _kinds(operations: Mapping[str, int]) -> str:
    ordered = sorted(operations.items(), key=lambda one: (-one[1], one[0]))
    told = [f"{quantity.count(count)} {kind}" for kind, count in ordered[:_MOST_KINDS]]
    return ", ".join(told) or "none"


def _phases(phases: Sequence[SiteIoPhase], units: Units) -> TableBlock:
    rows = tuple(
        (
            one.name,
            quantity.count(one.ranks),
            quantity.seconds(one.seconds),
            quantity.size(one.bytes, units) if one.bytes else "–",
            _kinds(one.operations),
            _usual(one.request_sizes, units),
        )
        for one in phases
    )
    titles = ("Phase", "Ranks", "Took", "Moved", "Operations", "Most requests")
    columns = tuple(Column(title, 0 < at < 4) for at, title in enumerate(titles))
    return TableBlock("Phase by phase, in one repetition", columns, rows, stacked=True)


def _usual(buckets: Sequence[RequestBucket], units: Units) -> str:
    """The class that most requests are of, in words."""
    if not buckets:
        return "–"
    most = max(buckets, key=lambda one: one.writes + one.reads)
    total = sum(one.writes + one.reads for one in buckets)
    if not total:
        return "–"
    place = request_class(most.up_to_bytes)
    low = REQUEST_EDGES_BYTES[place - 1] if place else 0
    top = quantity.edge(most.up_to_bytes, units)
    span = f"over {quantity.size(low, units)}"
    if top != "larger":
        span = f"over {quantity.size(low, units)} up to {top}" if low else f"up to {top}"
    return f"{quantity.percent((most.writes + most.reads) / total)} {span}"


def _findings(findings: Sequence[SiteFinding]) -> Notes:
    return Notes(
        tuple(
            Note(
                one.severity.value,
                _TONES.get(one.severity, "plain"),
                f"{one.what[:1].upper()}{one.what[1:]}",
                (
                    ("Found", f"in {one.count} groups of files" if one.count > 1 else ""),
                    ("Try", one.advice),
                ),
            )
            for one in findings
        )
    )
