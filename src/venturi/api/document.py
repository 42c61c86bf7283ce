"""Documents that `venturi report` draws beside runs and captures: which one a path holds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from venturi.model.error import UserError

if TYPE_CHECKING:
    from venturi.model.document import Document

_HEAD_BYTES = 200
"""A document of JSON names its schema at its beginning."""


def open_document(name: str) -> tuple[str, Document] | None:
    """The title and the document at a path, None where it is none of them.

    A folder of `venturi predict --against`, `tune`, `campaign` or of a probe's target, a machine
    file (YAML), or a forecast, a comparison of runs or a probe's history (JSON).
    Raises UserError where it is damaged, or a machine that was not profiled.
    """
    path = Path(name)
    if path.is_dir():
        return _in_folder(path)
    if path.suffix in (".yaml", ".yml") and path.is_file():
        return _machine(path)
    if path.suffix == ".json" and path.is_file():
        return _written(path)
    return None


def _in_folder(folder: Path) -> tuple[str, Document] | None:
    from venturi.model.campaign import CampaignResult
    from venturi.model.prediction import Prediction
    from venturi.model.tuning import Tuning
    from venturi.model.validation import Validation

    kinds: dict[str, type[Document]] = {
        "result.json": CampaignResult,
        "prediction.json": Prediction,
        "tuning.json": Tuning,
        "validation.json": Validation,
    }
    if (folder / "record.json").is_file() or (folder / "SHA256SUMS").is_file():
        return None  # a run of the archive
    if (folder / "target.json").is_file():
        return _probe(folder)
    for name, model in kinds.items():
        if (folder / name).is_file():
            return folder.resolve().stem, _parsed(folder / name, model)
    return None


def _probe(folder: Path) -> tuple[str, Document] | None:
    """The last 60 days of a target, with the runs of its own store."""
    from venturi.probe.history import extent_of, history_of
    from venturi.probe.place import is_target
    from venturi.probe.run_phase import runs_between
    from venturi.probe.span import Span

    place = folder.absolute()
    if not is_target(place):
        return None
    span = extent_of([place], Span())
    runs = runs_between(place.parents[1], span.begin_ns, span.end_ns)
    return place.name, history_of([place], span, runs)


def _machine(path: Path) -> tuple[str, Document]:
    from venturi.model.machine import Machine
    from venturi.model.yaml_text import load_yaml

    machine = load_yaml(path, Machine)
    if machine.profile is None:
        raise UserError(
            f"{path}: the machine has no profile", "venturi profile DIR -o machine.yaml measures it"
        )
    return machine.name, machine


def _written(path: Path) -> tuple[str, Document] | None:
    """What `-o FILE.json` of a command wrote, known by its schema."""
    from venturi.model.comparison import ComparisonSet, RunComparison
    from venturi.model.forecast import Forecast
    from venturi.model.forecasts import Forecasts
    from venturi.model.probe_history import ProbeHistory

    with path.open("rb") as file:
        head = file.read(_HEAD_BYTES)
    kinds: dict[bytes, type[Document]] = {
        b'"venturi.forecasts/': Forecasts,
        b'"venturi.forecast/': Forecast,
        b'"venturi.run-comparison/': RunComparison,
        b'"venturi.comparison-set/': ComparisonSet,
        b'"venturi.probe-history/': ProbeHistory,
    }
    model = next((kinds[word] for word in kinds if word in head), None)
    if model is None:
        return None
    found = _parsed(path, model)
    if isinstance(found, Forecasts):
        return f"{Path(found.folder).name}-on-{found.machine}", found
    if isinstance(found, Forecast):
        return f"{found.name}-on-{found.machine}", found
    return path.stem, found


def _parsed(path: Path, model: type[Document]) -> Document:
    from venturi.model.document import DocumentError, parse_json

    try:
        return parse_json(model, path.read_bytes())
    except OSError as error:
        raise UserError(f"'{path}': {error.strerror}") from None
    except DocumentError as error:
        raise UserError(
            f"'{path}' is damaged, or of another version: {error}", error.hint
        ) from None
