"""Applications x file systems: each captured once, derived once, predicted on all others.

The proxy comes from the first file system and is used unedited on every one. Needs root for the
loop devices; prints one table, and writes it as Markdown.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SYSTEMS = {
    "xfs": ["mkfs.xfs", "-q"],
    "btrfs": ["mkfs.btrfs", "-q"],
    "ext4": ["mkfs.ext4", "-q", "-E", "lazy_itable_init=0,lazy_journal_init=0"],
    "tmpfs": [],
    "disk": [],
}
"""How each is made; `disk` is a folder where the images lie."""

MOST_LINES = 60
MOST_TABLE = 32


@dataclass(frozen=True)
class Case:
    """An application: how its input is made, and how it is run."""

    name: str
    needs: str
    about: str
    prepare: str
    command: str


def cases_of(path: Path) -> dict[str, Case]:
    """The cases of a file, with the places of programs filled in."""
    known = {"{here}": str(HERE / "program"), "{python}": sys.executable}
    found = {}
    for name, entry in yaml.safe_load(path.read_text("utf-8")).items():
        lines = {}
        for key in ("prepare", "command"):
            lines[key] = entry.get(key, "")
            for word, value in known.items():
                lines[key] = lines[key].replace(word, value)
        found[name] = Case(name, entry["needs"], entry["about"], **lines)
    return found


@contextmanager
def mounted(system: str, place: Path, size: str) -> Iterator[Path]:
    """A file system of this kind, freshly made, till the block ends."""
    mount = place / system
    mount.mkdir()
    if system == "disk":
        yield mount
        return
    if system == "tmpfs":
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", mount], check=True)
    else:
        image = place / f"{system}.img"
        subprocess.run(["truncate", "-s", size, image], check=True)
        subprocess.run([*SYSTEMS[system], image], check=True, stdout=subprocess.DEVNULL)
        subprocess.run(["mount", "-o", "loop", image, mount], check=True)
    try:
        yield mount
    finally:
        subprocess.run(["umount", mount], check=False)


def venturi(*words: str | Path, where: Path) -> subprocess.CompletedProcess[str]:
    """One command of Venturi in the folder `where`."""
    variables = {
        **os.environ,
        "PYTHONPATH": f"{ROOT / 'src'}:{os.environ.get('PYTHONPATH', '')}",
        "VENTURI_STORE": str(where),
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    }
    return subprocess.run(
        [sys.executable, "-m", "venturi", *map(str, words)], cwd=where, env=variables,
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def derived(case: Case, mount: Path, place: Path) -> tuple[Path, str]:
    """The proxy of one run on the file system at `mount`, and what is to be said of it."""
    folder = mount / "captured"
    folder.mkdir()
    try:
        if case.prepare:
            subprocess.run(["sh", "-c", case.prepare], cwd=folder, check=True)
        trace, proxy = place / f"{case.name}.trace", place / f"{case.name}.yaml"
        done = venturi("capture", "-q", "-o", trace, "--", "sh", "-c", case.command, where=folder)
        if done.returncode != 0:
            raise RuntimeError(f"capture: {done.stderr.strip().splitlines()[-1]}")
    finally:
        shutil.rmtree(folder)
    done = venturi("derive", trace, "-o", proxy, "--name", case.name, where=place)
    if done.returncode != 0:
        raise RuntimeError(f"derive: {done.stderr.strip().splitlines()[-1]}")
    lines = proxy.read_text("utf-8").split("\norigin:")[0].splitlines()
    count = sum(bool(line.strip()) for line in lines)
    return proxy, f"{count} lines" + ("" if count < MOST_LINES else f" (aim: under {MOST_LINES})")


def predicted(
    case: Case, proxy: Path, mount: Path, place: Path, repeat: int
) -> dict[str, Any] | str:
    """The prediction's document, or why there is none."""
    folder = place / f"{case.name}-{mount.name}.prediction"
    prepare = ["--prepare", case.prepare] if case.prepare else []
    done = venturi(
        "predict", proxy, "--against", case.command, *prepare, "-d", mount, "--repeat", repeat,
        "--no-baselines", "-q", "--json", "-o", folder, where=place,
    )  # fmt: skip
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if line.startswith("venturi: ")]
        return (lines or [f"exit code {done.returncode}"])[0].removeprefix("venturi: ")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def cell(found: dict[str, Any] | str | None) -> str:
    """One cell of the table."""
    if found is None:
        return "–"
    if isinstance(found, str):
        return "refused"
    error = found["error"]
    within = " (within spread)" if found["within_spread"] else ""
    return (
        f"**{error['signed']:+.1%}**{within}<br>[{error['low']:+.0%}, {error['high']:+.0%}]; "
        f"{found['application']['seconds']:.3g} s ± {found['application']['spread']:.0%}"
    )


