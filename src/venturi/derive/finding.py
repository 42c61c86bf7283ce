"""What an application does badly: one list, from counters, from operations, or from both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from venturi.derive.finding_counter import CAPTURE_RULE, CASE_RULES, STDIO_RULE, Case
from venturi.derive.finding_data import DATA_RULES
from venturi.derive.finding_name import LOOKUP_RULES, NAME_RULES
from venturi.derive.finding_place import PLACE_RULES
from venturi.derive.finding_rule import apply, ranked
from venturi.derive.finding_time import TIME_RULES, TIMELINE_RULES
from venturi.derive.footprint import footprint_of
from venturi.derive.stream_rows import rows_by_stream
from venturi.model.trace import Trace
from venturi.model.trace_folder import Captured
from venturi.model.workload import Finding, Severity

__all__ = ["Case", "findings_of", "merged", "once", "operation_findings"]


def findings_of(trace: Trace, cases: Sequence[Case]) -> list[Finding]:
    """What counters show, the gravest first."""
    found = list(apply((CAPTURE_RULE,), trace))
    for case in cases:
        found += apply(CASE_RULES, case)
    found += apply((STDIO_RULE,), list(cases))
    return ranked(found)


def operation_findings(captured: Captured) -> list[Finding]:
    """What operations show, the gravest first; nothing of a trace that has none."""
    footprint = footprint_of(captured)
    if footprint is None:
        return []
    job_s = footprint.job_s
    found = list(apply((CAPTURE_RULE,), captured.trace))
    for rows in rows_by_stream(footprint):
        found += apply((*DATA_RULES, *PLACE_RULES, *NAME_RULES, *TIME_RULES), rows, job_s)
    found += apply((*LOOKUP_RULES, *TIMELINE_RULES), footprint, job_s)
    return once(ranked(found))


def once(findings: Iterable[Finding]) -> list[Finding]:
    """Of the notes of one kind the gravest alone, which says how many others there are.

    What is not worth more than a note shall not bury what is.
    """
    kept: list[Finding] = []
    more: Counter[str] = Counter()
    noted: dict[str, int] = {}
    for finding in findings:
        if finding.severity is Severity.NOTE and finding.id in noted:
            more[finding.id] += 1
            continue
        if finding.severity is Severity.NOTE:
            noted[finding.id] = len(kept)
        kept.append(finding)
    for kind, count in more.items():
        note = kept[noted[kind]]
        groups = "group" if count == 1 else "groups"
        evidence = f"{note.evidence}; so do {count} more {groups} of files, with less at stake"
        kept[noted[kind]] = note.model_copy(update={"evidence": evidence})
    return kept


def merged(by_operations: Iterable[Finding], by_counters: Iterable[Finding]) -> list[Finding]:
    """One list: of a kind that operations show, what counters say is left out."""
    first = list(by_operations)
    known = {finding.id for finding in first}
    return ranked([*first, *(f for f in by_counters if f.id not in known)])
