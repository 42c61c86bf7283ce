"""What runs the lines of templates for CI services as their runners do."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path


def put_venturi(commands: Path) -> None:
    """Put a command `venturi` into a folder, which is this environment's."""
    venturi = commands / "venturi"
    venturi.write_text(f'#!/bin/sh\nexec {sys.executable} -m venturi "$@"\n')
    venturi.chmod(0o755)


def run_script(text: str, folder: Path, environment: Mapping[str, str]) -> int:
    """A script as a runner starts one: bash that ends at the first failure."""
    done = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", text],
        cwd=folder,
        env=environment,
        text=True,
        capture_output=True,
        timeout=100,
        check=False,
    )
    print(done.stdout, done.stderr)
    return done.returncode
