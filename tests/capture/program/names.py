"""Names that come and go as chance has it: names.py SEED FOLDER STEPS.

The folder holds the files old0 to old5; a seed gives the same calls on every machine.
"""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Callable
from pathlib import Path


class Names:
    """A folder's files, which are made, filled, read, renamed, linked, copied and removed."""

    def __init__(self, seed: int, folder: str) -> None:
        os.chdir(folder)
        self._chance = random.Random(seed)
        self._files = {Path(f"old{number}") for number in range(6)}
        self._folders = {Path()}
        self._verbs: list[Callable[[Path], None]] = [
            self._make,
            self._append,
            self._read,
            self._rename,
            self._replace,
            self._unlink,
            self._mkdir,
            self._rmdir,
            self._link,
            self._copy,
            self._look,
        ]

    def step(self) -> None:
        """One thing that chance chooses, on a file that it chooses."""
        self._chance.choice(self._verbs)(self._some() if self._files else self._touched())

    def _some(self) -> Path:
        return self._chance.choice(sorted(self._files))

    def _touched(self) -> Path:
        path = self._new()
        path.touch()
        self._files.add(path)
        return path

    def _new(self) -> Path:
        return self._chance.choice(sorted(self._folders)) / f"f{self._chance.randint(0, 30)}"

    def _fill(self, path: Path, mode: str) -> None:
        with path.open(mode, buffering=0) as file:
            for _ in range(self._chance.randint(0, 3)):
                file.write(bytes(self._chance.randint(1, 9000)))
        self._files.add(path)

    def _look(self, path: Path) -> None:
        path.stat()

    def _make(self, _: Path) -> None:
        self._fill(self._new(), "wb")

    def _append(self, path: Path) -> None:
        self._fill(path if self._chance.random() < 0.7 else self._new(), "ab")

    def _read(self, path: Path) -> None:
        with path.open("rb", buffering=0) as file:
            for _ in range(2):
                file.seek(self._chance.randint(0, path.stat().st_size))
                file.read(self._chance.randint(1, 5000))

    def _rename(self, path: Path) -> None:
        to = self._new()
        path.rename(to)
        self._files = (self._files - {path}) | {to}

    def _replace(self, path: Path) -> None:
        to = self._some()
        path.rename(to)
        self._files = (self._files - {path}) | {to}

    def _unlink(self, path: Path) -> None:
        path.unlink()
        self._files.discard(path)

    def _mkdir(self, _: Path) -> None:
        path = Path(f"d{self._chance.randint(0, 5)}")
        path.mkdir(exist_ok=True)
        self._folders.add(path)

    def _rmdir(self, _: Path) -> None:
        for path in sorted(self._folders - {Path()}):
            if not any(path.iterdir()):
                path.rmdir()
                self._folders.discard(path)
                return

    def _link(self, path: Path) -> None:
        to = self._new()
        if not to.exists():
            to.hardlink_to(path)
            self._files.add(to)

    def _copy(self, path: Path) -> None:
        to = self._new()
        if to != path:
            with path.open("rb") as source, to.open("wb") as target:
                os.copy_file_range(source.fileno(), target.fileno(), 100_000)
            self._files.add(to)


if __name__ == "__main__":
    names = Names(int(sys.argv[1]), sys.argv[2])
    for _ in range(int(sys.argv[3])):
        names.step()
