"""What is to be known of a result beside its numbers, as lines for other tools' forms of output."""

from __future__ import annotations

from collections.abc import Sequence

from venturi.model.record import Record
from venturi.report.verdict import label_lines


def validity_lines(record: Record) -> list[str]:
    """Return the verdict, labels and thresholds, and why the run failed; without any prefix."""
    lines = label_lines(record)
    if record.failure and record.failure not in lines[0]:
        lines.append(f"failed: {record.failure}")
    return lines


def comment_lines(records: Sequence[Record]) -> list[str]:
    """Return the same as comments, which readers of the tools' texts skip."""
    return [f"# {line}" for record in records for line in validity_lines(record)]
