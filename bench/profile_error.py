"""How far predictions from a profile alone are off: predicted and measured I/O time by phase.

    bench/profile_error.py [--dir DIR ...] [--budget 90s] [--repeat 5] [--keep FOLDER] [--least]
                           [--on openmpi]

Each directory is profiled; then the workloads below are predicted from the profile, run there, and
both are printed side by side. I/O time is the sum of each kind's slowest rank, the median of the
repetitions. A phase that a limit of time ended is compared by the work that it did in it. `--least`
compares the lower end of the interval with the least repetition: on a machine that others use it
shows what the model misses apart from them. `--on` profiles and runs with MPI, through the
interfaces on its files.
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
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "src"))
WORKLOADS = (
    ("quick", ()),
    ("ior", ()),
    ("ior", ("--set", "per_process=1", "--set", "transfer=4096")),
    ("mdtest-easy", ()),
    ("mdtest-hard", ()),
    ("md-workbench", ()),
    ("flash3", ("--set", "interface=posix")),
    ("interference", ()),
    ("ior_fpp_1m", ()),
    ("ior_small_4k", ()),
    ("ior_fsync_each", ()),
    ("ior_shared_seg", ()),
    ("mdtest_3901", ()),
    ("miniapp", ("--set", "interface=posix")),
    ("serial_app", ()),
    ("dd", ()),
)
"""Of the library, or of the logs in `examples/darshan`, whose proxies are derived."""
WITH_MPI = (
    ("ior", ("--set", "interface=mpiio")),
    ("ior", ("--set", "interface=mpiio", "--set", "per_process=1", "--set", "transfer=65536")),
    ("flash3", ("--set", "interface=hdf5")),
    ("flash3", ("--set", "interface=pnetcdf")),
    ("vorpal", ("--set", "interface=hdf5")),
)
"""The same where ranks are an MPI's."""
MPI_INTERFACES = "mpiio,hdf5,pnetcdf"
Row = tuple[str, str, float, float, float, str]
"""Workload, phase, predicted and measured seconds, error, whether it is inside the interval."""
LEAST_S = 100e-6
"""Phases that take less are no measurement of storage."""


def venturi(*words: str) -> str:
    """Standard output of a command; what it said elsewhere goes on."""
    done = subprocess.run(
        [sys.executable, "-m", "venturi", *words], stdout=subprocess.PIPE, text=True, check=False
    )
    if done.returncode not in (0, 3):
        raise RuntimeError(f"venturi {' '.join(words)}: exit code {done.returncode}")
    return done.stdout


def workload_of(name: str, folder: Path) -> str:
    """A name of the library, or the file of a proxy that is derived into `folder`."""
    log = ROOT / "examples" / "darshan" / name / f"{name}.darshan"
    if not log.exists():
        return name
    path = folder / f"{name}.yaml"
    venturi("derive", str(log), "-o", str(path))
    return str(path)


def measured_of(record: dict[str, Any], least: bool) -> dict[str, tuple[float, float]]:
    """By phase: median (or least) seconds in I/O of a repetition, and median operations."""
    middle = min if least else statistics.median
    by_path: dict[str, dict[int, list[float]]] = {}
    for row in record["phases"]:
        sums = by_path.setdefault(row["path"], {}).setdefault(row["repetition"], [0.0, 0.0])
        sums[0] += sum(done["seconds"] for done in row["by_operation"].values())
        sums[1] += row["operations"]
    return {
        path: (
            middle(sums[0] for sums in turns.values()),
            statistics.median(sums[1] for sums in turns.values()),
        )
        for path, turns in by_path.items()
    }


