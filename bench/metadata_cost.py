"""What an operation on a name costs in the engine, against the same calls in a bare loop.

`repeated`: a phase passes many times over few files, so both find in the processor's caches what
they left there. `single`: a phase of a millisecond passes once. The engine begins it with cold
caches, because between phases it writes events and looks at the target; the bare loop goes on at
once. What such a phase costs more is the price of a phase's beginning, not of an operation.

Both do several rounds in the same file system, in interleaved pairs. Of each pair the rounds'
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

SINGLE = ("create", "stat", "read", "remove")
REPEATED = ("stat", "read", "renew")
ROUNDS = {"single": 30, "repeated": 5, "objects": 30}
FEW, MANY = 500, 2000
"""Files of a phase that passes over them often, and once."""
PASSES = 100
AHEAD = 100
Rounds = dict[str, list[float]]


def run(engine: str, made: Any, expected: dict[str, int]) -> Rounds:
    """Seconds of the phases in every repetition, from the first operation to the last.

    `expected`: the phases, and how many operations each does.
    """
    command = [engine, "run", str(Path(made.journal) / "plan.json")]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found: Rounds = {name: [] for name in expected}
    for event in map(json.loads, out.splitlines()):
        if event["event"] == "phase_finished" and event["path"] in found:
            assert event["operations"] == expected[event["path"]], event["path"]
            found[event["path"]].append(event["seconds"]["total"])
    return found


def planned(place: Path, interface: str, items: int, size: int, what: str, *steps: Any) -> Any:
    """A plan on one tree."""
    tree = Tree(items=number(items), size=number(size))
    files = [file("d", interface=interface, tree=tree)]
    return plan(place, files, steps, loops=["f"], repetitions=ROUNDS[what])


def single(engine: str, place: Path, interface: str, count: int, size: int) -> Rounds:
    """The engine's phases of one pass over `count` files."""
    data, back = (["write"], ["read"]) if size else ([], [])
    verbs = [["create", *data, "close"], ["stat"], ["open", *back, "close"], ["unlink"]]
    phases = [phase(name, items(*each)) for name, each in zip(SINGLE, verbs, strict=True)]
    made = planned(place, interface, count, size, "single", *phases)
    return run(engine, made, dict(zip(SINGLE, (count * len(each) for each in verbs), strict=True)))


def repeated(
    engine: str, place: Path, interface: str, count: int, size: int, passes: int
) -> Rounds:
    """The engine's phases of many passes over `count` files; those of `renew` remove and make."""
    data, back = (["write"], ["read"]) if size else ([], [])
    create, read = items("create", *data, "close"), items("open", *back, "close")
    bodies = [[items("stat")], [read], [items("unlink"), create]]
    made = planned(
        place,
        interface,
        count,
        size,
        "repeated",
        phase("ahead", create),
        *(
            phase(name, loop(LOOP, passes, *body))
            for name, body in zip(REPEATED, bodies, strict=True)
        ),
        phase("end", items("unlink")),
    )
    verbs = (sum(len(step.verbs) for step in body) for body in bodies)
    expected = {name: count * passes * n for name, n in zip(REPEATED, verbs, strict=True)}
    return run(engine, made, expected)


def objects(engine: str, place: Path, interface: str, count: int, size: int) -> Rounds:
    """Stat, open, read, close, unlink of one object; create, write, close of another one."""
    at = slot(LOOP)
    taken = window(["stat", "open", "read", "close", "unlink"], at, 1)
    made_item = window(["create", "write", "close"], binary(Operator.ADD, at, number(AHEAD)), 1)
    made = planned(
        place,
        interface,
        AHEAD + count,
        size,
        "objects",
        phase("ahead", window(["create", "write", "close"], number(0), AHEAD)),
        phase("objects", loop(LOOP, count, taken, made_item)),
    )
    return run(engine, made, {"objects": 8 * count})


def window(verbs: Sequence[str], first: Any, count: int) -> Any:
    """Verbs on some items."""
    return items(*verbs).model_copy(update={"first": first, "count": number(count)})


def bare(raw: str, what: str, place: Path, count: int, size: int, extra: int) -> Rounds:
    """The same calls in a loop."""
    (place / "bare").mkdir()
    command = [raw, what, str(place / "bare"), *map(str, (count, size, ROUNDS[what], extra))]
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


def compare_phases(engine: str, raw: str, base: Path, pairs: int, size: int) -> None:
    """Long phases and short ones, on files of one size."""
    print(f"files of {size} bytes, {PASSES} passes in a phase")
    compare(
        base,
        pairs,
        lambda at: repeated(engine, at, "posix", FEW, size, PASSES),
        lambda at: bare(raw, "repeated", at, FEW, size, PASSES),
    )
    print(f"files of {size} bytes, one short pass in a phase")
    compare(
        base,
        pairs,
        lambda at: single(engine, at, "posix", MANY, size),
        lambda at: bare(raw, "single", at, MANY, size, 0),
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
    parser.add_argument("--pairs", type=int, default=11)
    arguments = parser.parse_args()
    engine, base, pairs = (
        str(arguments.engine_dir / "venturi-engine"),
        arguments.dir,
        arguments.pairs,
    )
    with tempfile.TemporaryDirectory() as place:
        raw = os.path.join(place, "raw")
        source = str(ROOT / "bench" / "metadata_raw.cpp")
        subprocess.run(["c++", "-O2", "-std=c++20", "-o", raw, source], check=True)
        print(f"on {base}: bare loop's time / ours, {pairs} pairs")
        for size in (0, 3901):
            compare_phases(engine, raw, base, pairs, size)
        print("objects of md-workbench's working set, 3901 bytes")
        compare(
            base,
            pairs,
            lambda at: objects(engine, at, "posix", FEW, 3901),
            lambda at: bare(raw, "objects", at, FEW, 3901, AHEAD),
        )
    null_object(engine, 10_000)


if __name__ == "__main__":
    main()
