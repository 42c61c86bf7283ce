"""Applications x file systems: each captured once, derived once, predicted on all others.

The proxy comes from the first file system and is used unedited on every one. Needs root for the
mounts. Everything goes into one folder, cell by cell; the same command goes on where it was
ended. `venturi report FOLDER` draws its page, which is written at the end, too.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shlex
import shutil
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml
from storage import ABOUT, missing, mounted

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "src"))

from venturi import __version__, library  # noqa: E402
from venturi.derive.noise import is_foreign_path  # noqa: E402
from venturi.execute.host import cpu_name, system_name  # noqa: E402
from venturi.model.document import parse_json  # noqa: E402
from venturi.model.prediction import Prediction  # noqa: E402
from venturi.model.validation import (  # noqa: E402
    DOCUMENT,
    VALIDATION_SCHEMA,
    Storage,
    Tried,
    Validation,
    ValidationCell,
)
from venturi.report.validation import summary_of  # noqa: E402

Case = dict[str, str]
"""A case of cases.yaml, with the places of programs filled in."""


def cases_of(path: Path) -> dict[str, Case]:
    """The cases of a file by name."""
    known = {"{here}": str(HERE / "program"), "{python}": sys.executable}
    found = {}
    for name, entry in yaml.safe_load(path.read_text("utf-8")).items():
        found[name] = {"name": name, "prepare": "", **entry}
        for key in ("prepare", "command"):
            for word, value in known.items():
                found[name][key] = found[name].get(key, "").replace(word, value)
    return found


def venturi(*words: str | Path, where: Path) -> subprocess.CompletedProcess[str]:
    """One command of Venturi in the folder `where`."""
    variables = {
        **os.environ,
        "PYTHONPATH": f"{ROOT / 'src'}:{os.environ.get('PYTHONPATH', '')}",
        "VENTURI_STORE": str(where / "store"),
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    }
    return subprocess.run(
        [sys.executable, "-m", "venturi", *map(str, words)],
        cwd=where,
        env=variables,
        capture_output=True,
        text=True,
        check=False,
    )


def said(done: subprocess.CompletedProcess[str]) -> str:
    """The error of a command in one line."""
    lines = [line for line in done.stderr.splitlines() if line.startswith("venturi: ")]
    return (lines or [f"exit code {done.returncode}"])[0].removeprefix("venturi: ")


class Matrix:
    """The cells so far, in their folder."""

    def __init__(self, wanted: argparse.Namespace, cases: list[Case], systems: list[str]) -> None:
        self.folder = Path(wanted.output).absolute()
        self.cases = cases
        self.systems = systems
        self.repeat: int = wanted.repeat
        self.budget: str = wanted.budget
        self.note: str = wanted.note
        self.failures: dict[str, str] = {}
        self.started = datetime.now(UTC).isoformat(timespec="seconds")
        for part in ("proxy", "cell", "work"):
            (self.folder / part).mkdir(parents=True, exist_ok=True)

    def proxy(self, case: Case, mount: Path | None) -> Path | None:
        """The proxy of a case; it is derived from a run below `mount` where it is not there."""
        path = self.folder / "proxy" / f"{case['name']}.yaml"
        if path.exists() or mount is None:
            return path if path.exists() else None
        if "workload" in case:
            path.write_text(library.text_of(case["workload"]), "utf-8")
            return path
        trace = self.folder / "work" / f"{case['name']}.trace"
        shutil.rmtree(trace, ignore_errors=True)
        here = mount / "captured"
        here.mkdir()
        try:
            if case["prepare"]:
                subprocess.run(["sh", "-c", self._prepare(case)], cwd=here, check=True)
            done = venturi(
                "capture", "-q", "-o", trace, "--", "sh", "-c", case["command"], where=here
            )
        finally:
            shutil.rmtree(here)
        if done.returncode == 0:
            words = ("derive", trace, "-o", f"{path}.part", "--name", case["name"])
            done = venturi(*words, where=self.folder / "work")
        if done.returncode != 0:
            self.failures[case["name"]] = said(done)
            return None
        Path(f"{path}.part").rename(path)
        return path

    def fill(self, case: Case, system: str, mount: Path) -> None:
        """Measures one cell, unless it is there."""
        proxy = self.proxy(case, mount if system == self.systems[0] else None)
        name = f"{case['name']}-{system}"
        if proxy is None or self.is_filled(case, system):
            return
        begun = time.monotonic()
        kept = self.folder / "cell" / f"{name}.prediction"
        shutil.rmtree(kept, ignore_errors=True)
        against = ("--against", case["command"])
        if "workload" in case:
            against = ("--beside", str(self._native(case)))
        prepare = ("--prepare", self._prepare(case)) if case["prepare"] else ()
        done = venturi(
            "predict",
            proxy,
            *against,
            *prepare,
            "-d",
            mount,
            "--repeat",
            str(self.repeat),
            "--budget",
            self.budget,
            "--no-baselines",
            "-q",
            "-o",
            kept,
            where=self.folder / "work",
        )
        if done.returncode != 0:
            self._refusal(name).write_text(said(done), "utf-8")
        cell = self.cell(case["name"], system)
        text = cell.refused if cell.error is None else f"{cell.error.signed:+.1%}"
        print(f"{name}: {text} ({time.monotonic() - begun:.0f} s)", flush=True)
        self.write()

    def _prepare(self, case: Case) -> str:
        """The command that copies an application's input, which is made once, where it runs."""
        made = self.folder / "work" / "input" / case["name"]
        if not made.is_dir():
            part = made.with_suffix(".part")
            shutil.rmtree(part, ignore_errors=True)
            part.mkdir(parents=True)
            subprocess.run(["sh", "-c", case["prepare"]], cwd=part, check=True)
            part.rename(made)
        return f"cp -r {shlex.quote(str(made))}/. ."

    def is_filled(self, case: Case, system: str) -> bool:
        """Whether a cell was measured with as many runs as are wanted at least, or refused."""
        name = f"{case['name']}-{system}"
        document = self.folder / "cell" / f"{name}.prediction" / "prediction.json"
        if document.exists():
            return bool(json.loads(document.read_bytes())["repetitions"] >= self.repeat)
        return self._refusal(name).exists()

    def cell(self, case: str, system: str) -> ValidationCell:
        """One cell as it was measured."""
        found = self._prediction(f"{case}-{system}")
        if found is None:
            refused = self._refusal(f"{case}-{system}").read_text("utf-8")
            return ValidationCell(application=case, system=system, refused=refused)
        return ValidationCell(
            application=case,
            system=system,
            repetitions=found.repetitions,
            seconds=found.application.seconds,
            proxy_seconds=found.proxy.seconds,
            spread=found.application.spread,
            error=found.error,
            sorts=found.sorts,
        )

    def write(self) -> Validation:
        """The document of all that was measured so far, written into the folder."""
        filled = [
            (case, system)
            for case in self.cases
            for system in self.systems
            if self.is_filled(case, system)
        ]
        loads = [
            found.place.load_before
            for case, system in filled
            if (found := self._prediction(f"{case['name']}-{system}")) is not None
        ]
        whole = Validation(
            schema_=VALIDATION_SCHEMA,
            name="validation",
            started=self.started,
            venturi=__version__,
            repetitions=self.repeat,
            captured_on=self.systems[0],
            applications=[self._tried(case) for case in self.cases],
            systems=[Storage(name=name, about=ABOUT[name]) for name in self.systems],
            cells=[self.cell(case["name"], system) for case, system in filled],
            cpu=cpu_name(),
            cores=os.cpu_count() or 1,
            kernel=f"{system_name()}, Linux {platform.release()}",
            highest_load=max(loads, default=0.0),
            note=self.note,
        )
        part = self.folder / f"{DOCUMENT}.part"
        part.write_text(whole.to_json(indent=1) + "\n", "utf-8")
        part.rename(self.folder / DOCUMENT)
        return whole

    def _tried(self, case: Case) -> Tried:
        proxy = self.proxy(case, None)
        text = "" if proxy is None else proxy.read_text("utf-8").split("\norigin:")[0]
        return Tried(
            name=case["name"],
            about=case["about"],
            proxy=case.get("workload", "derived"),
            lines=0 if "workload" in case else sum(bool(line.strip()) for line in text.split("\n")),
            failure=self.failures.get(case["name"], ""),
        )

    def _native(self, case: Case) -> Path:
        """The workload that stands in an application's stead, on the case's interface."""
        data: dict[str, Any] = yaml.safe_load(library.text_of(case["beside"]))
        for file in data["files"].values():
            file["interface"] = case.get("interface", file.get("interface", "posix"))
        path = self.folder / "work" / f"{case['beside']}.yaml"
        path.write_text(yaml.safe_dump(data, sort_keys=False), "utf-8")
        return path

    def _prediction(self, name: str) -> Prediction | None:
        path = self.folder / "cell" / f"{name}.prediction" / "prediction.json"
        return parse_json(Prediction, path.read_bytes()) if path.exists() else None

    def _refusal(self, name: str) -> Path:
        return self.folder / "cell" / f"{name}.refused"


