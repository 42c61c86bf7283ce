"""How well derived proxies stand for real applications: captured, derived, run, compared.

Writes a table: the lines of each proxy, and how far its bytes, operations and sizes are from the
application's. `--write` puts it into docs/closure.md, `--only NAME` chooses applications.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "src"), str(Path(__file__).parent)]

from closure_applications import APPLICATIONS, PYTHON, Application  # noqa: E402

from venturi.analyse.fidelity_report import fidelity  # noqa: E402
from venturi.capture.proxy import capture_proxy, machine_for  # noqa: E402
from venturi.derive.workload import derive  # noqa: E402
from venturi.derive.yaml_text import to_yaml  # noqa: E402
from venturi.model.fidelity_report import (  # noqa: E402
    FidelityField,
    FidelityReport,
    FidelityStream,
    Match,
)
from venturi.model.units import size_text  # noqa: E402
from venturi.model.workload import Severity, Workload  # noqa: E402
from venturi.sources.open import read_capture  # noqa: E402

ENGINE = "VENTURI_ENGINE_DIR"
OUTPUT = ROOT / "docs" / "closure.md"
HEAD = """# How well derived proxies stand for applications
`bench/closure.py --write` captures each application, derives a proxy from the capture, runs that
under the same capture, and compares. *Lines* are those of the workload without its origin. Where
one figure stands, application and proxy have the same; else *application / proxy*. *Sizes* is how
much of the requests has another size (total variation), in the stream where that is most; *streams*
are those of the workload that moved data, and have a counterpart. What the workload leaves out
(tiny streams), and what none says (calls that failed, requests of 0 bytes), is counted beside.

| application | lines | written | read | writes | reads | sizes | streams | findings |
|---|---|---|---|---|---|---|---|---|
"""


@dataclass(frozen=True)
class Outcome:
    """What came of one application."""

    application: Application
    workload: Workload
    report: FidelityReport
    lines: int


def missing(application: Application) -> str:
    """What it needs and is not here; empty: nothing."""
    programs = [name for name in application.programs if shutil.which(name) is None]
    modules = [name for name in application.modules if importlib.util.find_spec(name) is None]
    return ", ".join(programs + modules)


def shell(command: str, place: Path, trace: Path | None = None) -> None:
    """Runs a command in surroundings of its own, under capture where a trace is wanted."""
    text = command.replace(f"{PYTHON} ", f"{sys.executable} ")
    line = ["bash", "--norc", "-c", text]
    if trace is not None:
        venturi = [sys.executable, "-m", "venturi", "capture", "-q", "-o", str(trace), "--"]
        line = [*venturi, *line]
    surroundings = {"PATH": "/usr/bin:/bin", "HOME": str(place), "LANG": "C"}
    surroundings |= {"PYTHONPATH": str(ROOT / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    if ENGINE in os.environ:
        surroundings[ENGINE] = os.environ[ENGINE]
    done = subprocess.run(
        line, cwd=place, env=surroundings, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{command}: {done.stderr[-2000:]}")


def tried(application: Application, place: Path, keep: Path | None) -> Outcome:
    """Captures, derives, runs and compares."""
    here, trace = place / "here", place / "application.trace"
    here.mkdir()
    shell(application.prepare, here)
    shell(application.command, here, trace)
    captured = read_capture(str(trace))
    name = "".join(c if c.isalnum() else "-" for c in application.name)
    workload = derive(captured, name)
    text = to_yaml(workload)
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        (keep / f"{name}.yaml").write_text(text, "utf-8")
        shutil.copytree(trace, keep / f"{name}.trace", dirs_exist_ok=True)
    os.chdir(place)
    (place / "proxy").mkdir()
    machine = machine_for(workload, captured.trace)
    proxy = capture_proxy(workload, text, place / "proxy", place / "proxy.trace", machine)
    report = fidelity(captured, proxy, (name, "proxy"))
    return Outcome(application, workload, report, lines_of(text))


def lines_of(text: str) -> int:
    """Lines without the origin and its evidence."""
    skipped, count = False, 0
    for line in text.splitlines():
        if line and not line.startswith((" ", "#")):
            skipped = line.startswith("origin:")
        count += bool(line) and not skipped and not line.startswith("#")
    return count


def furthest(stream: FidelityStream) -> FidelityField | None:
    """The judged field that is furthest off."""
    judged = [f for f in stream.fields if f.match in (Match.OFF, Match.WITHIN)]
    return max(
        judged, key=lambda f: 9.0 if f.difference is None else abs(f.difference), default=None
    )


def cell(stream: FidelityStream) -> str:
    """One stream's verdict."""
    if not stream.counterpart:
        return "no counterpart"
    found = furthest(stream)
    if found is None:
        return "equal"
    return f"{found.name}: {found.application:.4g} / {found.proxy:.4g}"


