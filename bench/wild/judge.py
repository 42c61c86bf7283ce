"""How well proxies predict programs of the catalogue, a draw of them, on several file systems.

`--seed` draws `--count` programs: with `--half work` of the third that is for work on Venturi, with
`--half judge` of the others. Each is captured on the first file system, its proxy runs unedited on
all. A program without a proxy, and a cell that is refused, count as misses. Needs root for the
mounts; everything goes into one folder, and the same command goes on where it was ended.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import shutil
import signal
import statistics
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from entry import ROOT, Entry, entries, install

sys.path[:0] = [str(ROOT / "src"), str(ROOT / "bench" / "validation")]

from matrix import Matrix, said, venturi  # noqa: E402
from storage import missing, mounted  # noqa: E402

from venturi.derive.noise import is_foreign_path  # noqa: E402
from venturi.model.document import parse_json  # noqa: E402
from venturi.model.prediction import DOCUMENT, Prediction  # noqa: E402
from venturi.report import quantity  # noqa: E402

AIM = 0.1
_WORK_SHARE = 1 / 3


def is_for_work(name: str) -> bool:
    """Whether a program is one of those to learn from: by its name, so that it always stays so."""
    first = hashlib.sha256(name.encode()).digest()[0]
    return first < 256 * _WORK_SHARE


def drawn(wanted: argparse.Namespace) -> list[Entry]:
    """The programs of a seed, or those that are named."""
    known = entries()
    if wanted.programs:
        names = wanted.programs.split(",")
        return [one for one in known if one.name in names]
    half = [one for one in known if is_for_work(one.name) == (wanted.half == "work")]
    return random.Random(wanted.seed).sample(half, min(wanted.count, len(half)))


@dataclass(frozen=True)
class Outcome:
    """One cell: a program on a file system."""

    entry: Entry
    system: str
    refused: str
    """Why there is no number; empty where there is one."""
    found: Prediction | None

    @property
    def off(self) -> float:
        """Error of the I/O time without its sign; infinite where there is none."""
        return abs(self.found.error.signed) if self.found else float("inf")

    @property
    def is_near(self) -> bool:
        """Within 10 %, or within what the program's own runs differ by."""
        return self.found is not None and self.off <= max(AIM, self.found.application.spread)

    @property
    def holds(self) -> bool:
        """Whether the interval of the error has zero in it."""
        return self.found is not None and self.found.error.low <= 0 <= self.found.error.high

    @property
    def span_off(self) -> float:
        """Error of the time from the first request of its files to the last."""
        if self.found is None or self.found.span_error is None:
            return float("inf")
        return abs(self.found.span_error.signed)


def outcomes(matrix: Matrix, chosen: list[Entry]) -> list[Outcome]:
    """All cells, also those that could not be measured for want of a proxy."""
    found = []
    for entry in chosen:
        for system in matrix.systems:
            place = matrix.folder / "cell" / f"{entry.name}-{system}"
            document = Path(f"{place}.prediction") / DOCUMENT
            refusal = Path(f"{place}.refused")
            if document.exists():
                read = parse_json(Prediction, document.read_bytes())
                found.append(Outcome(entry, system, "", read))
                continue
            why = matrix.failures.get(entry.name, "not measured")
            if refusal.exists():
                why = refusal.read_text("utf-8")
            found.append(Outcome(entry, system, why, None))
    return found


def summary(found: list[Outcome], hide: bool) -> str:
    """Figures by file system and by style, and what failed; `hide`: without programs' names."""
    lines = [_row("all", found)]
    for system in dict.fromkeys(one.system for one in found):
        lines.append(_row(f"on {system}", [one for one in found if one.system == system]))
    for style in sorted({one.entry.style for one in found}):
        lines.append(_row(style, [one for one in found if one.entry.style == style]))
    head = (
        f"{'':16} {'cells':>5} {'refused':>7} {'median':>7} {'worst':>7} {'near':>5} "
        f"{'holds':>5} {'too fast':>8} {'span':>7}"
    )
    reasons = Counter(one.refused if not hide else one.refused[:60] for one in found if one.refused)
    why = [f"  {count} x {text}" for text, count in reasons.most_common()]
    cells = [] if hide else [_cell(one) for one in sorted(found, key=lambda one: -one.off)]
    return "\n".join([head, *lines, "", *(["refused:", *why, ""] if why else []), *cells])


