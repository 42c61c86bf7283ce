"""What an operation costs in the engine: alone (null storage), and against raw system calls.

Prints nanoseconds for the null storage and, for POSIX, the share of a bare loop's speed that is
left: 1 is as fast as the loop. Absolute times do not travel, and a machine that others use slows
whoever is at work, so each process does short passes, its fastest counts, and the processes take
turns on files prepared the same way. The first number compares the fastest pass of all; behind it
stand the median and the range of the turns, and the noise: the bare loop against itself, a turn
earlier.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

from engine.plans import LOOP, file, loop, manage, nest, phase, plan, read, write  # noqa: E402

KIB = 1024
AIMS = {4 * KIB: 0.97, 64 * KIB: 0.99, 1024 * KIB: 0.99}
"""Share of a bare loop's speed that the engine shall keep, by size of the transfers."""
VOLUME = 128 * 1024 * KIB
"""Bytes that each rank moves in a pass: enough that a buffer which begins cold is no matter."""
PASSES = 12
"""Of each process."""


@dataclass(frozen=True)
class Job:
    """What one process does."""

    size: int = 4 * KIB
    count: int = 4096
    ranks: int = 1
    depth: int = 1


def fastest(engine: str, place: Path, interface: str, job: Job) -> dict[str, float]:
    """Seconds of the fastest write and read phase, each rank with its own file."""
    pattern = nest(0, (job.count, job.size))
    made = plan(
        place,
        [file(interface=interface, per_rank=True)],
        [
            manage("create"),
            write(job.size, pattern),
            loop(
                LOOP,
                PASSES,
                phase("write", write(job.size, pattern, depth=job.depth)),
                phase("read", read(job.size, pattern, depth=job.depth)),
            ),
        ],
        ranks=job.ranks,
        loops=["pass"],
    )
    command = [engine, "run", "--forked", str(Path(made.journal) / "plan.json")]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found: dict[str, list[float]] = {"write": [], "read": []}
    for line in out.splitlines():
        event = json.loads(line)
        if event["event"] == "phase_finished":
            found[event["path"]].append(event["seconds"]["total"])
    return {kind: min(seconds) for kind, seconds in found.items()}


def null_cost(engine: str, depth: int) -> None:
    """Nanoseconds of one operation with its histogram, time line and counters."""
    job = Job(count=200_000, depth=depth)
    with tempfile.TemporaryDirectory() as place:
        seconds = fastest(engine, Path(place), "null", job)
    cost = seconds["write"] / job.count * 1e9
    print(f"null storage, depth {depth}: {cost:.1f} ns an operation (aim: 30)", flush=True)


def raw_fastest(raw: str, place: Path, job: Job) -> dict[str, float]:
    """The bare loop's seconds of its fastest write and read pass."""
    words = [str(n) for n in (job.count, job.size, job.ranks, PASSES)]
    command = [raw, str(place / "raw"), *words]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found: dict[str, float] = json.loads(out)
    return found


def posix_ratio(engine: str, raw: str, base: Path, job: Job, pairs: int) -> None:
    """Medians of raw / engine: the share of the bare loop's speed that the engine keeps."""
    ratios: dict[str, list[float]] = {"write": [], "read": []}
    noise: dict[str, list[float]] = {"write": [], "read": []}
    best: dict[str, list[float]] = {"write": [9e9, 9e9], "read": [9e9, 9e9]}
    last: dict[str, float] = {}
    for pair in range(pairs):
        with tempfile.TemporaryDirectory(dir=base) as name:
            place = Path(name)
            # Who comes second finds another machine: turn and turn about.
            ours = fastest(engine, place, "posix", job) if pair % 2 else {}
            plain = raw_fastest(raw, place, job)
            ours = ours or fastest(engine, place, "posix", job)
        for kind, values in ratios.items():
            values.append(plain[kind] / ours[kind])
            best[kind] = [min(best[kind][0], plain[kind]), min(best[kind][1], ours[kind])]
            if last:
                noise[kind].append(last[kind] / plain[kind])
        last = plain
    for kind, values in ratios.items():
        print(
            f"posix {job.size // KIB} KiB {kind} on {base}, {job.ranks} ranks: "
            f"{best[kind][0] / best[kind][1]:.3f} of a bare loop (aim {AIMS[job.size]}) "
            f"[median {statistics.median(values):.3f}, "
            f"{min(values):.3f} .. {max(values):.3f}, {pairs} pairs; "
            f"bare loop against itself {min(noise[kind]):.3f} .. {max(noise[kind]):.3f}]",
            flush=True,
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
        for depth in (1, 32):
            null_cost(engine, depth)
        for base in arguments.dir or [Path("/dev/shm"), Path(tempfile.gettempdir())]:
            for ranks in (1, 2):
                for size in AIMS:
                    job = Job(size, VOLUME // size, ranks)
                    posix_ratio(engine, raw, base, job, arguments.pairs)


if __name__ == "__main__":
    main()
