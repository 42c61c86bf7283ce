"""Forecasts of a site's stores, held to the runs that came after them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from venturi.model.calibration import Calibration, ForecastTrial, KeptForecast, ProxyTrial
from venturi.model.error import UserError
from venturi.model.result import digest_of
from venturi.model.site import SiteTested
from venturi.predict import keep
from venturi.predict.calibrate import forecast_for, proxy_trial, trials_of
from venturi.site.run_index import KnownRun
from venturi.site.source import Source
from venturi.store.public import names_somebody
from venturi.store.result import has_record, load_record, load_result


def tested_of(
    sources: Sequence[Source], runs: Mapping[str, KnownRun], before: Mapping[str, SiteTested]
) -> dict[str, SiteTested]:
    """What each shown run says of forecasts of its work, by source and place in it.

    Only runs whose work some forecast is about are read, and of these only what is new.
    """
    found: dict[str, SiteTested] = {}
    for number, source in enumerate(sources):
        if not source.is_store:
            continue  # repositories of results have neither forecasts nor records
        by_work: dict[str, list[KeptForecast]] = {}
        for _, kept in keep.forecasts(source.path):
            if kept is not None:
                by_work.setdefault(kept.work, []).append(kept)
        for place, run in runs.items():
            own, _, name = place.partition("/")
            if own != str(number) or run.line is None or run.work not in by_work:
                continue
            forecasts = by_work[run.work]
            inputs = digest_of(run.stamp, [one.id for one in forecasts])
            old = before.get(place)
            if old is None or old.inputs != inputs:
                old = SiteTested(inputs=inputs, trials=_trials(source, name, forecasts))
            found[place] = old
    return found


def _trials(source: Source, name: str, forecasts: Sequence[KeptForecast]) -> list[ForecastTrial]:
    folder = source.path / "runs" / name
    try:
        kept = forecast_for(forecasts, load_result(folder))
        if kept is None or not has_record(folder):
            return []
        return list(trials_of(kept, load_record(folder)))
    except UserError:
        return []  # it is damaged, which the page of its run says


def calibration_of(
    sources: Sequence[Source], tested: Mapping[str, SiteTested]
) -> tuple[Calibration, list[str]]:
    """All that may be shown, and a sentence for each forecast or prediction that is not."""
    problems: list[str] = []
    ids: set[str] = set()
    proxies: dict[str, ProxyTrial] = {}
    for source in sources if any(source.is_store for source in sources) else ():
        for path, kept in keep.forecasts(source.path):
            where = f"{keep.FORECASTS}/{path.name}"
            if kept is None:
                problems.append(f"{where}: this is no forecast of this version")
            elif _is_private(kept.forecast.name, *(p.path for p in kept.forecast.phases)):
                problems.append(f"{where}: private: it names a host, a user or a path")
            else:
                ids.add(kept.id)
        for path, prediction in keep.predictions(source.path):
            where = f"{keep.PREDICTIONS}/{path.name}"
            if prediction is None:
                problems.append(f"{where}: this is no prediction of this version")
            elif _is_private(prediction.name):
                problems.append(f"{where}: private: it names a host, a user or a path")
            else:
                proxies[path.stem] = proxy_trial(path.stem, prediction)
    trials = {
        (one.forecast, one.run, one.phase): one
        for run in tested.values()
        for one in run.trials
        if one.forecast in ids
    }
    found = Calibration(
        trials=sorted(trials.values(), key=lambda one: (one.started, one.run, one.phase)),
        proxies=sorted(proxies.values(), key=lambda one: (one.started, one.id)),
        forecasts=len(ids),
        untested=len(ids - {one.forecast for one in trials.values()}),
    )
    return found, problems


def _is_private(*names: str) -> bool:
    return any(map(names_somebody, names))
