"""When files whose names are those of code are data."""

from __future__ import annotations

import random

import pytest

from venturi.derive.code_name import is_used_as_data, names_code

READ = {"BYTES_READ": 4096, "OPENS": 1}
WRITTEN = {"BYTES_WRITTEN": 4096, "OPENS": 1}
LOOKED = {"STATS": 1}


@pytest.mark.parametrize(
    ("path", "program", "used", "expected"),
    [
        ("/d/a.py", "python3.11", READ, False),
        ("/d/a.py", "python3.11", WRITTEN, True),
        ("/d/a.py", "grep", READ, True),
        ("/d/a.py", "find", LOOKED, True),
        ("/d/a.py", "", READ, False),
        ("/d/__pycache__/a.pyc", "python3", WRITTEN, False),
        ("/d/a.jar", "java", READ, False),
        ("/d/a.jar", "unzip", READ, True),
        ("/d/a.jar", "java", WRITTEN, True),
        ("/d/liba.so", "solver", LOOKED, False),
        ("/d/liba.so.2", "solver", {"OPENS": 1}, False),
        ("/d/liba.so.2", "strip", READ, True),
        ("/d/a.csv", "grep", READ, False),
    ],
)
def test_who_used_it_decides(path: str, program: str, used: dict[str, int], expected: bool) -> None:
    assert is_used_as_data(path, program, False, used) is expected


def test_who_starts_programs_looks_them_up() -> None:
    assert not is_used_as_data("/d/.venv/bin/python", "sh", True, LOOKED)
    assert is_used_as_data("/d/.venv/bin/python", "tar", True, READ)


@pytest.mark.parametrize("program", ["python3", "sh", "bash", "dash", "zsh"])
def test_scripts_that_start_an_interpreter_are_code_for_shells(program: str) -> None:
    assert not is_used_as_data("/d/.pyenv/shims/python3", program, True, READ)
    assert is_used_as_data("/d/.pyenv/shims/.lock", program, True, WRITTEN)


def test_names_of_data_are_never_code() -> None:
    draw = random.Random(77)
    letters = "abcdefghij_-"
    for _ in range(500):
        name = "".join(draw.choices(letters, k=draw.randint(1, 12)))
        suffix = draw.choice(["", ".dat", ".h5", ".csv", ".txt", ".mod", ".tar", ".pyx", ".soo"])
        assert not names_code(f"/data/{name}{suffix}")
