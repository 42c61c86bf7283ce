"""The site's own io500 program: started, its result imported, and packed for who submits it."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import tarfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from venturi.compat.io500.description import described, lacking_in, written
from venturi.compat.io500.official_failure import reason_of
from venturi.compat.io500.official_setup import prepare
from venturi.compat.io500.settings import MOST_BYTES, read_settings
from venturi.compat.io500.submission import SUMMARY_NAME, Refused, import_results
from venturi.execute.doctor import examine
from venturi.execute.launcher import start_line
from venturi.execute.target import check_directory
from venturi.model.error import RunFailed, UserError
from venturi.model.machine import LauncherKind, Machine
from venturi.model.published import Io500Result
from venturi.store.place import new_id
from venturi.store.published import save

NAME = "io500-official"
FOLDER = "submissions"
INI = "io500.ini"
_SECTION = re.compile(r"\s*\[([^\]]*)\]")
_END_LIMIT_S = 10


@dataclass(frozen=True)
class OfficialRequest:
    """What the user asks for."""

    binary: Path
    directory: Path
    """The parent of the folder in which the program works."""
    store: Path
    machine: Machine
    ranks: int
    nodes: int = 1
    config: Path | None = None
    """The site's ini; None: the program's own defaults."""
    stonewall_s: int | None = None
    mode: str = "standard"
    prepare: Path | None = None
    """A program that sets up the directories of the four main phases, as the rules allow."""


@dataclass(frozen=True)
class OfficialResult:
    """What came of it."""

    folder: Path
    """All that the program wrote, its command, its ini and the system's description."""
    archive: Path
    result: Io500Result
    information: dict[str, str]
    missing: list[str]
    """What a submission needs and this is not, one sentence each."""


def run_official(wanted: OfficialRequest, say: Callable[[str], None]) -> OfficialResult:
    """Run the program and pack what it wrote; `say` gets its lines on phases as they come.

    UserError for a program, an ini or a launcher that cannot be, RunFailed where the program
    fails or leaves no result: what it wrote is kept, and the message says where. The data that
    it made are removed in any case: they lie in a directory of their own.
    """
    _check(wanted)
    name = new_id(NAME)
    folder = wanted.store / FOLDER / name
    data = wanted.directory / f"venturi-{name}"
    text = _ini(wanted, folder, data)
    line = _line(wanted, folder)
    data.mkdir()
    try:
        folder.mkdir(parents=True)
        (folder / INI).write_text(text, "utf-8")
        _write_script(folder / "io500.sh", line)
        if wanted.prepare is not None:
            prepare(wanted.prepare, data, folder)
        code = _run(line, folder, say)
    finally:
        shutil.rmtree(data, ignore_errors=True)
    if data.exists():
        say(f"{data} stays: the storage did not let all of it go")
    result = _result(folder, code)
    save(wanted.store, result)
    information = described(examine(wanted.directory), wanted.nodes, wanted.ranks)
    (folder / "system-information.txt").write_text(written(information), "utf-8")
    missing = _missing(result, information, wanted)
    archive = folder.parent / f"{name}.tar.gz"
    with tarfile.open(archive, "w:gz") as pack:
        pack.add(folder, arcname=name)
    return OfficialResult(folder, archive, result, information, missing)


def _check(wanted: OfficialRequest) -> None:
    binary = wanted.binary
    if not binary.is_file() or not os.access(binary, os.X_OK):
        raise UserError(
            f"--binary {binary}: there is no such program",
            "name the io500 that the site's own build made",
        )
    if wanted.prepare is not None and not os.access(wanted.prepare, os.X_OK):
        raise UserError(
            f"--prepare {wanted.prepare}: there is no such program",
            "name a script that may be executed; it gets the directory of the data",
        )
    check_directory(wanted.directory)
    if wanted.ranks > 1 and wanted.machine.launcher.kind is LauncherKind.LOCAL:
        raise UserError(
            f"{wanted.ranks} ranks of {binary.name} need the MPI that it was built with",
            "name it: --on openmpi, --on mpich, or a machine file",
        )
    if wanted.config is not None:
        path = wanted.config
        if not path.is_file() or path.stat().st_size > MOST_BYTES or not read_settings(path):
            raise UserError(f"{path}: this is no config.ini of io500", "it has sections and keys")


