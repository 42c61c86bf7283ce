"""The folder of a prediction: the document, and the workload beside it."""

from __future__ import annotations

from pathlib import Path

from venturi.execute.result_folder import folder_for, write_folder
from venturi.model.prediction import DOCUMENT, Prediction

SUFFIX = ".prediction"
WORKLOAD = "workload.yaml"


def place_for(output: str | None, name: str) -> Path:
    """Where a prediction is to go; UserError where something is there already.

    Without `output` it is named after the workload, with a number where that is taken.
    """
    return folder_for(output, name, SUFFIX)


def write_prediction(folder: Path, prediction: Prediction) -> Path:
    """Writes `folder`, which must not exist, as `write_folder` does; where it went."""
    texts = {DOCUMENT: prediction.to_json(indent=1) + "\n", WORKLOAD: prediction.workload_text}
    return write_folder(folder, texts)
