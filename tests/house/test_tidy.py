"""The style that STYLE promises: sizes, orders, words; each message says what to do instead."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ENGINE = ROOT / "engine"
ENGINE_ORDER = (
    "base",
    "schema",
    "comm",
    "pattern",
    "payload",
    "backend",
    "measure",
    "kernel",
    "execute",
    "probe",
    "health",
    "app",
)
CODE = (".py", ".cpp", ".hpp", ".c", ".h")
MAX_FILE_LINES = 600
MAX_FUNCTION_LINES = 70
MAX_LINE = 100
GENERATED = (
    "engine/schema/plan.",
    "engine/schema/event.",
    "schema/",
    "docs/reference/",
    "docs/command/",
    "src/venturi/model/interface.py",
    "src/venturi/model/kernel.py",
)
BAD_FOLDERS = {"utils", "util", "common", "helpers", "helper", "core", "manager", "misc"}
FOREIGN_WORDS = re.compile(r"/work/|/root/|pypi\.org|files\.pythonhosted|deb\.debian\.org", re.I)


def tracked(*endings: str) -> list[Path]:
    """The project's own text files with one of these endings."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    paths = [ROOT / line for line in listed.stdout.splitlines()]
    kept = ROOT / "examples"  # as they were when their logs were taken
    return [p for p in paths if p.suffix in endings and p.is_file() and kept not in p.parents]


def is_generated(path: Path) -> bool:
    name = path.relative_to(ROOT).as_posix()
    return name.startswith(GENERATED) and not name.startswith("schema/generate")


def test_no_file_is_two_things() -> None:
    long = {
        str(path.relative_to(ROOT)): count
        for path in tracked(*CODE)
        if not is_generated(path)
        and (count := len(path.read_text("utf-8").splitlines())) > MAX_FILE_LINES
    }
    assert not long, f"split these files (lines): {long}"


def test_no_python_function_is_two_things() -> None:
    long = []
    for path in tracked(".py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or 0) - node.lineno + 1
                if lines > MAX_FUNCTION_LINES:
                    long.append(f"{path.relative_to(ROOT)}:{node.lineno} {node.name} ({lines})")
    assert not long, f"split these functions (lines): {long}"


def test_no_engine_function_is_two_things() -> None:
    long = []
    for path in tracked(".cpp", ".hpp", ".c", ".h"):
        if is_generated(path):
            continue
        start, name = None, ""
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            if re.match(r"^[A-Za-z].*\)[a-z ]*\{$", line) or re.match(r"^    .*\) const \{$", line):
                start, name = number, line.strip()
            elif line == "}" and start is not None:
                if number - start + 1 > MAX_FUNCTION_LINES:
                    long.append(f"{path.relative_to(ROOT)}:{start} {name}")
                start = None
    assert not long, f"split these functions: {long}"


def test_lines_fit() -> None:
    long = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in tracked(*CODE)
        if not is_generated(path)
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if len(line) > MAX_LINE and "http" not in line
    ]
    assert not long, f"break these lines at {MAX_LINE} columns: {long}"


def test_engine_folders_include_only_folders_before_them() -> None:
    wrong = []
    for path in tracked(".cpp", ".hpp", ".c", ".h"):
        if ENGINE not in path.parents:
            continue
        own = ENGINE_ORDER.index(path.relative_to(ENGINE).parts[0])
        for folder in re.findall(r'#include "([a-z_]+)/', path.read_text("utf-8")):
            if folder in ENGINE_ORDER and ENGINE_ORDER.index(folder) > own:
                wrong.append(f"{path.relative_to(ROOT)} includes {folder}/")
    assert not wrong, f"move the code down, or turn the call round: {wrong}"


KNOW_MPI = {
    "bench/mpi_start.cpp",
    "bench/planted/serial_gather.c",
    "bench/planted/small_strided.c",
    "bench/validation/program/grid.c",
    "bench/validation/program/matrices.c",
    "tests/capture/mpi_program/irregular.c",
    "tests/capture/mpi_program/irregular_file.c",
    "tests/engine/mpi_spy.c",
    "engine/backend/hdf5_parallel.cpp",
    "engine/backend/mpi_file.hpp",
    "engine/backend/mpi_view.hpp",
    "engine/backend/mpiio.cpp",
    "engine/comm/mpi.cpp",
    "engine/comm/mpi_library.cpp",
    "engine/comm/mpi_notes.hpp",
    "engine/kernel/links.cpp",
    "engine/kernel/message.hpp",
    "engine/kernel/message_collectives.cpp",
    "engine/kernel/message_pairs.cpp",
}


