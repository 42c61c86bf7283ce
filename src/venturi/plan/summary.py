"""The summary of a plan under the names that scripts rely on."""

from __future__ import annotations

from typing import Any

from venturi.plan.make import Made, summary_totals

SUMMARY_SCHEMA = "venturi.plan-summary/1"


def summary_of(made: Made) -> dict[str, Any]:
    """Totals of one repetition, and what the workload promised of them."""
    return {
        "schema": SUMMARY_SCHEMA,
        "name": made.plan.name,
        "ranks": made.plan.ranks,
        "repetitions": made.plan.repetitions,
        "phases": made.totals.phases,
        "parameters": made.parameters,
        "totals": summary_totals(made.totals),
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
