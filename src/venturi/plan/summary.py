"""The summary of a plan under the names that scripts rely on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from venturi.model.machine import Bound
from venturi.plan.make import PlanResult, summary_totals

SUMMARY_SCHEMA = "venturi.plan-summary/1"


def summary_of(made: PlanResult, bounds: Sequence[Bound] = ()) -> dict[str, Any]:
    """Ranks, totals of one repetition, what the workload promised of them, and the time.

    `time` is of all repetitions: what the ranks compute, and what the I/O takes at least by the
    machine's known bounds (null where the machine file has none). `limits` are the phases that end
    after a time, done or not: with any, the totals are the most that is done.
    """
    return {
        "schema": SUMMARY_SCHEMA,
        "name": made.plan.name,
        "ranks": made.plan.ranks,
        "groups": [
            {"name": group.name, "ranks": group.ranks, "instances": group.instances}
            for group in made.plan.groups
        ],
        "repetitions": made.plan.repetitions,
        "phases": made.totals.phases,
        "parameters": made.parameters,
        "totals": summary_totals(made.totals),
        "limits": [
            {"phase": path, "seconds": made.totals.limits_s[path]}
            for path in made.totals.phases
            if path in made.totals.limits_s
        ],
        "time": _time(made, bounds),
        "request_sizes": [
            {"operation": kind, "bytes": size, "count": count}
            for (kind, size), count in sorted(made.totals.sizes.items())
        ],
        "expect": [
            {
                "name": item.name,
                "expected": item.expected,
                "planned": item.planned,
                "holds": item.holds,
            }
            for item in made.expectations
        ],
        "substituted": [item.to_data() for item in made.substituted],
        "warnings": made.warnings,
    }


def _time(made: PlanResult, bounds: Sequence[Bound]) -> dict[str, float | None]:
    """Seconds of all repetitions."""
    repetitions = made.plan.repetitions
    moved = {"write": made.totals.bytes_written, "read": made.totals.bytes_read}
    least = [moved[bound.operation] / bound.bytes_per_second for bound in bounds]
    return {
        "computing_s": made.totals.seconds_computing * repetitions,
        "io_at_least_s": sum(least) * repetitions if least else None,
    }
