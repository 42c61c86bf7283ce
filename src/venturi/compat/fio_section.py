"""Job files and command lines of fio as sections: which options each job has, and from where."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from venturi.model.error import UserError

TOOL = "fio"
GLOBAL = "global"
_VARIABLE = re.compile(r"\$\{(\w+)\}")
_MOST_INCLUDES = 16
_MOST_LINE = 8192


@dataclass(frozen=True)
class FioSetting:
    """An option as it stands somewhere."""

    key: str
    value: str | None
    """None: the option stands without `=`."""
    where: str
    """`job.fio:7`, or `--bs` of the command line."""


@dataclass(frozen=True)
class FioSection:
    """A job: its name and its options, those of the global sections before it first."""

    name: str
    settings: tuple[FioSetting, ...]
    where: str
    begins_file: bool = False
    """It is the first job of a further file: those of the files before it end first."""


@dataclass
class SectionReader:
    """Reads files and words into sections; what is global holds for all jobs that follow."""

    wanted: Sequence[str] = ()
    """Names of the only sections to be run; empty: all of them."""
    sections: list[FioSection] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    _defaults: list[FioSetting] = field(default_factory=list)
    _name: str = ""
    _where: str = ""
    _own: list[FioSetting] = field(default_factory=list)
    _files: int = 0
    _begins_file: bool = False

    def word(self, key: str, value: str | None) -> None:
        """Take an option of the command line; `name` begins a job."""
        setting = FioSetting(key, value, f"--{key}")
        if key == "name":
            self.begin(value or "", setting.where)
        elif self._name:
            self._add(setting)
        else:
            self._defaults.append(setting)

    def begin(self, name: str, where: str) -> None:
        """Begin a section; the one before is complete."""
        self.end()
        if not name:
            self.problems.append(f"{where}: a job needs a name")
        self._name, self._where = name or "job", where

    def end(self) -> None:
        """Take the section that is being read as complete."""
        is_job = self._name not in ("", GLOBAL)
        if is_job and (not self.wanted or self._name in self.wanted):
            settings = (*self._defaults, *self._own)
            section = FioSection(self._name, settings, self._where, self._begins_file)
            self.sections.append(section)
            self._begins_file = False
        self._name, self._own = "", []

    def file(self, path: Path) -> None:
        """Take a job file. Raises UserError if it cannot be read."""
        self.end()
        self._begins_file = self._files > 0
        self._files += 1
        self._defaults = []  # as in fio, each file begins with fio's own defaults
        self._lines(path, depth=0)
        self.end()

    def _lines(self, path: Path, depth: int) -> None:
        for number, line in _logical_lines(path):
            where = f"{path}:{number}"
            if len(line) > _MOST_LINE:
                self.problems.append(f"{where}: a line has {_MOST_LINE} characters at most")
            elif line.startswith("["):
                self._heading(line, where, depth)
            elif re.fullmatch(r"include\s.*", line):
                self._include(path.parent / line.split(None, 1)[1], where, depth)
            else:
                self._option(line, where)

    def _heading(self, line: str, where: str, depth: int) -> None:
        if not line.endswith("]"):
            self.problems.append(f"{where}: '{line}' is not closed by ']'")
        elif depth and self._name:
            self.problems.append(f"{where}: a file that a section includes has no sections")
        else:
            self.begin(line[1:-1].strip(), where)

    def _include(self, path: Path, where: str, depth: int) -> None:
        if depth >= _MOST_INCLUDES:
            self.problems.append(f"{where}: files include each other more than {depth} deep")
            return
        try:
            self._lines(path, depth + 1)
        except UserError as error:
            self.problems.append(f"{where}: {error.message}")

    def _option(self, line: str, where: str) -> None:
        key, sign, value = (part.strip() for part in line.partition("="))
        if not self._name:
            self.problems.append(f"{where}: '{key}' stands before the first [section]")
            return
        setting = FioSetting(key, self._filled(value, where) if sign else None, where)
        self._add(setting)

    def _add(self, setting: FioSetting) -> None:
        (self._defaults if self._name == GLOBAL else self._own).append(setting)

    def _filled(self, value: str, where: str) -> str:
        """The value with the environment's variables and fio's own words in their places."""
        for name in _VARIABLE.findall(value):
            if name not in os.environ:
                self.problems.append(f"{where}: ${{{name}}} is not set in the environment")
        filled = _VARIABLE.sub(lambda found: os.environ.get(found[1], ""), value)
        for word, number in _machine_words().items():
            filled = filled.replace(word, str(number))
        return filled


def _machine_words() -> dict[str, int]:
    page = os.sysconf("SC_PAGE_SIZE")
    return {
        "$pagesize": page,
        "$mb_memory": page * os.sysconf("SC_PHYS_PAGES") >> 20,
        "$ncpus": os.cpu_count() or 1,
    }


def _logical_lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines that say something, with their numbers, without comments."""
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text"
        raise UserError(f"{TOOL}: the job file {path} cannot be read: {reason}") from None
    if "\0" in text:
        raise UserError(f"{TOOL}: the job file {path} cannot be read: it is no text")
    for number, raw in enumerate(text.split("\n"), start=1):
        line = re.split(r"[;#]", raw, maxsplit=1)[0].strip()
        if line:
            yield number, line
