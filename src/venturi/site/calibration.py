"""Forecasts of a site's stores and checkouts, held to the runs that came after them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set

from venturi.model.calibration import Calibration, ForecastTrial, KeptForecast, ProxyTrial
from venturi.model.result import digest_of
from venturi.model.site import SiteTested
from venturi.predict import keep
from venturi.predict.calibrate import proxy_trial, trials_in
from venturi.site.run_index import KnownRun
from venturi.site.source import Source
from venturi.store.public import names_somebody

_PRIVATE = "private: it names a host, a user or a path"


def tested_of(
    sources: Sequence[Source], runs: Sequence[KnownRun], before: Mapping[str, SiteTested]
) -> dict[str, SiteTested]:
    """What each shown run says of forecasts of its work, by source and place in it.

    Only runs whose work some forecast is about are read, and of these only what is new.
    """
    found: dict[str, SiteTested] = {}
    for number, source in enumerate(sources):
        if not source.is_store:
            continue  # a repository of results has no records: its forecasts are beside runs
        by_work: dict[str, list[KeptForecast]] = {}
        for _, kept in keep.forecasts(source.path):
            if kept is not None:
                by_work.setdefault(kept.work, []).append(kept)
        for run in runs:
            own, _, name = run.place.partition("/")
            if own != str(number) or run.work not in by_work:
                continue
            forecasts = by_work[run.work]
            inputs = digest_of(run.digest, [one.to_data() for one in forecasts])
            old = before.get(run.place)
            if old is None or old.inputs != inputs:
                trials = trials_in(source.path / "runs" / name, forecasts)
                old = SiteTested(inputs=inputs, trials=trials)
            found[run.place] = old
    return found


def calibration_of(
    sources: Sequence[Source], runs: Sequence[KnownRun], tested: Mapping[str, SiteTested]
) -> tuple[Calibration, list[str]]:
    """All that may be shown, and a sentence for each forecast or prediction that is not."""
    problems: list[str] = []
    ids: set[str] = set()
    proxies: dict[str, ProxyTrial] = {}
    trials: dict[tuple[str, str, str], ForecastTrial] = {}
    for number, source in enumerate(sources):
        shown = {run.id for run in runs if run.place.startswith(f"{number}/")}
        for one in _from_others(source, shown, problems):
            ids.add(one.forecast)
            trials[one.forecast, one.run, one.phase] = one
        if source.is_store:
            ids |= _kept_ids(source, problems)
            proxies |= _proxies(source, problems)
    trials |= {
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


def _kept_ids(source: Source, problems: list[str]) -> set[str]:
    """The forecasts of a store that may be shown."""
    ids: set[str] = set()
    for path, kept in keep.forecasts(source.path):
        where = f"{keep.FORECASTS}/{path.name}"
        if kept is None:
            problems.append(f"{where}: this is no forecast of this version")
        elif _is_private(kept.forecast.name, *(p.path for p in kept.forecast.phases)):
            problems.append(f"{where}: {_PRIVATE}")
        else:
            ids.add(kept.id)
    return ids


def _proxies(source: Source, problems: list[str]) -> dict[str, ProxyTrial]:
    """The predictions of a store that may be shown."""
    found: dict[str, ProxyTrial] = {}
    for path, prediction in keep.predictions(source.path):
        where = f"{keep.PREDICTIONS}/{path.name}"
        if prediction is None:
            problems.append(f"{where}: this is no prediction of this version")
        elif _is_private(prediction.name):
            problems.append(f"{where}: {_PRIVATE}")
        else:
            found[path.stem] = proxy_trial(path.stem, prediction)
    return found


def _from_others(source: Source, shown: Set[str], problems: list[str]) -> Iterator[ForecastTrial]:
    """What came beside shared runs that have a page: into a store, or in a checkout."""
    every = keep.forecasts_from_others if source.is_store else keep.forecasts_of_checkout
    for path, found in every(source.path):
        where = path.relative_to(source.path)
        if found is None:
            problems.append(f"{where}: this is no shared forecast of this version")
        elif found.run in shown:
            names = [text for one in found.trials for text in (one.name, one.machine, one.phase)]
            if source.is_store and _is_private(*names):
                problems.append(f"{where}: {_PRIVATE}")
            else:
                yield from found.trials


def _is_private(*names: str) -> bool:
    return any(map(names_somebody, names))
