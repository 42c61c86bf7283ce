"""What is to be known of a result beside its numbers, as lines for other tools' forms of output."""

from __future__ import annotations

from collections.abc import Sequence

from venturi.model.record import Record


def validity_lines(record: Record) -> list[str]:
    """The verdict with its reasons, and why the run failed; without any prefix."""
    verdict = record.verdict
    reasons = "; ".join(verdict.reasons)
    lines = [f"{verdict.level.value}: {reasons}" if reasons else verdict.level.value]
    if record.failure and record.failure not in reasons:
        lines.append(f"failed: {record.failure}")
    return lines


def comment_lines(records: Sequence[Record]) -> list[str]:
    """The same as comments, which readers of the tools' texts skip."""
    return [f"# {line}" for record in records for line in validity_lines(record)]
