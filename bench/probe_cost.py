"""What others notice of a probe: a small benchmark with and without one beside it.

    python bench/probe_cost.py [DIR]... [--pairs 12] [--interval 1]

Without a DIR the file systems are tmpfs (/dev/shm) and, for root, ext4 on a loop device. The
benchmark is the engine with one rank: blocks of 1 MiB written and flushed, read again, and small
files made, asked for and removed. It runs in pairs, once beside `venturi probe run --small` on the
same file system and once alone, and which is first alternates. Printed is, for each phase, the
median over the pairs of the time beside the probe by the time alone, with its interval of 95 % by
order statistics (nothing is assumed of how times vary), and the same of two times alone: what the
machine does by itself. A ratio whose interval holds 1 says that no cost was seen, not that there
is none.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

from engine.plans import (  # noqa: E402
    LOOP,
    file,
    items,
    loop,
    manage,
    nest,
    number,
    phase,
    plan,
    read,
    write,
)
from venturi.execute.engine import find_engine  # noqa: E402
from venturi.model.plan import Sync, SyncMode, Tree  # noqa: E402
from venturi.model.statistic import median_interval  # noqa: E402

MIB = 2**20
BLOCKS, FILES = 64, 500
_LIMIT_S = 60.0
_LOOP_MIB = 1024
PHASES = ("write", "read", "metadata")
Seconds = dict[str, float]


def benchmark(base: Path, passes: int) -> Seconds:
    """Seconds of each phase, over all its passes."""
    with tempfile.TemporaryDirectory(dir=base) as name:
        place = Path(name)
        tree = Tree(items=number(FILES), size=number(4096))
        pattern = nest(0, (BLOCKS, MIB))
        made = plan(
            place,
            [file(), file("d", tree=tree)],
            [
                manage("create"),
                phase(
                    "write",
                    loop(LOOP, passes, write(MIB, pattern), Sync(file=0, mode=SyncMode.FSYNC)),
                ),
                phase("read", loop(LOOP, passes, read(MIB, pattern))),
                manage("close"),
                phase(
                    "metadata",
                    loop(
                        LOOP,
                        passes,
                        items("create", "write", "close", index=1),
                        items("stat", index=1),
                        items("unlink", index=1),
                    ),
                ),
            ],
            loops=["pass"],
        )
        command = [str(find_engine()), "run", str(Path(made.journal) / "plan.json")]
        out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    events = [json.loads(line) for line in out.splitlines()]
    return {
        one["path"]: one["seconds"]["total"] for one in events if one["event"] == "phase_finished"
    }


class Probe:
    """A probe on a file system, whose samples are kept elsewhere."""

    def __init__(self, base: Path, store: Path, interval_s: float) -> None:
        self._store = store
        self._command = [
            sys.executable, "-m", "venturi", "probe", "run", "--small", "--yes",
            "--interval", str(interval_s), "--store", str(store), str(base),
        ]  # fmt: skip

    def samples(self) -> int:
        """How many there are; missed moments count, too."""
        from venturi.probe.ring import read_header

        return sum(read_header(ring).head for ring in self._store.glob("probe/*/*.ring"))

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Let it run; it has measured each operation before the body begins."""
        before = self.samples()
        process = subprocess.Popen(self._command, stderr=subprocess.DEVNULL)
        try:
            limit_s = time.monotonic() + _LIMIT_S
            while self.samples() < before + 12:
                assert process.poll() is None, f"the probe ended with {process.returncode}"
                assert time.monotonic() < limit_s, "the probe measures nothing"
                time.sleep(0.1)
            yield
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(_LIMIT_S)

    def remove(self) -> None:
        """Take its files away."""
        names = [path.name for path in self._store.glob("probe/*")]
        line = [sys.executable, "-m", "venturi", "probe", "remove", "--yes", *names]
        subprocess.run([*line, "--store", str(self._store)], check=True, capture_output=True)


def passes_for(base: Path, seconds: float) -> int:
    """How many passes take about so long in all."""
    benchmark(base, 2)
    one_s = sum(benchmark(base, 4).values()) / 4
    return max(1, round(seconds / one_s))


def compare(base: Path, pairs: int, interval_s: float, seconds: float) -> None:
    """Interleaved pairs on one file system."""
    passes = passes_for(base, seconds)
    beside: list[Seconds] = []
    alone: list[Seconds] = []
    felt = 0
    with tempfile.TemporaryDirectory() as store:
        probe = Probe(base, Path(store), interval_s)

        def one_beside() -> None:
            nonlocal felt
            with probe.running():
                before = probe.samples()
                beside.append(benchmark(base, passes))
                felt += probe.samples() - before

        try:
            for pair in range(pairs):
                for is_beside in (pair % 2 == 0, pair % 2 == 1):
                    if is_beside:
                        one_beside()
                    else:
                        alone.append(benchmark(base, passes))
        finally:
            probe.remove()
    print(f"  {pairs} pairs of {passes} passes; the probe made {felt} operations beside them")
    for name in PHASES:
        ratios = [one[name] / other[name] for one, other in zip(beside, alone, strict=True)]
        noise = [one[name] / other[name] for one, other in zip(alone[1:], alone, strict=False)]
        print(f"  {name:9} beside / alone {_said(ratios)}   alone / alone {_said(noise)}")


def _said(ratios: list[float]) -> str:
    found = median_interval(ratios)
    sure = "" if found.coverage >= 0.95 else f", only {found.coverage:.0%} sure"
    return f"{found.median:.3f} [{found.low:.3f} .. {found.high:.3f}{sure}]"


@contextlib.contextmanager
def loop_ext4() -> Iterator[Path]:
    """ext4 on a loop device of its own."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
        image, mount = Path(name) / "image", Path(name) / "mount"
        mount.mkdir()
        with image.open("wb") as out:
            out.truncate(_LOOP_MIB * MIB)
        subprocess.run(["mkfs.ext4", "-q", "-F", str(image)], check=True)
        subprocess.run(["mount", "-o", "loop", str(image), str(mount)], check=True)
        try:
            yield mount
        finally:
            subprocess.run(["umount", str(mount)], check=True)


def main() -> None:
    """Compares on each file system."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directories", nargs="*", type=Path, metavar="DIR")
    parser.add_argument("--pairs", type=int, default=12, help="6 or more give an interval")
    parser.add_argument("--interval", type=float, default=1.0, help="of the probe, in seconds")
    parser.add_argument("--seconds", type=float, default=5.0, help="of one benchmark, about")
    given = parser.parse_args()
    load = os.getloadavg()[0]
    print(f"load {load:.1f} on {os.cpu_count()} processors")
    with contextlib.ExitStack() as mounts:
        places = {str(one): one for one in given.directories}
        if not places:
            places["tmpfs, /dev/shm"] = Path("/dev/shm")
            if os.geteuid() == 0:
                places["ext4 on a loop device"] = mounts.enter_context(loop_ext4())
        for name, place in places.items():
            print(name, flush=True)
            compare(place, given.pairs, given.interval, given.seconds)


if __name__ == "__main__":
    main()
