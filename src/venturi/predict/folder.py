"""The folder of a prediction: the document, and the workload beside it."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from venturi.execute.result_folder import folder_for
from venturi.model.error import UserError
from venturi.model.prediction import DOCUMENT, Prediction

SUFFIX = ".prediction"
WORKLOAD = "workload.yaml"


def place_for(output: str | None, name: str) -> Path:
    """Where a prediction is to go; UserError where something is there already.

    Without `output` it is named after the workload, with a number where that is taken.
    """
    folder = folder_for(output, name, SUFFIX)
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
