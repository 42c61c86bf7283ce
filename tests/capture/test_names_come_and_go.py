"""Files that are made, renamed, linked and removed as chance has it: the proxies run."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from command_line import venturi
from venturi.library import load

PROGRAM = Path(__file__).with_name("program") / "names.py"


@pytest.mark.parametrize(
    ("seed", "steps"),
    [(2, 20), (102, 60), (206, 100), (7, 150), (11, 500), (12, 500), (13, 500), (14, 500)],
)
def test_the_proxy_does_what_can_be_done_again(tmp_path: Path, seed: int, steps: int) -> None:
    used = tmp_path / "used"
    used.mkdir()
    for number in range(6):
        (used / f"old{number}").write_bytes(bytes(30_000))
    program = [sys.executable, str(PROGRAM), str(seed), str(used), str(steps)]
    for words in (
        ("capture", "-q", "-o", "app.trace", "--", *program),
        ("derive", "app.trace", "-o", "app.yaml"),
    ):
        done = venturi(tmp_path, *words)
        assert done.returncode == 0, done.stdout + done.stderr
    origin = load(str(tmp_path / "app.yaml")).origin
    assert origin is not None
    likeness = origin.likeness
    assert likeness is not None
    assert likeness.is_whole
    assert not likeness.is_equal or likeness.application == likeness.proxy
    assert likeness.alike >= 0.6 * likeness.application
    (tmp_path / "io").mkdir()
    ran = venturi(tmp_path, "run", "app.yaml", "-d", "io", "--repeat", "2", "-q")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert not list((tmp_path / "io").iterdir())
