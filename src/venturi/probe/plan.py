"""Targets to watch: from a configuration file, or from directories with the same settings."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from venturi.model.document import DocumentError, parse_data
from venturi.model.error import UserError
from venturi.model.probe import (
    SMALL_DATA_BYTES,
    SMALL_POOL_FILES,
    ProbeConfig,
    ProbeTarget,
)
from venturi.model.units import size_text
from venturi.model.yaml_text import load_yaml

_NO_NAME = re.compile(r"[^A-Za-z0-9_.-]")


def targets_in(config: str | None, directories: Sequence[str], settings: dict[str, Any]) -> Any:
    """Return the targets: those of a configuration, or directories with the settings.

    Raises UserError for neither, for both, and for wrong settings.
    """
    if (config is None) == (not directories):
        raise UserError(
            "say what to watch: directories, or a configuration file with --config, but not both"
        )
    if config is not None:
        return load_yaml(Path(config), ProbeConfig).targets
    targets = [_target_for(directory, settings) for directory in directories]
    try:
        return ProbeConfig(schema_="venturi.probe/1", targets=targets).targets
    except ValueError:
        raise UserError(
            "two of these directories would have the same name",
            "give them names in a configuration file (--config)",
        ) from None


def small_settings() -> dict[str, Any]:
    """Settings for a laptop: 1000 files, and a data file that stays in memory."""
    return {"pool_files": SMALL_POOL_FILES, "data": size_text(SMALL_DATA_BYTES)}


def _target_for(directory: str, settings: dict[str, Any]) -> ProbeTarget:
    if not directory:
        raise UserError("the name of a directory is empty", "say which one to watch")
    path = os.path.abspath(directory)
    name = _NO_NAME.sub("-", os.path.basename(path)).strip("-._")[:64] or "root"
    try:
        return parse_data(ProbeTarget, {"name": name, "directory": path} | settings)
    except DocumentError as error:
        raise UserError(f"{directory}: {error.message}") from None
