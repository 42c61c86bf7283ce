"""Data of a workload as scripts, because pages that are opened from disk fetch none.

They are JSON that no parser of HTML or of scripts takes for anything else. What many rows share,
such as sessions, points and names, is there once, and rows have its number.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from venturi.analyse.left_out import is_invalid
from venturi.model.result import Measure, Result
from venturi.model.site import SiteWorkload
from venturi.site.subject import metric_name

_DIGITS = 7
"""Of figures, which are shown with three; more would be half of what goes over the line."""


Tags = Mapping[str, Sequence[tuple[str, str]]]
"""For each tag the sessions that have a run with it: machine and session."""


def session_script(found: SiteWorkload, tags: Tags) -> str:
    """The sessions of all series, and which of them are tagged."""
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
    data = {
        "name": found.name,
        "sessions": list(sessions),
        "series": rows,
        "tags": list(tags.items()),
    }
    return f"globalThis.venturiData = {_json(data)};\n"


def run_script(machine: str, results: Sequence[Result]) -> str:
    """What a comparison of a subject's runs needs: id, start, point, session, values and tags.

    A run that is INVALID has no values; what compares runs says that it was left out.
    """
    points: dict[str, int] = {}
    metrics: dict[tuple[str, ...], int] = {}
    sessions: dict[str, int] = {}
    rows: list[list[object]] = []
    for one in results:
        point = json.dumps([f"{one.name} {one.step}".rstrip(), one.ranks, one.parameters, one.key])
        measures: list[list[float]] | None = None
        if not is_invalid(one):
            measures = [
                [
                    metrics.setdefault(_kind_of(name, measure), len(metrics)),
                    *map(_figure, measure.values),
                ]
                for name, measure in one.metrics.items()
            ]
        session = sessions.setdefault(one.session, len(sessions))
        row = [one.id, one.started, points.setdefault(point, len(points)), session, measures]
        rows.append([*row, one.tags] if one.tags else row)
    data = {
        "machine": machine,
        "name": results[0].name if results else "",
        "points": list(map(json.loads, points)),
        "metrics": list(metrics),
        "sessions": list(sessions),
        "runs": rows,
    }
    return f"(globalThis.venturiRuns ||= []).push({_json(data)});\n"


def _kind_of(name: str, measure: Measure) -> tuple[str, ...]:
    """A metric, and what its values must have in common with others."""
    return name, measure.unit, measure.better.value, measure.condition, measure.of


def _figure(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")


def _json(data: object) -> str:
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
