"""What an operation on a name costs in the engine, against the same calls in a bare loop.

Both do many short rounds in the same file system, in interleaved pairs. Of each pair the rounds'
lower quartiles are compared, because a round that shared its processor says nothing; printed are
medians over the pairs of bare time / engine's time, and the same of the bare loop against itself.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

from engine.plans import LOOP, binary, file, items, loop, number, phase, plan, slot  # noqa: E402
from venturi.model.plan import Operator, Tree  # noqa: E402

PHASES = ("create", "stat", "read", "remove")
ROUNDS = 30
AHEAD = 100
Rounds = dict[str, list[float]]


def run(engine: str, made: Any, names: Sequence[str]) -> Rounds:
    """Seconds of the phases in every repetition, from the first operation to the last."""
    command = [engine, "run", str(Path(made.journal) / "plan.json")]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found: Rounds = {name: [] for name in names}
    for event in map(json.loads, out.splitlines()):
        if event["event"] == "phase_finished" and event["path"] in found:
            found[event["path"]].append(event["seconds"]["total"])
    return found


def ours(engine: str, place: Path, interface: str, count: int, size: int) -> Rounds:
    """The engine's phases on `count` files."""
    data, back = (["write"], ["read"]) if size else ([], [])
    made = plan(
        place,
        [file("d", interface=interface, tree=Tree(items=number(count), size=number(size)))],
        [
            phase("create", items("create", *data, "close")),
            phase("stat", items("stat")),
            phase("read", items("open", *back, "close")),
            phase("remove", items("unlink")),
        ],
        repetitions=ROUNDS,
    )
    return run(engine, made, PHASES)


def objects(engine: str, place: Path, interface: str, count: int, size: int) -> Rounds:
    """Stat, open, read, close, unlink of one object; create, write, close of another one."""
    at = slot(LOOP)
    taken = window(["stat", "open", "read", "close", "unlink"], at, 1)
    made_item = window(["create", "write", "close"], binary(Operator.ADD, at, number(AHEAD)), 1)
    tree = Tree(items=number(AHEAD + count), size=number(size))
    made = plan(
        place,
        [file("d", interface=interface, tree=tree)],
        [
            phase("ahead", window(["create", "write", "close"], number(0), AHEAD)),
            phase("objects", loop(LOOP, count, taken, made_item)),
        ],
        loops=["f"],
        repetitions=ROUNDS,
    )
    return run(engine, made, ["objects"])


def window(verbs: Sequence[str], first: Any, count: int) -> Any:
    """Verbs on some items."""
    return items(*verbs).model_copy(update={"first": first, "count": number(count)})


def bare(raw: str, place: Path, count: int, size: int, ahead: int) -> Rounds:
    """The same calls in a loop."""
    (place / "bare").mkdir()
    command = [raw, str(place / "bare"), str(count), str(size), str(ROUNDS), str(ahead)]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    (place / "bare").rmdir()
    rounds = [json.loads(line) for line in out.splitlines()]
    return {name: [one[name] for one in rounds] for name in rounds[0]}


def low(values: Sequence[float]) -> float:
    """The lower quartile."""
    return sorted(values)[len(values) // 4]


def compare(
    base: Path, pairs: int, our: Callable[[Path], Rounds], other: Callable[[Path], Rounds]
) -> None:
    """Ratios and their noise; the order within a pair alternates."""
    ratios: Rounds = {}
    noise: Rounds = {}
    for pair in range(pairs):
        with tempfile.TemporaryDirectory(dir=base) as name:
            place = Path(name)
            early = other(place) if pair % 2 == 0 else None
            engine_s = our(place)
            bare_s = early or other(place)
            again = other(place)
        for kind, seconds in engine_s.items():
            ratios.setdefault(kind, []).append(low(bare_s[kind]) / low(seconds))
            noise.setdefault(kind, []).append(low(bare_s[kind]) / low(again[kind]))
    for kind, values in ratios.items():
        print(
            f"  {kind:8} {statistics.median(values):.3f} [{min(values):.3f} .. {max(values):.3f}]"
            f"   bare against bare {statistics.median(noise[kind]):.3f}"
            f" [{min(noise[kind]):.3f} .. {max(noise[kind]):.3f}]"
        )


def null_object(engine: str, count: int) -> None:
    """What the engine adds to an object: eight operations in two steps of one item each."""
    with tempfile.TemporaryDirectory() as name:
        seconds = objects(engine, Path(name), "null", count, 3901)["objects"]
    print(f"an object of the working set, null storage: {low(seconds) / count * 1e9:.0f} ns")


def main() -> None:
    """Runs all comparisons."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--engine-dir", type=Path, default=ROOT / "build" / "release")
    parser.add_argument("--dir", type=Path, default=Path("/dev/shm"), help="where the files go")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--pairs", type=int, default=11)
    arguments = parser.parse_args()
    engine, base, count = (
        str(arguments.engine_dir / "venturi-engine"),
        arguments.dir,
        arguments.count,
    )
    with tempfile.TemporaryDirectory() as place:
        raw = os.path.join(place, "raw")
        source = str(ROOT / "bench" / "metadata_raw.cpp")
        subprocess.run(["c++", "-O2", "-std=c++20", "-o", raw, source], check=True)
        for size in (0, 3901):
            print(
                f"files of {size} bytes on {base}: bare loop's time / ours, {arguments.pairs} pairs"
            )
            compare(
                base,
                arguments.pairs,
                lambda at, size=size: ours(engine, at, "posix", count, size),  # type: ignore[misc]
                lambda at, size=size: bare(raw, at, count, size, 0),  # type: ignore[misc]
            )
        print(f"objects of md-workbench's working set on {base}, 3901 bytes")
        compare(
            base,
            arguments.pairs,
            lambda at: objects(engine, at, "posix", count // 4, 3901),
            lambda at: bare(raw, at, count // 4, 3901, AHEAD),
        )
    null_object(engine, 10_000)


if __name__ == "__main__":
    main()