def _row(name: str, cells: list[Outcome]) -> str:
    known = [one for one in cells if one.found is not None]
    fast = sum(one.found.error.signed < 0 for one in known if one.found)
    middle = statistics.median(one.off for one in cells)
    worst = max((one.off for one in known), default=float("inf"))
    span = statistics.median(one.span_off for one in cells)
    return (
        f"{name:16} {len(cells):5} {len(cells) - len(known):7} {_percent(middle):>7} "
        f"{_percent(worst):>7} {sum(one.is_near for one in cells):5} "
        f"{sum(one.holds for one in cells):5} {fast:8} {_percent(span):>7}"
    )


def _percent(share: float) -> str:
    return "none" if share == float("inf") else f"{share:.1%}"


def _cell(one: Outcome) -> str:
    if one.found is None:
        return f"{one.entry.name:20} {one.system:10} refused: {one.refused[:200]}"
    found = one.found
    parts = sorted(found.sorts, key=lambda part: -abs(part.proxy - part.application))[:2]
    text = "; ".join(
        f"{part.name} {quantity.seconds(part.application)} -> {quantity.seconds(part.proxy)}"
        for part in parts
    )
    return (
        f"{one.entry.name:20} {one.system:10} {found.error.signed:+7.1%} of "
        f"{quantity.seconds(found.application.seconds):>8} ±{found.application.spread:.1%}, span "
        f"{found.proxy.span_seconds:.2f} / {found.application.span_seconds:.2f} s; {text}"
    )


def main() -> None:
    """Measures the draw, or what is left of it, and prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=20, help="programs to draw (20)")
    parser.add_argument("--half", choices=["work", "judge"], default="work")
    parser.add_argument("--programs", help="names, with commas, in place of a draw")
    parser.add_argument("--systems", default="tmpfs,ext4", help="the first is captured on")
    parser.add_argument("--repeat", type=int, default=6, help="runs of each side (6)")
    parser.add_argument("--budget", default="60s", help="of a cell, for more runs (60s)")
    parser.add_argument("--size", default="4G", help="of each file system (4G)")
    parser.add_argument("--note", default="", help="a sentence on how quiet the machine was")
    parser.add_argument("-o", "--output", default="wild.validation", metavar="FOLDER")
    wanted = parser.parse_args()
    if is_foreign_path(f"{Path(wanted.output).absolute()}/"):
        parser.error(f"{wanted.output}: files there count as the system's; name another folder")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # unmounts on the way
    chosen = drawn(wanted)
    lacking = install(chosen)
    for name, why in lacking.items():
        print(f"{name}: cannot be installed, left out: {why}", flush=True)
    chosen = [one for one in chosen if one.name not in lacking]
    systems = [name for name in wanted.systems.split(",") if not missing(name)]
    cases = [one.case for one in chosen]
    matrix = Matrix(wanted, cases, systems)
    for system in systems:
        if all(matrix.is_filled(case, system) for case in cases):
            continue
        with mounted(system, matrix.folder / "place", wanted.size) as mount:
            for case in cases:
                try:
                    matrix.fill(case, system, mount)
                except subprocess.CalledProcessError:
                    matrix.failures[case["name"]] = "its input cannot be made"
                    print(f"{case['name']}: its input cannot be made", flush=True)
    matrix.write()
    page = matrix.folder / "report.html"
    done = venturi("report", matrix.folder, "-o", page, where=matrix.folder)
    print(done.stdout.strip() if done.returncode == 0 else said(done))
    print(summary(outcomes(matrix, chosen), hide=wanted.half == "judge"))
    shutil.rmtree(matrix.folder / "store", ignore_errors=True)


if __name__ == "__main__":
    main()