def _ini(wanted: OfficialRequest, folder: Path, data: Path) -> str:
    """The user's ini with our folders; every other line stays as it is."""
    text = wanted.config.read_text("utf-8") if wanted.config else ""
    ours = {
        ("global", "datadir"): str(data),
        ("global", "timestamp-datadir"): "FALSE",
        ("global", "resultdir"): str(folder),
        ("global", "timestamp-resultdir"): "FALSE",
    }
    if wanted.stonewall_s is not None:
        ours["debug", "stonewall-time"] = str(wanted.stonewall_s)
    return with_settings(text, ours)


def with_settings(text: str, settings: Mapping[tuple[str, str], str]) -> str:
    """An ini with values for (section, key); lines of other keys and remarks stay."""
    kept: list[str] = []
    section = ""
    for line in text.splitlines():
        found = _SECTION.match(line)
        section = found[1].strip().lower() if found else section
        key = line.partition("=")[0].strip().lower()
        if found or (section, key) not in settings:
            kept.append(line)
    for wanted in dict.fromkeys(section for section, _ in settings):
        own = [f"{key} = {value}" for (name, key), value in settings.items() if name == wanted]
        at = next((i for i, line in enumerate(kept) if _is_section(line, wanted)), None)
        if at is None:
            kept += [f"[{wanted}]", *own]
        else:
            kept[at + 1 : at + 1] = own
    return "\n".join([*kept, ""])


def _is_section(line: str, name: str) -> bool:
    found = _SECTION.match(line)
    return found is not None and found[1].strip().lower() == name


def _line(wanted: OfficialRequest, folder: Path) -> list[str]:
    start = start_line(wanted.machine, wanted.ranks)
    return [*start, str(wanted.binary.absolute()), str(folder / INI), f"--mode={wanted.mode}"]


def _write_script(path: Path, line: list[str]) -> None:
    path.write_text(f"#!/bin/sh\n# What was started, in the folder above.\n{shlex.join(line)}\n")
    path.chmod(0o755)


def _run(line: list[str], folder: Path, say: Callable[[str], None]) -> int:
    """The program's exit code; what it prints is kept, and its phases are told."""
    with (folder / "stdout.txt").open("w") as kept, (folder / "stderr.txt").open("w") as errors:
        program = subprocess.Popen(
            line,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            errors="replace",
            cwd=folder,
            start_new_session=True,
        )
        assert program.stdout is not None
        try:
            for text in program.stdout:
                kept.write(text)
                kept.flush()
                if text.startswith("["):
                    say(text.rstrip())
            return program.wait()
        except BaseException:
            _end(program)
            raise


def _end(program: subprocess.Popen[str]) -> None:
    """The program and what it started, gently at first."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if program.poll() is None:
            os.killpg(program.pid, number)
        try:
            program.wait(_END_LIMIT_S)
        except subprocess.TimeoutExpired:
            continue
        return


def _result(folder: Path, code: int) -> Io500Result:
    found = list(import_results(folder)) if (folder / SUMMARY_NAME).is_file() else []
    result = next((one for one in found if isinstance(one, Io500Result)), None)
    if code == 0 and result is not None:
        return result
    refused = next((one.why for one in found if isinstance(one, Refused)), "")
    why = reason_of(folder, code) or refused or f"it wrote no {SUMMARY_NAME}"
    ended = f"ended with {code}" if code else "ended well, but"
    raise RunFailed(f"the program {ended}: {why}", f"what it wrote is in {folder}")


def _missing(
    result: Io500Result, information: Mapping[str, str], wanted: OfficialRequest
) -> list[str]:
    """What stands between this folder and a submission."""
    flags = sorted(result.flags, key=lambda flag: not flag.excludes)
    found = [f"not valid: {one.what}" if one.excludes else one.what for one in flags]
    if wanted.nodes < 10:
        nodes = f"{wanted.nodes} client node{'s' if wanted.nodes > 1 else ''}"
        found.append(f"{nodes}: awards need at least 10, the 10-node list exactly 10")
    found.append(f"system-information.txt lacks {', '.join(lacking_in(information))}")
    found.append("the site's questionnaire on reproducibility is not filled")
    found.append("nothing was sent: submitting is yours, at the site of the list")
    return found
