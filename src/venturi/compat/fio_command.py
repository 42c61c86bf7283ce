"""fio's command line: job files, options of jobs, and what is said about the output."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from venturi.compat.fio_option import is_switch
from venturi.compat.fio_section import TOOL, FioSection, SectionReader
from venturi.model.error import UserError

_JSON = ("json", "json+")
_PLAIN = ("normal",)
_SWITCHES = {"parse-only", "readonly", "minimal", "showcmd", "append-terse", "cpuclock-test"}
"""Options of the command line itself without a value."""
_NO_EFFECT = {
    "eta": "progress is Venturi's own",
    "eta-interval": "progress is Venturi's own",
    "eta-newline": "progress is Venturi's own",
    "status-interval": "progress is Venturi's own",
    "alloc-size": "the engine has no pool of shared memory to be sized",
    "max-jobs": "the number of ranks has no other limit than the machine's",
    "warnings-fatal": "whatever is not understood is refused",
}
_REFUSED = {
    "minimal": "of fio's forms of output there is JSON: --output-format=json",
    "showcmd": "--dry-run, before `--`, shows what would be done",
    "append-terse": "of fio's forms of output there is JSON: --output-format=json",
    "terse-version": "of fio's forms of output there is JSON: --output-format=json",
    "debug": "it shows the inside of fio",
    "server": "ranks of other nodes are started by a launcher: --nodes, before `--`",
    "client": "ranks of other nodes are started by a launcher: --nodes, before `--`",
    "daemonize": "there is no server",
    "remote-config": "there is no server",
    "trigger": "commands are never executed on behalf of a job file",
    "trigger-file": "commands are never executed on behalf of a job file",
    "trigger-remote": "commands are never executed on behalf of a job file",
    "trigger-timeout": "commands are never executed on behalf of a job file",
    "aux-path": "the engine leaves no state beside its record",
    "idle-prof": "`venturi health` measures the processors",
    "crctest": "`venturi health` measures the processors",
    "cpuclock-test": "`venturi health` measures the processors",
    "cmdhelp": "docs/compatibility/fio.md lists every option",
    "enghelp": "docs/compatibility/fio.md lists every option",
    "inflate-log": "no compressed logs are written",
    "bandwidth-log": "the record keeps the rate of each phase over time",
    "merge-blktrace-only": "traces of block devices are not read",
    "profile": "it is a set of jobs inside of fio; write them as a job file",
    "version": "`venturi --version` says which engine runs",
}


@dataclass(frozen=True)
class FioCommand:
    """What a command line asks for."""

    sections: tuple[FioSection, ...]
    problems: tuple[str, ...]
    as_json: bool = False
    output: str = ""
    plan_only: bool = False
    read_only: bool = False


@dataclass
class _Own:
    """Options of the command line itself."""

    form: str = "normal"
    output: str = ""
    plan_only: bool = False
    read_only: bool = False


def read_command(words: Sequence[str]) -> FioCommand:
    """The sections of a command line in their order: those of its words, then those of its files.

    Problems are collected; UserError only for a file that cannot be read and for no job at all.
    """
    own, wanted, files = _Own(), [], []
    problems: list[str] = []
    jobs: list[tuple[str, str | None]] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if not word.startswith("--") or word == "--":
            if word.startswith("-"):
                problems.append(f"'{word}' is no option of fio")
            else:
                files.append(word)
            continue
        key, sign, value = word[2:].partition("=")
        given: str | None = value if sign else None
        if given is None and key not in _SWITCHES and rest and _takes_next(key, rest[0]):
            given = rest.pop(0)
        if key == "section":
            wanted.append(given or "")
        elif not _take_own(key, given, own, problems):
            jobs.append((key, given))
    reader = SectionReader(wanted=wanted)
    for key, given in jobs:
        reader.word(key, given)
    reader.end()
    if own.output and own.form not in _JSON:
        problems.append("--output is refused: it is for --output-format=json")
    if files and jobs and not any(key == "name" for key, _ in jobs):
        problems += [f"--{key} belongs to no job: give it in the job file" for key, _ in jobs]
    for file in files:
        reader.file(Path(file))
    problems += reader.problems
    if not reader.sections and not problems:
        raise UserError(
            f"{TOOL}: there is no job", "give a job file, or --name=NAME and its options"
        )
    return FioCommand(
        tuple(reader.sections),
        tuple(problems),
        as_json=own.form in _JSON,
        output=own.output,
        plan_only=own.plan_only,
        read_only=own.read_only,
    )


def _takes_next(key: str, word: str) -> bool:
    """Whether an option without `=` has its value in the next word, as `--bs 4k`."""
    return not word.startswith("-") and not is_switch(key)


def _take_own(key: str, value: str | None, own: _Own, problems: list[str]) -> bool:
    """Take an option of the command line itself; false for an option of a job."""
    if key == "output-format":
        own.form = value or ""
        if own.form not in (*_JSON, *_PLAIN):
            problems.append(f"--output-format={own.form}: of fio's forms there are normal and json")
    elif key == "output" and not value:
        problems.append("--output: a value is needed")
    elif key == "output":
        own.output = value or ""
    elif key == "parse-only":
        own.plan_only = True
    elif key == "readonly":
        own.read_only = True
    elif key in _REFUSED:
        problems.append(f"--{key} is refused: {_REFUSED[key]}")
    else:
        return key in _NO_EFFECT
    return True


COMMAND_OPTIONS = {
    **dict.fromkeys(("output-format", "output", "parse-only", "readonly", "section"), ""),
    **_NO_EFFECT,
    **_REFUSED,
}
"""Options of the command line itself, with what is to be said about them."""
