"""Directories that are set up before the official program starts: striping, pools, quotas."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from venturi.model.error import UserError

DIRECTORIES = ("ior-easy", "ior-hard", "mdtest-easy", "mdtest-hard")
"""The rules let these be made and tuned before a run; nothing may be made in them."""


def prepare(script: Path, data: Path, folder: Path) -> None:
    """Make the four directories and let a script tune them; keep it and what it says in `folder`.

    The script is started in the directory of the data, with its path as the only argument.
    UserError where it fails, or where it makes what the rules forbid.
    """
    for name in DIRECTORIES:
        (data / name).mkdir()
    kept = shutil.copy(script, folder / "prepare.sh")
    with (folder / "prepare.txt").open("wb") as said:
        done = subprocess.run(
            [str(script.absolute()), str(data)],
            cwd=data,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=subprocess.STDOUT,
            check=False,
        )
    if done.returncode:
        lines = (folder / "prepare.txt").read_text("utf-8", "replace").strip().splitlines()
        why = f": {lines[-1]}" if lines else ""
        raise UserError(
            f"--prepare {script} ended with {done.returncode}{why}", f"it is kept as {kept}"
        )
    for place, folders, names in os.walk(data):
        made = names or (folders if Path(place) != data else [])
        if made:
            raise UserError(
                f"--prepare {script} made {Path(place, made[0]).relative_to(data)}",
                f"the rules let {', '.join(DIRECTORIES)} be tuned, and nothing be made in them",
            )
