"""What a workload does to storage, from the record of a run: amounts and sizes, and no names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from venturi.model.error import UserError
from venturi.model.origin import Finding, Origin, RequestBucket, Severity, request_class
from venturi.model.record import Level, Record
from venturi.model.site import SiteFinding, SiteIoAccount, SiteIoPhase
from venturi.model.workload import REQUEST_EDGES_BYTES
from venturi.report.application import origin_of
from venturi.report.phase import PhaseSummary, phases
from venturi.site.run_index import KnownRun
from venturi.site.source import Source
from venturi.store.public import names_somebody
from venturi.store.result import RECORD_NAME, load_record
from venturi.store.seal import sha256_of

_MOST_LOOKED_AT = 5
_MOST_PHASES = 60
_MOST_FINDINGS = 12
Stamp = tuple[str, str]
"""The id of a run, and a digest of its record; empty: no run has one."""
NO_STAMP: Stamp = ("", "")


def stamp_of(sources: Sequence[Source], runs: Sequence[KnownRun]) -> Stamp:
    """What tells the record that says what a workload does: that of its newest valid run.

    Only runs of stores have records, and only the newest are looked at.
    """
    ordered = sorted(runs, key=lambda one: (one.started, one.id), reverse=True)
    valid = (one for one in ordered if one.run().level != Level.INVALID.value)
    for run in islice(valid, _MOST_LOOKED_AT):
        folder = _folder(sources, run)
        if folder is not None and (folder / RECORD_NAME).is_file():
            try:
                return run.id, sha256_of(folder / RECORD_NAME)
            except OSError:
                continue
    return NO_STAMP


def account_of(
    sources: Sequence[Source], runs: Sequence[KnownRun], stamp: Stamp
) -> SiteIoAccount | None:
    """What the record of a stamp says; None where it says nothing, or cannot be read."""
    run = next((one for one in runs if one.id == stamp[0]), None)
    folder = _folder(sources, run) if run is not None else None
    if folder is None:
        return None
    try:
        record = load_record(folder)
    except UserError:
        return None
    if record.verdict.level is Level.INVALID:
        return None
    origin = origin_of(record.workload)
    found = _of_application(origin) if origin is not None and origin.observed else None
    own = _phases(record)
    if found is None and not any(one.bytes or one.operations for one in own):
        return None
    base = found or SiteIoAccount(run=record.id, ranks=record.ranks)
    return base.model_copy(
        update={
            "run": record.id,
            "phases": own,
            "findings": _findings(origin.findings, record.environment.host) if origin else [],
        }
    )


def _folder(sources: Sequence[Source], run: KnownRun) -> Path | None:
    """The folder of a run in a store; None for one of a checkout."""
    number, _, place = run.place.partition("/")
    source = sources[int(number)] if number.isdigit() else None
    return source.path / "runs" / place if source is not None and source.is_store else None


def _of_application(origin: Origin) -> SiteIoAccount:
    observed = origin.observed
    assert observed is not None
    return SiteIoAccount(
        run="",
        method=origin.method.value,
        is_truncated=origin.truncated,
        layer=observed.layer,
        ranks=max(1, observed.ranks),
        seconds=observed.seconds,
        io_seconds=observed.io_seconds,
        bytes_written=observed.bytes_written,
        bytes_read=observed.bytes_read,
        operations={kind: count for kind, count in observed.operations.items() if count},
        request_sizes=observed.request_sizes,
        files=observed.files,
        covered_bytes=observed.coverage_bytes,
        covered_operations=observed.coverage_operations,
    )


def _phases(record: Record) -> list[SiteIoPhase]:
    """What each phase does in its median repetition; names that say who or where are numbers."""
    host = record.environment.host
    found = []
    for number, phase in enumerate(phases(record)[:_MOST_PHASES], 1):
        is_private = names_somebody(phase.path, host)
        found.append(_phase(phase, f"phase {number}" if is_private else phase.path))
    return found


def _phase(phase: PhaseSummary, name: str) -> SiteIoPhase:
    rows = phase.median_sample.rows
    counts: Counter[tuple[str, int]] = Counter()
    operations: Counter[str] = Counter()
    for row in rows:
        for request in row.request_sizes:
            counts[request.kind.value, request_class(request.bytes)] += request.count
        for kind, one in row.by_operation.items():
            operations[kind] += one.operations
    classes = sorted({place for _, place in counts})
    return SiteIoPhase(
        name=name,
        ranks=max(row.ranks for row in rows),
        seconds=phase.median_sample.total_s,
        bytes=phase.median_sample.bytes,
        operations={kind: count for kind, count in operations.items() if count},
        request_sizes=[
            RequestBucket(
                up_to_bytes=REQUEST_EDGES_BYTES[place],
                writes=counts["write", place],
                reads=counts["read", place],
            )
            for place in classes
        ],
    )


def _findings(findings: Sequence[Finding], host: str) -> list[SiteFinding]:
    """The kinds of findings, most severe first, without the files that they are about.

    A finding's sentence begins with the name of its files and a colon; evidence has names, too.
    """
    found: dict[tuple[str, str], SiteFinding] = {}
    for one in findings:
        what = one.what.rpartition(": ")[2]
        advice = one.advice
        if "/" in what or names_somebody(what, host):
            what = one.id.replace("-", " ")
        if names_somebody(advice, host):
            advice = ""
        key = (one.severity.value, what)
        old = found.get(key)
        count = 1 + (old.count if old else 0)
        found[key] = SiteFinding(severity=one.severity, what=what, advice=advice, count=count)
    order = list(Severity)
    return sorted(found.values(), key=lambda one: order.index(one.severity))[:_MOST_FINDINGS]
