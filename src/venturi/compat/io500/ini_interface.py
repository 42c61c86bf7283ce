"""The `API` of each section of an official ini: which interface, and which of its options."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass, field
from pathlib import Path

from venturi.compat.io500.ini_text import RANDOM_SECTION
from venturi.compat.io500.settings import Sections
from venturi.model.error import UserError

_NAMES = (
    "POSIX",
    "DUMMY",
    "MPIIO",
    "MMAP",
    "AIO",
    "HDF5",
    "NCMPI",
    "DFS",
    "DAOS",
    "RADOS",
    "CEPHFS",
    "S3-libs3",
    "S3-4c",
    "S3-curl",
    "S3",
    "LIBNFS",
    "IME",
    "PMDK",
    "HDFS",
    "GFARM",
    "CHFS",
    "FINCHFS",
)
_POSIX = re.compile(
    r"posix\.(odirect|rangelocks)|(posix\.)?lustre\.(stripecount|stripesize|startost|ignorelocks"
    r"|pool)|(posix\.)?beegfs\.(numtargets|chunksize)|(posix\.)?gpfs\.(hintaccess|releasetoken"
    r"|finegrainwritesharing|finegrainreadsharing|createsharing)|aio\.(max-pending|granularity)"
)
_UNALIGNED = {
    "ior-hard": "requests of 47008 B are no whole blocks",
    "mdtest-hard": "files of 3901 B are no whole blocks",
}
_KIND = re.compile(r"(ior-easy|ior-hard|mdtest-easy|mdtest-hard|mdworkbench)(-\w+)?")


@dataclass
class Bypass:
    """What the interfaces of an ini come to."""

    names: dict[str, str] = field(default_factory=dict)
    """The interface by section, in capitals, where a section has one."""
    notes: list[str] = field(default_factory=list)
    obstacles: list[str] = field(default_factory=list)
    direct: tuple[str, ...] = ()
    """Files of the workload that are opened with O_DIRECT."""

    def of(self, section: str) -> str:
        """The interface of a section."""
        kind = _KIND.fullmatch(section)
        whole = kind[1] if kind else section
        places = (section, whole, "global")
        return next((self.names[name] for name in places if name in self.names), "POSIX")


def interfaces(path: Path, sections: Sections) -> Bypass:
    """The interfaces of all sections; UserError for one that IOR does not have.

    O_DIRECT is honoured for ior-easy and the random phases, whose requests are whole blocks.
    """
    found = Bypass()
    direct: dict[str, list[str]] = {}
    for name, keys in sections.items():
        wants = keys.get("posix.odirect") == "TRUE"
        if "api" in keys:
            interface, *options = keys["api"].split()
            found.names[name] = _named(path, name, interface)
            wants |= _options(path, name, options, found)
        if wants:
            direct.setdefault(_file_of(name), []).append(name)
    others = {name: one for name, one in found.names.items() if one != "POSIX"}
    for interface in sorted(set(others.values())):
        used = ", ".join(f"[{name}]" for name, one in others.items() if one == interface)
        found.obstacles.append(f"{used} API = {interface}: the profile does its I/O by POSIX")
    _take_direct(direct, found)
    return found


def _named(path: Path, section: str, name: str) -> str:
    known = {one.upper(): one.upper() for one in _NAMES}
    if name.upper() not in known:
        near = difflib.get_close_matches(name.upper(), known, 1)
        hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(_NAMES)}"
        raise UserError(f"{path}: [{section}] API = {name}: IOR has no such interface", hint)
    return name.upper()


def _options(path: Path, section: str, options: list[str], found: Bypass) -> bool:
    """Whether O_DIRECT is among them; the others of POSIX have no effect here."""
    if found.names[section] != "POSIX":
        return False
    direct = False
    for text in options:
        name, _, value = text.removeprefix("--").partition("=")
        if not text.startswith("--") or not _POSIX.fullmatch(name.lower()):
            raise UserError(
                f"{path}: [{section}] API: POSIX has no option {text}", "see ior --help for them"
            )
        if name.lower() == "posix.odirect":
            direct = value.lower() not in ("0", "false")
        else:
            found.notes.append(
                f"[{section}] API: {text} is not used: set what the directory should have before "
                "the run"
            )
    return direct


def _file_of(section: str) -> str:
    """What a section is about: a file of the workload, or a phase's name."""
    if RANDOM_SECTION.fullmatch(section):
        if "easy" in section:
            return "easy"
        return "random_large" if "1m" in section else "random_small"
    kind = _KIND.fullmatch(section)
    return {"ior-easy": "easy"}.get(kind[1], kind[1]) if kind else section


def _take_direct(direct: dict[str, list[str]], found: Bypass) -> None:
    files = [name for name in ("easy", "random_small", "random_large") if name in direct]
    for name, reason in _UNALIGNED.items():
        sections = direct.get(name, []) + direct.get("global", [])
        if sections:
            found.obstacles.append(
                f"[{sections[0]}] asks for O_DIRECT in {name}: {reason}, which it needs"
            )
    if "global" in direct:
        files = ["easy", "random_small", "random_large"]
    elif "easy" in files and "ior-easy" not in direct["easy"]:
        found.notes.append(
            f"[{direct['easy'][0]}] asks for O_DIRECT: a file is opened alike in all phases, so "
            "all of ior-easy have it"
        )
    if "mdtest-easy" in direct:
        found.notes.append("[mdtest-easy] O_DIRECT is not used: its files are empty")
    if "mdworkbench" in direct:
        found.obstacles.append("[mdworkbench] asks for O_DIRECT: objects are no whole blocks")
    found.direct = tuple(files)
