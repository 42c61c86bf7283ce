"""What FLASH's datasets of four dimensions change, beside its proxy that IOR can say.

    bench/flash_datasets.py [--pairs 10] [--ranks 2] [--zones 80] [--on openmpi] [--dir DIR]

`flash3` on HDF5 (one call for each variable and rank) and `flash3-ior` (the same bytes as datasets
of one dimension, in calls of 64 KiB, of 1 MiB, and with one call for each) run in turn, there and
back again. Printed is how far the proxy's bandwidth lies above the application's, (IOR - FLASH) /
FLASH of the medians with its 95 % interval, and the same of FLASH against itself: the noise.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "src"))

from venturi.analyse.paired import interleaved, signed_error  # noqa: E402
from venturi.model.statistic import median  # noqa: E402

FLASH = ("flash3",)
SERIES = {
    "flash3": FLASH,
    "flash3 again": FLASH,
    "flash3, nothing packed": (*FLASH, "--set", "guard=0", "--set", "together=1"),
    "flash3-ior, 64 KiB a call": ("flash3-ior", "--set", "transfer=64 KiB"),
    "flash3-ior, 1 MiB a call": ("flash3-ior", "--set", "transfer=1 MiB"),
    "flash3-ior, one call": ("flash3-ior", "--set", "transfer=8 * zones**3"),
}


def bandwidth(words: tuple[str, ...], store: str, asked: argparse.Namespace) -> float:
    """Bytes per second of one run's checkpoints."""
    sizes = ["--set", f"zones={asked.zones}", "--set", "think=0", "--set", "dumps=2"]
    line = [sys.executable, "-m", "venturi", "run", *words, *sizes, "-d", asked.dir, "--json", "-q"]
    line += ["-n", str(asked.ranks), "--on", asked.on, "--repeat", "1"]
    environment = {**os.environ, "VENTURI_STORE": store, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(line, capture_output=True, text=True, check=True, env=environment)
    return float(json.loads(done.stdout)["metrics"]["write_bandwidth"]["values"][0])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--zones", type=int, default=80, help="zones per edge of a block")
    parser.add_argument("--on", default="openmpi")
    parser.add_argument("--dir", default=".")
    asked = parser.parse_args()
    names = list(SERIES)
    found: dict[str, list[float]] = {name: [] for name in names}
    with tempfile.TemporaryDirectory(prefix="venturi-flash-") as store:
        for which in interleaved(asked.pairs, len(names)):
            found[names[which]].append(bandwidth(SERIES[names[which]], store, asked))
    base = found["flash3"]
    print(f"flash3: {median(base) / 1e6:.0f} MB/s, {asked.pairs} rounds")
    for name in names[1:]:
        error = signed_error(base, found[name])
        print(f"{name}: {error.signed:+.1%} ({error.low:+.1%} .. {error.high:+.1%})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
