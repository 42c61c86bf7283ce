"""How far the quick mode of io500 is from a run with a longer stonewall, in the same directory.

Both run in turn, the long one with caches dropped before it reads, too, unless `--warm`. Printed
are the score's error (quick - long) / long for each pair, its median, and the phases that are
furthest off. `--long 300` compares with a run of full length.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "src")]

from venturi.compat.io500.own import result_of  # noqa: E402
from venturi.model.published import Io500Result  # noqa: E402
from venturi.model.record import Record  # noqa: E402


def run(place: Path, store: Path, ranks: int, words: list[str]) -> Io500Result:
    """One run of the suite, as a result."""
    line = [sys.executable, "-m", "venturi", "run", "io500", "-d", str(place), "-n", str(ranks)]
    environment: dict[str, Any] = {**os.environ, "VENTURI_STORE": str(store)}
    done = subprocess.run(
        [*line, "--json", *words], capture_output=True, text=True, env=environment, check=False
    )
    if done.returncode:
        raise SystemExit(done.stderr)
    return result_of(Record.model_validate(json.loads(done.stdout), strict=False))


def main() -> None:
    """Print the errors."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--dir", type=Path, required=True)
    options.add_argument("--ranks", type=int, default=2)
    options.add_argument("--short", type=float, default=5, help="stonewall of the quick run, s")
    options.add_argument("--long", type=float, default=60, help="of the other one, s")
    options.add_argument("--pairs", type=int, default=3)
    options.add_argument("--warm", action="store_true", help="the long run drops no caches")
    options.add_argument("--set", action="append", default=[], help="for both, as run has it")
    chosen = options.parse_args()
    errors: list[float] = []
    ratios: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        cold = Path(folder) / "cold.ini"
        cold.write_text("[global]\ndrop-caches = TRUE\n")
        sets = [f"--set={text}" for text in chosen.set]
        for pair in range(chosen.pairs):
            quick = ["--mode", "quick", "--stonewall", str(chosen.short), *sets]
            short = run(chosen.dir, Path(folder), chosen.ranks, quick)
            whole = ["--stonewall", str(chosen.long), *sets]
            whole += [] if chosen.warm else ["--config", str(cold)]
            long = run(chosen.dir, Path(folder), chosen.ranks, whole)
            if short.recomputed.score is None or not long.recomputed.score:
                raise SystemExit("a run has no score")
            errors.append(short.recomputed.score / long.recomputed.score - 1)
            rates = {phase.name: phase.value for phase in long.phases}
            for phase in short.phases:
                if phase.value > 0 and rates.get(phase.name, 0) > 0:
                    ratios.setdefault(phase.name, []).append(phase.value / rates[phase.name])
            print(
                f"pair {pair + 1}: {short.recomputed.score:.3f} at {chosen.short:g} s, "
                f"{long.recomputed.score:.3f} at {chosen.long:g} s: {errors[-1]:+.0%}",
                flush=True,
            )
    print(f"median error of the score: {statistics.median(errors):+.0%}")
    middle = {name: statistics.median(values) for name, values in ratios.items()}
    for name in sorted(middle, key=lambda one: -abs(math.log(middle[one]))):
        print(f"  {name}: {middle[name]:.2f} times the longer run's rate")


if __name__ == "__main__":
    main()
