"""Where mdtest's directories lie: one target for the run, and the parts below it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from venturi.model.error import UserError


@dataclass(frozen=True)
class MdtestTarget:
    """The target of a run, and for each of mdtest's directories its path below the run's own.

    One directory is the target itself: its part is empty.
    """

    target: Path
    parts: tuple[str, ...]


def place_of(directories: Sequence[str]) -> MdtestTarget:
    """Where `-d a@b@c` works; UserError where one run cannot work in all of them.

    A run makes one directory of its own. Several directories that mdtest would make itself come
    to lie in it, below their common parent; those that exist may lie on other file systems or
    have a layout of their own, and are refused.
    """
    paths = [os.path.abspath(name) for name in directories]
    if len(paths) == 1:
        return MdtestTarget(Path(paths[0]), ("",))
    if len(set(paths)) < len(paths):
        raise UserError("mdtest -d: a directory is named twice", "name each of them once")
    existing = next((path for path in paths if os.path.lexists(path)), None)
    if existing is not None:
        raise UserError(
            f"mdtest -d: {existing} exists, and a run works in one directory of its own: several "
            "existing ones would be left for it",
            "name directories that mdtest would make, or run once for each directory",
        )
    parent = os.path.commonpath([os.path.dirname(path) for path in paths])
    return MdtestTarget(Path(parent), tuple(os.path.relpath(path, parent) for path in paths))
