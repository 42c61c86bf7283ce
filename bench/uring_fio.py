"""io_uring: 4 KiB random reads with 32 in flight, against fio on the same file in the same run.

fio writes the file; then fio and the engine read it in turn, `--pairs` times, each with the same
options. A ratio is the engine's requests per second divided by fio's: 1 is as fast. Beside it
stands the noise: the same ratio between neighbouring runs of fio.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

from engine.plans import PathPart, file, manage, phase, plan, random, read  # noqa: E402

BLOCK = 4096
DEPTH = 32


@dataclass(frozen=True)
class Setting:
    """One comparison: the same thing in the engine's words and in fio's."""

    name: str
    options: dict[str, str]
    words: list[str]


PLAIN = Setting("plain", {}, [])
REGISTERED = Setting(
    "registered buffers and files",
    {"registered_buffers": "true", "registered_files": "true"},
    ["--fixedbufs=1", "--registerfiles=1"],
)
BATCHED = Setting("plain, fio told to submit in batches", {}, ["--iodepth_batch_submit=16"])


def ours(engine: str, place: Path, target: Path, count: int, options: dict[str, str]) -> float:
    """Requests per second of the engine."""
    blocks = target.stat().st_size // BLOCK
    source = file(
        path=[PathPart(text=str(target))], foreign=True, interface="uring", options=options
    )
    body = read(BLOCK, random(blocks, count, replacement=True), depth=DEPTH)
    made = plan(place, [source], [manage("open"), phase("read", body)])
    command = [engine, "run", str(Path(made.journal) / "plan.json")]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    for line in out.splitlines():
        event = json.loads(line)
        if event["event"] == "phase_finished":
            return count / float(event["seconds"]["total"])
    raise RuntimeError(out)


def theirs(target: Path, count: int, words: list[str]) -> float:
    """Requests per second of fio."""
    command = [
        "fio",
        "--name=read",
        f"--filename={target}",
        "--rw=randread",
        "--norandommap",
        f"--bs={BLOCK}",
        f"--io_size={count * BLOCK}",
        "--ioengine=io_uring",
        f"--iodepth={DEPTH}",
        "--invalidate=0",
        "--output-format=json",
        *words,
    ]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return float(json.loads(out)["jobs"][0]["read"]["iops"])


def compare(engine: str, base: Path, *, direct: bool, count: int, pairs: int) -> None:
    """Prints the ratios of all settings on one file."""
    settings = [PLAIN, REGISTERED, BATCHED]
    ratios: dict[str, list[float]] = {each.name: [] for each in settings}
    noise: dict[str, list[float]] = {each.name: [] for each in settings}
    last: dict[str, float] = {}
    with tempfile.TemporaryDirectory(dir=base) as name:
        place = Path(name)
        target = place / "data"
        command = ["fio", "--name=make", f"--filename={target}", "--rw=write", "--bs=1m"]
        size = ["--size=512m", "--end_fsync=1"]
        subprocess.run([*command, *size], capture_output=True, check=True)
        for pair in range(pairs):
            for each in settings:
                options = {**each.options, "direct": "true" if direct else "false"}
                words = [*each.words, f"--direct={int(direct)}"]
                mine = ours(engine, place, target, count, options) if pair % 2 else 0.0
                other = theirs(target, count, words)
                mine = mine or ours(engine, place, target, count, options)
                ratios[each.name].append(mine / other)
                if each.name in last:
                    noise[each.name].append(other / last[each.name])
                last[each.name] = other
    way = "O_DIRECT" if direct else "buffered"
    for name, values in ratios.items():
        print(
            f"io_uring 4 KiB random reads, depth {DEPTH}, {way} on {base}, {name}: "
            f"{statistics.median(values):.3f} of fio (aim 1) "
            f"[{min(values):.3f} .. {max(values):.3f}, {pairs} pairs; "
            f"fio against itself {min(noise[name]):.3f} .. {max(noise[name]):.3f}]",
            flush=True,
        )


def main() -> None:
    """Runs both comparisons."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--engine-dir", type=Path, default=ROOT / "build" / "release")
    parser.add_argument("--disk", type=Path, default=Path(tempfile.gettempdir()))
    parser.add_argument("--memory", type=Path, default=Path("/dev/shm"))
    parser.add_argument("--pairs", type=int, default=9)
    arguments = parser.parse_args()
    if shutil.which("fio") is None:
        sys.exit("uring_fio: fio is missing: run `packaging/prepare bench`")
    engine = str(arguments.engine_dir / "venturi-engine")
    compare(engine, arguments.memory, direct=False, count=100_000, pairs=arguments.pairs)
    compare(engine, arguments.disk, direct=True, count=20_000, pairs=arguments.pairs)


if __name__ == "__main__":
    main()
