"""What capturing costs: CPU per request of 512 bytes, with each way of watching it.

Requests go to a cached file; medians of turns in which every way has one, because absolute times
do not travel. Then: how long it takes to make one trace of many operations.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "src"))

from venturi.capture.run import capture  # noqa: E402
from venturi.capture.tracer import TracerSettings, configure, environment  # noqa: E402

PAIRS = 200_000
PAIRS_UNDER_STRACE = 3_000
AIMS_US = {"counters": 0.1, "full trace": 0.2}


def cpu_us(command: list[str], variables: dict[str, str]) -> float:
    """Microseconds of CPU per request, as the program itself says."""
    out = subprocess.run(command, env=variables, capture_output=True, text=True, check=True).stdout
    return float(out) / 1000


def one_turn(program: str, place: Path) -> dict[str, float]:
    """Each way once."""
    line = [program, str(place / "file"), str(PAIRS)]
    plain = dict(os.environ)
    found = {"no tracer": cpu_us(line, plain)}
    for name, settings in (
        ("counters", TracerSettings(counters_only=True)),
        ("full trace", TracerSettings()),
    ):
        spool = place / "spool"
        spool.mkdir()
        configure(spool, settings)
        found[name] = cpu_us(line, environment(spool))
        shutil.rmtree(spool)
    if shutil.which("strace"):
        options = ["-f", "-ttt", "-T", "-y", "-s", "0", "-o", str(place / "strace")]
        short = [program, str(place / "file"), str(PAIRS_UNDER_STRACE)]
        found["strace"] = cpu_us(["strace", *options, *short], plain)
    return found


def merge_cost(program: str, place: Path, operations: int) -> None:
    """Captures and merges so many operations."""
    begin = time.monotonic()
    line = (program, str(place / "file"), str(operations // 2), "quiet")
    outcome = capture(line, place / "big.trace", TracerSettings())
    seconds = time.monotonic() - begin - outcome.captured.trace.job.seconds
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    count = outcome.captured.trace.operation_count
    print(f"one trace of {count:,} operations: {seconds:.1f} s, {most:.2f} GiB")


def main() -> None:
    """Prints the cost of each way and what it adds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--operations", type=int, default=10_000_000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        program = str(place / "tracer_raw")
        source = str(ROOT / "bench" / "tracer_raw.c")
        subprocess.run(["gcc", "-O2", "-o", program, source], check=True)
        turns = [one_turn(program, place) for _ in range(arguments.turns)]
        medians = {way: statistics.median(turn[way] for turn in turns) for way in turns[0]}
        base = medians["no tracer"]
        for way, value in medians.items():
            added = [turn[way] - turn["no tracer"] for turn in turns]
            aim = f", aim {AIMS_US[way]} µs" if way in AIMS_US else ""
            print(
                f"{way:<11} {value:7.3f} µs of CPU per request ({value / base:.2f}x), "
                f"adds {statistics.median(added):.3f}{aim}"
            )
        merge_cost(program, place, arguments.operations)


if __name__ == "__main__":
    main()
