"""How many runs are called VALID: of all shipped workloads, and of runs that are spoilt on purpose.

    python bench/verdicts.py shipped DIR [WORKLOAD...]     a quiet machine: all should be VALID
    python bench/verdicts.py spoilt DIR [RUNS] [KIND...]   at most 1 % may be VALID (default: 200)

`shipped` runs each workload of the library 20 times (quick as often as its minute allows, io500
once with a stonewall of 5 s) and prints its level and its first reasons.
`spoilt` disturbs a short run by each kind in turn: other processes burn CPU, a control group
throttles the run (needs root), ranks are stopped for a while, half of the data is in the cache,
the wall clock is stepped as the command sees it (the host's clock stays). It ends with 1 if more
than 1 % of the spoilt runs are VALID. DIR should lie on storage; what is in memory has no caches.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from venturi.execute import proc
from venturi.execute.launcher import machine_named
from venturi.execute.monitor import Clocks
from venturi.library import names
from venturi.model.workload import Workload
from venturi.model.yaml_text import parse_yaml
from venturi.plan.setting import RunSettings
from venturi.store.run import Request, perform, prepare

MOST_VALID = 0.01
ORDINARY = """
workload: 1
name: spoilt
repeat: 6
files: {data: {path: data}}
program:
  all:
    - {phase: write, do: [{create: data},
        {write: {to: data, size: 64 MiB, transfer: 1 MiB}}, {sync: {on: data}}, {close: data}]}
    - {phase: read, cache: drop, do: [{open: data},
        {read: {from: data, size: 64 MiB, transfer: 1 MiB}}, {close: data}]}
    - {compute: 200 ms}
"""
HALF = """
workload: 1
name: half-cached
repeat: 6
files: {data: {path: data}}
program:
  all:
    - {phase: write, do: [{create: data},
        {write: {to: data, size: 64 MiB, transfer: 1 MiB}}, {sync: {on: data}}, {close: data}]}
    - {phase: warm-up, cache: drop, do: [{open: data},
        {read: {from: data, size: 32 MiB, transfer: 1 MiB}}, {close: data}]}
    - {phase: read, do: [{open: data},
        {read: {from: data, size: 64 MiB, transfer: 1 MiB}}, {close: data}]}
"""

HOW_OFTEN = {"quick": (), "io500": ("--repeat", "1", "--stonewall", "5")}
"""Twenty repetitions have an interval that leaves out the five furthest values on either side."""

Record = dict[str, Any]


def run(words: list[str], store: Path, before: str = "") -> subprocess.Popen[bytes]:
    """A run that prints its record; `before`: a line of the shell, before it begins."""
    line = [sys.executable, "-m", "venturi", "run", *words, "-q", "--json", "--store", str(store)]
    if before:
        line = ["/bin/sh", "-c", f'{before}; exec "$@"', "sh", *line]
    return subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def record_of(process: subprocess.Popen[bytes]) -> Record:
    """What a run printed; its error as the only reason where that is no record."""
    out, errors = process.communicate()
    try:
        found: Record = json.loads(out)
    except ValueError:
        last = errors.decode(errors="replace").strip().splitlines()[-1:]
        return {"verdict": {"level": "NONE", "reasons": last or ["no record"], "suspicions": []}}
    return found


def neighbour(words: list[str], store: Path, chance: random.Random) -> Record:
    """Other processes burn as many CPUs as there are, or one less."""
    count = max(1, (os.cpu_count() or 1) - chance.randint(0, 1))
    burning = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        return record_of(run(words, store))
    finally:
        for process in burning:
            process.kill()
            process.wait()


@contextlib.contextmanager
def cpu_group() -> Iterator[Path]:
    """A control group without a limit. OSError where none can be made."""
    tops = [Path("/sys/fs/cgroup/cpu"), Path("/sys/fs/cgroup")]
    top = next(
        (
            t
            for t in tops
            if (t / "cpu.cfs_quota_us").exists() or (t / "cgroup.subtree_control").exists()
        ),
        tops[1],
    )
    folder = top / f"venturi-bench-{os.getpid()}"
    folder.mkdir()
    try:
        yield folder
    finally:
        folder.rmdir()


def throttled(words: list[str], store: Path, chance: random.Random) -> Record:
    """A control group lets the run use no more than 2 to 10 % of a CPU, once the engine works."""
    with cpu_group() as folder:
        process = run(words, store, f"echo $$ > {folder}/cgroup.procs")
        _wait_for_engines(process)
        limit_us = int(chance.uniform(0.02, 0.1) * 100_000)
        if (folder / "cpu.cfs_quota_us").exists():
            (folder / "cpu.cfs_quota_us").write_text(str(limit_us))
        else:
            (folder / "cpu.max").write_text(f"{limit_us} 100000")
        return record_of(process)


def stopped(words: list[str], store: Path, chance: random.Random) -> Record:
    """All processes of the engine are stopped for a while, once it works."""
    process = run(words, store)
    found = _wait_for_engines(process)
    time.sleep(chance.uniform(0.3, 0.8))
    with contextlib.suppress(ProcessLookupError):
        for pid in found:
            os.kill(pid, signal.SIGSTOP)
        time.sleep(chance.uniform(0.5, 1.5))
    for pid in found:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)
    return record_of(process)


def _wait_for_engines(process: subprocess.Popen[bytes]) -> list[int]:
    """The processes of the engine, once there are some; none where the run is over."""
    tree, found = proc.ProcessTree(process.pid), list[int]()
    while process.poll() is None and not found:
        found = _engines(tree)
        time.sleep(0.01)
    return found


def _engines(tree: proc.ProcessTree) -> list[int]:
    return [
        pid
        for pid in tree.members()
        if "venturi-engine" in proc.text_of(Path(f"/proc/{pid}/cmdline")).split("\0")[0]
        and "run" in proc.text_of(Path(f"/proc/{pid}/cmdline")).split("\0")
    ]


def mixed_cache(words: list[str], store: Path, chance: random.Random) -> Record:
    """Half of what is read is in the cache."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(HALF)
        file.flush()
        return record_of(run([file.name, *words[1:]], store))


