"""What lies beside a summary and can confirm or contradict it: files of the program, its logs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from venturi.compat.io500.description import read_information
from venturi.compat.io500.settings import MOST_BYTES, Sections, read_settings, text_of

_COUNTS = (
    re.compile(r"was launched with (\d+) total task\(s\) on (\d+) node"),
    re.compile(r"^nodes\s*:\s*(?P<nodes>\d+)\s*\ntasks\s*:\s*(?P<tasks>\d+)\s*$", re.MULTILINE),
)
_MDTEST_ROWS = {
    "write": "File creation",
    "stat": "File stat",
    "read": "File read",
    "delete": "File removal",
}
_FIND_RATE = re.compile(r"^runtime:\s*[\d.]+\s+rate:\s*([\d.]+)")
_INVALID = re.compile(r"^\s*;\s*(?:ERROR\s+)?INVALID\b[:\s]*(.*)$")
_MIB_PER_GIB = 1024


@dataclass(frozen=True)
class Log:
    """What the log of one phase says."""

    name: str
    """Of the file."""
    phase: str
    tasks: int | None
    nodes: int | None
    rate: float | None
    """In GiB/s or kIOPS."""


@dataclass(frozen=True)
class Evidence:
    """All that stands beside one summary."""

    result: Sections
    """`result.txt`; empty without one."""
    invalid_remarks: tuple[str, ...]
    """Why `result.txt` calls something invalid, in its remarks."""
    config: Sections
    """`config.ini`; empty without one."""
    exact_config: Sections
    """The same with the blanks behind values, which count in its hash."""
    config_has_remarks: bool
    """The program itself writes none: such a file is not the one that it wrote."""
    chosen: Sections
    """`config-orig.ini`: what the user wrote."""
    logs: tuple[Log, ...]
    information: dict[str, str]
    """`system-information.txt`, without the prefix of its names."""

    @property
    def weight(self) -> int:
        """How much there is; of copies of one summary, the one with most is kept."""
        files = (self.result, self.config, self.chosen, self.information)
        return len(self.logs) + sum(4 for one in files if one)


def gather(folder: Path, phases: list[str]) -> Evidence:
    """Read what stands beside the summary in a folder; files that are no text count as absent."""
    result_text = text_of(folder / "result.txt")
    config_text = text_of(folder / "config.ini")
    return Evidence(
        result=read_settings(folder / "result.txt"),
        invalid_remarks=tuple(_invalid_remarks(result_text)),
        config=read_settings(folder / "config.ini"),
        exact_config=read_settings(folder / "config.ini", exact=True),
        config_has_remarks=bool(re.search(r"^\s*[#;]", config_text, re.MULTILINE)),
        chosen=read_settings(folder / "config-orig.ini"),
        logs=tuple(_logs(folder, phases)),
        information=_information(folder),
    )


def _invalid_remarks(text: str) -> Iterator[str]:
    for line in text.splitlines():
        if found := _INVALID.match(line):
            yield found[1].strip()


def _logs(folder: Path, phases: list[str]) -> Iterator[Log]:
    for phase in phases:
        for name in (f"{phase}.txt", f"{phase.replace('-', '_')}.txt"):
            if text := text_of(folder / name):
                tasks, nodes = _size(text)
                yield Log(name, phase, tasks, nodes, _rate(phase, text))
                break
        if phase.startswith("find") and (text := text_of(folder / f"{phase}.csv")):
            found = _FIND_RATE.match(text)
            rate = float(found[1]) / 1000 if found else None
            yield Log(f"{phase}.csv", phase, None, None, rate)


def _size(text: str) -> tuple[int | None, int | None]:
    """Processes and nodes, in the words of mdtest or of IOR."""
    if found := _COUNTS[0].search(text):
        return int(found[1]) or None, int(found[2]) or None
    if found := _COUNTS[1].search(text):
        return int(found["tasks"]) or None, int(found["nodes"]) or None
    return None, None


def _rate(phase: str, text: str) -> float | None:
    """The rate that IOR's or mdtest's table gives; None where there is none."""
    kind = phase.rsplit("-", 1)[-1]
    if phase.startswith("ior-"):
        found = re.findall(rf"^{kind}\s+(\d[\d.]*)\s", text, re.MULTILINE)
        return max(map(float, found)) / _MIB_PER_GIB if found else None
    if phase.startswith("mdtest-") and kind in _MDTEST_ROWS:
        row = re.search(rf"^\s*{_MDTEST_ROWS[kind]}\s*:?\s+(\d[\d.]*)\s", text, re.MULTILINE)
        return float(row[1]) / 1000 if row else None
    return None


def _information(folder: Path) -> dict[str, str]:
    """Of the folder, or of one of two above it where a submission has it there."""
    for place in (folder, folder.parent, folder.parent.parent):
        path = place / "system-information.txt"
        if path.is_file() and path.stat().st_size <= MOST_BYTES:
            return read_information(text_of(path))
    return {}
