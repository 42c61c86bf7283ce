"""Why a run of the official program ended: the line that says it, among what launchers print."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator
from pathlib import Path

_MOST_BYTES = 1 << 20
_OWN = re.compile(r"FATAL|ERROR(?! INVALID)")
"""How the program and IOR begin what they say of an error."""
_TELLING = re.compile(
    r"[Ee]rror\b|[Aa]ssert|[Ff]ailed|[Cc]ould ?n[o']t|[Cc]annot|No such"
    r"|denied|No space|[Ss]egmentation|[Kk]illed|not found"
)
_LAUNCHER = re.compile(
    r"^[-=*\s]*$|MPI_ABORT|MPI_Abort|^with errorcode|Primary job|mpirun|mpiexec|prterun|non-zero"
    r"|NOTE: invoking|You may or may not|exactly when Open MPI|job to be terminated|Process name"
    r"|MCA parameter"
    r"|more process(es)? ha(s|ve) sent help|Exit code:|^Local (host|abort)"
    r"|BAD TERMINATION|YOUR APPLICATION|PMIX?_|srun: error|slurm"
)
"""What launchers print of every program that fails."""


def reason_of(folder: Path, code: int) -> str:
    """What the program says of its end: on stderr, on stdout, or in the log of its last phase.

    Empty where nothing does and no signal ended it.
    """
    places = [folder / "stderr.txt", folder / "stdout.txt", *_logs(folder)]
    for words in (_OWN, _TELLING):
        for path in places:
            if line := next((line for line in _lines(path) if words.search(line)), ""):
                return line
    last = [line for path in places[:1] for line in _lines(path)]
    if last:
        return last[-1]
    number = -code if code < 0 else code - 128
    if number in {one.value for one in signal.Signals}:
        return f"signal {number} ({signal.Signals(number).name})"
    return ""


def _logs(folder: Path) -> list[Path]:
    """The logs of phases, the newest first."""
    found = [path for path in folder.glob("*-*.txt") if path.is_file()]
    return sorted(found, key=lambda path: path.stat().st_mtime, reverse=True)[:2]


def _lines(path: Path) -> Iterator[str]:
    """The lines of a file's end that are not of a launcher."""
    if not path.is_file():
        return
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _MOST_BYTES))
        text = file.read().decode("utf-8", "replace")
    for line in text.splitlines():
        if not _LAUNCHER.search(line):
            yield line.strip()
