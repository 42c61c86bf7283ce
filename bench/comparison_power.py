"""How often `compare` calls equal runs different, and what it finds: simulated comparisons.

Writes the tables of docs/compare.md. Repetitions are drawn; nothing is measured, no storage is
needed, and the same tables come out each time: python bench/comparison_power.py [COMPARISONS]
(default: 200 for each cell; ten minutes).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np
from numpy.typing import NDArray

from venturi.analyse.contrast import Contrast, Sides, contrasts
from venturi.analyse.serial_dependence import allowance_of, serial_dependence

PAGE = Path(__file__).parent.parent / "docs/compare.md"
BEGIN, END = "<!-- comparison_power: begin -->", "<!-- comparison_power: end -->"
SPREAD = 0.1
COUNTS = ((4, 4), (6, 6), (10, 10), (4, 9))
METRICS = (1, 7, 38, 200)
CORRELATION = 0.8

Table = NDArray[np.float64]
Shape = Callable[[np.random.Generator, int, int], Table]


def _autocorrelated(share: float) -> Shape:
    def draw(random: np.random.Generator, repetitions: int, metrics: int) -> Table:
        table = random.normal(size=(repetitions, metrics))
        for row in range(1, repetitions):
            table[row] = share * table[row - 1] + math.sqrt(1 - share**2) * table[row]
        return table

    return draw


def _drift(random: np.random.Generator, repetitions: int, metrics: int) -> Table:
    """Each repetition is slower than the one before: four deviations from first to last."""
    steps = np.linspace(2.0, -2.0, repetitions)[:, None]
    return np.asarray(random.normal(size=(repetitions, metrics)) + steps)


def _bimodal(random: np.random.Generator, repetitions: int, metrics: int) -> Table:
    """A third of the repetitions meet a neighbour, which takes four deviations."""
    table = 0.5 * random.normal(size=(repetitions, metrics))
    return np.asarray(table - 4.0 * (random.random((repetitions, metrics)) < 1 / 3))


SHAPES: dict[str, Shape] = {
    "log-normal": lambda random, repetitions, metrics: random.normal(size=(repetitions, metrics)),
    "normal": lambda random, repetitions, metrics: (
        np.log(np.maximum(1 + 0.3 * random.normal(size=(repetitions, metrics)), 0.05)) / 0.3
    ),
    "heavy tails (t, 2)": lambda random, repetitions, metrics: random.standard_t(
        2, size=(repetitions, metrics)
    ),
    "two modes": _bimodal,
    "autocorrelated, 0.3": _autocorrelated(0.3),
    "autocorrelated, 0.5": _autocorrelated(0.5),
}
"""Deviations of the logarithms of repetitions, in units of their spread."""
ORDERED: dict[str, Shape] = {"autocorrelated, 0.7": _autocorrelated(0.7), "drift": _drift}
"""The same; of these it is only asked whether their order shows it."""


DEPENDENT = ("log-normal", "autocorrelated, 0.3", "autocorrelated, 0.5", *ORDERED)
"""Shapes whose order is looked at: the first has no dependence."""


@dataclass(frozen=True)
class Cell:
    """What is drawn: a shape, repetitions of both runs, metrics with correlation and spread."""

    shape: str = "log-normal"
    first: int = 6
    second: int = 6
    metrics: int = 1
    correlation: float = 0.0
    spread: float = SPREAD
    change: float = 1.0
    """The factor between the runs, of metric 0."""

    def compared(self, count: int) -> Iterator[list[Contrast]]:
        """Yield so many comparisons of two runs, always the same ones."""
        random = np.random.default_rng([*repr(self).encode()])
        for _ in range(count):
            runs = [self._run(random, n) for n in (self.first, self.second)]
            runs[1][:, 0] *= self.change
            part = self._part(runs)
            seen = serial_dependence([{str(n): sides for n, sides in enumerate(part)}])
            yield contrasts([part], allowance_of(seen))[0]

    def dependent(self, count: int) -> Iterator[bool]:
        """Yield whether the order of repetitions shows dependence, of so many comparisons."""
        random = np.random.default_rng([*repr(self).encode()])
        for _ in range(count):
            part = self._part([self._run(random, n) for n in (self.first, self.second)])
            seen = serial_dependence([{str(n): sides for n, sides in enumerate(part)}])
            yield seen is not None

    def _part(self, runs: Sequence[Table]) -> list[Sides]:
        return [
            (runs[0][:, metric].tolist(), runs[1][:, metric].tolist())
            for metric in range(self.metrics)
        ]

    def _run(self, random: np.random.Generator, repetitions: int) -> Table:
        draw = (SHAPES | ORDERED)[self.shape]
        own = draw(random, repetitions, self.metrics)
        common = draw(random, repetitions, 1)
        logs = math.sqrt(1 - self.correlation) * own + math.sqrt(self.correlation) * common
        return np.asarray(1e9 * np.exp(self.spread * logs))


def false_alarms(cell: Cell, count: int) -> float:
    """Return the share of comparisons of equal runs in which any metric differs significantly."""
    return sum(any(one.is_significant for one in found) for found in cell.compared(count)) / count


def seen(cell: Cell, count: int) -> float:
    """Return the share of comparisons in which repetitions are called dependent on their order."""
    return sum(cell.dependent(count)) / count


def held(cell: Cell, count: int) -> float:
    """Return the share of comparisons in which all intervals hold the ratios of the truth."""
    truth = [cell.change] + [1.0] * (cell.metrics - 1)
    return (
        sum(
            all(
                one.low is not None and one.high is not None and one.low <= ratio <= one.high
                for one, ratio in zip(found, truth, strict=True)
            )
            for found in cell.compared(count)
        )
        / count
    )


def power(cell: Cell, count: int) -> float:
    """Return the share of comparisons that find the metric that changed."""
    return sum(found[0].is_significant for found in cell.compared(count)) / count


def detectable(cell: Cell, count: int) -> float:
    """Return the median of what comparisons of equal runs say that they could have detected."""
    said = [one.detectable for found in cell.compared(count) for one in found]
    return median(math.inf if one is None else one for one in said)


def tables(count: int) -> Iterator[str]:
    """Yield the lines of the page's tables."""
    error = math.sqrt(0.05 * 0.95 / count)
    yield (
        f"Each cell is {count} simulated comparisons; the standard error of a share near 5 % is "
        f"{100 * error:.1f} %. `python bench/comparison_power.py` writes these tables.\n"
    )
    yield "**False alarms**: equal runs with any significant metric (promised: 5 % at most).\n"
    columns = [(1, 0.0), (38, 0.0), (38, CORRELATION), (200, 0.0), (200, CORRELATION)]
    heads = [_counted(m) + (", correlated" if c else "") for m, c in columns]
    yield from _head(["repetitions are", "repetitions", *heads])
    for shape in SHAPES:
        for first, second in COUNTS:
            cells = [Cell(shape, first, second, m, c) for m, c in columns]
            shares = [f"{100 * false_alarms(cell, count):.1f} %" for cell in cells]
            yield _line([shape, f"{first} and {second}", *shares])
    yield ""
    yield from _dependence_table(count)
    yield ""
    yield from _power_tables(count)


