"""Forecasts that leave a store beside the runs that tested them, and come into another one."""

from __future__ import annotations

from pathlib import Path

from venturi.model.calibration import KeptForecast
from venturi.model.document import parse_json
from venturi.model.error import UserError
from venturi.model.result import Result
from venturi.model.shared_forecast import SharedForecast
from venturi.predict import keep
from venturi.predict.calibrate import trials_in
from venturi.store.whole_file import write_whole


class ForecastSharing:
    """The forecasts of a store, for the runs that are shared."""

    def __init__(self, store: Path) -> None:
        """Reads every forecast; `problems` says which ones are damaged, a sentence each."""
        self.problems: list[str] = []
        self._store = store
        self._by_work: dict[str, list[KeptForecast]] = {}
        for path, kept in keep.forecasts(store):
            if kept is None:
                where = f"{keep.FORECASTS}/{path.name}"
                self.problems.append(f"{where}: this is no forecast of this version")
            else:
                self._by_work.setdefault(kept.work, []).append(kept)

    def of_run(self, result: Result) -> SharedForecast | None:
        """The forecast that a run of the store tests, beside it; None: it tests none."""
        forecasts = self._by_work.get(result.work, [])
        trials = trials_in(self._store / "runs" / result.id, forecasts) if forecasts else []
        return SharedForecast(run=result.id, trials=trials) if trials else self._from_others(result)

    def _from_others(self, result: Result) -> SharedForecast | None:
        """What came beside a run of another store."""
        path = self._store / keep.TRIALS / f"{result.id}.json"
        if not path.is_file():
            return None
        try:
            return parse_json(SharedForecast, path.read_bytes())
        except (OSError, UserError):
            where = f"{keep.TRIALS}/{path.name}"
            self.problems.append(f"{where}: this is no shared forecast of this version")
            return None


def take_forecasts(store: Path, checkout: Path) -> tuple[int, list[str]]:
    """Takes the forecasts beside the runs of a checkout that are in the store.

    Returns how many were new there, and a sentence for each that was left out. Raises UserError
    where the store cannot be written.
    """
    new = 0
    problems: list[str] = []
    for path, found in keep.forecasts_of_checkout(checkout):
        place = path.relative_to(checkout)
        if found is None:
            problems.append(f"{place}: this is no shared forecast of this version")
        elif not (store / "runs" / found.run).is_dir():
            problems.append(f"{place}: its run is not beside it")
        elif not (own := store / keep.TRIALS / f"{found.run}.json").exists():
            try:
                own.parent.mkdir(exist_ok=True)
                write_whole(own, found.to_json(indent=1) + "\n")
            except OSError as error:
                raise UserError(f"{own}: cannot be written: {error.strerror}") from None
            new += 1
    return new, problems