def main() -> None:
    """Runs the matrix, or what is left of it, and writes its page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", help="names, with commas (default: all that are installed)")
    parser.add_argument(
        "--systems", default="xfs,btrfs,ext4,tmpfs,gocryptfs", help="the first is captured on"
    )
    parser.add_argument(
        "--repeat", type=int, default=6, help="runs of each side at least (default: 6)"
    )
    parser.add_argument(
        "--budget", default="60s", help="of a cell, for more runs while its interval is wide (60s)"
    )
    parser.add_argument("--size", default="4G", help="of each file system (default: 4G)")
    parser.add_argument("--note", default="", help="a sentence on how quiet the machine was")
    parser.add_argument("--markdown", metavar="FILE", help="the page as Markdown, too")
    parser.add_argument("-o", "--output", default="matrix.validation", metavar="FOLDER")
    wanted = parser.parse_args()
    if is_foreign_path(f"{Path(wanted.output).absolute()}/"):
        parser.error(f"{wanted.output}: files there count as the system's; name another folder")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # unmounts on the way
    known = cases_of(HERE / "cases.yaml")
    names = wanted.cases.split(",") if wanted.cases else list(known)
    cases = [known[name] for name in names if _can(name, known[name])]
    systems = [name for name in wanted.systems.split(",") if _has(name)]
    matrix = Matrix(wanted, cases, systems)
    for system in systems:
        if all(matrix.is_filled(case, system) for case in cases):
            continue
        with mounted(system, matrix.folder / "place", wanted.size) as mount:
            for case in cases:
                matrix.fill(case, system, mount)
    shutil.rmtree(matrix.folder / "work", ignore_errors=True)
    whole = matrix.write()
    pages = [matrix.folder / "report.html", *filter(None, [wanted.markdown])]
    for page in pages:
        done = venturi("report", matrix.folder, "-o", Path(page).absolute(), where=matrix.folder)
        print(done.stdout.strip() if done.returncode == 0 else said(done))
    shutil.rmtree(matrix.folder / "store", ignore_errors=True)
    print(summary_of(whole))


def _can(name: str, case: Case) -> bool:
    if shutil.which(case["needs"]) is None:
        print(f"{name}: {case['needs']} is not installed, left out", flush=True)
        return False
    return True


def _has(system: str) -> bool:
    if word := missing(system):
        print(f"{system}: {word} is not installed, left out", flush=True)
    return not word


if __name__ == "__main__":
    main()
