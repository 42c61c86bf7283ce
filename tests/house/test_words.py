"""One concept, one word: names that were retired stay away, and a class name is defined once."""

from __future__ import annotations

import ast
import re
import subprocess
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LEFT_OUT = "src/venturi/derive/operation/"
GENERATED = ("engine/schema/plan.", "engine/schema/event.")
SAME_CONCEPT: frozenset[str] = frozenset()
"""Class names that several modules may define, because they mean the same."""

RETIRED = {
    "portrait": "characterization",
    "card": "fidelity report",
    "course": "timeline",
    "foretold": "predicted",
    "foretell": "predict",
    "habit": "context effect, sync pattern",
    "habits": "context effects",
    "manner": "issue mode, access class or open flags",
    "manners": "directions, access classes",
    "sheet": "measurement matrix",
    "sheets": "measurement matrices",
    "wish": "request",
    "crew": "rank set",
    "seat": "rank placement",
    "seats": "rank placement",
    "deal": "uneven partition, distribution",
    "dealt": "uneven, distributed",
    "pooled": "fallback",
    "weave": "interleaving",
    "scene": "evaluation context, loop context",
    "landing": "import of results",
    "membership": "session",
    "standing": "status, ranking position",
    "standings": "ranking positions",
    "persisted": "flushed",
    "herald": "notifier",
    "sentinel": "watchdog",
    "bulletin": "message slot",
    "starve": "cache pressure",
    "stranger": "random remote rank",
    "peer": "same slot on the next node",
}
"""Parts of names, and what to say instead."""

RETIRED_NAMES = {
    "last_words": "exit channel",
    "work_bag": "work-stealing queue",
    "stood_for": "stream matching",
    "is_sure": "is_significant",
    "Walk": "interpreter, tree walk or directory scan",
    "Walker": "interpreter",
    "Told": "what it is: a state, a count, a result",
    "Seen": "what it is: a match, a sample",
    "Found": "what it is: a match, a sample",
    "Given": "what it is: an argument, literal content",
    "Asked": "what it is: options, a request",
    "Wanted": "what it is: a request, criteria",
    "Made": "what it is: a plan, a result",
    "Stood": "stream match",
    "Surface": "performance model",
    "Wish": "request",
    "Manner": "issue mode, access class or open flags",
    "Board": "shared page",
    "Side": "direction state",
}
"""Whole names of files, types and fields."""

MAY_STAY = {
    ("src/venturi/model/prediction.py", "Side"),  # application or proxy: a side of a comparison
    ("engine/backend/bus_guard.cpp", "landing"),  # where a long jump lands
    ("engine/backend/mpi_names.hpp", "Wanted"),  # a template's parameter
    ("engine/comm/mpi.cpp", "peer"),  # of a message of MPI
    ("src/venturi/campaign/jube/suite.py", "seat"),
}
C_NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)
PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def tracked(*patterns: str) -> list[Path]:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", *patterns]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    names = [n for n in listed.stdout.splitlines() if not n.startswith((LEFT_OUT, *GENERATED))]
    return [path for name in names if (path := ROOT / name).is_file()]


def names_defined(tree: ast.AST) -> list[tuple[int, str]]:
    """Every name that a module gives to something, with its line."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            found.append((node.lineno, node.name))
        elif isinstance(node, ast.arg):
            found.append((node.lineno, node.arg))
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.append((node.lineno, node.id))
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            found.append((node.lineno, node.attr))
    return found


def retired_in(name: str) -> str | None:
    """What to say instead of a name; None where nothing is wrong with it."""
    whole = name.strip("_")
    if whole in RETIRED_NAMES:
        return RETIRED_NAMES[whole]
    return next(
        (RETIRED[p] for part in PARTS.findall(name) if (p := part.lower()) in RETIRED), None
    )


def complaint(path: Path, line: int, name: str) -> str | None:
    where = path.relative_to(ROOT).as_posix()
    better = retired_in(name)
    if better is None or (where, name) in MAY_STAY:
        return None
    return f"{where}:{line}: '{name}' is retired; say {better}"


def test_python_names_are_the_fields() -> None:
    wrong = [
        text
        for path in tracked("src/*.py", "schema/*.py")
        for line, name in names_defined(ast.parse(path.read_text("utf-8")))
        if (text := complaint(path, line, name))
    ]
    assert not wrong, "\n".join(wrong)


def test_engine_names_are_the_fields() -> None:
    wrong = set()
    for path in tracked("engine/*.cpp", "engine/*.hpp", "tracer/*.c", "tracer/*.h"):
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            for name in re.findall(r"\b[A-Za-z_]\w*", C_NOISE.sub("", line)):
                if "include" not in line and (text := complaint(path, number, name)):
                    wrong.add(text)
    assert not wrong, "\n".join(sorted(wrong))


def test_files_have_the_names_of_the_field() -> None:
    wrong = [
        text
        for path in tracked("src", "engine", "tracer", "schema", "docs")
        if (text := complaint(path, 0, path.name.split(".")[0].replace("-", "_")))
    ]
    assert not wrong, "\n".join(wrong)


def test_a_class_name_is_defined_once() -> None:
    places = defaultdict(list)
    for path in tracked("src/*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(f"{path.relative_to(ROOT)}:{node.lineno}")
    twice = {k: v for k, v in places.items() if len(v) > 1 and k not in SAME_CONCEPT}
    assert not twice, f"say in the name which of these it is: {twice}"


@pytest.mark.parametrize(
    ("name", "better"),
    [
        ("_print_card", "fidelity report"),
        ("CardField", "fidelity report"),
        ("MANNER", "issue mode, access class or open flags"),
        ("Found", "what it is: a match, a sample"),
        ("found", None),
        ("wildcard", None),
        ("discourse", None),
    ],
)
def test_a_retired_word_is_seen_in_a_name(name: str, better: str | None) -> None:
    assert retired_in(name) == better
