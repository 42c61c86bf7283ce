"""Code asks interfaces what they can do: comparing their names copies their entries."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from venturi.model.interface import Interface

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "src/venturi"
GENERATED = "model/interface.py"
MAY_NAME = {
    "derive/operation/table.py": "a file that is used through mappings has no layer of its own",
    "predict/account.py": "the layers whose time is compared, which are not those of every library",
    "tune/change_depth.py": "the change is io_uring itself",
}
"""Files that mean an interface and not what it can do, and why."""
MAY_LIST = {
    "compat/fio_job.py": "fio's names of its engines, some of which are ours as well",
    "report/layer_name.py": "names of layers of a trace",
}
"""Files with sets of words that are names of interfaces, and mean something else."""
MEMBERS = {interface.name for interface in Interface}
WORDS = {interface.value for interface in Interface}


def members_in(tree: ast.AST) -> set[str]:
    """The members of `Interface` that code names."""
    return {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and node.attr in MEMBERS
        and isinstance(node.value, ast.Name | ast.Attribute)
        and (node.value.id if isinstance(node.value, ast.Name) else node.value.attr) == "Interface"
    }


def listed_in(tree: ast.AST) -> set[str]:
    """The words of interfaces of which two or more stand in one set, list, tuple or mapping."""
    found: set[str] = set()
    for node in ast.walk(tree):
        items = node.elts if isinstance(node, ast.Tuple | ast.List | ast.Set) else []
        items = node.keys if isinstance(node, ast.Dict) else items
        words = {item.value for item in items if isinstance(item, ast.Constant)}
        here = {word for word in words if isinstance(word, str)} & WORDS
        if len(here) > 1:
            found |= here
    return found


def sources() -> dict[str, ast.AST]:
    paths = sorted(SOURCES.rglob("*.py"))
    return {
        path.relative_to(SOURCES).as_posix(): ast.parse(path.read_text("utf-8")) for path in paths
    }


def test_code_asks_entries_and_not_names() -> None:
    naming = {name for name, tree in sources().items() if members_in(tree)} - {GENERATED}
    assert naming == set(MAY_NAME), "ask `interface.entry`, or say here why the name is meant"


def test_no_set_of_names_stands_for_a_capability() -> None:
    listing = {name: words for name, tree in sources().items() if (words := listed_in(tree))}
    assert set(listing) == set(MAY_LIST), f"ask `interface.entry` instead: {listing}"


def test_the_engine_asks_entries_and_not_names() -> None:
    naming = [
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "engine").rglob("*.?pp")
        if "engine/schema" not in path.as_posix()
        and re.search(r"\bInterface::k[A-Z]", path.read_text("utf-8"))
    ]
    assert not naming, "ask `backend::description_of` or `backend::can`"


@pytest.mark.parametrize(
    "text",
    [
        "wanted in (Interface.POSIX, Interface.NULL)",
        "file.interface is p.Interface.HDF5",
        "CALLS = {Interface.MMAP: 1}",
    ],
)
def test_names_are_found(text: str) -> None:
    assert members_in(ast.parse(text))


@pytest.mark.parametrize("text", ["x in ('hdf5', 'netcdf')", "{'posix': 1, 'mmap': 2}"])
def test_sets_are_found(text: str) -> None:
    assert listed_in(ast.parse(text))
