"""The official `config.ini` of all generations, as settings of the library's io500."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass, field
from pathlib import Path

from venturi.field.io500.settings import MOST_BYTES, Sections, read_settings
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
_TRUE, _FALSE = ("true", "1"), ("false", "0")


@dataclass
class Chosen:
    """What a file asks for."""

    assignments: dict[str, str] = field(default_factory=dict)
    """Parameters of the workload, as `--set` takes them."""
    notes: list[str] = field(default_factory=list)
    """What the profile does otherwise than the file says."""


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
    _tell(sections, chosen)
    return chosen


def _read(path: Path) -> Sections:
    if not path.is_file():
        raise UserError(f"{path}: there is no such file", "name the config.ini of io500")
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


def _tell(sections: Sections, chosen: Chosen) -> None:
    for name, keys in sections.items():
        if keys.get("run", "true").lower() in _FALSE or keys.get("norun", "").lower() in _TRUE:
            chosen.notes.append(f"the ini leaves [{name}] out, the profile runs all phases")
        direct = keys.get("posix.odirect", "").lower() in _TRUE
        if direct or "odirect" in keys.get("api", "").lower():
            chosen.notes.append(f"[{name}] asks for O_DIRECT: the profile goes through the cache")
        if name.startswith("find") and "external-script" in keys:
            chosen.notes.append(f"the ini has a script for [{name}], the profile walks by itself")
    shared = sections.get("global", {})
    if shared.get("drop-caches", "").lower() in _TRUE:
        chosen.notes.append("the ini drops caches between phases, the profile does not")
    for key in ("datadir", "resultdir"):
        if key in shared:
            chosen.notes.append(f"{key} of the ini is not used: -d and --store say where")
