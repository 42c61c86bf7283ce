"""Numbers as people read them: three significant digits and a unit."""

from __future__ import annotations

import math
from enum import StrEnum

_IEC = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
_SI = ("B", "kB", "MB", "GB", "TB", "PB", "EB")
_PREFIXES = ("", "k", "M", "G", "T", "P", "E")
_INFINITE_EDGE_BYTES = 2**63 - 1
_SHORTEST_PLURAL = 4
_PLURALS = (("ies", "y"), ("sses", "ss"), ("xes", "x"), ("shes", "sh"), ("ss", "ss"), ("s", ""))
"""Endings of plurals, the first that fits, and what stands in their place for one."""


class Units(StrEnum):
    """Whether sizes count in powers of 1024 (`iec`) or of 1000 (`si`)."""

    IEC = "iec"
    SI = "si"

    @property
    def base(self) -> int:
        """The factor between two neighbouring units."""
        return 1024 if self is Units.IEC else 1000

    @property
    def names(self) -> tuple[str, ...]:
        """The units, smallest first."""
        return _IEC if self is Units.IEC else _SI


def number(value: float) -> str:
    """A bare number with three significant digits and thousands set apart: `8,190`, `0.0123`."""
    if not math.isfinite(value):
        return "unknown"
    if value == 0:
        return "0"
    magnitude = math.floor(math.log10(abs(value)))
    rounded = round(value, 2 - magnitude)
    if abs(rounded) >= 100:
        return f"{rounded:,.0f}"
    magnitude = math.floor(math.log10(abs(rounded)))
    if magnitude < -4:
        return f"{rounded:.2e}"
    return f"{rounded:.{2 - magnitude}f}"


def count(value: int) -> str:
    """An exact count with thousands set apart: `81,920`."""
    return f"{value:,}"


def _step(value: float, base: int, steps: int) -> int:
    """The power of `base` in which `value` has one to three (or four) digits before the point."""
    step = 0
    while step + 1 < steps and round(abs(value) / base**step, 0) >= base:
        step += 1
    return step


