"""Data of a workload as scripts, because pages that are opened from disk fetch none.

They are JSON that no parser of HTML or of scripts takes for anything else. What many rows share,
such as sessions, points and names, is there once, and rows have its number.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from venturi.model.site import SiteGroup, SiteWorkload
from venturi.report.site import address
from venturi.site.subject import metric_name

_DIGITS = 7
"""Of a run's figures, which are shown with three."""


def session_script(found: SiteWorkload) -> str:
    """The sessions of all series, and the comparisons that have a page."""
    sessions: dict[tuple[str, str], int] = {}
    rows = []
    for one in found.series:
        repetitions = [session.repetitions for session in one.sessions]
        rows.append(
            {
                "machine": one.machine,
                "step": one.name,
                "metric": metric_name(one.metric, one.condition),
                "unit": one.unit,
                "ranks": one.ranks,
                "parameters": one.parameters,
                "at": [
                    sessions.setdefault((session.session, session.started), len(sessions))
                    for session in one.sessions
                ],
                "values": [session.value for session in one.sessions],
                "repetitions": repetitions[0] if len(set(repetitions)) == 1 else repetitions,
            }
        )
    opening = f"{found.name}, "
    contrasts = [
        [one.first.removeprefix(opening), one.second, address.contrast(one.key), one.headline]
        for one in found.contrasts
    ]
    data = {"name": found.name, "sessions": list(sessions), "series": rows}
    return _script("venturiData", {**data, "contrasts": contrasts})


def run_script(groups: Sequence[SiteGroup]) -> str:
    """The figures of all runs that are valid: id, start, session, machine, point, and values."""
    points: dict[str, int] = {}
    metrics: dict[tuple[str, str], int] = {}
    rows = []
    for group in groups:
        for run in group.runs:
            point = json.dumps([run.step, run.ranks, run.parameters])
            measures = [
                [
                    metrics.setdefault((one.metric, one.unit), len(metrics)),
                    *(float(f"{value:.{_DIGITS}g}") for value in one.values),
                ]
                for one in run.measures
            ]
            own = (run.id, run.started, run.session, group.subject.machine)
            rows.append([*own, points.setdefault(point, len(points)), measures])
    every = [json.loads(point) for point in points]
    return _script("venturiRuns", {"points": every, "metrics": list(metrics), "runs": rows})


def _script(name: str, data: object) -> str:
    text = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    return f"globalThis.{name} = {text};\n"