def test_mpi_and_json_have_one_place_each() -> None:
    for path in tracked(".cpp", ".hpp", ".c", ".h"):
        name, text = path.relative_to(ROOT).as_posix(), path.read_text("utf-8")
        if "mpi.h" in text and "#include <mpi.h>" in text:
            assert name in KNOW_MPI, f"{name}: only comm/mpi* and MPI's backends include mpi.h"
        if "nlohmann" in text and name.startswith("engine/"):
            assert name.startswith("engine/schema/"), f"{name}: only schema/ knows JSON"


def test_no_conditional_compilation_in_logic() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in tracked(".cpp", ".hpp", ".c", ".h")
        if not is_generated(path)
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if re.match(r"\s*#\s*(if|ifdef|ifndef|elif)\b", line)
    ]
    assert not wrong, f"let CMake choose files instead of #if: {wrong}"


def test_folders_have_the_name_of_a_concept() -> None:
    folders = {part for path in tracked(*CODE) for part in path.parts}
    assert not folders & BAD_FOLDERS, "name the folder after what lives in it"


@pytest.mark.parametrize("ending", [*CODE, ".md", ".yaml", ".toml", ".txt", ""])
def test_no_word_of_this_machine(ending: str) -> None:
    wrong = [
        f"{path.relative_to(ROOT)}: {match[0]}"
        for path in tracked(ending)
        if path != Path(__file__)
        and (match := FOREIGN_WORDS.search(path.read_text("utf-8", "replace")))
    ]
    assert not wrong, f"machine paths and registry hosts do not belong here: {wrong}"


def test_every_file_says_what_it_is_for() -> None:
    mute = []
    for path in tracked(*CODE):
        first = path.read_text("utf-8").lstrip()[:3]
        if path.suffix == ".py" and first != '"""':
            mute.append(str(path.relative_to(ROOT)))
        if path.suffix != ".py" and first[:2] != "//":
            mute.append(str(path.relative_to(ROOT)))
    assert not mute, f"begin with a line that says what the file is for: {mute}"


def test_files_of_tests_have_names_of_their_own() -> None:
    """pytest keeps one module of a name, and fails with the second."""
    names = [path.name for path in (ROOT / "tests").rglob("test_*.py")]
    twice = sorted({name for name in names if names.count(name) > 1})
    assert not twice, f"rename one of each: {twice}"


def test_no_class_answers_for_any_name() -> None:
    """`__getattr__` hides from the type checker which attributes there are."""
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in tracked(".py")
        for owner in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(owner, ast.ClassDef)
        for node in owner.body
        if isinstance(node, ast.FunctionDef) and node.name in ("__getattr__", "__getattribute__")
    ]
    assert not found, f"write a property for each attribute: {found}"


def names_at_top(tree: ast.Module) -> set[str]:
    """What a module offers to importers: whatever its top level, branches included, binds."""
    names: set[str] = set()
    inner = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    left: list[ast.AST] = list(tree.body)
    while left:
        node = left.pop()
        if isinstance(node, inner):
            names.add(node.name)
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names |= {alias.asname or alias.name.split(".")[0] for alias in node.names}
        left += ast.iter_child_nodes(node)
    return names


def test_what_tests_import_from_each_other_is_there() -> None:
    trees = [(p, ast.parse(p.read_text("utf-8"))) for p in (ROOT / "tests").rglob("*.py")]
    offered: dict[str, set[str]] = {}
    for path, tree in trees:  # a conftest stands in several folders
        offered.setdefault(path.stem, set()).update(names_at_top(tree))
    missing = [
        f"{path.name} imports {alias.name} from {node.module}"
        for path, tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module in offered
        for alias in node.names
        if alias.name not in offered[node.module]
    ]
    assert not missing, f"move the name, or mend the import: {missing}"
