"""Suites of JUBE, run by JUBE and by Venturi: are there the same work packages, the same table?

`python bench/jube_suites.py CASES --jube /path/to/bin/jube` where CASES is a file with a line
`FILE [TAG]...` for each case (paths are relative to it), or a folder of JUBE's own examples, each
of which runs as it is (`--real`).

Applications of the suites are not here. So both tools get a copy of the suite in which the
commands of each step are one stand-in (`jube_stand_in.py`), which prints what the step's patterns
fit, and in which no files are copied. Everything else is the suite's: sets, tags, includes,
scripts, dependencies, patterns, tables. The programs of a site that snippets call (`sinfo`,
`sacct`) and the name of the system are stand-ins too, the same ones for both. Whether the suite
as it is would be refused, and how many runs it would have, is asked beside.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

import yaml

STAND_IN = Path(__file__).with_name("jube_stand_in.py")
WORK = "work"
"""JUBE's name for the folder of a work package."""
MACHINE = """
schema: venturi.machine/2
name: here
launcher: {kind: mpirun, command: [env, "RANKS={ranks}", "NODES={nodes}"]}
"""
SITE = {
    "cat": 'case "$*" in */systemname) printf "%s" "$SYSTEM_NAME";; *) exec /bin/cat "$@";; esac',
    "sinfo": 'case "$*" in *.4X*) echo "   2";; *.4Y*) echo "  64";; *) echo "  2";; esac',
    "sacct": 'case " $* " in *" -n "*) echo "4096K";; *) printf "%s\\n" x - COMPLETED;; esac',
    "nodeset": "echo node1,node2",
    "scontrol": "echo Nodes=node[1-2]",
}
SYSTEM_SETS = (
    "nodes",
    "taskspernode",
    "threadspertask",
    "tasks",
    "timelimit",
    "outlogfile",
    "errlogfile",
)
_NAME = re.compile(r"\$\{?(\w+)")
SEPARATOR = "|"


