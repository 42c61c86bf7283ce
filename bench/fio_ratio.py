"""fio's jobs run by our engine and by fio itself, in turn in one run: the ratio of their rates.

Each job is one line of fio's own options, which both are given; both lay out their files
themselves, and both rates are those that the JSON of each says. A ratio is our rate divided by
fio's: 1 is as fast. Beside it stands the noise: the same ratio between neighbouring runs of fio.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).parents[1]
SETTLE_S = 1.0
"""Between two runs. Writes with a sync at the end had 0.3 of fio's rate without it, 1.0 with it."""


@dataclass(frozen=True)
class FioCase:
    """One job, and where it runs."""

    name: str
    words: str
    on_disk: bool = False

    @property
    def way(self) -> str:
        """The direction whose rate counts."""
        return "write" if "write" in self.words else "read"


CASES = (
    FioCase("4 KiB random reads, psync", "--rw=randread --bs=4k --size=512m --ioengine=psync"),
    FioCase("1 MiB sequential writes, psync", "--rw=write --bs=1m --size=1g --ioengine=psync"),
    FioCase(
        "4 KiB random reads, io_uring, depth 32",
        "--rw=randread --bs=4k --size=256m --ioengine=io_uring --iodepth=32",
    ),
    FioCase(
        "4 KiB random reads in turn from 4 files, psync",
        "--rw=randread --bs=4k --size=512m --nrfiles=4 --ioengine=psync",
    ),
    FioCase(
        "4 KiB random reads, psync, O_DIRECT",
        "--rw=randread --bs=4k --size=256m --io_size=64m --ioengine=psync --direct=1",
        on_disk=True,
    ),
    FioCase(
        "1 MiB sequential writes, psync, fsync at the end",
        "--rw=write --bs=1m --size=512m --ioengine=psync --end_fsync=1",
        on_disk=True,
    ),
    FioCase(
        "4 KiB random reads, io_uring, depth 32, O_DIRECT",
        "--rw=randread --bs=4k --size=256m --ioengine=io_uring --iodepth=32 --direct=1",
        on_disk=True,
    ),
)


def rate(command: list[str], case: FioCase, place: Path, store: Path) -> float:
    """Requests per second, as the JSON of a command says."""
    words = ["--name=job", f"--directory={place}", *case.words.split(), "--output-format=json"]
    out = subprocess.run(
        [*command, *words],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "VENTURI_STORE": str(store)},
    ).stdout
    return float(json.loads(out)["jobs"][0][case.way]["iops"])


def compare(case: FioCase, base: Path, pairs: int) -> None:
    """Print the ratios of one job."""
    ours = [sys.executable, "-m", "venturi", "compat", "fio", "-q", "--"]
    ratios: list[float] = []
    theirs: list[float] = []
    with tempfile.TemporaryDirectory(dir=base) as name:
        place, store = Path(name) / "files", Path(name) / "store"
        place.mkdir()
        for pair in range(pairs):
            found = {}
            for who, command in (("fio", ["fio"]), ("ours", ours))[:: 1 if pair % 2 else -1]:
                found[who] = rate(command, case, place, store)
                for left in place.iterdir():
                    left.unlink()
                os.sync()  # the next run does not wait for what this one removed
                time.sleep(SETTLE_S)
            ratios.append(found["ours"] / found["fio"])
            theirs.append(found["fio"])
    noise = [after / before for before, after in pairwise(theirs)]
    print(
        f"{case.name} on {base}: {statistics.median(ratios):.3f} of fio (aim 1) "
        f"[{min(ratios):.3f} .. {max(ratios):.3f}, {pairs} pairs; fio "
        f"{statistics.median(theirs):,.0f} requests/s, against itself "
        f"{min(noise):.3f} .. {max(noise):.3f}]",
        flush=True,
    )


def main() -> None:
    """Run all comparisons."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--disk", type=Path, default=Path(tempfile.gettempdir()))
    parser.add_argument("--memory", type=Path, default=Path("/dev/shm"))
    parser.add_argument("--pairs", type=int, default=9)
    parser.add_argument("--only", default="", help="cases with this word")
    arguments = parser.parse_args()
    if shutil.which("fio") is None:
        sys.exit("fio_ratio: fio is missing: run `packaging/prepare bench`")
    if arguments.pairs < 2:
        sys.exit("fio_ratio: give at least 2 pairs")
    for case in CASES:
        if arguments.only in case.name:
            compare(case, arguments.disk if case.on_disk else arguments.memory, arguments.pairs)


if __name__ == "__main__":
    main()
