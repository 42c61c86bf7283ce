"""The text of an official ini as its own parser reads it: sections, keys, typed values.

Facts of the parser: names are case-insensitive, a remark begins with a blank and `#` or `;`, an
empty value is not set, a section may come again, whole numbers are digits alone, booleans are TRUE,
FALSE, 1 and 0.
"""

from __future__ import annotations

import difflib
import re
from enum import Enum
from pathlib import Path

from venturi.compat.io500.settings import MOST_BYTES, Sections, text_of
from venturi.model.error import UserError


class IniKind(Enum):
    """What a value must be, in words for who wrote another one."""

    TEXT = "a text"
    WHOLE = "a whole number"
    COUNT = "a whole number of at least 0"
    FLAG = "TRUE or FALSE"
    REAL = "a number"


_FORMS = {
    IniKind.TEXT: re.compile(r".*"),
    IniKind.WHOLE: re.compile(r"-?[0-9]+"),
    IniKind.COUNT: re.compile(r"[0-9]+"),
    IniKind.FLAG: re.compile(r"(?i:true|false)|1|0"),
    IniKind.REAL: re.compile(r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)(e[-+]?[0-9]+)?"),
}
_SECTION = re.compile(r"\s*\[\s*([\w-]+)\s*\]\s*(\s[#;].*)?$")
_KEY = re.compile(r"\s*([\w.-]+)\s*=\s*([^#;]*?)\s*(\s[#;].*)?$")
_EMPTY = re.compile(r"\s*([#;].*)?$")
_API = {"api": IniKind.TEXT}
_RUN = {**_API, "run": IniKind.FLAG, "norun": IniKind.FLAG, "verbosity": IniKind.WHOLE}
_OLD = {"hintsfilename": IniKind.TEXT, "posix.odirect": IniKind.FLAG}
_LAYOUT = {**_RUN, **_OLD, "collective": IniKind.FLAG}
_SIZES = {"transfersize": IniKind.TEXT, "blocksize": IniKind.TEXT}
_NAMES = {**_RUN, **_OLD, "n": IniKind.COUNT}
_FIND = {
    "external-script": IniKind.TEXT,
    "external-mpi-args": IniKind.TEXT,
    "external-extra-args": IniKind.TEXT,
    "external-args": IniKind.TEXT,
    "nproc": IniKind.COUNT,
    "run": IniKind.FLAG,
    "norun": IniKind.FLAG,
    "pfind-queue-length": IniKind.WHOLE,
    "pfind-steal-next": IniKind.FLAG,
    "pfind-parallelize-single-dir-access-using-hashing": IniKind.FLAG,
    "pfind-parallelize-single-dir-access-sequentially": IniKind.FLAG,
}
KEYS_OF: dict[str, dict[str, IniKind]] = {
    "global": {
        "datadir": IniKind.TEXT,
        "timestamp-datadir": IniKind.FLAG,
        "resultdir": IniKind.TEXT,
        "timestamp-resultdir": IniKind.FLAG,
        "api": IniKind.TEXT,
        "drop-caches": IniKind.FLAG,
        "drop-caches-cmd": IniKind.TEXT,
        "io-buffers-on-gpu": IniKind.FLAG,
        "verbosity": IniKind.COUNT,
        "scc": IniKind.FLAG,
        "datapackettype": IniKind.TEXT,
    },
    "debug": {"stonewall-time": IniKind.WHOLE, "pause-dir": IniKind.TEXT},
    "ior-easy": {**_LAYOUT, **_SIZES, "fileperproc": IniKind.FLAG, "uniquedir": IniKind.FLAG},
    "ior-hard": {**_LAYOUT, "segmentcount": IniKind.WHOLE},
    "mdtest-easy": _NAMES,
    "mdtest-hard": {**_NAMES, "files-per-dir": IniKind.COUNT},
    "find": _FIND,
    "find-easy": _FIND,
    "find-hard": _FIND,
    "timestamp": {},
    "mdworkbench": {
        **_RUN,
        "waitingtime": IniKind.REAL,
        "precreateperset": IniKind.COUNT,
        "filesperproc": IniKind.COUNT,
    },
}
"""By section, the keys of all generations."""
_PHASES = re.compile(
    r"(ior|mdtest)-(easy|hard)-(write|read|stat|delete)|mdworkbench-(create|bench|delete)"
)
RANDOM_SECTION = re.compile(r"ior-rnd(4k|1mb?)?(-easy)?(-(write|read))?")
"""Phases of random requests, of which every generation had other ones."""
_RANDOM = {**_LAYOUT, **_SIZES, "randomprefill": IniKind.COUNT, "uniquedir": IniKind.FLAG}


def read_ini_text(path: Path) -> Sections:
    """The sections of an ini with the values that are set, all names in lower case.

    UserError with the line for what the official parser refuses: an unknown section or key, a
    value of another kind, content that is none of it. Keys of all generations are known.
    """
    sections: Sections = {}
    section = ""
    for number, line in enumerate(_whole_text(path).splitlines(), 1):
        where = f"{path}, line {number}"
        if found := _SECTION.match(line):
            section = found[1].lower()
            _known(section, where)
            sections.setdefault(section, {})
        elif found := _KEY.match(line):
            key, value = found[1].lower(), found[2]
            if value:
                sections.setdefault(section, {})[key] = _checked(section, key, value, where)
        elif not _EMPTY.match(line):
            raise UserError(f"{where}: neither a section nor a key with a value: {line[:60]!r}")
    if not any(sections.values()):
        raise UserError(f"{path}: this is no config.ini of io500: it has no key in any section")
    return sections


def _whole_text(path: Path) -> str:
    if not path.is_file():
        why = "this is no regular file" if path.exists() else "there is no such file"
        raise UserError(f"{path}: {why}", "name the config.ini of io500")
    if path.stat().st_size > MOST_BYTES:
        raise UserError(f"{path}: over {MOST_BYTES >> 20} MiB: no config.ini is so large")
    text = text_of(path)
    if not text or "\0" in text:
        raise UserError(f"{path}: this is no config.ini of io500: it holds no text")
    return text


def _known(section: str, where: str) -> dict[str, IniKind]:
    if section in KEYS_OF:
        return KEYS_OF[section]
    if RANDOM_SECTION.fullmatch(section):
        return {**_RANDOM, "segmentcount": IniKind.WHOLE}
    if _PHASES.fullmatch(section):
        return _LAYOUT
    near = difflib.get_close_matches(section, KEYS_OF, 1)
    hint = f"did you mean [{near[0]}]?" if near else f"sections: {', '.join(KEYS_OF)}"
    raise UserError(f"{where}: no io500 has a section [{section}]", hint)


def _checked(section: str, key: str, value: str, where: str) -> str:
    if not section:
        raise UserError(f"{where}: '{key}' stands before the first [section]")
    known = _known(section, where)
    if key not in known:
        near = difflib.get_close_matches(key, known, 1)
        hint = f"did you mean {near[0]}?" if near else f"keys: {', '.join(sorted(known)) or 'none'}"
        raise UserError(f"{where}: no io500 has a key '{key}' in [{section}]", hint)
    kind = known[key]
    if not _FORMS[kind].fullmatch(value):
        raise UserError(
            f"{where}: [{section}] {key} = {value}: {kind.value} is needed",
            "io500 itself refuses it, too",
        )
    if kind is IniKind.FLAG:
        return "TRUE" if value.lower() in ("true", "1") else "FALSE"
    return value
