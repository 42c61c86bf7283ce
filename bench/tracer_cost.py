"""What capturing costs: CPU per request of 512 bytes, and per small call of a stream.

Requests go to a cached file; medians of turns in which every way has one, because absolute times
do not travel. Then: how large one trace of many operations is, and how long it takes to make it.
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
from venturi.capture.summary import summary_of  # noqa: E402
from venturi.capture.tracer import TracerSettings, configure, environment  # noqa: E402

PAIRS = 200_000
PAIRS_UNDER_STRACE = 3_000
STREAM_CALLS = 1_000_000
STREAM_AIM_NS = 200
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


def stdio_turn(program: str, place: Path) -> dict[str, dict[str, float]]:
    """Nanoseconds per call of each kind of a stream, without and with the tracer."""
    line = [program, str(place / "stream"), str(STREAM_CALLS)]
    found = {"no tracer": per_kind(line, dict(os.environ))}
    for name, with_runs in (("full trace", True), ("a record for each call", False)):
        spool = place / "spool"
        spool.mkdir()
        configure(spool, TracerSettings(with_runs=with_runs))
        found[name] = per_kind(line, environment(spool))
        shutil.rmtree(spool)
    return found


def per_kind(command: list[str], variables: dict[str, str]) -> dict[str, float]:
    """What the program says of each kind of call."""
    out = subprocess.run(command, env=variables, capture_output=True, text=True, check=True).stdout
    return {kind: float(ns) for kind, ns in (line.split() for line in out.splitlines())}


def show_stdio(program: str, place: Path, turns: int) -> None:
    """Prints what the tracer adds to each kind of call of a stream."""
    found = [stdio_turn(program, place) for _ in range(turns)]
    for kind in found[0]["no tracer"]:
        base = statistics.median(turn["no tracer"][kind] for turn in found)
        added = []
        for way in list(found[0])[1:]:
            more = statistics.median(turn[way][kind] - turn["no tracer"][kind] for turn in found)
            added.append(f"{way} adds {more:.1f}")
        print(f"{kind:<8} {base:6.1f} ns without; {', '.join(added)}; aim {STREAM_AIM_NS}")


def merge_cost(line: tuple[str, ...], place: Path, *, with_runs: bool) -> None:
    """Captures the program and prints what making the trace took, and how large it is."""
    begin = time.monotonic()
    folder = place / f"big{with_runs}.trace"
    outcome = capture(line, folder, TracerSettings(with_runs=with_runs))
    summary_of(outcome)
    trace = outcome.folded.trace
    seconds = time.monotonic() - begin - trace.job.seconds
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6
    print(
        f"a trace of {trace.operation_count:,} operations: {size:.1f} MB, made in {seconds:.2f} s "
        f"({seconds / trace.operation_count * 1e7:.2f} s per 10 million), {most:.2f} GiB"
    )
    shutil.rmtree(folder)


def compiled(name: str, place: Path) -> str:
    """A program of this folder."""
    program = str(place / name)
    source = str(ROOT / "bench" / f"{name}.c")
    subprocess.run(["gcc", "-O2", "-o", program, source], check=True)
    return program


def main() -> None:
    """Prints the cost of each way and what it adds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--operations", type=int, default=10_000_000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        program = compiled("tracer_raw", place)
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
        show_stdio(compiled("tracer_stdio", place), place, arguments.turns)
        line = (program, str(place / "file"), str(arguments.operations // 2), "quiet")
        for with_runs in (True, False):
            merge_cost(line, place, with_runs=with_runs)


if __name__ == "__main__":
    main()
