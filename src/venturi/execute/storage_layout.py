"""How a parallel file system lays out new files of a directory, and what its user may still use.

Lustre, GPFS (Storage Scale) and BeeGFS say so by their own commands, which are asked where the
directory lies on one of them. What a command does not say is left out, with the reason.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from venturi.execute.host import user_name
from venturi.model.storage_layout import Quota, StorageLayout

_PATIENCE_S = 10.0
_KIB = 1024
_OF_QUOTA = 7
"""Words of Lustre's answer: used, quota, limit and grace of space, then used, quota, limit."""
_OF_ROW = 6
"""Words of a row of BeeGFS."""
_PAIR = re.compile(r"([a-z_]+(?:\.[a-z_]+)?):\s+(\S+)")
_LUSTRE_KEYS = {
    "stripe_count": "stripe count",
    "stripe_size": "stripe size, bytes",
    "pattern": "pattern",
    "stripe_offset": "first OST",
    "pool": "pool",
    "lcme_extent.e_start": "from byte",
    "lcme_extent.e_end": "to byte",
}
_GPFS_KEYS = {
    "data replication": "copies of data",
    "metadata replication": "copies of metadata",
    "storage pool name": "pool",
    "fileset name": "fileset",
}
_BEEGFS_KEYS = {
    "Type": "pattern",
    "Chunksize": "chunk size",
    "Number of storage targets": "targets",
    "Storage Pool": "pool",
    "Metadata node": "metadata server",
}


_Said = tuple[list[dict[str, str]], list[Quota]]
"""Parts of the layout, and quotas."""


@dataclass
class _Answers:
    """What commands said, each asked once, and why some did not."""

    commands: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def of(self, *words: str) -> str:
        """What a command printed; empty where it did not answer, which is remarked."""
        said = " ".join(words)
        self.commands.append(said)
        try:
            answer = subprocess.run(
                words,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_PATIENCE_S,
                check=False,
                stdin=subprocess.DEVNULL,
                env={**os.environ, "LC_ALL": "C"},
            )
        except FileNotFoundError:
            self.remarks.append(f"{words[0]} is not installed here")
        except subprocess.TimeoutExpired:
            self.remarks.append(f"{said}: no answer in {_PATIENCE_S:g} s")
        except OSError as error:
            self.remarks.append(f"{said}: {error.strerror}")
        else:
            if answer.returncode == 0:
                return answer.stdout
            lines = (answer.stderr.strip() or answer.stdout.strip() or "it failed").splitlines()
            self.remarks.append(f"{said}: {lines[-1]}")
        return ""


def layout_of(directory: Path, kind: str, source: str) -> StorageLayout | None:
    """The layout and quota of a directory; None on file systems that have no such command.

    `kind` and `source` are those of its mount. Nothing is raised: remarks say what is missing.
    """
    ask = _ASKED.get(kind)
    if ask is None:
        return None
    answers = _Answers()
    parts, quotas = ask(answers, str(directory), source)
    return StorageLayout(
        parts=parts, quotas=quotas, commands=answers.commands, remarks=answers.remarks
    )


def _lustre(answers: _Answers, directory: str, source: str) -> _Said:
    text = answers.of("lfs", "getstripe", "-d", directory)
    # A composite layout has a part for each extent; all before the first is of the whole.
    pieces = re.split(r"(?m)^\s*lcme_id:.*$", text)
    parts = [
        {_LUSTRE_KEYS[key]: value for key, value in _PAIR.findall(piece) if key in _LUSTRE_KEYS}
        for piece in (pieces[1:] or pieces)
    ]
    user = user_name() or str(os.getuid())
    said = answers.of("lfs", "quota", "-q", "-u", user, directory)
    # A long name of the file system has a line of its own; `*` marks what is over its limit.
    words = said.replace("*", " ").split()
    numbers = words[1:] if words[:1] == [directory] else words
    quotas = []
    if len(numbers) >= _OF_QUOTA and numbers[0].isdecimal():
        used, _, limit, _, files, _, most = numbers[:_OF_QUOTA]
        quotas.append(_quota(f"user {user}", (used, limit, _KIB), (files, most)))
    elif said.strip():
        answers.remarks.append("lfs quota: not understood")
    return [part for part in parts if part], quotas


def _gpfs(answers: _Answers, directory: str, source: str) -> _Said:
    part = _named(answers.of("mmlsattr", "-L", directory), _GPFS_KEYS)
    block = re.search(r"(?m)^\s*-B\s+(\d+)\s+Block size", answers.of("mmlsfs", source, "-B"))
    if block:
        part["block size, bytes"] = block[1]
    quotas = [
        _quota(
            f"{row['quotaType'].lower()} {row['name']}",
            (row["blockUsage"], row["blockLimit"], _KIB),
            (row["filesUsage"], row["filesLimit"]),
        )
        for row in _rows(answers.of("mmlsquota", "-Y", source))
        if row.get("blockUsage", "").isdecimal()
    ]
    return [part] if part else [], quotas


def _beegfs(answers: _Answers, directory: str, source: str) -> _Said:
    part = _named(answers.of("beegfs-ctl", "--getentryinfo", directory), _BEEGFS_KEYS)
    if "targets" in part:
        part["targets"] = part["targets"].removeprefix("desired: ")
    where = f"--mount={directory}"
    said = answers.of("beegfs-ctl", "--getquota", "--uid", str(os.getuid()), "--csv", where)
    quotas = []
    for line in said.splitlines():
        words = [word.strip() for word in line.split(",")]
        if len(words) >= _OF_ROW and words[2].isdecimal():
            name, _, used, limit, files, most = words[:_OF_ROW]
            quotas.append(_quota(f"user {name}", (used, limit, 1), (files, most)))
    return [part] if part else [], quotas


_ASKED = {"lustre": _lustre, "gpfs": _gpfs, "mmfs": _gpfs, "beegfs": _beegfs}


def _named(text: str, keys: Mapping[str, str]) -> dict[str, str]:
    """Lines `KEY: VALUE` whose keys are known, by what they are called here."""
    found = {}
    for line in text.splitlines():
        name, _, value = line.strip(" +").partition(":")
        if name.strip() in keys and value.strip():
            found[keys[name.strip()]] = value.strip()
    return found


def _rows(text: str) -> list[dict[str, str]]:
    """The rows of GPFS's output for programs (`-Y`), by the names in its header."""
    header: Sequence[str] = ()
    found = []
    for line in text.splitlines():
        words = line.split(":")
        if len(words) > 2 and words[2] == "HEADER":
            header = words
        elif header:
            found.append(dict(zip(header, words, strict=False)))
    return found


def _quota(whose: str, space: tuple[str, str, int], files: tuple[str, str]) -> Quota:
    used, limit, unit = space
    return Quota(
        whose=whose,
        used_bytes=int(used) * unit,
        limit_bytes=int(limit) * unit if _is_limit(limit) else None,
        used_files=int(files[0]) if files[0].isdecimal() else None,
        limit_files=int(files[1]) if _is_limit(files[1]) else None,
    )


def _is_limit(word: str) -> bool:
    """Whether a word is a limit: 0 and `unlimited` are none."""
    return word.isdecimal() and int(word) > 0
