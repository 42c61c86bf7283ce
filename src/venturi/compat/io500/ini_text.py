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


class Kind(Enum):
    """What a value must be, in words for who wrote another one."""

    TEXT = "a text"
    WHOLE = "a whole number"
    COUNT = "a whole number of at least 0"
    FLAG = "TRUE or FALSE"
    REAL = "a number"


_FORMS = {
    Kind.TEXT: re.compile(r".*"),
    Kind.WHOLE: re.compile(r"-?[0-9]+"),
    Kind.COUNT: re.compile(r"[0-9]+"),
    Kind.FLAG: re.compile(r"(?i:true|false)|1|0"),
    Kind.REAL: re.compile(r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)(e[-+]?[0-9]+)?"),
}
_SECTION = re.compile(r"\s*\[\s*([\w-]+)\s*\]\s*(\s[#;].*)?$")
_KEY = re.compile(r"\s*([\w.-]+)\s*=\s*([^#;]*?)\s*(\s[#;].*)?$")
_EMPTY = re.compile(r"\s*([#;].*)?$")
_API = {"api": Kind.TEXT}
_RUN = {**_API, "run": Kind.FLAG, "norun": Kind.FLAG, "verbosity": Kind.WHOLE}
_OLD = {"hintsfilename": Kind.TEXT, "posix.odirect": Kind.FLAG}
_LAYOUT = {**_RUN, **_OLD, "collective": Kind.FLAG}
_SIZES = {"transfersize": Kind.TEXT, "blocksize": Kind.TEXT}
_NAMES = {**_RUN, **_OLD, "n": Kind.COUNT}
_FIND = {
    "external-script": Kind.TEXT,
    "external-mpi-args": Kind.TEXT,
    "external-extra-args": Kind.TEXT,
    "external-args": Kind.TEXT,
    "nproc": Kind.COUNT,
    "run": Kind.FLAG,
    "norun": Kind.FLAG,
    "pfind-queue-length": Kind.WHOLE,
    "pfind-steal-next": Kind.FLAG,
    "pfind-parallelize-single-dir-access-using-hashing": Kind.FLAG,
    "pfind-parallelize-single-dir-access-sequentially": Kind.FLAG,
}
KEYS_OF: dict[str, dict[str, Kind]] = {
    "global": {
        "datadir": Kind.TEXT,
        "timestamp-datadir": Kind.FLAG,
        "resultdir": Kind.TEXT,
        "timestamp-resultdir": Kind.FLAG,
        "api": Kind.TEXT,
        "drop-caches": Kind.FLAG,
        "drop-caches-cmd": Kind.TEXT,
        "io-buffers-on-gpu": Kind.FLAG,
        "verbosity": Kind.COUNT,
        "scc": Kind.FLAG,
        "datapackettype": Kind.TEXT,
    },
    "debug": {"stonewall-time": Kind.WHOLE, "pause-dir": Kind.TEXT},
    "ior-easy": {**_LAYOUT, **_SIZES, "fileperproc": Kind.FLAG, "uniquedir": Kind.FLAG},
    "ior-hard": {**_LAYOUT, "segmentcount": Kind.WHOLE},
    "mdtest-easy": _NAMES,
    "mdtest-hard": {**_NAMES, "files-per-dir": Kind.COUNT},
    "find": _FIND,
    "find-easy": _FIND,
    "find-hard": _FIND,
    "timestamp": {},
    "mdworkbench": {
        **_RUN,
        "waitingtime": Kind.REAL,
        "precreateperset": Kind.COUNT,
        "filesperproc": Kind.COUNT,
    },
}
"""By section, the keys of all generations."""
_PHASES = re.compile(
    r"(ior|mdtest)-(easy|hard)-(write|read|stat|delete)|mdworkbench-(create|bench|delete)"
)
RANDOM_SECTION = re.compile(r"ior-rnd(4k|1mb?)?(-easy)?(-(write|read))?")
"""Phases of random requests, of which every generation had other ones."""
_RANDOM = {**_LAYOUT, **_SIZES, "randomprefill": Kind.COUNT, "uniquedir": Kind.FLAG}


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


def _known(section: str, where: str) -> dict[str, Kind]:
    if section in KEYS_OF:
        return KEYS_OF[section]
    if RANDOM_SECTION.fullmatch(section):
        return {**_RANDOM, "segmentcount": Kind.WHOLE}
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
    if kind is Kind.FLAG:
        return "TRUE" if value.lower() in ("true", "1") else "FALSE"
    return value
