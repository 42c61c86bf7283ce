"""Files with the names of code are data for programs that do not run them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from capture.conftest import Capture, Run
from venturi.derive.noise import is_foreign

NAMES = ["a.py", "lib/b.pyc", "site-packages/c.txt", "deep/.venv/d.pth", "e.jar", "libf.so.2"]


def _make(folder: Path) -> list[str]:
    for name in NAMES:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x = 1\n" * 2000)
    return [str(folder / name) for name in NAMES]


def _own(run: Run, folder: Path) -> set[str]:
    files = run.trace.files
    return {
        str(Path(file.path).relative_to(folder))
        for file in files
        if file.path.startswith(f"{folder}/") and not is_foreign(file)
    }


@pytest.mark.parametrize("command", ["cat $NAMES > out", "tar cf out tree", "grep -r nothing tree"])
def test_what_other_programs_read_is_data(capture: Capture, command: str) -> None:
    names = _make(capture.here / "tree")
    run = capture("sh", "-c", command.replace("$NAMES", " ".join(names)) + "; true")
    assert set(NAMES) <= _own(run, capture.here / "tree")


def test_what_a_compiler_writes_is_data(capture: Capture) -> None:
    names = _make(capture.here / "tree")
    run = capture("sh", "-c", " && ".join(f"cp {name} {name}.so" for name in names))
    assert {f"{name}.so" for name in NAMES} <= _own(run, capture.here / "tree")


def test_what_python_imports_is_none_and_what_it_writes_is(capture: Capture) -> None:
    tree = capture.here / "tree"
    tree.mkdir(parents=True)
    (tree / "module.py").write_text("VALUE = 1\n" * 3000, "utf-8")
    program = "import module; open('made.py', 'w').write('y = 2\\n' * 3000)"
    run = capture("sh", "-c", f'cd {tree} && {sys.executable} -c "{program}"')
    assert _own(run, tree) >= {"made.py"}
    assert not {"module.py"} & _own(run, tree)


@pytest.mark.parametrize("way", ["mv", "ln"])
def test_what_gets_the_name_of_code_is_data_as_it_was(capture: Capture, way: str) -> None:
    tree = capture.here / "tree"
    tree.mkdir(parents=True)
    write = "head -c 9000 /dev/zero > $0/one; cp $0/one $0/two"
    names = f"{way} $0/one $0/a.py; {way} $0/two $0/b.so; {way} $0/a.py $0/lib.pyc"
    run = capture("sh", "-c", f"{write}; {names}", str(tree))
    assert _own(run, tree) >= {"a.py", "b.so", "lib.pyc"}


def test_what_python_keeps_compiled_is_none(capture: Capture) -> None:
    tree = capture.here / "tree"
    tree.mkdir(parents=True)
    (tree / "module.py").write_text("VALUE = 1\n" * 3000, "utf-8")
    use = f"cd {tree} && {sys.executable} -c 'import module' && echo x > made"
    run = capture("sh", "-c", f"unset PYTHONDONTWRITEBYTECODE; {use}")
    assert list(tree.glob("__pycache__/*"))
    assert _own(run, tree) == {"made"}


@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_scripts_around_an_interpreter_are_none(capture: Capture, shell: str) -> None:
    """Wrappers that a shell runs on the way to Python, as of environments and version managers."""
    tree = capture.here / "tree"
    shims = tree / ".pyenv/shims"
    shims.mkdir(parents=True)
    (shims / "settings").write_text("value=1\n" * 300, "utf-8")
    program = f'#!/bin/{shell}\n. {shims}/settings\nexec {sys.executable} "$@"\n'
    (shims / "python").write_text(program, "utf-8")
    (shims / "python").chmod(0o755)
    run = capture(str(shims / "python"), "-c", f"open('{tree}/made', 'w').write('y' * 3000)")
    assert _own(run, tree) == {"made"}
