"""How far apart ranks of one node start in a phase: forked ranks, and those of an MPI.

Each rank writes once in each of many short phases; the operation log has the moment. Printed are
the median and the largest distance between the first and the last rank of a phase, in µs.

    python bench/start_skew.py DIR [--ranks 2] [--phases 200] [--on local --on mpich]
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

TEXT = """
workload: 1
name: starts
repeat: 1
log_operations: true
files: {{data: {{path: "data.{{rank}}", shared: rank}}}}
program:
  all:
    - {{phase: open, do: [{{create: data}}]}}
    - for: turn
      in: {phases}
      do:
        - phase: start
          do: [{{write: {{to: data, size: 4 KiB, at: 0}}}}]
        - compute: 5 ms
    - {{phase: close, do: [{{close: data}}]}}
"""


def distances_us(directory: str, ranks: int, phases: int, machine: str) -> list[float]:
    """Return the distance between first and last rank of each phase, in µs."""
    with tempfile.TemporaryDirectory() as home:
        workload = Path(home, "starts.yaml")
        workload.write_text(TEXT.format(phases=phases))
        line = [
            sys.executable,
            "-m",
            "venturi",
            "run",
            str(workload),
            "-d",
            directory,
            "-q",
            "-n",
            str(ranks),
            "--on",
            machine,
            "--store",
            f"{home}/store",
        ]
        subprocess.run(line, check=True, capture_output=True)
        [log] = Path(home, "store").glob("runs/*/operations.npz")
        with np.load(log) as columns:
            writes = columns["kind"] == list(columns["kind_names"]).index("write")
            phase, begin_ns = columns["phase"][writes], columns["begin_ns"][writes]
    starts = [begin_ns[phase == one] for one in np.unique(phase)]
    return [float(own.max() - own.min()) / 1e3 for own in starts if len(own) == ranks]


def main() -> None:
    """Measure and print a line for each way to start."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("directory")
    options.add_argument("--ranks", type=int, default=2)
    options.add_argument("--phases", type=int, default=200)
    options.add_argument("--on", action="append", default=[])
    chosen = options.parse_args()
    for machine in chosen.on or ["local"]:
        found = sorted(distances_us(chosen.directory, chosen.ranks, chosen.phases, machine))
        print(
            f"{machine:<8} {len(found)} phases: median {statistics.median(found):.1f} µs, "
            f"nine of ten below {found[int(0.9 * len(found))]:.1f} µs, "
            f"largest {found[-1]:.1f} µs"
        )


if __name__ == "__main__":
    main()
