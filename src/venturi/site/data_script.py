"""Data of a workload as scripts, because pages that are opened from disk fetch none.

They are JSON that no parser of HTML or of scripts takes for anything else. What many rows share,
such as sessions, points and names, is there once, and rows have its number.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from venturi.analyse.left_out import is_invalid
from venturi.model.result import Result
from venturi.model.site import SiteWorkload
from venturi.report.site import address
from venturi.site.subject import metric_name

_DIGITS = 7
"""Of figures, which are shown with three; more would be half of what goes over the line."""


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
                "values": [_figure(session.value) for session in one.sessions],
                "repetitions": repetitions[0] if len(set(repetitions)) == 1 else repetitions,
            }
        )
    opening = f"{found.name}, "
    contrasts = [
        [one.first.removeprefix(opening), one.second, address.contrast(one.key), one.headline]
        for one in found.contrasts
    ]
    data = {"name": found.name, "sessions": list(sessions), "series": rows}
    return f"globalThis.venturiData = {_json({**data, 'contrasts': contrasts})};\n"


def run_script(machine: str, results: Sequence[Result]) -> str:
    """The figures of a subject's runs that are valid: id, start, machine, point, and values."""
    points: dict[str, int] = {}
    metrics: dict[tuple[str, str], int] = {}
    rows = []
    for one in results:
        if not one.metrics or is_invalid(one):
            continue
        point = json.dumps([f"{one.name} {one.step}".rstrip(), one.ranks, one.parameters])
        measures = []
        for name, measure in one.metrics.items():
            metric = (metric_name(name, measure.condition), measure.unit)
            values = map(_figure, measure.values)
            measures.append([metrics.setdefault(metric, len(metrics)), *values])
        rows.append([one.id, one.started, machine, points.setdefault(point, len(points)), measures])
    data = {"points": list(map(json.loads, points)), "metrics": list(metrics), "runs": rows}
    return f"(globalThis.venturiRuns ||= []).push({_json(data)});\n"


def _figure(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")


def _json(data: object) -> str:
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
