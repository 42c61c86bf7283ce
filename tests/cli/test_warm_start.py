"""Commands that a warm process makes are those that Python starts, for all that a test sees."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import warm_start

VENTURI = warm_start.VENTURI
SLOW = "{workload: 1, name: slow, program: {all: [{phase: wait, do: [{compute: 5 s}]}]}}"


def both(folder: Path, *words: str, **variables: str) -> list[subprocess.CompletedProcess[str]]:
    """The same command by a warm process and by Python."""
    environment = {**os.environ, "VENTURI_STORE": str(folder / "store"), **variables}
    made = []
    for run in (warm_start.run, subprocess.run):
        done = run(
            [*VENTURI, *words],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        made.append(done)
    return made


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("library", "show", "ior"), 0),
        (("plan", "ior", "--json"), 0),
        (("plan", "w.yaml"), 0),
        (("plan", "../nowhere.yaml"), 2),
        (("run", "ior", "-d", "nowhere", "-q"), 5),
        (("results", "ls"), 0),
        (("--debug", "plan", "w.yaml", "--set", "x=1"), 1),
        (("--nonsense",), 2),
        ((), 2),
    ],
)
def test_it_says_and_ends_the_same(tmp_path: Path, words: tuple[str, ...], code: int) -> None:
    (tmp_path / "w.yaml").write_text(SLOW)
    warm, cold = both(tmp_path, *words)
    assert (warm.returncode, warm.stdout) == (cold.returncode, cold.stdout)
    assert warm.returncode == code
    assert "Traceback" not in warm.stderr or "--debug" in words
    lines = [done.stderr.splitlines()[-3:] for done in (warm, cold)]
    assert lines[0] == lines[1]


def test_it_has_its_own_variables(tmp_path: Path) -> None:
    narrow, wide = (
        [done.stdout for done in both(tmp_path, "library", "ls", COLUMNS=columns)]
        for columns in ("60", "160")
    )
    assert narrow[0] == narrow[1] != wide[0] == wide[1]


def test_it_is_a_process_of_its_own(tmp_path: Path) -> None:
    """What one command does to itself is not seen by the next."""
    plans = [both(tmp_path, "plan", "ior", "--json")[0].stdout for _ in range(3)]
    assert plans[0] == plans[1] == plans[2]
    assert json.loads(plans[0])


def test_one_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    (tmp_path / "w.yaml").write_text(SLOW)
    (tmp_path / "data").mkdir()
    line = [*VENTURI, "run", "w.yaml", "-d", "data", "--store", "store", "-q"]
    with pytest.raises(subprocess.TimeoutExpired):
        warm_start.run(line, cwd=tmp_path, capture_output=True, text=True, timeout=0.5)


@pytest.mark.parametrize(
    ("name", "is_warm"), [("VENTURI_LOOK_S", False), ("PYTHONHASHSEED", False), ("NO_COLOR", True)]
)
def test_what_is_read_while_loading_is_read_again(name: str, is_warm: bool) -> None:
    assert warm_start._server().holds_for(os.environ)
    assert warm_start._server().holds_for({**os.environ, name: "7"}) is is_warm


def test_other_lines_and_options_are_those_of_subprocess(tmp_path: Path) -> None:
    done = warm_start.run([sys.executable, "-c", "print(7)"], capture_output=True, text=True)
    assert done.stdout == "7\n"
    done = warm_start.run([*VENTURI, "plan", "-"], capture_output=True, text=True, input=SLOW)
    assert done.args[:3] == list(VENTURI)