@dataclass
class Case:
    """A file of JUBE with the tags that choose from it, and what came of it."""

    file: Path
    tags: list[str]
    theirs: Counter[str] = field(default_factory=Counter)
    """Work packages by step."""
    ours: Counter[str] = field(default_factory=Counter)
    equal: int = 0
    cells: int = 0
    equal_cells: int = 0
    planned: int = 0
    """Runs of the suite as it is."""
    said: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Tools:
    """Both programs and what they need."""

    jube: Path
    environment: dict[str, str]
    is_real: bool

    def run(self, *line: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        """A command; its output is kept."""
        return subprocess.run(
            list(map(str, line)),
            cwd=cwd,
            env=self.environment,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=600,
            check=False,
        )

    def venturi(self, *words: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
        """A command of Venturi's campaigns."""
        return self.run(sys.executable, "-m", "venturi", "campaign", *words, cwd=cwd)

    def imported(self, file: Path, tags: list[str], cwd: Path) -> str:
        """Import a file as `own.yaml`; what was refused, or nothing."""
        words: list[str | Path] = ["import", file, "--trust", "-o", "own.yaml"]
        for tag in tags:
            words += ["--tag", tag]
        done = self.venturi(*words, cwd=cwd)
        return done.stderr.strip() or str(done.returncode) if done.returncode else ""


def run_of_jube(tools: Tools, file: Path, tags: list[str], out: Path) -> str:
    """Run a file; what went wrong, or nothing."""
    line = [tools.jube, "run", "-r", "--hide-animation", "-o", out, file]
    if tags:
        line += ["-t", *tags]
    done = tools.run(*line, cwd=out.parent)
    if not (out / "000000" / "workpackages.xml").exists():
        return ([*(done.stdout + done.stderr).strip().splitlines()] or ["it failed"])[-1]
    return ""


def own_names(out: Path) -> set[str]:
    """Parameters whose values come from folders and numbers of JUBE's own."""
    tree = ElementTree.parse(out / "000000" / "workpackages.xml")
    texts = {
        (node.get("name", ""), node.findtext("value", "") or "") for node in tree.iter("parameter")
    }
    found: set[str] = set()
    for _ in texts:
        more = {
            name
            for name, text in texts
            if any(one.startswith("jube_") or one in found for one in _NAME.findall(text))
        }
        if more <= found:
            break
        found |= more
    return found


def packages(out: Path) -> list[tuple[str, dict[str, str]]]:
    """Step and parameters of each work package of JUBE."""
    tree = ElementTree.parse(out / "000000" / "workpackages.xml")
    found = []
    for node in tree.iter("workpackage"):
        own = {}
        for parameter in node.iter("parameter"):
            chosen = parameter.find("selection")
            value = parameter.find("value") if chosen is None else chosen
            own[parameter.get("name", "")] = (value is not None and value.text) or ""
        found.append((node.findtext("step", ""), own))
    return found


# ---- the copy of a suite -------------------------------------------------------------------


def stand_in_copy(case: Case, folder: Path, commands: dict[str, str]) -> Path:
    """A copy of a suite's folder with one command in each step and without files to copy."""
    source = case.file.parent
    shutil.copytree(source, folder, ignore=shutil.ignore_patterns("*.tar*", ".git"))
    for path in [*folder.rglob("*.xml"), *folder.rglob("*.y*ml")]:
        text = path.read_text("utf-8", "replace")
        if path.suffix == ".xml" and "<jube" in text:
            tree = ElementTree.parse(path)
            _simplify_xml(tree.getroot(), commands)
            tree.write(path, encoding="utf-8", xml_declaration=True)
        elif path.suffix in (".yml", ".yaml"):
            data = yaml.safe_load(text)
            _simplify_yaml(data, commands)
            path.write_text(yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=10**6))
    return folder / case.file.name


def _simplify_xml(root: ElementTree.Element, commands: dict[str, str]) -> None:
    for node in root.iter():
        if node.tag == "step":
            for child in [own for own in node if own.tag == "do"]:
                node.remove(child)
            ElementTree.SubElement(node, "do").text = commands.get(node.get("name", ""), "true")
        elif node.tag in ("fileset", "substituteset"):
            for child in [own for own in node if own.tag != "include"]:
                node.remove(child)
            node.attrib.pop("init_with", None)
        elif node.tag == "table":
            node.attrib |= {"style": "csv", "separator": SEPARATOR}


def _simplify_yaml(data: object, commands: dict[str, str]) -> None:
    if isinstance(data, list):
        for one in data:
            _simplify_yaml(one, commands)
    elif isinstance(data, dict):
        for step in _listed(data.get("step")):
            step["do"] = commands.get(step.get("name", ""), "true")
        for kind in ("fileset", "substituteset"):
            for own in _listed(data.get(kind)):
                for key in set(own) - {"name", "tag"}:
                    del own[key]
        for table in _listed(data.get("table")):
            table |= {"style": "csv", "separator": SEPARATOR}
        for value in data.values():
            _simplify_yaml(value, commands)


def _listed(value: object) -> list[dict[str, object]]:
    values = value if isinstance(value, list) else [value]
    return [one for one in values if isinstance(one, dict)]


def rules_of(out: Path) -> dict[str, list[tuple[str, list[str]]]]:
    """The files of each step that are looked into, with the patterns that are looked for."""
    root = ElementTree.parse(out / "000000" / "configuration.xml").getroot()
    sets = {
        own.get("name"): [
            (one.text or "").strip() for one in own if one.get("mode", "pattern") == "pattern"
        ]
        for own in root.iter("patternset")
    }
    rules: dict[str, list[tuple[str, list[str]]]] = {}
    for analyser in root.iter("analyser"):
        general = [use.text for use in analyser.findall("use")]
        for analyse in analyser.findall("analyse"):
            for file in analyse.findall("file"):
                own = [name.strip() for name in file.get("use", "").split(",") if name.strip()]
                patterns = [text for name in [*general, *own] for text in sets.get(name, [])]
                rules.setdefault(analyse.get("step", ""), []).append((file.text or "", patterns))
    return rules


def commands_of(out: Path, case: Case, folder: Path) -> dict[str, str]:
    """The stand-in's command for each step; it shows the parameters that the suite itself names."""
    rules = rules_of(out)
    known = set(SYSTEM_SETS)
    for path in [*case.file.parent.rglob("*.xml"), *case.file.parent.rglob("*.y*ml")]:
        text = path.read_text("utf-8", "replace")
        known |= set(re.findall(r"name\s*=\s*['\"](\w+)['\"]", text))
        known |= set(re.findall(r"\bname['\"]?:\s*['\"]?(\w+)", text))
    known -= own_names(out) | {"submit", "submit_script", "chainjob_script"}
    names: dict[str, dict[str, None]] = {}
    for step, own in packages(out):
        kept = {name: None for name, value in own.items() if name in known}
        names.setdefault(step, {}).update(kept)
    steps = {step: rules.get(step, []) for step in names}
    (folder / "rules.json").write_text(json.dumps(steps))
    return {
        step: f"{sys.executable} {STAND_IN} {folder / 'rules.json'} {step} <<'END_OF_FACTS'\n"
        + "".join(f"{name}=<${{{name}}}>\n" for name in sorted(own))
        + "END_OF_FACTS\ntrue"
        for step, own in names.items()
    }


# ---- what both made of it ------------------------------------------------------------------


def compare(tools: Tools, case: Case, folder: Path) -> None:
    """Fill in what came of a case."""
    probe = folder / "probe"
    file = case.file
    if not tools.is_real:
        if said := run_of_jube(tools, stand_in_copy(case, probe, {}), case.tags, folder / "first"):
            case.said.append(f"JUBE: {said}")
            return
        commands = commands_of(folder / "first", case, folder)
        file = stand_in_copy(case, folder / "suite", commands)
    if said := run_of_jube(tools, file, case.tags, folder / "out"):
        case.said.append(f"JUBE: {said}")
        return
    case.theirs = Counter(step for step, _ in packages(folder / "out"))
    if not tools.is_real:
        _plan_original(tools, case, folder)
    (folder / "here.yaml").write_text(MACHINE)
    (folder / "data").mkdir()
    if said := tools.imported(file, case.tags, folder):
        case.said += [f"refused: {line}" for line in said.splitlines()]
        return
    done = tools.venturi(
        "run", "own.yaml", "-d", "data", "--on", "here.yaml", "--json", "-q", cwd=folder
    )
    try:
        rows = json.loads(done.stdout)["rows"]
    except ValueError:
        case.said.append(f"run: {done.stderr.strip()}")
        return
    for row in rows:
        case.ours[row["step"]] += sum(row["states"].values())
        if set(row["states"]) != {"done"}:
            case.said.append(f"{row['point']}: {row['states']} {'; '.join(row['reasons'])}")
    _compare_facts(tools, case, folder)
    _compare_tables(tools, case, folder)


def _plan_original(tools: Tools, case: Case, folder: Path) -> None:
    """What becomes of the suite as it is."""
    beside = folder / "original"
    beside.mkdir()
    (beside / "data").mkdir()
    (beside / "here.yaml").write_text(MACHINE)
    if said := tools.imported(case.file, case.tags, beside):
        case.said += [f"original refused: {line}" for line in said.splitlines()]
        return
    words = ("run", "own.yaml", "-d", "data", "--on", "here.yaml", "--dry-run", "--json", "-q")
    done = tools.venturi(*words, cwd=beside)
    try:
        case.planned = json.loads(done.stdout)["runs"]
    except ValueError:
        case.said.append(f"original: {done.stderr.strip()}")


def _compare_facts(tools: Tools, case: Case, folder: Path) -> None:
    """How many work packages got the same parameters from both."""
    if tools.is_real:
        case.equal = sum((case.theirs & case.ours).values())
        return
    theirs = [
        (path.parts[-3].partition("_")[2], _facts(path, folder))
        for path in (folder / "out" / "000000").glob(f"*/{WORK}/**/facts.txt")
    ]
    ours = [
        (path.parent.parent.name.rpartition("-")[0], _facts(path, folder))
        for path in folder.glob("*.campaign/**/facts.txt")
    ]
    left = Counter(text for _, text in theirs)
    case.equal = sum((left & Counter(text for _, text in ours)).values())
    other = Counter(text for _, text in ours) - left
    for text in left - Counter(text for _, text in ours):
        lines = text.splitlines()
        best = max(other, key=lambda one: len(set(lines) & set(one.splitlines())), default="")
        missing = [line for line in lines if line not in best.splitlines()]
        case.said += [f"JUBE {line}" for line in missing[:3]]
        case.said += [f"ours {line}" for line in best.splitlines() if line not in lines][:3]
        break


def _facts(path: Path, folder: Path) -> str:
    """A work package's parameters, without what differs by the tool's own folders."""
    text = path.read_text("utf-8", "replace")
    return "".join(
        f"{name}={value}\n"
        for name, value in re.findall(r"^(\w+)=<(.*?)>$", text, re.MULTILINE | re.DOTALL)
        if "jube_" not in value and str(folder) not in value
    )


def _compare_tables(tools: Tools, case: Case, folder: Path) -> None:
    for path in sorted((folder / "out" / "000000" / "result").glob("*.dat")):
        text = path.read_text("utf-8", "replace")
        if text.startswith("SQLite"):
            continue
        theirs = [line.split(SEPARATOR) for line in text.splitlines()]
        if tools.is_real:
            theirs = _pretty(text)
        done = tools.venturi("table", "own.yaml", path.stem, "--csv", cwd=folder)
        separator = "," if tools.is_real else SEPARATOR
        ours = list(csv.reader(io.StringIO(done.stdout), delimiter=separator))
        case.cells += sum(map(len, theirs))
        if done.returncode:
            case.said.append(f"table {path.stem}: {done.stderr.strip()}")
            continue
        case.equal_cells += _equal_cells(case, path.stem, theirs, ours)


def _pretty(text: str) -> list[list[str]]:
    """The cells of a table for people, or of one for programs."""
    lines = [line for line in text.splitlines() if line.strip()]
    if not any(line.startswith("|") for line in lines):
        return list(csv.reader(lines))
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if "|" in line]
    return [row for row in rows if not all(set(cell) <= set("-: ") and cell for cell in row)]


