"""The seal of a run's folder: a list of digests, so that any changed byte is found.

The list is in the form of `sha256sum`, which can check it too. What a store itself adds later
(that a run's files were removed from their target) is named here and is not sealed.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

SEAL_NAME = "SHA256SUMS"
REMOVED_NAME = "files-removed"
"""Says that the files which the run left on its target are gone."""
_LINE = re.compile(r"([0-9a-f]{64})  ([^\n]+)\n")
_NOT_SEALED = frozenset({SEAL_NAME, REMOVED_NAME})


def seal(folder: Path) -> None:
    """Lists all files of a folder with their digests."""
    lines = [f"{sha256_of(folder / name)}  {name}\n" for name in _files(folder)]
    (folder / SEAL_NAME).write_text("".join(lines), "utf-8")


def sealed_names(folder: Path) -> list[str]:
    """The names that stand in a folder's list; none where it has no list."""
    try:
        return [name for _, name in _LINE.findall((folder / SEAL_NAME).read_text("utf-8"))]
    except (OSError, UnicodeDecodeError):
        return []


def faults(folder: Path) -> Iterator[str]:
    """What is not as it was when the folder was sealed, one sentence each."""
    try:
        text = (folder / SEAL_NAME).read_bytes().decode("utf-8")
    except OSError as error:
        yield f"{SEAL_NAME}: {error.strerror}"
        return
    except UnicodeDecodeError:
        yield f"{SEAL_NAME} is damaged"
        return
    found = _LINE.findall(text)
    if "".join(f"{digest}  {name}\n" for digest, name in found) != text:
        yield f"{SEAL_NAME} is damaged"
    wanted = {name: digest for digest, name in found}
    there = set(_files(folder))
    for name in sorted(there - wanted.keys()):
        yield f"{name} was added"
    for name, digest in wanted.items():
        if name not in there:
            yield f"{name} is gone"
            continue
        try:
            same = sha256_of(folder / name) == digest
        except OSError as error:
            yield f"{name}: {error.strerror}"
            continue
        if not same:
            yield f"{name} was changed"


def altered(folder: Path, names: Iterable[str]) -> list[str]:
    """Which of these files are there and not as they were sealed, one sentence each.

    A list that cannot be read is one, too.
    """
    try:
        text = (folder / SEAL_NAME).read_bytes().decode("utf-8", "replace")
    except OSError as error:
        return [f"{SEAL_NAME}: {error.strerror}, so a change of the run would not be seen"]
    wanted = {name: digest for digest, name in _LINE.findall(text)}
    return [
        f"{name} was changed after the run"
        for name in names
        if (folder / name).is_file() and sha256_of(folder / name) != wanted.get(name)
    ]


def sha256_of(path: Path) -> str:
    """The digest of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _files(folder: Path) -> list[str]:
    """All files below a folder that are sealed, by their relative names, in their order."""
    names = []
    for top, _, own in os.walk(folder):
        names += [os.path.relpath(os.path.join(top, name), folder) for name in own]
    return sorted(name for name in names if name not in _NOT_SEALED)
