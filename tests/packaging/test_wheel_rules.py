"""The rules of what a wheel holds: a good one breaks none, and each change breaks its own."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from zipfile import ZipFile, ZipInfo

import pytest

ROOT = Path(__file__).parents[2]
NAME = "venturi-1.0-py3-none-manylinux_2_28_x86_64.whl"
INFO = "venturi-1.0.dist-info"
SCRIPTS = "venturi-1.0.data/scripts"
MANUAL = "venturi-1.0.data/data/share/man/man1/venturi.1"
SOURCES = ("CMakeLists.txt", "cmake/mpi.cmake", "engine/app/main.cpp", "tracer/start.c")
HEADERS = ("fmt/format.h", "nlohmann/json.hpp", "liburing.h")
LINKED = ("fmt", "liburing", "nlohmann-json", "libc++")

Entries = dict[str, tuple[bytes, int]]
"""Content and permissions by name."""


@pytest.fixture(scope="module")
def check() -> ModuleType:
    """packaging/wheel/check.py, which is no module of the package."""
    spec = importlib.util.spec_from_file_location("check", ROOT / "packaging/wheel/check.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A checkout of four sources and a manual page."""
    for name in (*SOURCES, "packaging/man/venturi.1"):
        (tmp_path / "root" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "root" / name).write_text(name)
    return tmp_path / "root"


def good(root: Path) -> Entries:
    """What belongs into the wheel of that checkout."""
    assert (root / "packaging/man/venturi.1").is_file()
    paths = [f"venturi/source/{path}" for path in SOURCES]
    paths += [f"venturi/source/third_party/include/{header}" for header in HEADERS]
    paths += ["venturi/__init__.py", f"{INFO}/licenses/LICENSE", MANUAL]
    for name in ("fmt", "liburing", "nlohmann-json", "libcxx"):
        paths.append(f"{INFO}/licenses/third_party/{name}.txt")
    entries: Entries = {path: (b"text", 0o644) for path in paths}
    for program in ("venturi-engine", "libventuri-tracer.so"):
        entries[f"{SCRIPTS}/{program}"] = (b"\x7fELF program", 0o755)
    bill = json.dumps({"components": [{"name": name} for name in LINKED]})
    entries[f"{INFO}/sboms/venturi.cdx.json"] = (bill.encode(), 0o644)
    return entries


def write(wheel: Path, entries: Entries) -> Path:
    with ZipFile(wheel, "w") as archive:
        for name, (content, mode) in entries.items():
            entry = ZipInfo(name)
            entry.external_attr = mode << 16
            archive.writestr(entry, content)
    return wheel


def test_a_wheel_with_all_that_belongs_into_it_breaks_no_rule(
    check: ModuleType, root: Path, tmp_path: Path
) -> None:
    assert list(check.problems(write(tmp_path / NAME, good(root)), root)) == []


def _without(name: str) -> Callable[[Entries], None]:
    return lambda entries: entries.pop(name) and None


def _with(name: str, content: bytes = b"text", mode: int = 0o644) -> Callable[[Entries], None]:
    return lambda entries: entries.update({name: (content, mode)})


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_without(f"{SCRIPTS}/venturi-engine"), "scripts/venturi-engine is missing"),
        (_without(f"{SCRIPTS}/libventuri-tracer.so"), "libventuri-tracer.so is missing"),
        (_with(f"{SCRIPTS}/venturi-engine", b"#!/bin/sh", 0o755), "is no program"),
        (_with(f"{SCRIPTS}/venturi-engine", b"\x7fELF"), "is not executable"),
        (_without("venturi/source/engine/app/main.cpp"), "engine/app/main.cpp is missing"),
        (_without("venturi/source/tracer/start.c"), "tracer/start.c is missing"),
        (_without("venturi/source/third_party/include/liburing.h"), "liburing.h is missing"),
        (_without(f"{INFO}/licenses/LICENSE"), "licenses/LICENSE is missing"),
        (_without(f"{INFO}/licenses/third_party/libcxx.txt"), "libcxx.txt is missing"),
        (_without(MANUAL), "man/man1/venturi.1 is missing"),
        (_without(f"{INFO}/sboms/venturi.cdx.json"), "venturi.cdx.json is missing"),
        (
            _with(f"{INFO}/sboms/venturi.cdx.json", b'{"components": [{"name": "fmt"}]}'),
            "lists fmt: expected fmt, libc++, liburing, nlohmann-json",
        ),
        (_with("venturi/__pycache__/__init__.pyc"), "does not belong into a wheel"),
        (_with("venturi.libs/libz.so.1"), "not every Linux has"),
    ],
)
def test_each_rule_is_broken_by_one_change(
    check: ModuleType,
    root: Path,
    tmp_path: Path,
    change: Callable[[Entries], None],
    words: str,
) -> None:
    entries = good(root)
    change(entries)
    [problem] = check.problems(write(tmp_path / NAME, entries), root)
    assert words in problem


def test_the_folder_of_the_build_must_not_be_in_a_program(
    check: ModuleType, root: Path, tmp_path: Path
) -> None:
    entries = good(root)
    content = b"\x7fELF" + str(root / "engine/app/main.cpp").encode()
    entries[f"{SCRIPTS}/venturi-engine"] = (content, 0o755)
    [problem] = check.problems(write(tmp_path / NAME, entries), root)
    assert problem.endswith("in which it was built")


@pytest.mark.parametrize("tag", ["cp311-cp311-linux_x86_64", "py3-none-linux_x86_64"])
def test_only_a_tag_for_every_linux_and_python_is_right(
    check: ModuleType, root: Path, tmp_path: Path, tag: str
) -> None:
    [problem] = check.problems(write(tmp_path / f"venturi-1.0-{tag}.whl", good(root)), root)
    assert tag in problem


def test_a_wheel_must_be_small(check: ModuleType, root: Path, tmp_path: Path) -> None:
    entries = good(root) | {"venturi/large": (bytes(check.MOST_BYTES), 0o644)}
    [problem] = check.problems(write(tmp_path / NAME, entries), root)
    assert f"at most {check.MOST_BYTES}" in problem
