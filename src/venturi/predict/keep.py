"""Forecasts and predictions in a store: one file each, to be held to later runs."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import venturi
from venturi.model.calibration import KeptForecast
from venturi.model.document import Document, parse_json
from venturi.model.error import UserError
from venturi.model.forecast import Forecast
from venturi.model.machine import Machine
from venturi.model.prediction import Prediction
from venturi.model.shared_forecast import SharedForecast
from venturi.model.workload import Workload
from venturi.store.place import new_id
from venturi.store.push import FORECASTS as SHARED_FORECASTS
from venturi.store.result import shared, work_of

if TYPE_CHECKING:
    from venturi.plan.make import PlanResult

FORECASTS = "forecast"
PREDICTIONS = "prediction"
TRIALS = "trial"
"""Forecasts of other stores, beside the runs that came with them."""
_Kept = TypeVar("_Kept", bound=Document)


def keep_forecast(
    store: Path, workload: Workload, made: PlanResult, machine: Machine, found: Forecast
) -> Path:
    """Write a forecast with what tells the runs that test it. UserError where that cannot be."""
    from venturi.predict.on_machine import profile_of

    profile = profile_of(machine)
    used = {item.file: item.used for item in made.substituted}
    kept = KeptForecast(
        schema_="venturi.kept-forecast/1",
        id=new_id(found.name),
        made=datetime.now(UTC).isoformat(timespec="seconds"),
        venturi=venturi.__version__,
        work=work_of(
            json.loads(workload.model_dump_json(by_alias=True, exclude_defaults=True)), used
        ),
        parameters=dict(made.parameters),
        host=profile.host,
        source=profile.file_system.source,
        forecast=found,
    )
    return _write(store / FORECASTS / f"{kept.id}.json", kept)


def keep_prediction(store: Path, prediction: Prediction) -> Path:
    """Write a prediction, without its proxy's text. UserError where that cannot be."""
    kept = prediction.model_copy(update={"workload_text": ""})
    return _write(store / PREDICTIONS / f"{new_id(prediction.name)}.json", kept)


def forecasts(store: Path) -> Iterator[tuple[Path, KeptForecast | None]]:
    """All forecasts of a store, oldest first; None: one that is damaged, or of another version."""
    return _all(store / FORECASTS, KeptForecast)


def predictions(store: Path) -> Iterator[tuple[Path, Prediction | None]]:
    """All predictions of a store, oldest first; None as of `forecasts`."""
    return _all(store / PREDICTIONS, Prediction)


def forecasts_from_others(store: Path) -> Iterator[tuple[Path, SharedForecast | None]]:
    """All forecasts that came with runs of other stores; None as of `forecasts`."""
    return _all(store / TRIALS, SharedForecast)


def forecasts_of_checkout(checkout: Path) -> Iterator[tuple[Path, SharedForecast | None]]:
    """All forecasts in a checkout of shared results; None as of `forecasts`."""
    return _each(shared(checkout / SHARED_FORECASTS), SharedForecast)


def _all(folder: Path, kind: type[_Kept]) -> Iterator[tuple[Path, _Kept | None]]:
    return _each(sorted(folder.glob("[!.]*.json")), kind)


def _each(paths: Iterable[Path], kind: type[_Kept]) -> Iterator[tuple[Path, _Kept | None]]:
    for path in paths:
        try:
            yield path, parse_json(kind, path.read_bytes())
        except (OSError, UserError):
            yield path, None


def _write(path: Path, document: Document) -> Path:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=".", delete=False) as file:
            file.write(document.to_json(indent=1) + "\n")
        os.replace(file.name, path)
    except OSError as error:
        raise UserError(f"{path}: cannot be written: {error.strerror}") from None
    return path
