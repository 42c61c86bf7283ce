"""What a campaign of two points and three metrics measures in a night, without any storage."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping

from venturi.model.output import Better
from venturi.model.result import Measure, Result, ResultSource, SourceKind

METRICS = {"write": 500.0, "read": 700.0, "create": 2.0}
"""Two rates in MiB/s and a time in seconds, of a machine as it should be."""


def night_results(
    night: int, chance: random.Random, spread: float, level: float, facts: Mapping[str, str]
) -> list[Result]:
    """The session of a night, oldest first: values vary log-normally by `spread` around `level`
    times what they should be, and times around as much less."""
    results = []
    for size in (1, 2):
        metrics = {}
        for name, usual in METRICS.items():
            is_time = name == "create"
            value = usual * level ** (-1 if is_time else 1)
            metrics[name] = Measure(
                unit="s" if is_time else "MiB/s",
                better=Better.LOWER if is_time else Better.HIGHER,
                values=[value * math.exp(chance.gauss(0.0, spread))],
            )
        results.append(
            Result(
                id=f"{night}-{size}",
                name="nightly",
                started=f"2026-{1 + night // 28:02}-{1 + night % 28:02}T02:15:0{size}.000+00:00",
                machine="cluster",
                session=f"night-{night}",
                campaign="nightly",
                step="run",
                point=f"run-000{size}",
                repetition=1,
                parameters={"size": size},
                ranks=1,
                nodes=1,
                work="w",
                source=ResultSource(kind=SourceKind.COMMAND, tool="command"),
                level="INDICATIVE",
                reasons=[],
                metrics=metrics,
                facts=dict(facts),
            )
        )
    return results
