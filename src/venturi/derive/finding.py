"""What an application does badly: one list, from counters, from operations, or from both."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from venturi.derive.finding_counter import CAPTURE_RULE, CASE_RULES, STDIO_RULE, Case
from venturi.derive.finding_data import DATA_RULES
from venturi.derive.finding_name import LOOKUP_RULES, NAME_RULES
from venturi.derive.finding_place import PLACE_RULES
from venturi.derive.finding_rule import apply, ranked, seconds_text, severity_of
from venturi.derive.finding_time import TIME_RULES, TIMELINE_RULES
from venturi.derive.footprint import footprint_of
from venturi.derive.stream_rows import rows_by_stream
from venturi.model.trace import Trace
from venturi.model.trace_folder import Captured
from venturi.model.workload import Finding, Severity

__all__ = ["Case", "findings_of", "grouped", "merged", "once", "operation_findings"]

_NAMED = 4
"""Further groups of files that a finding names."""


def findings_of(trace: Trace, cases: Sequence[Case]) -> list[Finding]:
    """What counters show, the gravest first."""
    found = list(apply((CAPTURE_RULE,), trace))
    for case in cases:
        found += apply(CASE_RULES, case)
    found += apply((STDIO_RULE,), list(cases))
    return ranked(grouped(found))


def operation_findings(captured: Captured) -> list[Finding]:
    """What operations show, the gravest first; nothing of a trace that has none."""
    footprint = footprint_of(captured)
    if footprint is None:
        return []
    job_s = footprint.job_s
    io_s = float(footprint.inside_s(np.arange(len(footprint.ops))).max(initial=0.0))
    found = list(apply((CAPTURE_RULE,), captured.trace))
    for rows in rows_by_stream(footprint):
        own_s = rows.longest_s(rows.rows)
        found += apply((*DATA_RULES, *PLACE_RULES, *NAME_RULES, *TIME_RULES), rows, job_s, own_s)
    found += apply((*LOOKUP_RULES, *TIMELINE_RULES), footprint, job_s, io_s)
    return once(ranked(grouped(found, job_s, io_s)))


def grouped(
    findings: Iterable[Finding], job_s: float = 0.0, io_s: float = math.inf
) -> list[Finding]:
    """Join findings of one kind on several groups of files to one, graded by what all lose.

    It tells the one with most at stake, and the others by their names. Where no time is known, it
    tells the gravest. Findings on the whole run, such as what a capture lost, stay apart.
    """
    groups: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        said = finding.what.partition(": ")[2]
        groups.setdefault((finding.id, said or finding.what), []).append(finding)
    result: list[Finding] = []
    for (_, said), own in groups.items():
        is_of_the_run = own[0].what == said and own[0].at_stake_s is None
        result += own if len(own) == 1 or is_of_the_run else [_joined(own, job_s, io_s)]
    return result


def _joined(findings: Sequence[Finding], job_s: float, io_s: float) -> Finding:
    first, *others = ranked(findings) if findings[0].at_stake_s is None else _by_stake(findings)
    names = [one.what.partition(": ")[0] for one in others]
    shown = ", ".join(names[:_NAMED]) + (" ..." if len(names) > _NAMED else "")
    more = f"{len(names)} more {'group' if len(names) == 1 else 'groups'} of files ({shown})"
    if first.at_stake_s is None:
        return first.model_copy(update={"evidence": f"{first.evidence}; the same in {more}"})
    stake_s = min(sum(one.at_stake_s or 0.0 for one in findings), io_s)
    is_gain = ": the time in these calls" not in first.evidence
    evidence = (
        f"{first.evidence}; with {more} "
        f"{'' if is_gain else 'at most '}{seconds_text(stake_s)} at stake"
    )
    severity = severity_of(stake_s, job_s, is_gain)
    return first.model_copy(
        update={"evidence": evidence, "at_stake_s": stake_s, "severity": severity}
    )


def _by_stake(findings: Sequence[Finding]) -> list[Finding]:
    return sorted(findings, key=lambda one: -(one.at_stake_s or 0.0))


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
