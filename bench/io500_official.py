"""Rates of our io500 beside those of the official program, phase by phase.

Both do the same fixed counts with the same ini on the same ranks of the same MPI, in turn (A B C,
then C B A), in each directory that is named. Before each phase that reads, pages of the data are
dropped by both; what the system knows of names stays for both. C is our profile without the
checking of what is read, so that its cost stands apart; the official program checks what IOR reads,
too. The program is not shipped: name one with --binary. Dropping pages needs root.

    python bench/io500_official.py --binary PATH --dir /dev/shm --dir /mnt/ext4 --pairs 6
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
sys.path[:0] = [str(ROOT / "src")]

from venturi import library  # noqa: E402
from venturi.compat.io500.adapt import adapted  # noqa: E402
from venturi.compat.io500.ini import Chosen  # noqa: E402
from venturi.compat.io500.own import result_of  # noqa: E402
from venturi.compat.io500.score import SCORED  # noqa: E402
from venturi.model.published import Io500Result  # noqa: E402
from venturi.model.record import Record  # noqa: E402

LEAST_PAIRS = 6
LEAST_S = 0.5
"""Phases that are shorter on either side are marked: their ratio says little."""
DROP = "sh -c 'sync && echo 1 > /proc/sys/vm/drop_caches'"
Rates = dict[str, tuple[float, float]]
"""By phase: the rate, and the seconds."""


def main() -> None:
    """Measure, and print a table for each directory."""
    chosen = _options()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _write_inputs(folder, chosen)
        for place in chosen.dir:
            runs = _runs(place, folder, chosen)
            _print_table(place, runs)


def _options() -> argparse.Namespace:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--binary", type=Path, required=True, help="the official io500")
    options.add_argument("--dir", type=Path, action="append", required=True, help="once or more")
    options.add_argument("--ranks", type=int, default=2)
    options.add_argument("--on", default="openmpi", help="the MPI of the binary")
    options.add_argument("--pairs", type=int, default=LEAST_PAIRS)
    options.add_argument("--block", type=int, default=1024, help="of ior-easy, MiB a rank")
    options.add_argument("--segments", type=int, default=20_000, help="of ior-hard, a rank")
    options.add_argument("--easy-items", type=int, default=100_000, help="a rank")
    options.add_argument("--hard-items", type=int, default=50_000, help="a rank")
    chosen = options.parse_args()
    if chosen.pairs < LEAST_PAIRS:
        print(f"{chosen.pairs} pairs: under {LEAST_PAIRS} no interval can be given", flush=True)
    return chosen


def _write_inputs(folder: Path, chosen: argparse.Namespace) -> None:
    """The ini of the official program, and our profile with and without checking."""
    (folder / "io500.ini").write_text(
        f"[global]\ndrop-caches = TRUE\ndrop-caches-cmd = {DROP}\n"
        f"[ior-easy]\nblockSize = {chosen.block}m\n[ior-hard]\nsegmentCount = {chosen.segments}\n"
        f"[mdtest-easy]\nn = {chosen.easy_items}\n[mdtest-hard]\nn = {chosen.hard_items}\n"
    )
    workload, text = library.load("io500"), library.text_of("io500")
    _, text = adapted(workload, text, Chosen(drop_caches=True))
    (folder / "checked.yaml").write_text(text)
    bare = text.replace("verify: true", "verify: false")
    if bare == text:
        raise SystemExit("the profile checks nothing: there is no cost to tell")
    (folder / "bare.yaml").write_text(bare)


def _runs(place: Path, folder: Path, chosen: argparse.Namespace) -> dict[str, list[Rates]]:
    runs: dict[str, list[Rates]] = {"official": [], "checked": [], "bare": []}
    for pair in range(chosen.pairs):
        order = list(runs) if pair % 2 == 0 else list(runs)[::-1]
        for side in order:
            _settle()
            done = (_official if side == "official" else _own)(place, folder, side, chosen)
            runs[side].append({p.name: (p.value, p.seconds or 0.0) for p in done.phases})
        print(f"{place}: pair {pair + 1} of {chosen.pairs}", file=sys.stderr, flush=True)
    return runs


def _settle() -> None:
    """Nothing of the run before is left to be written or to be found in memory."""
    os.sync()
    try:
        Path("/proc/sys/vm/drop_caches").write_text("3")
    except OSError as error:
        raise SystemExit(f"caches cannot be dropped ({error.strerror}): run it as root") from None


def _official(place: Path, folder: Path, side: str, chosen: argparse.Namespace) -> Io500Result:
    words = ["--binary", str(chosen.binary), "--config", str(folder / "io500.ini")]
    data = _venturi("io500-official", place, folder, chosen, words)
    return Io500Result.model_validate(data["result"], strict=False)


def _own(place: Path, folder: Path, side: str, chosen: argparse.Namespace) -> Io500Result:
    words = [
        "--set=stonewall=300 s",
        f"--set=easy_block={chosen.block} MiB",
        f"--set=hard_segments={chosen.segments}",
        f"--set=easy_items={chosen.easy_items}",
        f"--set=hard_items={chosen.hard_items}",
    ]
    data = _venturi(str(folder / f"{side}.yaml"), place, folder, chosen, words)
    return result_of(Record.model_validate(data, strict=False))


def _venturi(
    name: str, place: Path, folder: Path, chosen: argparse.Namespace, words: list[str]
) -> Any:
    """What a run prints as JSON. Exit code 3 is expected of the official one: phases are short."""
    line = [sys.executable, "-m", "venturi", "run", name, "-d", str(place), "--json"]
    line += ["-n", str(chosen.ranks), "--on", chosen.on, *words]
    environment = {**os.environ, "VENTURI_STORE": str(folder / "store")}
    done = subprocess.run(line, capture_output=True, text=True, env=environment, check=False)
    if done.returncode and (done.returncode != 3 or not done.stdout.startswith("{")):
        raise SystemExit(f"{name} ended with {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)


def _print_table(place: Path, runs: dict[str, list[Rates]]) -> None:
    print(f"\n{place}, {len(runs['official'])} pairs: ours / official, median (least to most)")
    print(f"{'PHASE':<20} {'CHECKED':>22} {'UNCHECKED':>22} {'CHECKING':>9}")
    for phase in SCORED:
        checked, bare = (_ratios(runs[side], runs["official"], phase) for side in list(runs)[1:])
        cost = 1 - statistics.median(_ratios(runs["checked"], runs["bare"], phase))
        shortest_s = min(one[phase][1] for side in runs.values() for one in side)
        mark = f"  shortest {shortest_s:.2g} s" if shortest_s < LEAST_S else ""
        print(f"{phase:<20} {_words(checked):>22} {_words(bare):>22} {cost:>9.1%}{mark}")


def _ratios(above: list[Rates], below: list[Rates], phase: str) -> list[float]:
    pairs = zip(above, below, strict=True)
    return [one[phase][0] / other[phase][0] for one, other in pairs if other[phase][0] > 0]


def _words(ratios: list[float]) -> str:
    middle = statistics.median(ratios)
    return f"{middle:.2f} ({min(ratios):.2f} to {max(ratios):.2f})"


if __name__ == "__main__":
    main()
