"""A proxy comes to its end, again and again: whatever order the application's files had."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest

import warm_start
from capture.conftest import Capture


def _program(draw: random.Random) -> str:
    """Files of uneven sizes that are made, replaced, read and removed in orders without a rule."""
    count = draw.randint(8, 24)
    sizes = [draw.randint(1, 5) * draw.choice([43, 77, 512]) for _ in range(2)]
    lines = [
        "import os",
        "def put(name, size):",
        "    with open(name + '.new', 'wb', 0) as out: out.write(b'x' * size)",
        "    os.rename(name + '.new', name)",
        "def write(name, size):",
        "    with open(name, 'wb', 0) as out: out.write(b'x' * size)",
        "def more(name, size):",
        "    with open(name, 'ab', 0) as out: out.write(b'x' * size)",
        "def read(name):",
        "    with open(name, 'rb', 0) as file: file.read(1 << 16)",
    ]
    names = [f"part{n}" for n in range(count)]
    draw.shuffle(names)
    steps: list[tuple[str, str]] = []
    for name in names:
        for _ in range(draw.randint(1, 3)):
            steps.append((draw.choice(["put", "put", "write", "more"]), name))
    lines += [f"{word}({name!r}, {draw.choice(sizes)})" for word, name in steps]
    made = [name for _, name in steps]
    lines += [f"read({draw.choice(made)!r})" for _ in range(3 * count)]
    some = draw.sample(names, draw.choice([0, count // 2, count]))
    lines += [f"os.unlink({name!r})" for name in some]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("seed", range(40, 52))
def test_files_without_order(capture: Capture, tmp_path: Path, seed: int) -> None:
    (tmp_path / "app.py").write_text(_program(random.Random(seed)), "utf-8")
    run = capture(sys.executable, str(tmp_path / "app.py"))
    assert run.done.returncode == 0, run.done.stderr
    (tmp_path / "io").mkdir()
    words = (["derive", str(run.folder), "-o", "w.yaml"], ["run", "w.yaml", "-d", "io", "-q"])
    for line in words:
        done = warm_start.venturi(
            *line, *(["--repeat", "2"] if "run" in line else []), folder=tmp_path
        )
        assert done.returncode == 0, done.stdout[-1500:] + done.stderr
