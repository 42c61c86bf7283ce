"""The form of a finding: a rule looks at something and says what it sees, with its evidence.

Severity follows from the time at stake where operations tell it. A remark without such a time
(counters rarely have one) names its own severity.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from venturi.model.workload import Audience, Finding, Severity

Subject = TypeVar("Subject")

LEAST_SECONDS = 0.1
"""Own: differences in time below this say nothing, so they make a note at most."""

NOTHING_S = 0.001
"""Own: less time at stake than this is no finding at all."""

STAKES = ((0.10, Severity.HIGH), (0.03, Severity.MEDIUM), (0.01, Severity.LOW))
"""Own: from which share of the run time on a finding is how severe; below, it is a note."""


@dataclass(frozen=True)
class RuleMatch:
    """What a rule saw: a sentence, and the numbers that show it."""

    what: str
    evidence: str
    severity: Severity = Severity.NOTE
    """Counts only where there is no time at stake."""
    at_stake_s: float | None = None
    """Seconds of the rank with most: what mending brings if the rule says so, or else the time
    inside of the calls in question; None: not known."""


@dataclass(frozen=True)
class FindingRule(Generic[Subject]):
    """One kind of finding: its stable id, what looks for it, and the advice."""

    id: str
    look: Callable[[Subject], Iterable[RuleMatch]]
    advice: str
    audience: Audience = Audience.DEVELOPER
    is_gain: bool = False
    """The seconds at stake are what mending brings, not the time in the calls."""


def apply(
    rules: Sequence[FindingRule[Subject]],
    subject: Subject,
    job_s: float = 0.0,
    io_s: float = math.inf,
) -> Iterator[Finding]:
    """Yield what the rules find in the subject.

    Stakes are shares of the run time `job_s`; none exceeds `io_s`, the time inside of calls.
    """
    for rule in rules:
        for seen in rule.look(subject):
            stake_s = None if seen.at_stake_s is None else min(seen.at_stake_s, io_s)
            if stake_s is not None and stake_s < NOTHING_S:
                continue
            grade = seen.severity
            if stake_s is not None:
                grade = severity_of(stake_s, job_s, rule.is_gain)
            yield Finding(
                id=rule.id,
                severity=grade,
                what=seen.what,
                evidence=seen.evidence + _time(stake_s, job_s, rule.is_gain),
                advice=rule.advice,
                audience=rule.audience,
                at_stake_s=stake_s,
            )


def severity_of(stake_s: float, job_s: float, is_gain: bool = True) -> Severity:
    """Return how severe it is to lose so much of a run's time.

    Time in calls is an upper bound of what mending brings, so it is graded one step lower.
    """
    if stake_s < LEAST_SECONDS or job_s <= 0:
        return Severity.NOTE
    share = stake_s / job_s
    grade = next((severity for least, severity in STAKES if share >= least), Severity.NOTE)
    order = list(Severity)
    return grade if is_gain else order[min(order.index(grade) + 1, order.index(Severity.NOTE))]


def ranked(findings: Iterable[Finding]) -> list[Finding]:
    """The gravest first, among equals those with most time at stake."""
    order = list(Severity)
    return sorted(findings, key=lambda f: (order.index(f.severity), -(f.at_stake_s or 0.0)))


def amount_text(amount_bytes: float) -> str:
    """An amount with three digits, for totals and means; `size_text` is exact."""
    value, unit = float(amount_bytes), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB", "PiB"):
        if value < 1000:
            break
        value, unit = value / 1024, larger
    return f"{value:.3g} {unit}"


def seconds_text(seconds: float) -> str:
    """A duration with three digits."""
    if seconds >= 1:
        return f"{seconds:.3g} s" if seconds < 1000 else f"{seconds:.0f} s"
    return f"{seconds * 1e3:.3g} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.3g} µs"


def _time(stake_s: float | None, job_s: float, is_gain: bool) -> str:
    if stake_s is None:
        return ""
    share = f", {stake_s / job_s:.1%} of the run" if job_s > 0 else ""
    if is_gain:
        return f"; {seconds_text(stake_s)} at stake{share}"
    return f"; at most {seconds_text(stake_s)} at stake{share}: the time in these calls"
