"""The walk of `find` against GNU find, on a million names: same answer, and how long each takes.

Half of the names are in one directory, the others in many. Both look at name and size of all, in
interleaved pairs with everything in memory; printed are medians of GNU find's time / ours, and
the same of GNU find against itself.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

from engine.plans import file, number, phase, plan  # noqa: E402
from venturi.execute.engine import find_engine  # noqa: E402
from venturi.model.plan import Find, PathPart  # noqa: E402

IN_EACH = 1000
SIZE_BYTES = 2


def make_tree(top: Path, names: int) -> None:
    """A directory with half of them, and directories with a thousand each; every fifth has 2 B."""
    folders = [("huge", names // 2)]
    folders += [(f"d{index:04d}", IN_EACH) for index in range(names // 2 // IN_EACH)]
    for folder, count in folders:
        (top / folder).mkdir(parents=True)
        at = os.open(top / folder, os.O_RDONLY)
        for index in range(count):
            made = os.open(f"file.{index}", os.O_CREAT | os.O_WRONLY, dir_fd=at)
            if index % 5 == 0:
                os.write(made, b"x" * SIZE_BYTES)
            os.close(made)
        os.close(at)


def gnu(top: Path) -> tuple[float, int]:
    """Seconds, and how many it found."""
    line = ["find", str(top), "-mindepth", "1", "-name", "*01*", "-size", f"{SIZE_BYTES}c"]
    start = time.perf_counter()
    done = subprocess.run([*line, "-printf", "x"], check=True, capture_output=True)
    return time.perf_counter() - start, len(done.stdout)


def ours(top: Path, place: Path, ranks: int) -> tuple[float, int]:
    """Seconds of the phase, and how many it found."""
    find = Find(top=[PathPart(text=str(top))], foreign=True, name="*01*", bytes=number(SIZE_BYTES))
    made = plan(place, [file("f")], [phase("find", find)], ranks=ranks)
    command = [str(find_engine()), "run", str(Path(made.journal) / "plan.json")]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    events = [json.loads(line) for line in out.splitlines()]
    row = next(e for e in events if e["event"] == "phase_finished")
    return row["seconds"]["total"], row["found"]


def main() -> None:
    """Print one line for each number of ranks."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--names", type=int, default=1_000_000)
    options.add_argument("--pairs", type=int, default=9)
    options.add_argument("--dir", type=Path, default=None)
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory(dir=chosen.dir) as folder:
        top = Path(folder) / "tree"
        make_tree(top, chosen.names)
        gnu(top)
        for ranks in (1, 2):
            ratios, noise, times = [], [], []
            for pair in range(chosen.pairs):
                place = Path(folder) / f"run{ranks}.{pair}"
                place.mkdir()
                theirs, wanted = gnu(top)
                taken, found = ours(top, place, ranks)
                again, _ = gnu(top)
                if found != wanted:
                    raise SystemExit(f"GNU find found {wanted}, ours {found}")
                ratios.append(theirs / taken)
                noise.append(theirs / again)
                times.append(taken)
            print(
                f"{ranks} rank(s): {statistics.median(ratios):.2f} times as fast as GNU find "
                f"({min(ratios):.2f} to {max(ratios):.2f}; itself {min(noise):.2f} to "
                f"{max(noise):.2f}); {statistics.median(times):.2f} s, the same {wanted} names"
            )


if __name__ == "__main__":
    main()
