"""Comparisons of runs on a terminal: what else was not the same, then metrics side by side."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from venturi.model.comparison import (
    ComparisonRow,
    ComparisonSet,
    Difference,
    MedianInterval,
    MetricChange,
    RunComparison,
    faster_side,
    times_faster,
)
from venturi.report import quantity
from venturi.report.printer import Printer
from venturi.report.quantity import Units

if TYPE_CHECKING:
    from rich.console import Console

_TITLES = ("METRIC", "", "MEDIAN", "INTERVAL", "VALUES")
MOST_POINTS = 60
_LITTLE = ", if repetitions depend little on each other (autocorrelation of 0.3 at most)"
_CAREFUL = (
    "So standard errors were taken 3 times as large as those of independent repetitions, in place "
    "of 1.5 times; an autocorrelation above 0.5 still brings more false alarms."
)
_FEWEST_INSIDE = 9
"""Values from which on the interval of a median (95 %) leaves the extremes out."""


def print_run_comparison(
    comparison: RunComparison, console: Console, units: Units = Units.IEC
) -> None:
    """The comparison of two runs: headline, differing surroundings, metrics with intervals."""
    out = Printer(console)
    ranks = quantity.counted(comparison.ranks, "rank")
    out.line((f" {comparison.name}", "bold"), f" on {ranks}")
    out.wrapped("", comparison.headline)
    if comparison.suspect:
        out.wrapped("- ", comparison.suspect, "bold yellow")
    out.line()
    out.unbroken(" first   ", _run_text(comparison.first, comparison.first_on))
    out.unbroken(" second  ", _run_text(comparison.second, comparison.second_on))
    _print_differences(out, comparison.differences)
    _print_rows(out, comparison.rows, units)
    _print_method(out, comparison.rows, comparison)


def _run_text(name: str, where: str) -> str:
    return f"{name} on {where}" if where else name


def print_set_comparison(found: ComparisonSet, console: Console, units: Units = Units.IEC) -> None:
    """The comparison of two sets of runs, point by point; those that differ first."""
    out = Printer(console)
    out.line((f" {found.first} and {found.second}", "bold"))
    out.wrapped("", found.headline)
    for sentence in sentences_of(found):
        out.wrapped("- ", sentence)
    _print_differences(out, found.differences)
    parts = sorted(found.parts, key=lambda part: not any(row.is_significant for row in part.rows))
    for part in parts[:MOST_POINTS]:
        said = ", ".join(f"{name} {value}" for name, value in part.parameters.items())
        out.line()
        out.line((f" {part.name}", "bold"), f" on {quantity.counted(part.ranks, 'rank')}")
        if said:
            out.wrapped("", said)
        _print_rows(out, part.rows, units, places_of(found))
    every = [row for part in found.parts for row in part.rows]
    _print_method(out, every, found.parts[0])
    if len(parts) > MOST_POINTS:
        out.line(f" and {len(parts) - MOST_POINTS} more points; all of them: --json")
    for side, only in ((found.first, found.only_first), (found.second, found.only_second)):
        if only:
            out.wrapped("- ", f"only in {side}: {quantity.counted(len(only), 'point')}: {only[0]}")


def _print_differences(out: Printer, differences: Sequence[Difference]) -> None:
    if differences:
        out.line()
        out.line((" Not the same", "bold"))
        for other in differences:
            out.wrapped("- ", f"{other.what}: {other.first}, then {other.second}")


def sentences_of(comparison: ComparisonSet) -> list[str]:
    """Which runs there are not, how they were made for a comparison, and what places are."""
    runs = comparison.in_turn
    if runs is None:
        return comparison.incomplete
    made = quantity.counted(len(runs.runs), "run")
    found = [f"{made} of {runs.workload} in the order {runs.order}, each a record of its own"]
    if runs.ended:
        found.insert(0, runs.ended)
    if runs.one_file_system:
        found.append("both directories are on one file system")
    return found + runs.remarks


@dataclass(frozen=True)
class Places:
    """The two directories that a comparison is about."""

    names: tuple[str, str]
    labels: dict[str, str]
    """By metric: how its number was made where the other place is memory."""


def places_of(found: ComparisonSet | RunComparison) -> Places | None:
    """The directories that a comparison is about; None where it is about runs."""
    in_turn = found.in_turn if isinstance(found, ComparisonSet) else None
    return None if in_turn is None else Places((found.first, found.second), in_turn.labels)


def _print_rows(
    out: Printer,
    rows: Sequence[ComparisonRow],
    units: Units,
    places: Places | None = None,
) -> None:
    out.line()
    lines = []
    for row in rows:
        *sides, ratio = cells_of(row, units)
        lines += [side[:-1] for side in sides]
        lines.append((*ratio[:-2], f"p {ratio[-1]}" if row.p_adjusted is not None else ""))
    out.table(_TITLES, lines, left=("",))
    for row in rows:
        out.wrapped("- ", f"{row.name}: {verdict(row, places)}")


def _print_method(out: Printer, rows: Sequence[ComparisonRow], part: RunComparison) -> None:
    out.line()
    for sentence in method_of(rows, part):
        out.wrapped("", sentence)


def method_of(rows: Sequence[ComparisonRow], part: RunComparison) -> list[str]:
    """Return what `significant` and the intervals mean here, in sentences.

    `part` is any part of the comparison; all say the same of the whole.
    """
    sentences = _test_of(part) if part.judged else []
    few = [side for row in rows for side in (row.first, row.second) if spans_all(side)]
    if few:
        counts = sorted({(side.n, side.coverage) for side in few})
        said = ", ".join(f"{n}: {coverage:.0%}" for n, coverage in counts)
        sentences.append(
            "With so few repetitions the interval of a median is their smallest to their largest "
            f"value; its confidence by number of repetitions: {said}."
        )
    return sentences


def _test_of(part: RunComparison) -> list[str]:
    rate = quantity.percent(part.error_rate)
    if part.judged > 1:
        text = (
            f"p is adjusted for all {part.judged} metrics (permutation max-T): of comparisons of "
            f"equal runs, at most {rate} call any metric different{_LITTLE}. The intervals of the "
            "ratios belong to this test: one that excludes 1 is significant."
        )
    else:
        text = (
            "p is the share of relabellings of the repetitions that differ as much: of comparisons "
            f"of equal runs, at most {rate} are called different{_LITTLE}."
        )
    if part.serial is None:
        return [text]
    return [text, f"Here they depend on each other: {part.serial.text}. {_CAREFUL}"]


def spans_all(side: MedianInterval) -> bool:
    """Whether the interval of a median is the range of all values."""
    return 1 < side.n < _FEWEST_INSIDE


def cells_of(row: ComparisonRow, units: Units) -> list[tuple[str, ...]]:
    """Return three lines of the table: both runs, and the second by the first."""
    ratio = span = "–"
    if row.ratio is not None:
        ratio = f"{row.ratio:.3g}"
    if row.low is not None and row.high is not None:
        span = f"{row.low:.3g} to {row.high:.3g}"
    p = "–" if row.p_adjusted is None else _p(row.p_adjusted)
    return [
        (row.name, "first", *_measured(row.first, row, units), ""),
        ("", "second", *_measured(row.second, row, units), ""),
        ("", "ratio", ratio, span, "", p),
    ]


def verdict(row: ComparisonRow, places: Places | None = None) -> str:
    """Return what a row says, in a few words; of `places`, which one is faster."""
    if places is not None and (text := _by_place(row, places)):
        return text + (f"; {places.labels[row.name]}" if row.name in places.labels else "")
    if row.change is MetricChange.SAME and row.detectable:
        return f"not significant; detectable: {quantity.percent(row.detectable)} or more"
    if row.change is MetricChange.SMALL:
        return "differs significantly, by less than 5 %"
    if row.change is MetricChange.EQUAL:
        return "equal in all repetitions"
    if row.change is MetricChange.APART:
        return _apart(row)
    if row.change is MetricChange.UNSURE:
        return f"{row.first.n} and {row.second.n} values are too few for any verdict"
    if row.why:
        return f"not compared: {row.why}"
    if row.is_significant:
        return f"significantly {row.change.value}" + (": WORSE" if row.is_worse else "")
    return row.change.value


def _by_place(row: ComparisonRow, places: Places) -> str:
    """Which place is faster, or whose values are all higher; empty: neither."""
    side = faster_side(row)
    if side is not None:
        times = times_faster(row)
        much = f", {times[0]:.3g} times ({times[1]:.3g} to {times[2]:.3g})" if times else ""
        return f"{places.names[side]} is faster{much}"
    if row.change is MetricChange.APART:
        return _apart(row, f"all values in {places.names[1]} are")
    return ""


def _apart(row: ComparisonRow, lead: str = "all values are") -> str:
    side = "higher" if row.superiority > 0.5 else "lower"
    ways = math.comb(row.first.n + row.second.n, row.first.n)
    p_value = f"by chance in 2 of {quantity.count(ways)} metrics"
    return f"{lead} {side}, but not significantly ({p_value}); repeat more often"


def _p(value: float) -> str:
    return f"{value:.2g}" if value >= 0.001 else "< 0.001"


def _measured(value: MedianInterval, row: ComparisonRow, units: Units) -> tuple[str, str, str]:
    median, low, high = (
        quantity.with_unit(v, row.unit, units, row.of)
        for v in (value.median, value.low, value.high)
    )
    return median, f"{low} to {high}", quantity.count(value.n)
