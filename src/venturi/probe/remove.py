"""Taking away what a probe made on the storage, and nothing else."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from venturi.execute.engine import find_engine
from venturi.model.error import TargetProblem, UserError
from venturi.model.probe import ProbeKind
from venturi.probe.keep import keep
from venturi.probe.place import ring_path, target_of
from venturi.probe.ring import is_held, read_header

_LIMIT_S = 3600


@dataclass(frozen=True)
class Removed:
    """What the removal of one target's files came to."""

    files: int
    left: list[str]
    """Paths that the probe did not make, or that could not be removed."""
    why: str


def remove_made(folder: Path) -> Removed:
    """Remove the files of a target's probe. Raises UserError while it runs."""
    target = target_of(folder)
    files, left, why = 0, [], ""
    for kind in target.kinds:
        path = ring_path(folder, kind)
        if not path.exists():
            continue
        if is_held(path):
            raise UserError(f"{target.name}: the probe is at work", "stop it first")
        answer = _ask(path)
        files += answer["removed"]
        root = Path(target.directory, read_header(path).root_name)
        left += [str(root / name) for name in answer["left"]]
        why = why or answer["why"]
    return Removed(files, left, why)


def forget_rings(folder: Path) -> None:
    """Remove the rings of a target whose files are gone; their samples go into files first."""
    keep(folder, everything=True)
    for kind in ProbeKind:
        ring_path(folder, kind).unlink(missing_ok=True)


def _ask(ring: Path) -> dict[str, Any]:
    try:
        done = subprocess.run(
            [str(find_engine()), "probe", "--remove", str(ring)],
            capture_output=True,
            check=False,
            timeout=_LIMIT_S,
        )
        answer: dict[str, Any] = json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        raise TargetProblem(f"{ring}: the storage does not answer within an hour") from None
    except (OSError, ValueError) as error:
        raise TargetProblem(f"{ring}: the removal failed: {error}") from None
    if "removed" not in answer:
        raise TargetProblem(f"{ring}: the removal failed: {answer.get('message')}")
    return answer