def compare(
    label: str,
    options: tuple[str, ...],
    workload: str,
    place: tuple[Path, Path, str],
    how: tuple[int, bool],
) -> list[Row]:
    """Rows of one workload; the place is a directory, its profile, and what starts ranks."""
    (directory, machine, launcher), (repeat, least) = place, how
    predicted = json.loads(venturi("predict", workload, "--on", str(machine), "--json", *options))
    run = venturi(
        "run",
        workload,
        "-d",
        str(directory),
        "--on",
        launcher,
        "--repeat",
        str(repeat),
        "-q",
        "--json",
        *options,
    )
    measured = measured_of(json.loads(run), least)
    rows = []
    for phase in predicted["phases"]:
        seconds, operations = measured.get(phase["path"], (0.0, 0.0))
        ours = phase["seconds"]["low" if least else "median"]
        if seconds < LEAST_S or phase["unknown"]:
            continue
        ratio = ours / seconds
        if phase["done_share"] < 1 and operations:
            # Both stop at the same time: the work per second is what was predicted.
            ratio = (ours / phase["operations"]) / (seconds / operations)
        inside = phase["seconds"]["low"] <= seconds <= phase["seconds"]["high"]
        rows.append((label, phase["path"], ours, seconds, ratio - 1, "yes" if inside else "no"))
    return rows


def main() -> None:
    """Profile, predict, run, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dir", action="append", type=Path)
    parser.add_argument("--budget", default="90s")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--only", action="append", help="this workload, and others so named")
    parser.add_argument("--least", action="store_true")
    parser.add_argument("--on", default="local", help="what starts ranks: openmpi, mpich")
    parser.add_argument("--keep", type=Path, help="where machine files are kept, and used again")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.keep or Path(scratch)
        folder.mkdir(exist_ok=True)
        os.environ["VENTURI_STORE"] = str(Path(scratch, "store"))
        for directory in arguments.dir or [Path("/dev/shm"), Path(tempfile.gettempdir())]:
            suffix = "" if arguments.on == "local" else f"-{arguments.on}"
            machine = folder / f"machine{str(directory).replace('/', '-')}{suffix}.yaml"
            if not machine.exists():
                words = ("--budget", arguments.budget, "--on", arguments.on)
                if arguments.on != "local":
                    words = (*words, "--interfaces", MPI_INTERFACES)
                venturi("profile", str(directory), "-o", str(machine), *words)
            print_head(directory, machine)
            rows: list[Row] = []
            for name, options in WORKLOADS if arguments.on == "local" else WITH_MPI:
                if arguments.only and name not in arguments.only:
                    continue
                label = " ".join([name, *options[1::2]])
                place = (directory, machine, arguments.on)
                try:
                    workload = workload_of(name, Path(scratch))
                    how = (arguments.repeat, arguments.least)
                    found = compare(label, options, workload, place, how)
                except RuntimeError as error:
                    print(f"{label}: left out: {error}", file=sys.stderr)
                    continue
                rows += found
                for label, path, ours, theirs, error, inside in found:
                    print(
                        f"| {label} | {path} | {ours:.4g} | {theirs:.4g} | {100 * error:+.0f} % "
                        f"| {inside} |",
                        flush=True,
                    )
            print_summary(rows)


def print_head(directory: Path, machine: Path) -> None:
    """Where and how busy, what the profile lacks, then the table's head."""
    from venturi.model.machine import Machine
    from venturi.model.yaml_text import load_yaml

    print(f"\n{directory}, load {os.getloadavg()[0]:.1f} before the runs\n")
    profile = load_yaml(machine, Machine).profile
    for note in profile.notes if profile is not None else ():
        print(f"profile: {note}\n")
    print("| workload | phase | predicted s | measured s | error | inside the interval |")
    print("|---|---|---:|---:|---:|---|", flush=True)


def print_summary(rows: list[Row]) -> None:
    """The errors of all phases together."""
    if rows:
        errors = sorted(abs(row[4]) for row in rows)
        share = sum(row[5] == "yes" for row in rows) / len(rows)
        print(
            f"\nmedian |error| {100 * statistics.median(errors):.0f} %, 90th percentile "
            f"{100 * errors[int(0.9 * (len(errors) - 1))]:.0f} %, {len(rows)} phases, "
            f"{100 * share:.0f} % inside the interval"
        )


if __name__ == "__main__":
    main()