def _dependence_table(count: int) -> Iterator[str]:
    yield (
        "**Serial dependence**: how often the order of repetitions shows it (of log-normal "
        "repetitions, which have none: 5 % at most).\n"
    )
    columns = [(1, 0.0), (38, CORRELATION), (38, 0.0)]
    heads = [_counted(m) + (", correlated" if c else "") for m, c in columns]
    yield from _head(["repetitions", "they are", *heads])
    for shape in DEPENDENT:
        for n in (4, 6, 10, 20):
            shares = [seen(Cell(shape, n, n, m, c), count) for m, c in columns]
            yield _line([f"{n} and {n}", shape, *(f"{100 * share:.0f} %" for share in shares)])


def _power_tables(count: int) -> Iterator[str]:
    yield "**Power**: one metric changes by a factor; how often it is found.\n"
    yield from _head(["spread", "factor", "repetitions", *map(_counted, METRICS)])
    for spread, factor in ((0.1, 1.2), (0.1, 1.5), (0.1, 2.0), (0.3, 2.0), (0.3, 10.0)):
        for n in (4, 5, 6, 10):
            cells = [Cell("log-normal", n, n, m, 0.0, spread, factor) for m in METRICS]
            shares = [f"{100 * power(cell, count):.0f} %" for cell in cells]
            yield _line([f"{100 * spread:.0f} %", f"{factor:g}", f"{n} and {n}", *shares])
    yield ""
    yield (
        "**Detectable change**: what comparisons of equal runs say (median), and how often a "
        "change of just that size is then found (promised: 90 %).\n"
    )
    yield from _head(["spread", "repetitions", *map(_counted, METRICS)])
    for spread in (0.03, 0.1, 0.3):
        for first, second in ((4, 4), (5, 5), (6, 6), (10, 10), (3, 6), (4, 9)):
            cells = []
            for m in METRICS:
                cell = Cell("log-normal", first, second, m, 0.0, spread)
                said = detectable(cell, min(count, 100))
                changed = Cell("log-normal", first, second, m, 0.0, spread, 1 + said)
                cells.append(f"{100 * said:,.0f} %: {100 * power(changed, count):.0f} %")
            yield _line([f"{100 * spread:.0f} %", f"{first} and {second}", *cells])


def _counted(metrics: int) -> str:
    return "1 metric" if metrics == 1 else f"{metrics} metrics"


def _head(titles: Sequence[str]) -> Iterator[str]:
    yield _line(titles)
    yield "|" + "---|" * len(titles)


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    """Write the tables into the page."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    lines = []
    for line in tables(count):
        print(line, flush=True)
        lines.append(line)
    text = PAGE.read_text("utf-8")
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    PAGE.write_text("\n".join([before + BEGIN, *lines, END]) + after, "utf-8")


if __name__ == "__main__":
    main()
