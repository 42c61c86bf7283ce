"""How long ranks take to their first operation, and how much memory a rank needs.

Forked ranks: seconds from the start of the process to the first phase. MPI: the same, as a ratio
to a program that only initialises MPI, in interleaved pairs. Memory: the peak of a rank that makes
few and many requests and files.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

from engine.plans import Tree, file, items, manage, nest, number, phase, plan, write  # noqa: E402

MPIS = {
    "openmpi": ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "-n"],
    "mpich": ["mpirun.mpich", "-n"],
}
WRAPPERS = {"openmpi": "mpicxx.openmpi", "mpich": "mpicxx.mpich"}


def seconds_to(word: str, command: list[str]) -> float:
    """Seconds until a program prints a line with a word; it runs to its end."""
    begin = time.monotonic()
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        took = 0.0
        for line in process.stdout:
            if word in line and not took:
                took = time.monotonic() - begin
    if process.returncode != 0 or not took:
        raise SystemExit(f"failed: {' '.join(command)}")
    return took


def small_plan(place: str, ranks: int) -> str:
    """A plan with one phase; the path of its file."""
    made = plan(
        Path(place),
        [file()],
        [phase("first", manage("create"), write(4096, nest(0, (4, 4096))))],
        ranks=ranks,
    )
    return str(Path(made.journal) / "plan.json")


def forked_start(engine: str, ranks: int, times: int) -> None:
    """Prints the seconds from start to the first phase."""
    took = []
    for _ in range(times):
        with tempfile.TemporaryDirectory() as place:
            took.append(seconds_to("phase_started", [engine, "run", small_plan(place, ranks)]))
    print(f"{ranks} forked ranks: {statistics.median(took):.2f} s to the first phase")


def mpi_start(kind: str, engine: Path, ranks: int, times: int) -> None:
    """Prints the ratio of our start to MPI's own."""
    if not (engine.exists() and shutil.which(MPIS[kind][0])):
        print(f"{kind}: not here")
        return
    ratios = []
    with tempfile.TemporaryDirectory() as tools:
        bare = str(Path(tools) / "bare")
        subprocess.run(
            [WRAPPERS[kind], "-O2", "-o", bare, str(ROOT / "bench" / "mpi_start.cpp")], check=True
        )
        for _ in range(times):
            plain = seconds_to("started", [*MPIS[kind], str(ranks), bare])
            with tempfile.TemporaryDirectory() as place:
                command = [*MPIS[kind], str(ranks), str(engine), "run", small_plan(place, ranks)]
                ratios.append(seconds_to("phase_started", command) / plain)
    print(
        f"{kind}, {ranks} ranks: {statistics.median(ratios):.2f} x MPI's own start "
        f"[{min(ratios):.2f} .. {max(ratios):.2f}, {times} pairs]"
    )


def peak_mib(command: list[str]) -> float:
    """The largest memory of one process, in MiB (what the kernel says of it, looked at often).

    `ru_maxrss` would be that of this interpreter, from before the process became another program.
    """
    peak_kib = 0
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None:
        status = Path(f"/proc/{process.pid}/status").read_text()
        for line in status.splitlines():
            if line.startswith("VmHWM"):
                peak_kib = int(line.split()[1])
        time.sleep(0.001)
    if process.returncode != 0:
        raise SystemExit(f"failed: {' '.join(command)}")
    return peak_kib / 1024


def memory(engine: str, requests: int, files: int) -> None:
    """Prints the peaks of runs with few and with many requests and files."""
    for count in (16, requests):
        with tempfile.TemporaryDirectory() as place:
            pattern = nest(0, (count, 4096))
            made = plan(
                Path(place),
                [file(interface="null")],
                [phase("write", manage("create"), write(4096, pattern))],
            )
            peak = peak_mib([engine, "run", str(Path(made.journal) / "plan.json")])
        print(f"{count} requests: {peak:.1f} MiB")
    for count in (16, files):
        with tempfile.TemporaryDirectory(dir="/dev/shm") as place:
            made = plan(
                Path(place),
                [file(tree=Tree(items=number(count), size=number(0)))],
                [phase("make", items("create", "close")), phase("drop", items("unlink"))],
            )
            peak = peak_mib([engine, "run", str(Path(made.journal) / "plan.json")])
        print(f"{count} files: {peak:.1f} MiB")


def main() -> None:
    """Runs all comparisons."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--engine-dir", type=Path, default=ROOT / "build" / "release")
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--requests", type=int, default=1_000_000_000)
    parser.add_argument("--files", type=int, default=1_000_000)
    arguments = parser.parse_args()
    engine = str(arguments.engine_dir / "venturi-engine")
    for ranks in (64, 512):
        forked_start(engine, ranks, arguments.times)
    for kind in MPIS:
        mpi_start(kind, arguments.engine_dir / f"venturi-engine-{kind}", 64, arguments.times)
    memory(engine, arguments.requests, arguments.files)


if __name__ == "__main__":
    main()
