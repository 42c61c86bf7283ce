"""Units of sizes and durations, as people write them: decimal and binary ones are distinct."""

from __future__ import annotations

from fractions import Fraction

BYTES_PER_UNIT: dict[str, int] = {
    "B": 1,
    **{f"{prefix}B": 1000**power for power, prefix in enumerate("kMGTPE", start=1)},
    **{f"{prefix}iB": 1024**power for power, prefix in enumerate("KMGTPE", start=1)},
}
"""`kB` is 1000 bytes, `KiB` is 1024; `KB` is refused because people mean either."""

SECONDS_PER_UNIT: dict[str, Fraction] = {
    "ns": Fraction(1, 10**9),
    "us": Fraction(1, 10**6),
    "ms": Fraction(1, 1000),
    "s": Fraction(1),
    "min": Fraction(60),
    "h": Fraction(3600),
}

UNITS = frozenset(BYTES_PER_UNIT) | frozenset(SECONDS_PER_UNIT)


def with_unit(number: str, unit: str) -> int | float:
    """The value of `number` `unit`: whole bytes as an integer, a duration in seconds as a real.

    Raises ValueError for an unknown unit and for a fraction of a byte.
    """
    amount = Fraction(number)
    if unit in BYTES_PER_UNIT:
        size = amount * BYTES_PER_UNIT[unit]
        if size.denominator != 1:
            raise ValueError(f"{number} {unit} is not a whole number of bytes")
        return int(size)
    if unit in SECONDS_PER_UNIT:
        return float(amount * SECONDS_PER_UNIT[unit])
    raise ValueError(f"unknown unit '{unit}'; known are {', '.join(sorted(UNITS))}")


def size_text(size_bytes: int) -> str:
    """A size in the largest unit that says it exactly: `64 KiB`, `1 MB`, `47008 B`."""
    for unit in ("TiB", "GiB", "MiB", "KiB", "TB", "GB", "MB", "kB"):
        if size_bytes and size_bytes % BYTES_PER_UNIT[unit] == 0:
            return f"{size_bytes // BYTES_PER_UNIT[unit]} {unit}"
    return f"{size_bytes} B"