def _equal_cells(case: Case, name: str, theirs: list[list[str]], ours: list[list[str]]) -> int:
    """Cells that are equal where rows stand in any order, each with the row that fits it best."""
    left = list(ours[1:])
    pairs = [(theirs[0], ours[0])] if theirs and ours else []
    for row in theirs[1:]:
        best = max(left, key=lambda other: _alike(row, other), default=[])
        if best:
            left.remove(best)
        pairs.append((row, best))
    different = [
        f"table {name}, {theirs[0][index]}: JUBE '{cell}', ours '{(other + [''] * 99)[index]}'"
        for row, other in pairs
        for index, cell in enumerate(row)
        if index >= len(other) or not _same(cell, other[index])
    ]
    if left:
        different.append(f"table {name}: {len(left)} more rows are ours")
    case.said += different[:4]
    return sum(_alike(row, other) for row, other in pairs)


def _alike(row: list[str], other: list[str]) -> int:
    return sum(_same(a, b) for a, b in zip(row, other, strict=False))


def _same(a: str, b: str) -> bool:
    """Texts are equal, or their numbers are; of `nan` there is no number."""
    if " ".join(a.split()) == " ".join(b.split()) or (a == "nan" and not b):
        return True
    try:
        return abs(float(a) - float(b)) <= 1e-9 * abs(float(a))
    except ValueError:
        return False


