"""A workload as YAML that people like to read: only what differs from the defaults."""

from __future__ import annotations

import json
import re
import textwrap
from typing import Any

from venturi.model.workload import Workload

MOST_COLUMNS = 120
MOST_FLAT_COLUMNS = 100
"""For steps within a line."""
WIDE_COLUMNS = 160
"""For rows of tables: lists in `origin`, one entry in each line."""
WIDE_KEYS = frozenset({"confidence", "request_sizes"})
WRAPPED_KEYS = frozenset({"table", "mix", "sizes", "write", "read", "likeness"})
"""Rows that stand beside each other, and what may go on in the next line."""
FILE = "path"
"""What has it says what a file is, likewise on as few lines as that needs."""
MOST_BESIDE = 4
"""A list of so many plain values, or of steps that only name a file, may stand within a line."""
PHASE = "phase"
"""What is measured stands on a line of its own."""
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_ ./%()-]*$")
_SIZE = re.compile(r"\d+ [kKMGTPE]?i?B$")
_WORDS = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})

_COMMENTS = {
    "origin": "how sure each field is, and what the log counted",
    "files": "what is touched",
    "tables": "rows of numbers that follow no rule",
    "program": "what the ranks do, in order; only phases are measured",
}
_LAST = ("tables", "origin")


def to_yaml(workload: Workload) -> str:
    """YAML text that loads as the same workload."""
    data = workload.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    lines = []
    for key in _LAST:
        if key in data:
            data[key] = data.pop(key)
    for key, value in data.items():
        if key in _COMMENTS:
            lines += ["", f"# {_COMMENTS[key]}"]
        lines += _entry(key, value, 0)
    return "\n".join(lines) + "\n"


def _entry(key: str, value: Any, indent: int) -> list[str]:
    """A key with its value, on one line if that fits."""
    lead = f"{' ' * indent}{_key(key)}:"
    flat = f"{lead} {_flow(value)}"
    if not isinstance(value, dict | list) or not value:
        return [flat]
    if len(flat) <= MOST_COLUMNS and not _is_tall(value, indent):
        return [flat]
    if len(flat) <= MOST_FLAT_COLUMNS and _is_short(value):
        return [flat]
    if (key in WRAPPED_KEYS and _is_wrapped(value)) or _is_flat_file(value):
        return _wrapped(lead, value, indent)
    if isinstance(value, dict):
        return [lead] + [line for k, v in value.items() for line in _entry(k, v, indent + 2)]
    if not any(isinstance(item, dict | list | str) for item in value):
        return textwrap.wrap(flat, MOST_COLUMNS, subsequent_indent=" " * (indent + 2))
    columns = WIDE_COLUMNS if key in WIDE_KEYS else MOST_COLUMNS
    return [lead] + [line for item in value for line in _item(item, indent + 2, columns)]


def _is_tall(value: Any, indent: int) -> bool:
    """Whether a value reads better on lines of its own: nested, or at the left margin."""
    inner = value.values() if isinstance(value, dict) else value
    nested = any(isinstance(item, dict | list) and not _is_short(item) and item for item in inner)
    return nested or (indent == 0 and len(value) > 1)


def _is_short(value: Any) -> bool:
    """Whether a value is a list of few plain values, of few steps that do no more than say a verb
    and a name, or of one step without more within it: it stands well beside others."""
    if not isinstance(value, list) or len(value) > MOST_BESIDE:
        return False
    if not any(isinstance(item, dict | list) for item in value):
        return True
    said = [_said(item) for item in value]
    if len(value) == 1 and isinstance(said[0], dict):
        return all(
            _is_short(part) or not isinstance(part, dict | list) for part in said[0].values()
        )
    return not any(one is None or isinstance(one, dict | list) for one in said)


def _said(step: Any) -> Any:
    """What a step of one key says; None: it is no such step."""
    return next(iter(step.values())) if isinstance(step, dict) and len(step) == 1 else None


def _is_wrapped(value: Any) -> bool:
    """Whether a value is rows of plain values, or plain values and such rows by their keys."""
    if isinstance(value, dict):
        parts = [part for part in value.values() if isinstance(part, dict | list)]
        return all(isinstance(part, list) and _is_wrapped(part) for part in parts)
    rows = [item.values() if isinstance(item, dict) else item for item in value]
    return all(isinstance(item, dict | list) for item in value) and not any(
        isinstance(part, dict | list) for row in rows for part in row
    )


def _is_flat_file(value: Any) -> bool:
    """Whether a value is what a file is, and holds at most plain values by their keys."""
    if not isinstance(value, dict) or FILE not in value:
        return False
    parts = [part for part in value.values() if isinstance(part, dict)]
    lists = [part for part in value.values() if isinstance(part, list)]
    inner = [item for part in parts for item in part.values()]
    inner += [item for part in lists for item in part]
    return not any(isinstance(item, dict | list) for item in inner)


def _wrapped(lead: str, value: Any, indent: int) -> list[str]:
    """Items beside each other on as many lines as they need."""
    brackets = "{}" if isinstance(value, dict) else "[]"
    pieces = _pieces(value)
    lines = [f"{lead} {brackets[0]}{pieces[0]}"]
    for piece in pieces[1:]:
        if len(lines[-1]) + len(piece) + 3 <= MOST_COLUMNS:
            lines[-1] += f", {piece}"
        else:
            lines[-1] += ","
            lines.append(f"{' ' * (indent + 4)}{piece}")
    lines[-1] += brackets[1]
    return lines


def _pieces(value: Any) -> list[str]:
    """What stands on one line in each case: a row, or a key with its value or its first row."""
    if not isinstance(value, dict):
        return [_flow(item) for item in value]
    pieces: list[str] = []
    for key, part in value.items():
        rows = [_flow(row) for row in part] if isinstance(part, list) and part else [_flow(part)]
        if isinstance(part, list) and part:
            rows[0] = f"[{rows[0]}"
            rows[-1] += "]"
        pieces += [f"{_key(key)}: {rows[0]}", *rows[1:]]
    return pieces


def _item(item: Any, indent: int, columns: int = MOST_COLUMNS) -> list[str]:
    lead = f"{' ' * indent}- "
    flat = lead + _flow(item)
    if not isinstance(item, dict | list) or not item:
        return [flat]
    deep = isinstance(item, dict) and (
        PHASE in item
        or any(isinstance(value, list) and not _is_short(value) for value in item.values())
    )
    if len(flat) <= (MOST_FLAT_COLUMNS if "do" in item else columns) and not deep:
        one = len(item) == 1 and isinstance(item, dict)
        return [lead + _flow(item)[1:-1]] if one else [flat]
    if isinstance(item, list):
        return [f"{' ' * indent}-", *(line for i in item for line in _item(i, indent + 2))]
    lines = [line for k, v in item.items() for line in _entry(k, v, indent + 2)]
    lines[0] = lead + lines[0][indent + 2 :]
    return lines


def _flow(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_key(k)}: {_flow(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_flow(item) for item in value) + "]"
    return _scalar(value)


def _key(key: str) -> str:
    """Keys stay plain, also `on`: Venturi reads YAML 1.2."""
    return key if _PLAIN.match(key) else json.dumps(key)


def _scalar(value: Any) -> str:
    """A scalar, quoted only where it would be read as something else."""
    if not isinstance(value, str):
        return json.dumps(value)
    is_word = _PLAIN.match(value) and value.lower() not in _WORDS and not value.endswith(" ")
    return value if is_word or _SIZE.match(value) else json.dumps(value, ensure_ascii=False)