def summary(results: dict[tuple[str, str], dict[str, Any] | str]) -> str:
    """Median and worst error over all cells."""
    errors = {
        key: found["error"]["signed"] for key, found in results.items() if isinstance(found, dict)
    }
    if not errors:
        return "Nothing could be compared."
    worst = max(errors, key=lambda key: abs(errors[key]))
    middle = statistics.median(abs(error) for error in errors.values())
    near = sum(
        abs(found["error"]["signed"]) <= max(0.10, found["application"]["spread"])
        for found in results.values()
        if isinstance(found, dict)
    )
    refused = len(results) - len(errors)
    return (
        f"Median |error| {middle:.1%}, worst {errors[worst]:+.1%} ({worst[0]} on {worst[1]}); "
        f"{near} of {len(errors)} within 10 % or the application's own spread"
        + (f"; {refused} refused" if refused else "")
        + "."
    )


def differences(results: dict[tuple[str, str], dict[str, Any] | str]) -> list[str]:
    """Where the time of each case that misses differs most; why others were refused."""
    lines = []
    for (case, system), found in results.items():
        if isinstance(found, str):
            lines.append(f"* {case} on {system}: {found}")
        elif abs(found["error"]["signed"]) > 0.10:
            parts = sorted(found["sorts"], key=lambda p: -abs(p["proxy"] - p["application"]))[:2]
            text = "; ".join(
                f"{p['name']} {p['application'] * 1e3:.3g} ms → {p['proxy'] * 1e3:.3g} ms"
                for p in parts
            )
            lines.append(f"* {case} on {system} ({found['error']['signed']:+.1%}): {text}")
    return lines


def page(
    results: dict[tuple[str, str], dict[str, Any] | str],
    proxies: dict[str, str],
    cases: dict[str, Case],
    systems: list[str],
    note: str,
) -> str:
    """The whole table as Markdown."""
    some = next((found for found in results.values() if isinstance(found, dict)), None)
    machine = some["place"] if some else {"cpu": platform.machine(), "cores": os.cpu_count()}
    load = max(
        (f["place"]["load_before"] for f in results.values() if isinstance(f, dict)), default=0
    )
    head = [
        "# How well proxies foretell applications",
        "",
        f"Made by `bench/validation/matrix.py` on {datetime.date.today().isoformat()}: "
        f"{machine['cpu']}, {machine['cores']} cores, Linux {platform.release()}; load up to "
        f"{load:.1f}. {note}".rstrip(),
        "",
        f"Each application was captured once on {systems[0]}, its proxy derived from that one run, "
        "and then run unedited in turn with the application on every file system "
        f"({some['repetitions'] if some else 0} runs of each). A cell holds the error of the I/O "
        "time, its 95 % interval, and the application's I/O time with the spread of its runs.",
        "",
        summary(results),
        "",
        f"| application | proxy | {' | '.join(systems)} |",
        f"|---|---|{'---|' * len(systems)}",
    ]
    rows = [
        f"| {name}: {cases[name].about} | {proxies[name]} | "
        + " | ".join(cell(results.get((name, system))) for system in systems)
        + " |"
        for name in proxies
    ]
    far = differences(results)
    tail = ["", "## Where they differ", "", *far] if far else []
    return "\n".join([*head, *rows, *tail]) + "\n"


