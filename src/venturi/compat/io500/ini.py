"""The official `config.ini` of all generations, as settings of the library's io500."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from venturi.compat.io500.ini_interface import Bypass, interfaces
from venturi.compat.io500.ini_text import RANDOM_SECTION, read_ini_text
from venturi.compat.io500.settings import Sections
from venturi.model.error import UserError

_UNITS: dict[str, int] = {
    "": 1,
    **{letter: 1 << (10 * (power + 1)) for power, letter in enumerate("kmgtp")},
}
_SIZE = re.compile(r"(\d+)([kmgtp]?)(i?b)?", re.IGNORECASE)
DROPPED = "caches of data are dropped"
_NUMBERS = (
    ("debug", "stonewall-time", "stonewall", " s"),
    ("ior-easy", "transfersize", "easy_transfer", " B"),
    ("ior-easy", "blocksize", "easy_block", " B"),
    ("ior-hard", "segmentcount", "hard_segments", ""),
    ("mdtest-easy", "n", "easy_items", ""),
    ("mdtest-hard", "n", "hard_items", ""),
    ("mdworkbench", "precreateperset", "work_made", ""),
    ("mdworkbench", "filesperproc", "work_objects", ""),
)
"""Section, key, parameter of the workload and its unit."""
_UNUSED = {
    ("global", "timestamp-datadir"): ("TRUE", "each run has a directory of its own"),
    ("global", "timestamp-resultdir"): ("TRUE", "results go into the store"),
    ("global", "datapackettype"): ("timestamp", "the profile writes data of its own and checks it"),
    ("debug", "pause-dir"): ("", "the profile does not pause between phases"),
    ("mdworkbench", "waitingtime"): ("0.0", "the profile does not wait between its operations"),
}
"""Keys without an effect here, with the default that needs no word, and why."""


@dataclass
class Chosen:
    """What a file asks for."""

    assignments: dict[str, str] = field(default_factory=dict)
    """Parameters of the workload, as `--set` takes them."""
    notes: list[str] = field(default_factory=list)
    """What the profile does otherwise than the file says."""
    obstacles: list[str] = field(default_factory=list)
    """What the profile cannot do, one sentence each: it can be planned, but not run."""
    drop_caches: bool = False
    """Before phases that read data."""
    direct: tuple[str, ...] = ()
    """Files of the workload that are opened with O_DIRECT."""
    one_file: bool = False
    """The ranks of ior-easy share one file, a block of each behind that of the one before."""
    unique_directories: bool = False
    """Each file of ior-easy is in a directory of its own."""

    @property
    def settled(self) -> tuple[str, ...]:
        """The assignments as `--set` takes them."""
        return tuple(f"{name}={value}" for name, value in self.assignments.items())


def read_ini(path: Path) -> Chosen:
    """The settings in a file.

    UserError for a file that the official program would refuse, and for numbers without a meaning.
    What is right but cannot be done here is an obstacle; what has no effect here is a note.
    """
    sections = read_ini_text(path)
    chosen = Chosen()
    _take_numbers(path, sections, chosen)
    found = interfaces(path, sections)
    chosen.obstacles += found.obstacles
    chosen.notes += found.notes
    chosen.direct = found.direct
    _take_flags(sections, chosen, found)
    _tell(sections, chosen)
    _tell_find(sections, chosen)
    return chosen


def _take_numbers(path: Path, sections: Sections, chosen: Chosen) -> None:
    for section, key, parameter, unit in _NUMBERS:
        text = sections.get(section, {}).get(key)
        if text is not None:
            chosen.assignments[parameter] = f"{_number(path, section, key, text)}{unit}"
    for section, keys in sections.items():
        if RANDOM_SECTION.fullmatch(section) and "blocksize" in keys:
            size = _number(path, section, "blocksize", keys["blocksize"])
            chosen.assignments["random_block"] = f"{size} B"
    if sections.get("global", {}).get("scc") == "TRUE":
        chosen.assignments["students"] = "1"


def _number(path: Path, section: str, key: str, text: str) -> int:
    found = _SIZE.fullmatch(text)
    if found is None or int(found[1]) == 0:
        raise UserError(f"{path}: [{section}] {key} = {text}: a number above 0 is needed")
    return int(found[1]) * _UNITS[found[2].lower()]


def _take_flags(sections: Sections, chosen: Chosen, found: Bypass) -> None:
    easy, hard = sections.get("ior-easy", {}), sections.get("mdtest-hard", {})
    chosen.one_file = easy.get("fileperproc") == "FALSE"
    chosen.unique_directories = easy.get("uniquedir") == "TRUE"
    if chosen.one_file and chosen.unique_directories:
        chosen.notes.append("uniqueDir has no effect where all ranks of [ior-easy] share one file")
        chosen.unique_directories = False
    if "files-per-dir" in hard:
        chosen.obstacles.append(
            "[mdtest-hard] files-per-dir: the profile has one directory, and io500 itself calls a "
            "run with this key invalid"
        )
    for name, keys in sections.items():
        if keys.get("collective") == "TRUE" and found.of(name) == "POSIX":
            chosen.obstacles.append(f"[{name}] collective: calls by POSIX are never collective")
    shared = sections.get("global", {})
    if shared.get("io-buffers-on-gpu") == "TRUE":
        chosen.obstacles.append("[global] io-buffers-on-gpu: buffers in a GPU are not built here")
    if shared.get("drop-caches") == "TRUE":
        chosen.drop_caches = True
        chosen.notes.append(
            f"{DROPPED} before each phase that reads, without drop-caches-cmd: "
            "what the system knows of names stays in memory"
        )


def _tell(sections: Sections, chosen: Chosen) -> None:
    loud = [f"[{n}]" for n, keys in sections.items() if keys.get("verbosity", "1") != "1"]
    if loud:
        chosen.notes.append(f"verbosity of {', '.join(loud)} is not used: -q and -v say how much")
    for name, keys in sections.items():
        if keys.get("run") == "FALSE" or keys.get("norun") == "TRUE":
            chosen.notes.append(f"the ini leaves [{name}] out, the profile runs all phases")
        if "hintsfilename" in keys:
            chosen.notes.append(f"[{name}] hintsFileName is not used: POSIX takes no hints")
        if RANDOM_SECTION.fullmatch(name):
            _tell_random(name, keys, chosen)
    for (section, key), (default, why) in _UNUSED.items():
        value = sections.get(section, {}).get(key, default)
        if value != default and not (value.strip("0.") == default.strip("0.") == ""):
            chosen.notes.append(f"[{section}] {key} = {value} is not used: {why}")
    shared = sections.get("global", {})
    chosen.notes += [
        f"{key} of the ini is not used: -d and --store say where"
        for key in ("datadir", "resultdir")
        if key in shared
    ]


def _tell_random(name: str, keys: dict[str, str], chosen: Chosen) -> None:
    if keys.get("randomprefill", "0").strip("0"):
        chosen.notes.append(f"[{name}] randomPrefill is not used: nothing is written before")
    for key in ("transfersize", "segmentcount", "uniquedir"):
        if key in keys:
            chosen.notes.append(
                f"[{name}] {key} is not used: the profile has the official requests"
            )


def _tell_find(sections: Sections, chosen: Chosen) -> None:
    for name in ("find", "find-easy", "find-hard"):
        keys = sections.get(name, {})
        if "external-script" in keys:
            chosen.notes.append(f"the ini has a script for [{name}], the profile walks by itself")
        if "nproc" in keys:
            chosen.notes.append(f"[{name}] nproc = {keys['nproc']} is not used: all ranks walk")
        is_other = keys.get("pfind-queue-length", "10000") != "10000"
        flags = [key for key, value in keys.items() if key.startswith("pfind") and value == "TRUE"]
        if is_other or flags:
            chosen.notes.append(
                f"[{name}] options of pfind are not used: the profile walks by itself"
            )
        if "external-script" not in keys and any(key.startswith("external") for key in keys):
            chosen.notes.append(f"[{name}] arguments without a script are not used")
