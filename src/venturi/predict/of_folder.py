"""Forecasts of all workloads of a folder: which entries are some, and each one's answer."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from venturi.model.error import UserError
from venturi.model.forecast import Forecast
from venturi.model.forecasts import ForecastRow, Forecasts
from venturi.model.machine import Machine
from venturi.model.trace_folder import DOCUMENT as TRACE
from venturi.predict.on_machine import profile_of
from venturi.sources.kind import kind_of

_WORKLOAD = re.compile(rb"^\W*workload\W*:", re.M)
_NAME = "workload.yaml"
_SUFFIXES = (".yaml", ".yml")


def is_folder_of_workloads(path: Path) -> bool:
    """Whether workloads or traces lie in a folder; one that is itself a trace has none.

    A folder with nothing but the logs of one job is that job's capture, as in `venturi derive`.
    """
    if not path.is_dir() or (path / TRACE).exists():
        return False
    return any(_is_workload(entry) or _is_trace(entry) for entry in path.iterdir())


def _is_workload(path: Path) -> bool:
    if path.is_dir():
        return (path / _NAME).is_file()
    if path.suffix not in _SUFFIXES or not path.is_file():
        return False
    return _WORKLOAD.search(path.read_bytes()) is not None


def _is_trace(path: Path) -> bool:
    return (path / TRACE).is_file()


def _is_log(path: Path) -> bool:
    try:
        return path.is_file() and path.suffix not in _SUFFIXES and kind_of(path) is not None
    except UserError:
        return False


def forecast_each(
    folder: Path, machine: Machine, one: Callable[[str], Forecast], tell: Callable[[str], None]
) -> Forecasts:
    """The forecast of every workload, log and capture in a folder, by name.

    `one` answers for a path. An entry that it refuses is said with the reason, and the others go
    on. Raises UserError where the machine was not measured, or the folder cannot be read.
    """
    profile = profile_of(machine)
    rows: list[ForecastRow] = []
    left_out: list[str] = []
    try:
        entries = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
        wanted = [path for path in entries if any(is_(path) for is_ in _KINDS)]
    except OSError as error:
        raise UserError(f"'{folder}' cannot be read: {error.strerror}") from None
    left_out = [path.name for path in entries if path not in wanted]
    for number, path in enumerate(wanted, 1):
        tell(f"{number} of {len(wanted)}: {path.name}")
        source = path / _NAME if path.is_dir() and _is_workload(path) else path
        try:
            rows.append(ForecastRow(source=path.name, forecast=one(str(source))))
        except UserError as error:
            why = "; ".join(text for text in (error.message, error.hint) if text)
            rows.append(ForecastRow(source=path.name, refused=why))
    return Forecasts(
        schema_="venturi.forecasts/1",
        folder=str(folder),
        machine=machine.name,
        profiled=profile.started,
        directory=profile.directory,
        file_system=profile.file_system.type,
        rows=rows,
        left_out=left_out,
    )


_KINDS = (_is_workload, _is_trace, _is_log)
