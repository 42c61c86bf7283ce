"""Forecasts beside the runs that came after them: which runs test one, and what they took.

A run tests a forecast that was made before it began, of the same work with the same parameters and
ranks, for the host and the file system that it ran on.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path

from venturi.model.calibration import ForecastTrial, KeptForecast, ProxyTrial
from venturi.model.error import UserError
from venturi.model.forecast import NO_TIME, Forecast, PhaseForecast
from venturi.model.prediction import Prediction
from venturi.model.record import Level, Record
from venturi.model.result import Result
from venturi.store.public import public_machine
from venturi.store.result import has_record, load_record, load_result

LEAST_S = 100e-6
"""Phases that take less measure the clock, not storage."""


def forecast_for(kept: Sequence[KeptForecast], result: Result) -> KeptForecast | None:
    """The newest forecast that a run tests; None: it tests none."""
    found = [one for one in kept if _tests(result, one)]
    return max(found, key=lambda one: one.made, default=None)


def _tests(run: Result, kept: KeptForecast) -> bool:
    facts = run.facts
    return (
        run.level != Level.INVALID.value
        and kept.made[:19] < run.started[:19]
        and (kept.work, kept.forecast.ranks) == (run.work, run.ranks)
        and all(run.parameters.get(name) == value for name, value in kept.parameters.items())
        and kept.host == facts.get("host")
        and kept.forecast.file_system == facts.get("file system")
        and kept.source == facts.get("file system's source")
    )


def trials_in(folder: Path, kept: Sequence[KeptForecast]) -> list[ForecastTrial]:
    """What the run in a folder says of the newest forecast that it tests; empty: of none.

    Of a run that is damaged, too.
    """
    try:
        found = forecast_for(kept, load_result(folder))
        if found is None or not has_record(folder):
            return []
        return list(trials_of(found, load_record(folder)))
    except UserError:
        return []


def trials_of(kept: KeptForecast, record: Record) -> Iterator[ForecastTrial]:
    """A forecast beside a run that tests it: as a whole where that can be, and phase by phase.

    Left out are phases whose time the forecast does not know, and those too short to measure.
    """
    forecast = kept.forecast
    measured = {phase.path: _measured(record, phase.path) for phase in forecast.phases}
    whole = _whole(record, forecast)
    if whole:
        yield _trial(kept, record, whole)
    for phase in forecast.phases:
        seconds, operations = measured[phase.path]
        if not seconds or phase.unknown or phase.seconds.median <= 0:
            continue
        is_by_work = phase.done_share < 1
        if is_by_work:
            done = statistics.median(operations)
            if not done:
                continue
            seconds = [one * phase.operations / done for one in seconds]
        if statistics.median(seconds) >= LEAST_S:
            yield _trial(kept, record, seconds, phase, is_by_work)


def _measured(record: Record, path: str) -> tuple[list[float], list[int]]:
    """Of each repetition of a phase, the seconds in I/O of each kind's slowest rank; operations."""
    by_repetition: dict[int, tuple[float, int]] = {}
    for row in record.phases:
        if row.path == path:
            seconds, operations = by_repetition.get(row.repetition, (0.0, 0))
            own = sum(done.seconds for done in row.by_operation.values())
            by_repetition[row.repetition] = (seconds + own, operations + row.operations)
    return [one for one, _ in by_repetition.values()], [n for _, n in by_repetition.values()]


def _whole(record: Record, forecast: Forecast) -> list[float]:
    """Of each repetition the seconds of the group that takes longest; none where parts lack."""
    if forecast.seconds.median <= 0 or any(
        phase.unknown or phase.done_share < 1 for phase in forecast.phases
    ):
        return []
    paths = {phase.path for phase in forecast.phases if phase.seconds != NO_TIME}
    if paths - {row.path for row in record.phases}:
        return []
    known = {phase.path for phase in forecast.phases}
    found: dict[int, dict[str, float]] = {}
    for row in record.phases:
        if row.path in known:
            groups = found.setdefault(row.repetition, {})
            own = sum(done.seconds for done in row.by_operation.values())
            groups[row.group] = groups.get(row.group, 0.0) + own
    longest = [max(groups.values()) for groups in found.values()]
    return longest if longest and statistics.median(longest) >= LEAST_S else []


def _trial(
    kept: KeptForecast,
    record: Record,
    seconds: Sequence[float],
    phase: PhaseForecast | None = None,
    by_work: bool = False,
) -> ForecastTrial:
    forecast = kept.forecast
    return ForecastTrial(
        forecast=kept.id,
        run=record.id,
        name=record.name,
        machine=public_machine(record.machine or "local", record.environment.host),
        file_system=forecast.file_system,
        ranks=forecast.ranks,
        made=kept.made,
        started=record.started,
        phase=phase.path if phase else "",
        predicted=phase.seconds if phase else forecast.seconds,
        measured=statistics.median(seconds),
        repetitions=len(seconds),
        by_work=by_work,
    )


def proxy_trial(trial_id: str, found: Prediction) -> ProxyTrial:
    """A prediction as it is shown: without commands, directories and the host's name."""
    return ProxyTrial(
        id=trial_id,
        name=found.name,
        machine=public_machine("local", found.place.host),
        file_system=found.place.file_system,
        ranks=found.proxy.ranks,
        started=found.started,
        predicted=found.proxy.seconds,
        measured=found.application.seconds,
        error=found.error.signed,
        low=found.error.low,
        high=found.error.high,
        spread=found.application.spread,
        repetitions=len(found.application.runs),
    )