# ---- the table -----------------------------------------------------------------------------


def cases_in(path: Path) -> list[Case]:
    """The cases of a list, or of a folder of examples."""
    if path.is_dir():
        files = [*path.rglob("*.xml"), *path.rglob("*.yaml")]
        return [Case(file.absolute(), []) for file in sorted(files)]
    lines = [line.split() for line in path.read_text().splitlines() if line.strip()]
    return [
        Case((path.parent / words[0]).absolute(), words[1:])
        for words in lines
        if not words[0].startswith("#")
    ]


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("cases", type=Path)
    options.add_argument("--jube", type=Path, required=True)
    options.add_argument("--real", action="store_true", help="run the suites' own commands")
    options.add_argument("--system", default="juwelsbooster", help="name of the system")
    options.add_argument("--only", default="", help="cases whose line has this")
    options.add_argument("--keep", type=Path, help="folder in which everything stays")
    chosen = options.parse_args()
    print(f"{'suite':32} {'tags':30} JUBE ours equal plan    cells")
    for case in cases_in(chosen.cases):
        title = f"{case.file.parents[2].name}/{case.file.name}"
        if chosen.only not in f"{case.file} {' '.join(case.tags)}":
            continue
        with tempfile.TemporaryDirectory() as made:
            folder = Path(made)
            if chosen.keep:
                folder = chosen.keep / f"{case.file.stem}-{'-'.join(case.tags)}"
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir(parents=True)
            compare(tools_for(chosen, folder), case, folder)
        print(
            f"{title[:32]:32} {' '.join(case.tags)[:30]:30} {case.theirs.total():4} "
            f"{case.ours.total():4} {case.equal:5} {case.planned:4} "
            f"{case.equal_cells:4}/{case.cells:<4}",
            flush=True,
        )
        for line in case.said:
            print(f"    {line[:230]}", flush=True)


def tools_for(chosen: argparse.Namespace, folder: Path) -> Tools:
    """Both tools in an environment where a site's programs are stand-ins."""
    jube = chosen.jube.absolute()
    programs = folder / "bin"
    programs.mkdir()
    for name, text in SITE.items():
        (programs / name).write_text(f"#!/bin/sh\n{text}\n")
        (programs / name).chmod(0o755)
    platform = jube.parents[1] / "share" / "jube" / "platform" / "slurm"
    environment = os.environ | {
        "PATH": f"{programs}:{os.environ['PATH']}",
        "SYSTEM_NAME": chosen.system,
        "SYSTEMNAME": chosen.system,
        "OTHERSTAGES": "/stages",
        "JUBE_INCLUDE_PATH": str(platform),
        "VENTURI_STORE": str(folder / "store"),
    }
    return Tools(jube, environment, chosen.real)


if __name__ == "__main__":
    main()
