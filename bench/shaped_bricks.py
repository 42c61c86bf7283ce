"""Rates of servers on GlusterFS whose bricks have known bandwidths: measured / known, and whether
the slow brick is named.

Every rank writes a file of its own and syncs it; a file is on one brick. Both the rates and the
name are the record's own, from the times of the ranks and from what the file system says of their
files. Bricks are in memory, so that a busy disk is not what is measured; bandwidths are far below
what a busy machine can do. Needs root, FUSE, and `packaging/prepare test`.
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
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

from cli.gluster import Volume  # noqa: E402
from venturi.model.event import ServerShare  # noqa: E402

WORKLOAD = """
workload: 1
name: own
parameters: {{np: {{default: 8, role: ranks}}}}
groups: {{tasks: {{ranks: np}}}}
files: {{own: {{path: "f{{rank}}", shared: rank}}}}
program:
  tasks:
    - phase: write
      do:
        - create: own
        - write: {{to: own, transfer: 1 MiB, size: {size} MiB}}
        - sync: fsync
        - close: own
"""


def run(volume: Volume, folder: Path, ranks: int, size_mib: int) -> Any:
    """The phase of one run."""
    (folder / "own.yaml").write_text(WORKLOAD.format(size=size_mib))
    line = [sys.executable, "-m", "venturi", "run", str(folder / "own.yaml"), "--repeat", "1"]
    line += ["-d", str(volume.mount), "-n", str(ranks), "--json", "-q"]
    environment = os.environ | {"VENTURI_STORE": str(folder / "store")}
    done = subprocess.run(line, capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    [row] = json.loads(done.stdout)["phases"]
    return row


def main() -> None:
    """Print the ratios."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--mbit", type=int, nargs="+", default=[40, 40, 40, 8])
    options.add_argument("--ranks", type=int, default=8)
    options.add_argument("--size", type=int, default=8, help="MiB of each rank")
    options.add_argument("--runs", type=int, default=3)
    chosen = options.parse_args()
    ratios: dict[str, list[float]] = {}
    known: dict[str, int] = {}
    with tempfile.TemporaryDirectory(dir="/dev/shm") as name:
        folder = Path(name)
        volume = Volume(folder / "v")
        try:
            volume.start(len(chosen.mbit), mbit=chosen.mbit)
            known = {str(b.data): chosen.mbit[b.number] for b in volume.bricks}
            for _ in range(chosen.runs):
                row = run(volume, folder, chosen.ranks, chosen.size)
                for share in (ServerShare.model_validate(one) for one in row["servers"]):
                    brick = share.server.split(":", 1)[1]
                    ratio = share.bytes_per_second / (known[brick] * 1e6 / 8)
                    ratios.setdefault(brick, []).append(ratio)
                named = [
                    f"{one['server']} ({one['bytes_per_second'] / 1e6:.2f} MB/s, the median "
                    f"{one['median_bytes_per_second'] / 1e6:.2f})"
                    for one in row["slow_servers"]
                ]
                print(f"named as slow: {', '.join(named) or 'none'}", flush=True)
        finally:
            volume.stop()
    for brick, values in sorted(ratios.items()):
        print(
            f"{brick}, {known[brick]} Mbit/s: measured / known "
            f"{statistics.median(values):.3f} ({', '.join(f'{v:.3f}' for v in sorted(values))})"
        )


if __name__ == "__main__":
    main()