def both(report: FidelityReport, name: str, is_size: bool = False) -> str:
    """A field of the total: one figure where both are equal, else the application's and the
    proxy's."""
    for one in report.total.fields:
        if one.name == name:
            texts = [
                size_text(round(value)) if is_size else f"{value:,.0f}"
                for value in (one.application, one.proxy)
            ]
            return texts[0] if one.application == one.proxy else " / ".join(texts)
    return "–"


def moved(stream: FidelityStream) -> float:
    """The application's bytes."""
    return sum(f.application for f in stream.fields if f.name in ("bytes written", "bytes read"))


def other_sizes(report: FidelityReport) -> str:
    """How much of the requests' sizes differ, in the stream where that is most."""
    found = [
        abs(f.difference)
        for stream in report.streams
        if moved(stream)
        for f in stream.fields
        if f.name == "request sizes, exactly" and f.difference is not None
    ]
    return f"{max(found):.1%}" if found else "–"


def findings(workload: Workload) -> str:
    """What was found that is more than a note."""
    found = workload.origin.findings if workload.origin else []
    return ", ".join(sorted({f.id for f in found if f.severity is not Severity.NOTE})) or "–"


def report(outcomes: list[Outcome], left_out: dict[str, str]) -> str:
    """The page."""
    text = HEAD
    for one in outcomes:
        report = one.report
        there = sum(bool(stream.counterpart) for stream in report.streams if moved(stream))
        cells = (
            one.application.name,
            str(one.lines),
            both(report, "bytes written", is_size=True),
            both(report, "bytes read", is_size=True),
            both(report, "write operations"),
            both(report, "read operations"),
            other_sizes(report),
            f"{there} of {sum(bool(moved(stream)) for stream in report.streams)}",
            findings(one.workload),
        )
        text += f"| {' | '.join(cells)} |\n"
    day = datetime.datetime.now(datetime.UTC).date()
    text += f"\n{day}, a virtual machine with {os.cpu_count()} cores, Linux {platform.release()}, "
    text += f"load {os.getloadavg()[0]:.1f}.\n"
    if left_out:
        said = ", ".join(f"{name} (without {what})" for name, what in left_out.items())
        text += f"Not tried there: {said}.\n"
    for one in outcomes:
        text += f"\n## {one.application.name}\n`{one.application.command}`\n\n"
        text += "| stream | beside | furthest field: application / proxy |\n|---|---|---|\n"
        for stream in one.report.streams:
            text += f"| {named(stream.name)} | {stream.counterpart or '–'} | {cell(stream)} |\n"
        assumed = one.workload.origin.assumed if one.workload.origin else []
        text += "\nAssumed:\n\n" if assumed else ""
        text += "".join(f"* {said}\n" for said in assumed)
    return text


def named(path: str) -> str:
    """A stream's name without the place where all was done."""
    return re.sub(r"^/tmp/[^/]*(/here)?/?", "", path) or "."


def main() -> int:
    """Prints what comes of each application."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", action="append", default=[], metavar="NAME")
    parser.add_argument("--write", action="store_true", help=f"write {OUTPUT.relative_to(ROOT)}")
    parser.add_argument("--keep", type=Path, help="keep proxies and traces there")
    parser.add_argument("-d", "--dir", type=Path, help="where all is done")
    options = parser.parse_args()
    keep = options.keep.resolve() if options.keep else None
    base = options.dir.resolve() if options.dir else None
    outcomes: list[Outcome] = []
    left_out: dict[str, str] = {}
    failed = False
    for application in APPLICATIONS:
        if options.only and application.name not in options.only:
            continue
        if lacks := missing(application):
            left_out[application.name] = lacks
            continue
        with tempfile.TemporaryDirectory(dir=base) as place:
            try:
                outcomes.append(tried(application, Path(place), keep))
            except Exception as error:  # each application is tried on its own
                failed = True
                print(f"{application.name}: FAILED: {type(error).__name__}: {error}", flush=True)
                continue
            finally:
                os.chdir(ROOT)
        one = outcomes[-1]
        print(f"{application.name}: {one.lines} lines; {one.report.headline}", flush=True)
        if options.write:
            OUTPUT.write_text(report(outcomes, left_out), "utf-8")
    if options.write:  # once more: with what was left out behind the last one
        OUTPUT.write_text(report(outcomes, left_out), "utf-8")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
