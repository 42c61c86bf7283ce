"""Whether `venturi tune` finds a problem that was planted, and whether its promise holds.

    bench/tune_planted.py [--seeds 20] [--dir DIR] [--budget 30s] [--only CAUSE] [-o RESULTS]
    bench/tune_planted.py --table [-o RESULTS]

Small applications (`bench/planted/`) with one problem each, or none, are made in sizes and with
decoys (what looks bad and costs nothing) that follow from the seed: even seeds are small ones,
and of each two neighbouring pairs one has decoys. Each is captured, tuned from its capture, and
judged: is the cause ranked first, is nothing said to help where nothing is wrong? Then the mended
program, in which the change was made, runs in turn with the application: is its gain within the
interval that tune promised? Where mending gains nothing here (its interval holds 1), tune shall
name the cause with its evidence and say that nothing is gained. Results are kept line by line in
RESULTS; a second call goes on, and tries again what failed. However it ends, the table of all that
is known is printed (`--table` prints nothing else and runs nothing). Exit code 1: something was not
found, something that is not there was, or something failed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PLANTED = ROOT / "bench" / "planted"
sys.path.insert(0, str(ROOT / "src"))
_SERIAL, _MPI = ("gcc",), ("mpicc.openmpi",)
_HDF5, _PARALLEL_HDF5 = ("h5cc", "-shlib"), ("h5pcc.mpich", "-shlib")
_START = {"openmpi": "mpirun.openmpi --oversubscribe -np", "mpich": "mpirun.mpich -np"}
RANKS = 2
MPI_TIMES = 4
"""So many times the budget where every run starts under MPI."""
_PATIENCE_S = 3600
"""No command of a case takes so long, on however busy a machine; one that hangs is a failure."""
NEAR = 0.02
"""Of the I/O time before: so far from an interval is next to it, if not for what is said beside it
(`PROXY_ERROR`)."""
LARGE = 3
"""So many times as much is done in the large size."""


@dataclass(frozen=True)
class Cause:
    """One planted problem: how its program is made, and what its cause may be called."""

    compiler: tuple[str, ...]
    count: tuple[int, int]
    """The least and the most operations of the small size."""
    bytes: tuple[int, int]
    """And bytes of each."""
    keys: tuple[str, ...]
    """Changes that remove it, each by itself."""
    mended: str
    """The change that was made in the mended program."""
    mpi: str = ""
    """Under which it runs with two ranks; empty: one process."""
    unit: int = 1
    """Bytes are a multiple of it."""


CAUSES = {
    "sync_each": Cause(_SERIAL, (60, 150), (100, 900), ("sync", "transfer"), "sync=end"),
    "stat_storm": Cause(_SERIAL, (10_000, 30_000), (10_000, 1_000_000), ("stats",), "stats=once"),
    "many_opens": Cause(_SERIAL, (3000, 8000), (40, 300), ("opens",), "opens=once"),
    # A chunk for each rank's part removes it, too: each writes one piece.
    "small_strided": Cause(
        _PARALLEL_HDF5,
        (20_000, 40_000),
        (8, 40),
        ("collective", "chunks"),
        "collective=on",
        "mpich",
    ),
    "serial_gather": Cause(
        _MPI, (150, 300), (300_000, 700_000), ("spread",), "spread=rank", "openmpi"
    ),
    "wrong_chunks": Cause(_HDF5, (24, 40), (8192, 12288), ("chunks",), "chunks=call", unit=8),
    "sound": Cause(_SERIAL, (20, 60), (1 << 21, 1 << 22), (), "", unit=1 << 20),
}


@dataclass(frozen=True)
class Case:
    """One application: a cause with the sizes and decoys of a seed."""

    cause: str
    seed: int

    @property
    def name(self) -> str:
        """`cause-seed`."""
        return f"{self.cause}-{self.seed}"

    @property
    def is_large(self) -> bool:
        """Whether it is of the large size."""
        return self.seed % 2 == 1

    def numbers(self) -> dict[str, int]:
        """The numbers that its program is compiled with."""
        cause, draw = CAUSES[self.cause], random.Random(self.name)
        times = LARGE if self.is_large else 1
        return {
            "COUNT": times * draw.randint(*cause.count),
            "BYTES": draw.randint(*cause.bytes) // cause.unit * cause.unit,
            "DECOYS": draw.randint(1, 15) if self.seed // 2 % 2 else 0,
            "COMPUTE_MS": draw.randint(20, 80),
        }

    def compile(self, folder: Path, mended: bool) -> str:
        """The command that runs its program, which is made in `folder`."""
        cause = CAUSES[self.cause]
        program = folder / (f"{self.cause}-mended" if mended else self.cause)
        defines = [f"-D{key}={value}" for key, value in self.numbers().items()]
        subprocess.run(
            [
                *cause.compiler,
                "-O1",
                *defines,
                f"-DMENDED={int(mended)}",
                str(PLANTED / f"{self.cause}.c"),
                "-o",
                str(program),
            ],
            check=True,
            cwd=folder,
            stdout=subprocess.DEVNULL,
            timeout=_PATIENCE_S,
        )
        return f"{_START[cause.mpi]} {RANKS} {program}" if cause.mpi else str(program)


def venturi(*words: str | Path, where: Path) -> str:
    """Standard output of a command of Venturi; RuntimeError where it fails."""
    done = subprocess.run(
        [sys.executable, "-m", "venturi", *map(str, words)],
        cwd=where,
        capture_output=True,
        text=True,
        check=False,
        timeout=_PATIENCE_S,
    )
    if done.returncode != 0:
        raise RuntimeError(f"venturi {words[0]}: {done.stderr.strip().splitlines()[-1:]}")
    return done.stdout


def tuned(trace: Path, where: Path, target: Path, *words: str) -> dict[str, Any]:
    """The document of a tuning from a capture."""
    result = where / "result.tune"
    shutil.rmtree(result, ignore_errors=True)
    text = venturi("tune", trace, "-d", target, "-q", "--json", "-o", result, *words, where=where)
    found: dict[str, Any] = json.loads(text)
    return found


def ratio_of(commands: tuple[str, str], trace: Path, target: Path, pairs: int) -> dict[str, float]:
    """I/O time of the mended program relative to the application's, run in turn."""
    from venturi.analyse.paired import interleaved, signed_error
    from venturi.derive.workload import derive
    from venturi.predict.account import layers_of
    from venturi.predict.cache import CachePreparation
    from venturi.predict.subject import Application
    from venturi.sources.open import read_capture

    layers = layers_of(derive(read_capture(trace), "planted"))
    sides = [
        Application(command, "", target / "application", layers, CachePreparation.KEEP)
        for command in commands
    ]
    times: tuple[list[float], list[float]] = ([], [])
    for side in sides:
        side.run()
    for which in interleaved(pairs):
        times[which].append(sides[which].run().seconds)
    found = signed_error(*times)
    return {
        "ratio": 1 + found.signed,
        "low": 1 + found.low,
        "high": 1 + found.high,
        "before_s": sorted(times[0])[pairs // 2],
        "after_s": sorted(times[1])[pairs // 2],
    }


def judged(case: Case, place: tuple[Path, Path], budget: str, pairs: int) -> dict[str, Any]:
    """One case from its program to its result; `place` is a scratch folder and the target."""
    from venturi.cli.option import budget_seconds

    (scratch, target), cause = place, CAUSES[case.cause]
    if cause.mpi:
        budget = f"{MPI_TIMES * budget_seconds(budget):.0f}s"
    trace = scratch / "application.trace"
    shutil.rmtree(trace, ignore_errors=True)
    command = case.compile(scratch, mended=False)
    with below(target) as folder:
        venturi("capture", "-q", "-o", trace, "--", *command.split(), where=folder)
    machine = ("--on", cause.mpi) if cause.mpi else ()
    found = tuned(trace, scratch, target, "--budget", budget, *machine)
    row: dict[str, Any] = {
        "cause": case.cause,
        "seed": case.seed,
        "numbers": case.numbers(),
        "headline": found["headline"],
        "runs": found["runs"],
        "base_s": found["base_s"],
        "spent_s": found["spent_s"],
        "load": os.getloadavg()[0],
        "remarks": found["remarks"],
        "causes": [f"{one['what']} {one['says']}" for one in found["causes"]],
        "trials": [course_of(trial) for trial in found["trials"]],
        "helps": {
            name_of(trial): trial["gain"]["ratio"]
            for trial in found["trials"]
            if trial["effect"] == "helps"
        },
    }
    if not cause.mended:
        return row
    row["told"] = any(
        answer.partition("=")[0] in cause.keys
        for one in found["causes"]
        for answer in one["answers"]
    )
    gain = promise(found, cause.mended)
    if gain is None:
        only = ("--budget", budget, "--what-if", cause.mended, *machine)
        gain = promise(tuned(trace, scratch, target, *only), cause.mended)
    if gain is not None:
        row["promised"] = {key: gain[key] for key in ("ratio", "low", "high", "base_s")}
        commands = command, case.compile(scratch, mended=True)
        with below(target) as folder:
            row["real"] = ratio_of(commands, trace, folder, pairs)
        row["inside"] = gain["low"] <= row["real"]["ratio"] <= gain["high"]
        row["agrees"] = row["real"]["low"] <= gain["high"] and gain["low"] <= row["real"]["high"]
    return row


def course_of(trial: dict[str, Any]) -> str:
    """How far a change came in the search, and what was seen of it: a miss is read from this."""
    seen, gain = trial["measured_ratio"], trial["gain"]
    looks = sum(pair["stage"] != "final" for pair in trial["pairs"])
    text = f"{name_of(trial)}: {trial['stage']}"
    if seen is not None:
        text += f", {seen:.3g} in {looks} looks"
    if gain is not None:
        interval = f"{gain['low']:.3g} to {gain['high']:.3g}"
        text += f", {gain['ratio']:.3g} ({interval}) in {gain['pairs']} pairs: {trial['effect']}"
    return text + (f", failed: {trial['failure']}" if trial["failure"] else "")


def is_first(row: dict[str, Any]) -> bool:
    """Whether a change that removes the cause helps most; where there is none, nothing may."""
    if "failed" in row:
        return False
    keys = CAUSES[row["cause"]].keys
    helps = [name.partition("=")[0] for name in row["helps"]]
    return helps[0] in keys if keys and helps else not keys and not helps


def is_right(row: dict[str, Any]) -> bool:
    """Whether the cause came first, or was told, without a promise, where mending gains nothing."""
    if is_first(row):
        return True
    costs_nothing = "real" in row and row["real"]["low"] <= 1 <= row["real"]["high"]
    return costs_nothing and bool(row.get("told")) and not row["helps"]


def is_near(row: dict[str, Any]) -> bool:
    """Whether the real gain is inside the promised interval, or next to it: where almost nothing is
    left, a few first calls that are slower in a fresh process are more than it is wide."""
    from venturi.tune.session import PROXY_ERROR

    promised, real = row["promised"], row["real"]["ratio"]
    far = max(NEAR, PROXY_ERROR * promised["ratio"])
    return bool(promised["low"] - far <= real <= promised["high"] + far)


def name_of(trial: dict[str, Any]) -> str:
    """`key=value` of a change."""
    return f"{trial['key']}={trial['value']}"


def promise(found: dict[str, Any], name: str) -> dict[str, Any] | None:
    """The gain that a tuning promises of one change, if it was judged."""
    for trial in found["trials"]:
        if name_of(trial) == name and trial["gain"] is not None:
            gain: dict[str, Any] = trial["gain"]
            return gain
    return None


@contextmanager
def below(target: Path) -> Iterator[Path]:
    """A fresh folder below the target, till the block ends."""
    with tempfile.TemporaryDirectory(prefix="planted-", dir=target) as folder:
        yield Path(folder)


def line_of(row: dict[str, Any]) -> str:
    """One case as a row of a table."""
    if "failed" in row:
        return f"| {row['cause']} | {row['seed']} | failed: {row['failed']} | | | |"
    numbers = row["numbers"]
    size = f"{numbers['COUNT']} x {numbers['BYTES']} B, decoys {numbers['DECOYS']}"
    said = ", ".join(f"{name} {ratio:.2g}" for name, ratio in row["helps"].items()) or "nothing"
    verdict = "yes" if is_first(row) else "**no**"
    cells = ["", ""]
    for place, key in enumerate(("promised", "real")):
        if key in row:
            found = row[key]
            cells[place] = f"{found['ratio']:.3g} ({found['low']:.3g} to {found['high']:.3g})"
    return (
        f"| {row['cause']} | {row['seed']} | {size} | {verdict}: {said} | {cells[0]} | {cells[1]} |"
    )


def summary(rows: list[dict[str, Any]]) -> list[str]:
    """How often each cause was found, and how often its promise held."""
    lines = [
        "| cause | cases | found, ranked first | or told to cost nothing, as it does "
        "| real gain inside the interval "
        "| with the proxy's 10 %, or 2 % of the time before from it "
        "| intervals meet "
        "| failed |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for cause in CAUSES:
        own = [row for row in rows if row["cause"] == cause]
        if not own:
            continue
        real = [row for row in own if "real" in row]
        first = sum(map(is_first, own))
        inside, agrees = (sum(row[key] for row in real) for key in ("inside", "agrees"))
        near = sum(is_near(row) for row in real)
        held = f"{inside} of {len(real)} | {near} of {len(real)} | {agrees} of {len(real)}"
        held = held if real else "– | – | –"
        also = sum(map(is_right, own)) - first
        failed = sum("failed" in row for row in own)
        lines.append(f"| {cause} | {len(own)} | {first} | {also} | {held} | {failed} |")
    return lines


Rows = dict[tuple[str, int], dict[str, Any]]
"""What is known of each cause and seed."""


def known_in(path: Path) -> Rows:
    """What earlier calls found; of a case that was tried again the last, no line that is cut."""
    rows: Rows = {}
    for line in path.read_text("utf-8").splitlines() if path.exists() else []:
        try:
            row = json.loads(line)
        except json.JSONDecodeError:
            continue
        rows[row["cause"], row["seed"]] = row
    return rows


def measured(case: Case, arguments: argparse.Namespace) -> dict[str, Any]:
    """One case in a scratch folder of its own; a failure is a row, too."""
    from venturi.model.error import VenturiError

    with tempfile.TemporaryDirectory(prefix="planted-") as scratch:
        os.environ["VENTURI_STORE"] = str(Path(scratch, "store"))
        place = Path(scratch), arguments.dir.absolute()
        try:
            return judged(case, place, arguments.budget, arguments.pairs)
        except (RuntimeError, VenturiError, subprocess.SubprocessError, OSError) as error:
            return {"cause": case.cause, "seed": case.seed, "failed": str(error)}


def run_all(arguments: argparse.Namespace, rows: Rows) -> None:
    """Every case that is not known yet, each kept as soon as it is."""
    print("| cause | seed | size | cause first | promised | real |\n|---|---:|---|---|---|---|")
    for seed in range(arguments.first, arguments.first + arguments.seeds):
        for cause in arguments.only or CAUSES:
            if "failed" not in rows.get((cause, seed), {"failed": ""}):
                continue
            row = measured(Case(cause, seed), arguments)
            rows[cause, seed] = row
            with arguments.output.open("a", encoding="utf-8") as kept:
                kept.write("\n" * is_cut(arguments.output) + json.dumps(row) + "\n")
            print(line_of(row), flush=True)


def is_cut(path: Path) -> bool:
    """Whether a file ends within a line: what wrote it was killed."""
    text = path.read_bytes()
    return bool(text) and not text.endswith(b"\n")


def main() -> int:
    """Every case that is not known yet, then the summary of all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20, help="how many (20)")
    parser.add_argument("--from", dest="first", type=int, default=0, help="the first seed (0)")
    parser.add_argument("--dir", type=Path, default=Path(tempfile.gettempdir()))
    parser.add_argument("--budget", default="30s", help="of a tuning (30s), under MPI four times")
    parser.add_argument("--pairs", type=int, default=8, help="of application and mended (8)")
    parser.add_argument("--only", action="append", choices=CAUSES)
    parser.add_argument("--table", action="store_true", help="only say what is known, run nothing")
    parser.add_argument("-o", "--output", type=Path, default=Path("tune_planted.jsonl"))
    arguments = parser.parse_args()
    os.environ["PYTHONPATH"] = f"{ROOT / 'src'}:{os.environ.get('PYTHONPATH', '')}"
    os.environ["OMPI_ALLOW_RUN_AS_ROOT"] = os.environ["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    from venturi.cli.option import budget_seconds
    from venturi.model.error import UserError

    try:
        budget_seconds(arguments.budget)
    except UserError as error:
        parser.error(str(error))
    rows = known_in(arguments.output)
    ended = False
    try:
        if not arguments.table:
            run_all(arguments, rows)
    except KeyboardInterrupt:
        ended = True
    found = [rows[key] for key in sorted(rows)]
    if arguments.table:
        print("\n".join(map(line_of, found)))
    print("\n" + "\n".join(summary(found)))
    return 130 if ended else int(not all(map(is_right, found)))


if __name__ == "__main__":
    sys.exit(main())
