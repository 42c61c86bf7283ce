"""The official `config.ini` of all generations, as settings of the library's io500."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass, field
from pathlib import Path

from venturi.compat.io500.settings import MOST_BYTES, Sections, read_settings
from venturi.model.error import UserError

_NONE = frozenset[str]()
_RUN = frozenset({"api", "run", "norun", "verbosity"})
_LAYOUT = _RUN | {"hintsfilename", "posix.odirect", "collective"}
_RANDOM = _LAYOUT | {"blocksize", "transfersize", "segmentcount", "randomprefill", "uniquedir"}
_FIND = frozenset(
    {
        "external-script", "external-mpi-args", "external-extra-args", "nproc", "run", "norun",
        "pfind-queue-length", "pfind-steal-next",
        "pfind-parallelize-single-dir-access-using-hashing",
    }
)  # fmt: skip
_KEYS: dict[str, frozenset[str]] = {
    "global": frozenset(
        {
            "datadir", "timestamp-datadir", "resultdir", "timestamp-resultdir", "api",
            "drop-caches", "drop-caches-cmd", "io-buffers-on-gpu", "verbosity", "scc",
            "datapackettype",
        }
    ),
    "debug": frozenset({"stonewall-time", "pause-dir"}),
    "ior-easy": _LAYOUT | {"transfersize", "blocksize", "fileperproc", "uniquedir"},
    "ior-hard": _LAYOUT | {"segmentcount"},
    "mdtest-easy": _RUN | {"n", "posix.odirect"},
    "mdtest-hard": _RUN | {"n", "posix.odirect", "files-per-dir"},
    "find": _FIND,
    "find-easy": _FIND,
    "find-hard": _FIND,
    "timestamp": _RUN,
    "mdworkbench": _RUN | {"waitingtime", "precreateperset", "filesperproc"},
}  # fmt: skip
_PHASES = re.compile(
    r"(ior|mdtest)-(easy|hard)-(write|read|stat|delete)|mdworkbench-(create|bench|delete)"
)
_RANDOM_SECTION = re.compile(r"ior-rnd(4k|1mb?)(-easy)?(-(write|read))?")
_SIZES: dict[str, int] = {
    "": 1,
    **{letter: 1 << (10 * (power + 1)) for power, letter in enumerate("kmgtp")},
}
DROPPED = "caches of data are dropped"
_TRUE, _FALSE = ("true", "1"), ("false", "0")


@dataclass
class Chosen:
    """What a file asks for."""

    assignments: dict[str, str] = field(default_factory=dict)
    """Parameters of the workload, as `--set` takes them."""
    notes: list[str] = field(default_factory=list)
    """What the profile does otherwise than the file says."""
    drop_caches: bool = False
    """Before phases that read data."""
    direct: tuple[str, ...] = ()
    """Files of the workload that are opened with O_DIRECT."""

    @property
    def settled(self) -> tuple[str, ...]:
        """The assignments as `--set` takes them."""
        return tuple(f"{name}={value}" for name, value in self.assignments.items())


def read_ini(path: Path) -> Chosen:
    """The settings in a file.

    UserError for a file that is none, for a section or key that no generation of io500 knows, for
    a value that cannot be, and for what the profile cannot do.
    """
    sections = {name.lower(): _lower(keys) for name, keys in _read(path).items()}
    for name, keys in sections.items():
        _check(path, name, keys)
    chosen = Chosen()
    _numbers(path, sections, chosen)
    _refuse(path, sections)
    _bypass(path, sections, chosen)
    _tell(sections, chosen)
    return chosen


def _read(path: Path) -> Sections:
    if not path.is_file():
        why = "this is no regular file" if path.exists() else "there is no such file"
        raise UserError(f"{path}: {why}", "name the config.ini of io500")
    if path.stat().st_size > MOST_BYTES:
        raise UserError(f"{path}: over {MOST_BYTES >> 20} MiB: no config.ini is so large")
    sections = read_settings(path)
    if not sections:
        raise UserError(f"{path}: this is no config.ini of io500: it has no key in any section")
    return sections


def _lower(keys: dict[str, str]) -> dict[str, str]:
    # An empty value means that the key is not set.
    return {key.lower(): text for key, value in keys.items() if (text := _plain(value))}


def _plain(value: str) -> str:
    return re.split(r"\s[#;]", value, maxsplit=1)[0].strip()


def _known(section: str) -> frozenset[str]:
    if section in _KEYS:
        return _KEYS[section]
    if _RANDOM_SECTION.fullmatch(section):
        return _RANDOM
    return _LAYOUT if _PHASES.fullmatch(section) else _NONE


def _check(path: Path, section: str, keys: dict[str, str]) -> None:
    known = _known(section)
    if not section:
        first = next(iter(keys), "")
        raise UserError(f"{path}: '{first}' stands before the first [section]")
    if not known:
        near = difflib.get_close_matches(section, _KEYS, 1)
        hint = f"did you mean [{near[0]}]?" if near else f"sections: {', '.join(_KEYS)}"
        raise UserError(f"{path}: no io500 has a section [{section}]", hint)
    for key in keys:
        if key not in known:
            near = difflib.get_close_matches(key, known, 1)
            hint = f"did you mean {near[0]}?" if near else f"keys: {', '.join(sorted(known))}"
            raise UserError(f"{path}: no io500 has a key '{key}' in [{section}]", hint)


def _numbers(path: Path, sections: Sections, chosen: Chosen) -> None:
    wanted = (
        ("debug", "stonewall-time", "stonewall", " s"),
        ("ior-easy", "transfersize", "easy_transfer", " B"),
        ("ior-easy", "blocksize", "easy_block", " B"),
        ("ior-hard", "segmentcount", "hard_segments", ""),
        ("mdtest-easy", "n", "easy_items", ""),
        ("mdtest-hard", "n", "hard_items", ""),
        ("mdworkbench", "precreateperset", "work_made", ""),
        ("mdworkbench", "filesperproc", "work_objects", ""),
    )
    for section, key, parameter, unit in wanted:
        text = sections.get(section, {}).get(key)
        if text is not None:
            chosen.assignments[parameter] = f"{_number(path, section, key, text)}{unit}"
    if sections.get("global", {}).get("scc", "").lower() in _TRUE:
        chosen.assignments["least"] = "30 s"


def _number(path: Path, section: str, key: str, text: str) -> int:
    found = re.fullmatch(r"(\d+)([kmgtp]?).*", text.lower())
    if found is None or int(found[1]) == 0:
        raise UserError(f"{path}: [{section}] {key} = {text}: a number above 0 is needed")
    unit: int = _SIZES[found[2]]
    return int(found[1]) * unit


def _refuse(path: Path, sections: Sections) -> None:
    """What would make other operations than ours."""
    easy, hard = sections.get("ior-easy", {}), sections.get("mdtest-hard", {})
    if easy.get("fileperproc", "true").lower() in _FALSE:
        raise UserError(f"{path}: [ior-easy] filePerProc = FALSE is another benchmark")
    if "files-per-dir" in hard:
        raise UserError(f"{path}: [mdtest-hard] files-per-dir is another benchmark")
    for name, keys in sections.items():
        interface = keys.get("api", "posix").split()[0].lower()
        if interface != "posix":
            raise UserError(
                f"{path}: [{name}] api = {keys['api']}: the profile does its I/O by POSIX",
                "leave the api away, or run the official program for this",
            )
        if keys.get("collective", "false").lower() in _TRUE:
            raise UserError(f"{path}: [{name}] collective: calls by POSIX are never collective")


def _bypass(path: Path, sections: Sections, chosen: Chosen) -> None:
    """What keeps caches out: honoured, or refused by name."""
    for name, keys in sections.items():
        direct = keys.get("posix.odirect", "").lower() in _TRUE
        if not direct and "odirect" not in keys.get("api", "").lower():
            continue
        if name != "ior-easy":
            raise UserError(
                f"{path}: [{name}] asks for O_DIRECT, which the profile can for [ior-easy] alone",
                "requests of 47008 B and files of 3901 B are no whole blocks, and a file is opened "
                "alike in all phases: leave the key away here",
            )
        chosen.direct = ("easy",)
    if sections.get("global", {}).get("drop-caches", "").lower() in _TRUE:
        chosen.drop_caches = True
        chosen.notes.append(
            f"{DROPPED} before each phase that reads, without drop-caches-cmd: "
            "what the system knows of names stays in memory"
        )


def _tell(sections: Sections, chosen: Chosen) -> None:
    for name, keys in sections.items():
        if keys.get("run", "true").lower() in _FALSE or keys.get("norun", "").lower() in _TRUE:
            chosen.notes.append(f"the ini leaves [{name}] out, the profile runs all phases")
        if name.startswith("find") and "external-script" in keys:
            chosen.notes.append(f"the ini has a script for [{name}], the profile walks by itself")
    shared = sections.get("global", {})
    for key in ("datadir", "resultdir"):
        if key in shared:
            chosen.notes.append(f"{key} of the ini is not used: -d and --store say where")
