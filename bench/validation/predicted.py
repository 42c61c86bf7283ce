"""How far forecasts of applications are off: what a profile alone says beside the real run.

    bench/validation/predicted.py -o FOLDER.validation [--systems xfs,tmpfs] [--cases NAME,...]
                                 [--budget 150s] [--read]

Each file system is made and profiled; then every application runs in it, in turn with its proxy,
as in `matrix.py`, and a few points of the profile are measured again before and after: by that
much the machine was slower (or faster) than when it was profiled, which is said apart from the
error. Proxies that lie in FOLDER/proxy are used, others are derived on the first file system. What
was measured is kept; `--read` compares it once more without measuring. Needs root for the mounts.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

from matrix import HERE, Matrix, cases_of, venturi
from storage import mounted

from venturi.analyse.performance_model import PerformanceModel
from venturi.execute.launcher import machine_named
from venturi.model.forecast import Forecast
from venturi.model.machine import Machine
from venturi.model.profile import FileSharing
from venturi.model.yaml_text import load_yaml
from venturi.plan.setting import RunSettings
from venturi.predict.cold import with_cold_input
from venturi.predict.on_machine import forecast_of, profile_of
from venturi.profile.matrix import Family, MatrixCell, Setup, matrix_of
from venturi.profile.sample import samples_of
from venturi.store.run import Request, perform, prepare

_ANCHORS = (
    MatrixCell(Family.STREAM, 4096),
    MatrixCell(Family.STREAM, 2**20),
    MatrixCell(Family.ITEM, 4096),
)
"""Points that tell how fast the machine is now."""
_INTERFACES = "stdio,mpiio,hdf5"


def drift(machine: Path, mount: Path) -> float:
    """By what factor a few points take longer now than in the profile; the median of all."""
    surface = PerformanceModel(profile_of(machine_named(str(machine))))
    curves = {curve.access: curve for curve in surface.profile.curves}
    matrix = matrix_of(Setup(1, FileSharing.OWN), _ANCHORS, 8 * 2**20)
    with tempfile.TemporaryDirectory() as store:
        request = Request(
            workload=matrix.workload,
            workload_text=matrix.workload.model_dump_json(by_alias=True, exclude_defaults=True),
            settings=RunSettings(repetitions=2),
            machine=machine_named("local"),
            directory=mount,
            store=Path(store),
            command=["predicted"],
        )
        record = perform(prepare(request), lambda event: None)
    logs = []
    for sample in samples_of(record, matrix):
        if (curve := curves.get(sample.access)) is not None:
            known = surface.at(curve, sample.bytes, sample.ranks).seconds.median
            logs.append(math.log(max(sample.seconds, 1e-9) / max(known, 1e-9)))
    return math.exp(statistics.median(logs))


def measure(matrix: Matrix, system: str, wanted: argparse.Namespace) -> None:
    """Profile one file system and run all applications in it; what is there already is left."""
    folder = matrix.folder
    machine, looks = folder / f"{system}.machine.yaml", folder / f"{system}.drift.json"
    with mounted(system, folder / "place", "3G") as mount:
        if not machine.exists():
            done = venturi(
                "profile",
                mount,
                "-o",
                machine,
                "--budget",
                wanted.budget,
                "--on",
                "openmpi",
                "--interfaces",
                _INTERFACES,
                "-q",
                where=folder,
            )
            if done.returncode != 0:
                sys.exit(done.stderr)
        factors = json.loads(looks.read_text()) if looks.exists() else {}
        for case in matrix.cases:
            if matrix.is_filled(case, system):
                continue
            before = drift(machine, mount)
            matrix.fill(case, system, mount)
            both = before, drift(machine, mount)
            factors[case["name"]] = {"factors": both, "load": os.getloadavg()[0]}
            looks.write_text(json.dumps(factors))


def machine_at(path: Path, least: bool) -> Machine:
    """A machine that was profiled; `least`: of each point the least repetition only."""
    machine = machine_named(str(path))
    if not least:
        return machine
    profile = profile_of(machine)
    curves = [
        curve.model_copy(
            update={"points": [p.model_copy(update={"seconds": p.low}) for p in curve.points]}
        )
        for curve in profile.curves
    ]
    return machine.model_copy(update={"profile": profile.model_copy(update={"curves": curves})})


def forecast_beside(folder: Path, name: str, machine: Machine) -> Forecast | str:
    """What the profile says of a proxy whose input is cold; a sentence where it refuses."""
    from venturi.model.error import VenturiError
    from venturi.model.workload import Workload

    workload = with_cold_input(load_yaml(folder / "proxy" / f"{name}.yaml", Workload))
    try:
        return forecast_of(workload, RunSettings(), machine, False)
    except VenturiError as error:
        return error.message


def rows_of(
    matrix: Matrix, system: str, wanted: argparse.Namespace
) -> list[tuple[float, float, bool]]:
    """Prints a row for each application; errors, those with the drift taken out, and whether the
    interval held it."""
    folder = matrix.folder
    looks = folder / f"{system}.drift.json"
    machine = machine_at(folder / f"{system}.machine.yaml", wanted.least)
    factors: dict[str, Any] = json.loads(looks.read_text()) if looks.exists() else {}
    found = []
    for case in matrix.cases:
        name = case["name"]
        document = folder / "cell" / f"{name}-{system}.prediction" / "prediction.json"
        if not document.exists():
            continue
        ran = json.loads(document.read_bytes())["application"]
        if wanted.least:
            ran = min(ran["runs"], key=lambda turn: turn["seconds"])
        told = forecast_beside(folder, name, machine)
        if isinstance(told, str):
            print(f"| {name} | {system} | | {ran['seconds']:.4g} | | | | {told} |")
            continue
        slower = math.prod(factors.get(name, {}).get("factors", (1.0, 1.0))) ** 0.5
        error = told.seconds.median / ran["seconds"] - 1
        steady = told.seconds.median * slower / ran["seconds"] - 1
        inside = told.seconds.low <= ran["seconds"] <= told.seconds.high
        found.append((error, steady, inside))
        sure = "" if not told.unknown else ", cannot know all"
        print(
            f"| {name} | {system} | {told.seconds.median:.4g} | {ran['seconds']:.4g} "
            f"| {100 * error:+.0f} % | {slower:.2f} | {100 * steady:+.0f} % "
            f"| {'yes' if inside else 'no'}{sure} |"
        )
        if wanted.parts:
            _print_parts(told, ran["seconds_by"])
    return found


def _print_parts(told: Forecast, ran: dict[str, float]) -> None:
    """What both are made of, in milliseconds."""
    print("  ran", {key: round(1e3 * value, 2) for key, value in ran.items()})
    by: dict[str, float] = {}
    for phase in told.phases:
        for part in phase.parts:
            key = f"{part.operation} {part.bytes} ({part.by})"
            by[key] = by.get(key, 0.0) + 1e3 * part.seconds.median
    for key, value in sorted(by.items(), key=lambda item: -item[1])[:12]:
        print(f"  told {value:.3f} {key}")


def main() -> None:
    """Measures what is missing, then prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", help="names, with commas (default: all derived ones)")
    parser.add_argument("--systems", default="xfs,tmpfs")
    parser.add_argument("--repeat", type=int, default=4, help="runs of each side (4)")
    parser.add_argument("--budget", default="150s", help="of each profile")
    parser.add_argument("--read", action="store_true", help="compare what was measured before")
    parser.add_argument("--parts", action="store_true", help="what forecasts are made of, too")
    parser.add_argument(
        "--least",
        action="store_true",
        help="the least repetition of each point and run: the miss apart from others' load",
    )
    parser.add_argument("-o", "--output", default="predicted.validation", metavar="FOLDER")
    wanted = parser.parse_args()
    known = cases_of(HERE / "cases.yaml")
    derived = [name for name, case in known.items() if "workload" not in case]
    names = wanted.cases.split(",") if wanted.cases else derived
    systems = wanted.systems.split(",")
    how = argparse.Namespace(output=wanted.output, repeat=wanted.repeat, budget="0", note="")
    matrix = Matrix(how, [known[name] for name in names], systems)
    if not wanted.read:
        for system in systems:
            measure(matrix, system, wanted)
    print(
        "| application | on | predicted s | ran s | error | machine slower by | error without "
        "that | inside the interval |\n|---|---|---:|---:|---:|---:|---:|---|"
    )
    rows = [row for system in systems for row in rows_of(matrix, system, wanted)]
    if rows:
        plain, steady = (statistics.median(abs(row[at]) for row in rows) for at in (0, 1))
        held = sum(row[2] for row in rows)
        print(
            f"\nmedian |error| {100 * plain:.0f} %, {100 * steady:.0f} % without what the "
            f"machine was slower; {held} of {len(rows)} inside the interval"
        )


if __name__ == "__main__":
    main()
