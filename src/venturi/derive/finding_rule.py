"""The form of a finding: a rule looks at something and says what it sees, with its evidence.

Severity follows from the time at stake where operations tell it. A remark without such a time
(counters rarely have one) names its own severity.
"""

from __future__ import annotations

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
    """Seconds inside the calls in question, of the rank with most; None: not known."""


@dataclass(frozen=True)
class FindingRule(Generic[Subject]):
    """One kind of finding: its stable id, what looks for it, and the advice."""

    id: str
    look: Callable[[Subject], Iterable[RuleMatch]]
    advice: str
    audience: Audience = Audience.DEVELOPER


def apply(
    rules: Sequence[FindingRule[Subject]], subject: Subject, job_s: float = 0.0
) -> Iterator[Finding]:
    """What the rules find in the subject; `job_s` is the run time that stakes are shares of."""
    for rule in rules:
        for seen in rule.look(subject):
            stake_s = seen.at_stake_s
            if stake_s is not None and stake_s < NOTHING_S:
                continue
            yield Finding(
                id=rule.id,
                severity=seen.severity if stake_s is None else severity_of(stake_s, job_s),
                what=seen.what,
                evidence=seen.evidence + _time(stake_s, job_s),
                advice=rule.advice,
                audience=rule.audience,
                at_stake_s=stake_s,
            )


def severity_of(stake_s: float, job_s: float) -> Severity:
    """How severe it is to lose so much of a run's time."""
    if stake_s < LEAST_SECONDS or job_s <= 0:
        return Severity.NOTE
    share = stake_s / job_s
    return next((severity for least, severity in STAKES if share >= least), Severity.NOTE)


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


def _time(stake_s: float | None, job_s: float) -> str:
    if stake_s is None:
        return ""
    share = f", {stake_s / job_s:.1%} of the run" if job_s > 0 else ""
    return f"; {seconds_text(stake_s)} at stake{share}"
