"""A folder in which JUBE ran a benchmark: its packages of work, and what its analysis found.

JUBE keeps of each pattern statistics of what matched (`cnt`, `first`, ...), not the matches; of
several the first is taken, as its own tables do, and said.
"""

from __future__ import annotations

import math
import re
from pathlib import Path

from venturi.campaign.jube.node import Node
from venturi.campaign.jube.read import read
from venturi.importers.imported_run import ImportedRun, plain_parameters
from venturi.model.error import UserError
from venturi.model.result import Measure, direction_of

PACKAGES, ANALYSIS, CONFIGURATION = "workpackages.xml", "analyse.xml", "configuration.xml"
_NUMBERS = ("int", "float")
_SEVERAL = re.compile(r"_(?:first|last|min|max|avg|std|sum|sum2|cnt)$")
_STARTED = re.compile(r"^start: (\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)", re.MULTILINE)


def folders(path: Path) -> list[Path]:
    """The folders of runs at a path: itself, or those in it."""
    if (path / PACKAGES).is_file():
        return [path]
    return sorted(file.parent for file in path.glob(f"*/{PACKAGES}")) if path.is_dir() else []


def files_of(folder: Path) -> list[Path]:
    """What is read of a folder, and kept beside its results; the analysis comes first."""
    names = (ANALYSIS, PACKAGES, CONFIGURATION)
    return [folder / name for name in names if (folder / name).is_file()]


def readings(folder: Path) -> list[ImportedRun]:
    """A reading for each package of work that was analysed.

    Raises UserError where the run was not analysed, and for files that are not JUBE's.
    """
    if not (folder / ANALYSIS).is_file():
        raise UserError(f"{folder}: it was not analysed", "jube analyse, then import it again")
    packages = {node.get("id"): node for node in read(folder / PACKAGES).children if node.get("id")}
    benchmark, units = _configured(folder)
    return [
        _reading(folder, packages, package, benchmark, units)
        for analyser in read(folder / ANALYSIS).of("analyser", "analyzer")
        for step in analyser.of("step")
        for package in step.of("workpackage")
    ]


def _reading(
    folder: Path, packages: dict[str, Node], found: Node, benchmark: str, units: dict[str, str]
) -> ImportedRun:
    number = found.get("id")
    if number not in packages:
        raise UserError(f"{found.where}: there is no package of work {number} in {PACKAGES}")
    parameters = _parameters(packages, number, set())
    metrics, several = _metrics(found, units)
    step = "".join(node.text.strip() for node in packages[number].of("step"))
    failure = _failure(folder, number, step)
    nodes = _count(parameters, "nodes", 1)
    facts = {"of several matches the first": ", ".join(several)} if several else {}
    return ImportedRun(
        tool="jube",
        name=f"{benchmark}-{step}",
        started=_started(folder),
        metrics=metrics,
        parameters=plain_parameters(dict(parameters)),
        nodes=nodes,
        ranks=_count(parameters, "tasks", nodes * _count(parameters, "taskspernode", 1)),
        work=f"{benchmark}/{step}",
        failure=failure or ("" if metrics else "no pattern found a number"),
        facts=facts,
    )


def _configured(folder: Path) -> tuple[str, dict[str, str]]:
    """The benchmark's name, and the units of patterns."""
    path = folder / CONFIGURATION
    if not path.is_file():
        return folder.parent.name, {}
    root = read(path)
    benchmarks = [root] if root.tag == "benchmark" else list(root.of("benchmark"))
    units = {
        pattern.name: pattern.get("unit")
        for benchmark in benchmarks
        for patterns in benchmark.of("patternset")
        for pattern in patterns.of("pattern")
    }
    return (benchmarks[0].name if benchmarks else folder.parent.name), units


def _parameters(packages: dict[str, Node], number: str, seen: set[str]) -> dict[str, object]:
    """The parameters of a package and of those it depends on; its own count."""
    package = packages.get(number)
    if package is None or number in seen:
        return {}
    seen.add(number)
    merged: dict[str, object] = {}
    for parents in package.of("parents"):
        for parent in parents.text.split(","):
            merged |= _parameters(packages, parent.strip(), seen)
    for parameter in (p for group in package.of("parameterset") for p in group.of("parameter")):
        chosen = [*parameter.of("selection"), *parameter.of("value"), parameter]
        merged[parameter.name] = _typed(chosen[0].text.strip(), parameter.get("type"))
    return {name: value for name, value in merged.items() if not name.startswith("jube_")}


def _typed(text: str, kind: str) -> object:
    try:
        return int(text) if kind == "int" else float(text) if kind == "float" else text
    except ValueError:
        return text


def _metrics(found: Node, units: dict[str, str]) -> tuple[dict[str, Measure], list[str]]:
    """The numbers that patterns found, and which of them stand for several."""
    texts = {p.name: p.text.strip() for p in found.of("pattern") if p.get("type") in _NUMBERS}
    metrics: dict[str, Measure] = {}
    several: list[str] = []
    for name, text in texts.items():
        if _SEVERAL.search(name) and _SEVERAL.sub("", name) in texts:
            continue
        value = _typed(text, "float")
        if not isinstance(value, float) or not math.isfinite(value):
            continue
        unit = units.get(name, "")
        metrics[name] = Measure(unit=unit, better=direction_of(unit), values=[value])
        if texts.get(f"{name}_cnt", "1") != "1":
            several.append(f"{name} ({texts[f'{name}_cnt']})")
    return metrics, several


def _failure(folder: Path, number: str, step: str) -> str:
    """What JUBE's marks say of a package's end."""
    place = folder / f"{number.zfill(6)}_{step}"
    marks = {mark.name for mark in place.iterdir()} if place.is_dir() else set()
    if "error" in marks:
        return "JUBE marked it as failed"
    return "" if "done" in marks or not marks else "JUBE did not see its end"


def _started(folder: Path) -> str:
    try:
        found = _STARTED.search((folder / "timestamps").read_text("utf-8", "replace"))
    except OSError:
        return ""
    return f"{found[1]}T{found[2]}+00:00" if found else ""


def _count(parameters: dict[str, object], name: str, otherwise: int) -> int:
    value = parameters.get(name)
    return value if isinstance(value, int) and value > 0 else otherwise
