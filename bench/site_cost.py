"""What it costs to build a site of many runs, and to bring it up to date after one new run.

    python bench/site_cost.py --runs 20000 FOLDER [--profile]

Makes a store in FOLDER/kept unless it is there: workloads on machines, a run of each a day, some
tagged, some INVALID, and a probe of two targets that measured each minute for 60 days. Then the
site is built anew, built again with nothing new, and built again after each of some new runs, every
time in a process of its own; printed are seconds of wall time and of CPU, the largest memory, files
written, and the bytes of the site. The incremental site is compared with one that is built anew.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests"), str(ROOT / "tests" / "site")]

from site_factory import result  # noqa: E402
from whole_store import TARGETS, put_probe  # noqa: E402

from venturi.model.result import Measure, Result  # noqa: E402
from venturi.site.build import SiteRequest, build  # noqa: E402
from venturi.store.place import make_store  # noqa: E402
from venturi.store.result import keep, tag  # noqa: E402

MACHINES = ("alpha", "beta", "gamma", "delta", "epsilon")
WORKLOADS = ("checkpoint", "climate", "io500", "metadata", "quick", "restart", "small", "training")
_TAGGED, _INVALID = 97, 89
"""Every so many-th run."""
_SLOWER_FROM = 300
"""The day from which one workload is slower."""


def metrics_of(one: Result) -> dict[str, Measure]:
    """The metrics of a run: from two to sixteen, by what it runs."""
    found = dict(one.metrics)
    for number in range(2 * WORKLOADS.index(one.name)):
        metric = one.metrics["write"]
        values = [
            value * (1 + number + 0.01 * (hash_of(one.id, number))) for value in metric.values
        ]
        found[f"phase-{number}"] = metric.model_copy(update={"values": values})
    return found


def hash_of(name: str, number: int) -> float:
    """A number from -1 to 1 that follows from a name."""
    return int(hashlib.sha256(f"{name} {number}".encode()).hexdigest()[:8], 16) / 2**31 - 1


def runs_of(count: int, first_day: int = 0) -> Iterator[Result]:
    """Runs day by day: of each workload on each machine one."""
    made = 0
    day = first_day
    while made < count:
        for machine in MACHINES:
            for name in WORKLOADS:
                if made == count:
                    return
                slower = _SLOWER_FROM if name == "climate" else 10_000
                one = result(day, name, machine, slower_from=slower)
                more = {"metrics": metrics_of(one)}
                if made % _INVALID == 5:
                    more = {"metrics": {}, "level": "INVALID"}
                yield one.model_copy(update=more)
                made += 1
        day += 1


def make(store: Path, count: int) -> None:
    """A store with so many runs."""
    make_store(store)
    tagged = []
    for number, one in enumerate(runs_of(count)):
        keep(store, one, {})
        if number % _TAGGED == 0:
            tagged.append(one.id)
    tag(store, "golden", tagged[::2])
    tag(store, "candidate", tagged[1::2])
    for name in TARGETS:
        put_probe(store, name)


def measured(store: Path, place: Path, profile: str = "") -> dict[str, float]:
    """One build in a process of its own."""
    line = [sys.executable, *(["-m", "cProfile", "-o", profile] if profile else []), __file__]
    began = time.perf_counter()
    child = subprocess.Popen([*line, "--build", str(store), str(place)], stdout=subprocess.PIPE)
    assert child.stdout is not None
    said = json.loads(child.stdout.read())
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0
    return {
        "wall_s": round(time.perf_counter() - began, 2),
        "cpu_s": round(usage.ru_utime + usage.ru_stime, 2),
        "peak_mib": round(usage.ru_maxrss / 1024),
        **said,
    }


def build_here(store: Path, place: Path) -> None:
    """One build in this process."""
    made = build(SiteRequest((store,), place))
    print(json.dumps({"runs": made.runs, "read": made.read, "written": made.written}))


def digest_of(place: Path) -> tuple[int, int, str]:
    """Files, bytes, and a digest of all pages of a site."""
    digest = hashlib.sha256()
    files = size = 0
    for path in sorted(place.rglob("*")):
        if path.is_file() and ".venturi" not in path.parts:
            data = path.read_bytes()
            digest.update(f"{path.relative_to(place)} {len(data)}\n".encode() + data)
            files += 1
            size += len(data)
    return files, size, digest.hexdigest()[:16]


def say(name: str, figures: dict[str, float]) -> None:
    """One line."""
    print(f"{name:24}", *(f"{key}={value}" for key, value in figures.items()), flush=True)


def main() -> None:
    """Parses, makes the store, builds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("place", type=Path, nargs="?")
    parser.add_argument("--runs", type=int, default=20_000)
    parser.add_argument("--new", type=int, default=3, help="new runs, one build after each")
    parser.add_argument("--profile", action="store_true", help="write profiles to FOLDER")
    parser.add_argument("--build", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.build:
        build_here(given.folder, given.place)
        return
    kept, store, place = (given.folder / one for one in ("kept", "store", "public"))
    if not kept.is_dir():
        make(kept, given.runs)
    for one in (store, place, given.folder / "whole"):
        shutil.rmtree(one, ignore_errors=True)
    subprocess.run(["cp", "-a", str(kept), str(store)], check=True)
    profile = str(given.folder / "{}.prof") if given.profile else ""
    say("whole", measured(store, place, profile.format("whole")))
    say("nothing new", measured(store, place, profile.format("nothing")))
    for number, one in enumerate(runs_of(given.new, first_day=given.runs // 40 + 1)):
        keep(store, one, {})
        say(f"one new ({one.name})", measured(store, place, profile.format(f"new-{number}")))
    whole = given.folder / "whole"
    say("whole again", measured(store, whole))
    found, anew = digest_of(place), digest_of(whole)
    state = sum(path.stat().st_size for path in (place / ".venturi").rglob("*"))
    print(
        f"{found[0]} files, {found[1]} bytes, {state} bytes of state; same as built anew:", end=""
    )
    print(" yes" if found == anew else " NO")
    sys.exit(found != anew)


if __name__ == "__main__":
    main()