def main() -> None:
    """Runs the matrix; the page is written anew after each cell, so an end by force loses one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", help="names, with commas (default: all that are installed)")
    parser.add_argument(
        "--systems", default="xfs,btrfs,ext4,tmpfs", help="the first is captured on"
    )
    parser.add_argument("--repeat", type=int, default=6)
    parser.add_argument("--size", default="4G", help="of each file system")
    parser.add_argument("--place", default=None, help="where images and results lie meanwhile")
    parser.add_argument("--keep", metavar="FOLDER", help="where predictions and proxies are kept")
    parser.add_argument("--note", default="", help="a sentence on how quiet the machine was")
    parser.add_argument("-o", "--output", default=str(ROOT / "docs" / "validation.md"))
    wanted = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # unmounts on the way
    known = cases_of(HERE / "cases.yaml")
    names = wanted.cases.split(",") if wanted.cases else list(known)
    chosen = [known[name] for name in names if _is_installed(known[name])]
    systems = [name for name in wanted.systems.split(",") if not _missing(name)]
    with tempfile.TemporaryDirectory(prefix="venturi-validation-", dir=wanted.place) as folder:
        matrix = Matrix(chosen, systems, Path(folder), wanted)
        try:
            for system in systems:
                with mounted(system, Path(folder), wanted.size) as mount:
                    for case in chosen:
                        matrix.fill(case, system, mount)
        finally:
            matrix.keep()
    print(f"\n{matrix.text}")


class Matrix:
    """The cells so far, and the page that they make."""

    def __init__(
        self, cases: list[Case], systems: list[str], place: Path, wanted: argparse.Namespace
    ) -> None:
        self.text = ""
        self._cases = {case.name: case for case in cases}
        self._systems = systems
        self._place = place
        self._wanted = wanted
        self._files: dict[str, Path] = {}
        self._proxies: dict[str, str] = {}
        self._results: dict[tuple[str, str], dict[str, Any] | str] = {}

    def fill(self, case: Case, system: str, mount: Path) -> None:
        """One cell; on the first file system the proxy is made before."""
        if system == self._systems[0]:
            try:
                self._files[case.name], self._proxies[case.name] = derived(case, mount, self._place)
            except (RuntimeError, subprocess.CalledProcessError) as error:
                print(f"{case.name}: {error}", flush=True)
        if case.name not in self._files:
            return
        found = predicted(case, self._files[case.name], mount, self._place, self._wanted.repeat)
        self._results[case.name, system] = found
        print(f"{case.name} on {system}: {_line(found)}", flush=True)
        self.text = page(
            self._results, self._proxies, self._cases, self._systems, self._wanted.note
        )
        Path(self._wanted.output).write_text(self.text, "utf-8")

    def keep(self) -> None:
        """Moves what was made to where it is wanted."""
        if self._wanted.keep:
            Path(self._wanted.keep).mkdir(parents=True, exist_ok=True)
            for entry in [*self._place.glob("*.yaml"), *self._place.glob("*.prediction")]:
                shutil.move(entry, self._wanted.keep)


def _is_installed(case: Case) -> bool:
    if shutil.which(case.needs) is None:
        print(f"{case.name}: {case.needs} is not installed, left out", flush=True)
        return False
    return True


def _missing(system: str) -> bool:
    made_by = SYSTEMS[system][:1]
    missing = bool(made_by) and shutil.which(made_by[0]) is None
    if missing:
        print(f"{system}: {made_by[0]} is not installed, left out", flush=True)
    return missing


def _line(found: dict[str, Any] | str) -> str:
    return found if isinstance(found, str) else cell(found).replace("<br>", " ")


if __name__ == "__main__":
    main()
