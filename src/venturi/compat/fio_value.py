"""Values of fio's options: sizes, times, ranges and switches, as fio reads them."""

from __future__ import annotations

import re

INT64_MAX = 2**63 - 1
_SIZE = re.compile(r"(0x[0-9a-f]+|\d+)(?:([kmgtp])(ib|i|b)?|b)?", re.IGNORECASE)
_TIME = re.compile(r"(\d+)\s*([a-z]*)", re.IGNORECASE)
_POWER = {"k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
_SECONDS = {
    "d": 86400.0,
    "h": 3600.0,
    "m": 60.0,
    "s": 1.0,
    "sec": 1.0,
    "ms": 1e-3,
    "msec": 1e-3,
    "us": 1e-6,
    "usec": 1e-6,
}


class ValueProblem(Exception):
    """A value that cannot be read; the text says why."""


def read_size(text: str, kb_base: int = 1024) -> int:
    """A number of bytes, or any whole number: `4k`, `4kb` and `4ki` are 4096 and `4kib` 4000, as
    fio has it. With a `kb_base` of 1000 it is the other way round.
    """
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        hint = "; percentages are of a file that is not there yet" if "%" in text else ""
        raise ValueProblem(f"'{text}' is not a whole number with one of k, m, g, t, p{hint}")
    is_hexadecimal = match[1].lower().startswith("0x")
    unit = 1
    if match[2]:
        plain, other = (1024, 1000) if kb_base == 1024 else (1000, 1024)
        unit = (other if (match[3] or "").lower() == "ib" else plain) ** _POWER[match[2].lower()]
    value = int(match[1], 16 if is_hexadecimal else 10) * unit
    if value > INT64_MAX:
        raise ValueProblem(f"'{text}' is larger than 2^63 - 1")
    return value


def read_whole(text: str, least: int = 0, most: int = INT64_MAX) -> int:
    """A whole number between two others."""
    value = read_size(text)
    if not least <= value <= most:
        bound = f"{least} or more" if most == INT64_MAX else f"{least} to {most}"
        raise ValueProblem(f"{value} is out of range ({bound})")
    return value


def read_time(text: str, unit_s: float = 1.0) -> float:
    """Seconds; a number without a unit counts `unit_s` each."""
    match = _TIME.fullmatch(text.strip())
    unit = (match[2] or "").lower() if match else ""
    if match is None or (unit and unit not in _SECONDS):
        raise ValueProblem(f"'{text}' is not a time: a whole number with d, h, m, s, ms or us")
    return int(match[1]) * (_SECONDS[unit] if unit else unit_s)


def read_switch(text: str | None) -> bool:
    """A switch; without a value it is on."""
    if text is None:
        return True
    if text.strip() not in ("0", "1"):
        raise ValueProblem(f"'{text}' is neither 0 nor 1")
    return text.strip() == "1"


def read_real(text: str) -> float:
    """A decimal number."""
    if not re.fullmatch(r"\d+(\.\d*)?|\.\d+", text.strip()):
        raise ValueProblem(f"'{text}' is not a number")
    return float(text)


def of_direction(text: str, is_write: bool) -> str:
    """The part of `reads,writes,trims` for one direction; one value is for all of them."""
    parts = [part.strip() for part in text.split(",")]
    if len(parts) > 3:
        raise ValueProblem(f"'{text}' has more than three parts (reads, writes, trims)")
    return parts[0] if len(parts) == 1 or not is_write else parts[1]


def read_range(text: str, kb_base: int) -> tuple[int, int]:
    """The least and the most of `4k-64k` or `4k:64k`."""
    parts = re.split(r"[-:]", text)
    if len(parts) != 2:
        raise ValueProblem(f"'{text}' is not a range: LEAST-MOST")
    low, high = sorted(read_size(part, kb_base) for part in parts)
    return low, high


def read_shares(text: str, default: int, kb_base: int) -> list[tuple[int, int]]:
    """Sizes and percentages of `4k/60:64k/40`; sizes without one share what is left."""
    found: list[tuple[int, int | None]] = []
    for part in text.split(":"):
        size, sign, share = part.partition("/")
        found.append(
            (
                read_size(size, kb_base) if size else default,
                read_whole(share, most=100) if sign and share else None,
            )
        )
    left = 100 - sum(share for _, share in found if share is not None)
    blank = sum(share is None for _, share in found)
    if left < 0 or (left and not blank):
        raise ValueProblem(f"'{text}': the percentages do not add up to 100")
    return [(size, left // blank if share is None else share) for size, share in found]
