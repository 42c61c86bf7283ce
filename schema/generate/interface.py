"""Writes `src/venturi/model/interface.py` from what the engine says of its interfaces."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sysconfig
from pathlib import Path
from typing import Any

from venturi.model.interface_entry import (
    Addressing,
    DataPath,
    Namespace,
    Ownership,
    Split,
    StackLevel,
)

MODULE = Path("src/venturi/model/interface.py")
ENGINE = "venturi-engine"
COLUMNS = 100
_STEP = "    "

HEAD = '''\
"""Storage interfaces and their entries: generated from `venturi-engine describe` by `make gen`.

Do not edit: each entry is written in C++, beside its backend in engine/backend.
"""

from __future__ import annotations

from enum import StrEnum

from venturi.model.interface_entry import (
    Addressing,
    CallNames,
    DataPath,
    FormatLimits,
    InterfaceEntry,
    InterfaceOption,
    Namespace,
    OptionWord,
    OtherNames,
    Ownership,
    Split,
    StackLevel,
)


class Interface(StrEnum):
    """How storage is reached. What is built is said by `engine describe`."""

'''
PROPERTY = '''
    @property
    def entry(self) -> InterfaceEntry:
        """What it is, needs and can do."""
        return ENTRIES[self]

    @property
    def below(self) -> Interface:
        """The interface by which ranks reach a file that they share; itself where none is below."""
        return Interface(self.entry.shared_through or self.value)


'''
DEFAULT = '''\
DEFAULT_INTERFACE = Interface.{name}
"""How files are reached unless a workload says otherwise, and what others are compared with."""

'''
ENTRIES = """\
ENTRIES: dict[Interface, InterfaceEntry] = {
"""

_WORDS = {
    "level": StackLevel,
    "data_path": DataPath,
    "name_space": Namespace,
    "ownership": Ownership,
    "addressing": Addressing,
    "splits": Split,
}
"""Keys whose value is one of a closed set of words."""
_PARTS = {"format": "FormatLimits", "calls": "CallNames", "elsewhere": "OtherNames"}
_OPTION_WORDS = ("chunks_with", "narrow_with", "wide_with")
_TRUE = ("shapes", "chunks", "read_while_open")
"""Keys that are true unless an entry says otherwise."""


def text() -> str:
    """The text of the module, from the engine that is built."""
    return text_of(described())


def described() -> list[dict[str, Any]]:
    """What the engine says of each interface."""
    return described_by_engine("backends")


def described_by_engine(kind: str) -> list[dict[str, Any]]:
    """What the engine says of each of its `backends` or `kernels`, with the description of each.

    SystemExit where there is no engine that says it.
    """
    engine = _engine()
    done = subprocess.run([engine, "describe"], capture_output=True, check=True)
    rows: list[dict[str, Any]] = json.loads(done.stdout).get(kind, [{}])
    if any("description" not in row for row in rows):
        raise SystemExit(f"{engine} is older than its sources: run `make setup`")
    return rows


def _engine() -> str:
    for folder in (os.environ.get("VENTURI_ENGINE_DIR", ""), sysconfig.get_path("scripts")):
        if folder and os.access(Path(folder, ENGINE), os.X_OK):
            return str(Path(folder, ENGINE))
    found = shutil.which(ENGINE)
    if found is None:
        raise SystemExit(
            f"{ENGINE} is not built, and it describes the interfaces: run `make setup`"
        )
    return found


def text_of(backends: list[dict[str, Any]]) -> str:
    """The text of the module for these interfaces; the first of them is the default."""
    members = "".join(f'{_STEP}{row["name"].upper()} = "{row["name"]}"\n' for row in backends)
    entries = [
        f"{_STEP}Interface.{row['name'].upper()}: {_part('InterfaceEntry', row['description'], 1)},"
        for row in backends
    ]
    default = DEFAULT.format(name=backends[0]["name"].upper())
    return HEAD + members + PROPERTY + default + ENTRIES + "\n".join(entries) + "\n}\n"


def _part(name: str, values: dict[str, Any], depth: int) -> str:
    """A call of a class, laid out as the formatter has it; empty if all is as it is by default."""
    told = [key for key, value in values.items() if bool(value) is not (key in _TRUE)]
    found = ((key, _value(key, values[key], depth + 1)) for key in told)
    lines = [f"{_STEP * (depth + 1)}{key}={text},\n" for key, text in found if text]
    return f"{name}(\n{''.join(lines)}{_STEP * depth})" if lines else ""


def _value(key: str, value: Any, depth: int) -> str:
    if key in _WORDS:
        return f"{_WORDS[key].__name__}.{_WORDS[key](value).name}"
    if key in _PARTS:
        return _part(_PARTS[key], value, depth)
    if key in _OPTION_WORDS:
        option, _, word = value.partition("=")
        return f"OptionWord({_quoted(option)}, {_quoted(word)})"
    if isinstance(value, list):
        return _listing(value, depth)
    return string_text(key, value, depth) if isinstance(value, str) else repr(value)


def _listing(items: list[Any], depth: int) -> str:
    if len(items) == 1 and isinstance(items[0], str):
        return f"({_quoted(items[0])},)"
    inner = _STEP * (depth + 1)
    lines = [
        f"{inner}{_quoted(item) if isinstance(item, str) else option_text(item, depth + 1)},\n"
        for item in items
    ]
    return f"(\n{''.join(lines)}{_STEP * depth})"


def option_text(option: dict[str, Any], depth: int) -> str:
    """An option as a call of its class, at a depth of indentation."""
    keys = ("name", "type", "default", "about", "range")
    inner = _STEP * (depth + 1)
    lines = [f"{inner}{key}={string_text(key, option[key], depth + 1)},\n" for key in keys]
    bounds = {key: float(option[key]) for key in ("least", "most") if option.get(key)}
    lines += [f"{inner}{key}={bound!r},\n" for key, bound in bounds.items()]
    return f"InterfaceOption(\n{''.join(lines)}{_STEP * depth})"


def string_text(key: str, value: str, depth: int) -> str:
    """A string, over several lines where one would be too long."""
    if len(f"{_STEP * depth}{key}={_quoted(value)},") <= COLUMNS:
        return _quoted(value)
    inner = _STEP * (depth + 1)
    if len(f"{inner}{_quoted(value)}") <= COLUMNS:
        return f"(\n{inner}{_quoted(value)}\n{_STEP * depth})"
    pieces = [""]
    for word in value.split(" "):
        if len(f"{inner}{_quoted(pieces[-1] + word)}") >= COLUMNS:
            pieces.append("")
        pieces[-1] += word + " "
    pieces = [piece for piece in [*pieces[:-1], pieces[-1].removesuffix(" ")] if piece]
    if len(pieces) == 1:
        return _quoted(value)
    return "(\n" + "".join(f"{inner}{_quoted(piece)}\n" for piece in pieces) + f"{_STEP * depth})"


def _quoted(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)
