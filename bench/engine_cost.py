"""What an operation costs in the engine: alone (null storage), and against raw system calls.

Prints nanoseconds for the null storage and ratios for POSIX. The ratios come from interleaved
pairs on the same file, prepared the same way, because absolute times do not travel.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

from engine.plans import file, manage, nest, phase, plan, read, write  # noqa: E402

BLOCK = 4096


def run(engine: str, place: Path, interface: str, count: int) -> dict[str, dict[str, float]]:
    """Seconds of transfer and of the loop around it, for a write and a read phase."""
    pattern = nest(0, (count, BLOCK))
    warm_up = write(BLOCK, pattern)
    made = plan(
        place,
        [file(interface=interface)],
        [
            phase("prepare", manage("create"), warm_up),
            phase("write", write(BLOCK, pattern)),
            phase("read", read(BLOCK, pattern)),
        ],
    )
    command = [engine, "run", str(Path(made.journal) / "plan.json")]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    events = [json.loads(line) for line in out.splitlines()]
    return {
        event["path"]: event["seconds"] for event in events if event["event"] == "phase_finished"
    }


def null_cost(engine: str, count: int) -> None:
    """Nanoseconds of one operation with its histogram, time line and counters."""
    costs = []
    for _ in range(5):
        with tempfile.TemporaryDirectory() as place:
            seconds = run(engine, Path(place), "null", count)
        costs.append(seconds["write"]["total"] / count * 1e9)
    print(f"null storage: {min(costs):.1f} ns an operation (best of 5; aim: 30 to 40)")


def posix_ratio(engine: str, raw: str, base: Path, count: int, pairs: int) -> None:
    """Medians of engine / raw for buffered 4 KiB writes and reads."""
    ratios: dict[str, list[float]] = {"write": [], "read": []}
    for _ in range(pairs):
        with tempfile.TemporaryDirectory(dir=base) as place:
            out = subprocess.run(
                [raw, str(Path(place) / "raw"), str(count)],
                capture_output=True,
                text=True,
                check=True,
            ).stdout
            plain = json.loads(out)
            os.unlink(Path(place) / "raw")
            ours = run(engine, Path(place), "posix", count)
        for name, values in ratios.items():
            values.append(ours[name]["total"] / plain[name])
    for name, values in ratios.items():
        low, high = min(values), max(values)
        print(
            f"posix 4 KiB {name} on {base}: {statistics.median(values):.3f} x raw "
            f"[{low:.3f} .. {high:.3f}, {pairs} pairs]"
        )


def main() -> None:
    """Runs all comparisons."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--engine-dir", type=Path, default=ROOT / "build" / "release")
    parser.add_argument("--dir", type=Path, action="append", help="where the files go")
    parser.add_argument("--pairs", type=int, default=9)
    arguments = parser.parse_args()
    engine = str(arguments.engine_dir / "venturi-engine")
    with tempfile.TemporaryDirectory() as place:
        raw = str(Path(place) / "raw")
        source = str(ROOT / "bench" / "engine_raw.cpp")
        subprocess.run(["c++", "-O2", "-std=c++20", "-o", raw, source], check=True)
        null_cost(engine, 20_000_000)
        for base in arguments.dir or [Path(tempfile.gettempdir()), Path("/dev/shm")]:
            posix_ratio(engine, raw, base, 65_536, arguments.pairs)


if __name__ == "__main__":
    main()
