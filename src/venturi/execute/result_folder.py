"""Where the folder goes that a command leaves to its user, and how it is written."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from venturi.model.error import RunFailed, UserError


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
    if not os.access(folder.parent, os.W_OK | os.X_OK):
        raise UserError(f"'{folder.parent}' cannot be written", "name another place with -o")
    return folder


def write_folder(folder: Path, texts: Mapping[str, str]) -> Path:
    """Writes `folder`, which must not exist, with these files, as a whole; where it went.

    If it cannot be there it goes into a temporary directory, so that nothing measured is lost.
    Raises RunFailed where that cannot be written, either.
    """
    try:
        _make(folder, texts)
    except OSError as error:
        try:
            elsewhere = Path(tempfile.mkdtemp(prefix="venturi-")) / folder.name
            _make(elsewhere, texts)
        except OSError:
            raise RunFailed(
                f"'{folder}' cannot be written: {error.strerror}; nor can a temporary directory",
                "make room, and measure again",
            ) from None
        return elsewhere
    return folder


def _make(folder: Path, texts: Mapping[str, str]) -> None:
    making = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        making.chmod(0o755)
        for name, text in texts.items():
            (making / name).write_text(text, "utf-8")
        making.rename(folder)
    finally:
        shutil.rmtree(making, ignore_errors=True)