def size(value: float, units: Units = Units.IEC) -> str:
    """Bytes with a unit: `1.50 GiB`; whole multiples stay whole: `64 KiB`."""
    step = _step(value, units.base, len(units.names))
    unit_bytes = units.base**step
    whole = value == int(value) and int(value) % unit_bytes == 0
    text = count(int(value) // unit_bytes) if whole else number(value / unit_bytes)
    return f"{text} {units.names[step]}"


def exact_size(value: int, units: Units = Units.IEC) -> str:
    """Bytes without rounding: the largest unit that divides them, else bytes: `47,008 B`."""
    step = 0
    while value and step + 1 < len(units.names) and value % units.base ** (step + 1) == 0:
        step += 1
    return f"{value // units.base**step:,} {units.names[step]}"


def edge(up_to_bytes: int, units: Units = Units.IEC) -> str:
    """The upper edge of a class of request sizes; the last class is open."""
    return "larger" if up_to_bytes >= _INFINITE_EDGE_BYTES else size(up_to_bytes, units)


def rate_unit(bytes_per_s: float, units: Units = Units.IEC) -> tuple[float, str]:
    """The unit in which a rate is drawn: its size in bytes per second, and its name."""
    step = _step(bytes_per_s, units.base, len(units.names))
    return float(units.base**step), f"{units.names[step]}/s"


def rate(bytes_per_s: float, units: Units = Units.IEC) -> str:
    """Bytes per second with a unit: `1.23 GiB/s`."""
    factor, name = rate_unit(bytes_per_s, units)
    return f"{number(bytes_per_s / factor)} {name}"


def operation_rate_unit(per_s: float, kind: str = "") -> tuple[float, str]:
    """The unit in which operations per second are drawn, as in `rate_unit`; of one kind, too."""
    step = _step(per_s, 1000, len(_PREFIXES))
    name = f"{_PREFIXES[step]} {kind}s/s".lstrip() if kind else f"{_PREFIXES[step]}IOPS"
    return float(1000**step), name


def axis_unit(
    highest: float, unit: str, units: Units = Units.IEC, of: str = ""
) -> tuple[float, str]:
    """What values are divided by where they are drawn, and the unit that they then have.

    It is the unit in which `with_unit` says the highest of them, where it is a rate.
    """
    if unit == "B/s":
        return rate_unit(highest, units)
    if unit in ("op/s", "1/s"):
        return operation_rate_unit(highest, of)
    if unit == "flop/s":
        return flop_rate_unit(highest)
    return 1.0, unit


def counted(value: int, noun: str) -> str:
    """A count with its noun, in the plural where it must be: `1 rank`, `4 ranks`."""
    return f"{count(value)} {noun}{'' if value == 1 else 's'}"


def operation_rate(per_s: float, kind: str = "") -> str:
    """Operations per second in decimal units: `12.3 kIOPS`; of one kind: `12.3 k creates/s`."""
    factor, name = operation_rate_unit(per_s, kind)
    return f"{number(per_s / factor)} {name}"


def flop_rate_unit(per_s: float) -> tuple[float, str]:
    """The unit in which floating-point operations per second are drawn, as in `rate_unit`."""
    step = _step(per_s, 1000, len(_PREFIXES))
    return float(1000**step), f"{_PREFIXES[step]}flop/s"


def flop_rate(per_s: float) -> str:
    """Floating-point operations per second in decimal units: `12.3 Gflop/s`."""
    factor, name = flop_rate_unit(per_s)
    return f"{number(per_s / factor)} {name}"


def seconds(value: float) -> str:
    """A duration: `412 ms`, `1.23 s`, `2 min 05 s`, `3 h 04 min`."""
    if value >= 3600:
        minutes = round(value / 60)
        return f"{minutes // 60:,} h {minutes % 60:02d} min"
    if value >= 99.95:
        whole = round(value)
        return f"{whole // 60} min {whole % 60:02d} s"
    if value == 0:
        return "0 s"
    for factor, name in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if value >= factor * 0.9995:
            return f"{number(value / factor)} {name}"
    return f"{number(value / 1e-9)} ns"


def nanoseconds(value: float) -> str:
    """A latency in nanoseconds, as a duration."""
    return seconds(value / 1e9)


def percent(fraction: float) -> str:
    """A share as a percentage: whole from 10 % on, one digit below, never a false 0 or 100."""
    value = 100 * fraction
    if value == 0 or abs(value) >= 9.95:
        text = f"{value:.0f}"
        if text == "100" and value < 100:
            return f"{value:.2f} %" if value < 99.995 else "more than 99.99 %"
        return f"{text} %"
    return "< 0.1 %" if 0 < value < 0.05 else f"{value:.1f} %"


def signed_percent(fraction: float) -> str:
    """A relative difference with its sign: `+3.2 %`; an exact zero has none."""
    if fraction == 0:
        return "0 %"
    text = percent(abs(fraction)).removeprefix("more than ")
    return f"{'+' if fraction > 0 else '−'}{text.replace('< ', 'under ')}"


def _singular(unit: str) -> str:
    """A unit that is an English plural, for one of it: `ranks` is `rank`, `ms` stays."""
    if len(unit) < _SHORTEST_PLURAL or not (unit.isascii() and unit.isalpha() and unit.islower()):
        return unit
    for ending, one in _PLURALS:
        if unit.endswith(ending):
            return unit.removesuffix(ending) + one
    return unit


def with_unit(value: float, unit: str, units: Units = Units.IEC, of: str = "") -> str:
    """A value whose unit is known by name only: bytes, rates and seconds get their own form.

    `of` is the kind of operation that a rate counts, where it is one.
    """
    forms = {
        "B": lambda: size(value, units),
        "bytes": lambda: size(value, units),
        "B/s": lambda: rate(value, units),
        "s": lambda: seconds(value),
        "flop/s": lambda: flop_rate(value),
        "op/s": lambda: operation_rate(value),
        "1/s": lambda: operation_rate(value, of),
    }
    if value >= 0 and unit in forms:
        return forms[unit]()
    if value == 1:
        unit = _singular(unit)
    text = count(int(value)) if value == int(value) and abs(value) < 1e15 else number(value)
    return f"{text} {unit}".rstrip()
