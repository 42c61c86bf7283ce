"""Where the folder goes that a command leaves to its user."""

from __future__ import annotations

import os
from pathlib import Path

from venturi.model.error import UserError


def folder_for(output: str | None, name: str, ending: str) -> Path:
    """The folder of a result; UserError where something is there already or nothing can be.

    Without `output` it is called `name` with its ending, here, with a number where that is taken.
    """
    if output is not None:
        folder = Path(os.path.abspath(output))
        if folder.exists():
            raise UserError(f"'{output}' exists already", "name another with -o, or move it away")
    else:
        taken = 1
        while (
            folder := Path.cwd() / f"{name}{'' if taken == 1 else f'-{taken}'}{ending}"
        ).exists():
            taken += 1
    if not folder.parent.is_dir():
        raise UserError(
            f"'{folder.parent}' is no directory", "make it first, or name another with -o"
        )
    return folder