def clock_step(words: list[str], store: Path, chance: random.Random) -> Record:
    """The wall clock is stepped while the run goes on, as the command sees it."""
    text = Path(words[0]).read_text("utf-8")
    request = Request(
        workload=parse_yaml(text, words[0], Workload),
        workload_text=text,
        settings=RunSettings(),
        machine=machine_named("local"),
        directory=Path(words[2]),
        store=store,
        command=["bench/verdicts.py"],
    )
    at_s = time.monotonic() + chance.uniform(0.5, 1.0)
    step_s = chance.choice((-1, 1)) * chance.uniform(0.1, 3600.0)
    clocks = Clocks(wall=lambda: time.time() + (step_s if time.monotonic() > at_s else 0.0))
    made = perform(replace(prepare(request), clocks=clocks), lambda event: None)
    found: Record = json.loads(made.to_json())
    return found


KINDS: dict[str, Callable[[list[str], Path, random.Random], Record]] = {
    "neighbour": neighbour,
    "throttled": throttled,
    "stopped": stopped,
    "mixed-cache": mixed_cache,
    "clock-step": clock_step,
}


def spoilt(directory: Path, runs: int, kinds: list[str]) -> int:
    """Spoil so many runs; 1 if too many of them are called VALID."""
    levels: dict[str, Counter[str]] = {kind: Counter() for kind in kinds}
    causes: dict[str, Counter[str]] = {kind: Counter() for kind in kinds}
    for number in range(runs):
        kind = kinds[number % len(kinds)]
        with tempfile.TemporaryDirectory() as home:
            path = Path(home, "spoilt.yaml")
            path.write_text(ORDINARY)
            try:
                found = KINDS[kind](
                    [str(path), "-d", str(directory)], Path(home, "store"), random.Random(number)
                )
            except OSError as error:
                levels[kind][f"not made ({error.strerror})"] += 1
                continue
        verdict = found["verdict"]
        levels[kind][verdict["level"]] += 1
        causes[kind].update({one["cause"] for one in verdict["suspicions"]})
    made = sum(n for own in levels.values() for level, n in own.items() if "not" not in level)
    valid = sum(own["VALID"] for own in levels.values())
    for kind, own in levels.items():
        said = ", ".join(f"{n} {level}" for level, n in sorted(own.items()))
        why = ", ".join(f"{n} {cause}" for cause, n in causes[kind].most_common())
        print(f"{kind:<12} {said}; suspicions: {why or 'none'}")
    print(f"{valid} of {made} spoilt runs are VALID (aim: at most {MOST_VALID:.0%})")
    return int(valid > MOST_VALID * made)


def shipped(directory: Path, chosen: list[str]) -> int:
    """Run all shipped workloads, or some; always 0, because machines are seldom quiet."""
    levels: Counter[str] = Counter()
    for name in chosen or names():
        with tempfile.TemporaryDirectory() as home:
            words = [name, "-d", str(directory), *HOW_OFTEN.get(name, ("--repeat", "20"))]
            found = record_of(run(words, Path(home, "store")))
        verdict = found["verdict"]
        levels[verdict["level"]] += 1
        first = "; ".join(verdict["reasons"][:2])
        print(f"{name:<16} {verdict['level']:<11} {first}", flush=True)
    done = sum(levels.values())
    print(f"{levels['VALID']} of {done} workloads are VALID")
    return 0


def main() -> int:
    """The command line."""
    words = sys.argv[1:]
    if len(words) < 2 or words[0] not in ("shipped", "spoilt"):
        print(__doc__, file=sys.stderr)
        return 2
    directory = Path(words[1]).absolute()
    if words[0] == "shipped":
        return shipped(directory, words[2:])
    runs = int(words[2]) if len(words) > 2 else 200
    return spoilt(directory, runs, words[3:] or list(KINDS))


if __name__ == "__main__":
    sys.exit(main())
