"""The folder of a prediction: the document, and the workload beside it."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from venturi.model.document import DocumentError, parse_json
from venturi.model.error import UserError
from venturi.model.prediction import DOCUMENT, PREDICTION_SCHEMA, Prediction

SUFFIX = ".prediction"
WORKLOAD = "workload.yaml"


def place_for(output: str | None, name: str) -> Path:
    """Where a prediction is to go; UserError where something is there already.

    Without `output` it is named after the workload, with a number where that is taken.
    """
    if output is not None:
        folder = Path(os.path.abspath(output))
        if folder.exists():
            raise UserError(f"'{output}' exists already", "name another with -o, or move it away")
    else:
        taken = 1
        while (
            folder := Path.cwd() / f"{name}{'' if taken == 1 else f'-{taken}'}{SUFFIX}"
        ).exists():
            taken += 1
    if not os.access(folder.parent, os.W_OK | os.X_OK):
        raise UserError(f"'{folder.parent}' cannot be written", "name another place with -o")
    return folder


def write_prediction(folder: Path, prediction: Prediction) -> None:
    """Writes `folder`, which must not exist; it appears as a whole or not at all."""
    making = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        making.chmod(0o755)
        (making / DOCUMENT).write_text(prediction.to_json(indent=1) + "\n", "utf-8")
        (making / WORKLOAD).write_text(prediction.workload_text, "utf-8")
        making.rename(folder)
    finally:
        shutil.rmtree(making, ignore_errors=True)


def read_prediction(folder: Path) -> Prediction:
    """The prediction in `folder`. Raises UserError where there is none."""
    path = folder / DOCUMENT
    try:
        return parse_json(Prediction, path.read_bytes())
    except OSError as error:
        raise UserError(f"'{path}': {error.strerror}") from None
    except DocumentError as error:
        raise UserError(f"'{path}' is no {PREDICTION_SCHEMA} document: {error}") from None
