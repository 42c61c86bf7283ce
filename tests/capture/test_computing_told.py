"""What a program computes between its calls is in its proxy, wherever in a turn it stands."""

from __future__ import annotations

import random
import re
import sys
from pathlib import Path

import pytest

import warm_start
from capture.conftest import Capture

HEAD = """
import os, time
def compute():
    until = time.perf_counter() + 0.0006
    while time.perf_counter() < until: pass
for number in range(3000):
    os.close(os.open(f"f{number % 10}", os.O_CREAT | os.O_RDWR))
for number in range(400):
"""


def _program(draw: random.Random) -> str:
    """More calls than are told one by one; a turn computes at one place in it."""
    size = draw.choice([512, 4096, 5000])
    calls = [
        'fd = os.open(f"f{number % 10}", os.O_RDWR)',
        f"os.pwrite(fd, b'x' * ({size} + number * 7919 % 300), 0)",
        "os.fstat(fd)",
        f"os.pread(fd, {size}, 0)",
        "os.read(fd, 0)",
        "os.close(fd)",
    ]
    calls.insert(draw.randrange(len(calls) + 1), "compute()")
    return HEAD + "".join(f"    {call}\n" for call in calls)


MANY = """
import os, time
def compute():
    until = time.perf_counter() + 0.0006
    while time.perf_counter() < until: pass
os.mkdir("many")
for number in range(1000):
    compute()
    fd = os.open(f"many/f{number}", os.O_CREAT | os.O_WRONLY)
    os.write(fd, b"x" * (1000 + number % 7))
    os.close(fd)
for number in range(1000):
    fd = os.open(f"many/f{number}", os.O_RDONLY)
    os.read(fd, 4096)
    os.close(fd)
"""


@pytest.mark.parametrize("seed", range(8))
def test_computing_is_told_where_it_is(capture: Capture, tmp_path: Path, seed: int) -> None:
    _check(capture, tmp_path, _program(random.Random(seed)), 400 * 0.0006)


def test_computing_between_many_files_is_told(capture: Capture, tmp_path: Path) -> None:
    text = _check(capture, tmp_path, MANY, 1000 * 0.0006)
    assert text.count("compute:") == 1


def _pass_over_many(draw: random.Random) -> str:
    """A random visit to each of many files, with computing somewhere in it; some stay open."""
    calls = ['fd = os.open(f"many/f{number}", os.O_CREAT | os.O_RDWR)']
    calls += draw.sample(
        ["os.write(fd, b'x' * 1000)", "os.fsync(fd)", 'os.stat(f"many/f{number}")'],
        draw.randrange(4),
    )
    calls += draw.sample(["os.close(fd)", 'os.unlink(f"many/f{number}")'], draw.randrange(3))
    calls.insert(draw.randrange(len(calls) + 1), "compute()")
    head = MANY.split("for number", maxsplit=1)[0]
    return head + "for number in range(300):\n" + "".join(f"    {call}\n" for call in calls)


@pytest.mark.parametrize("seed", range(8))
def test_computing_in_any_visit_to_many_files_is_told(
    capture: Capture, tmp_path: Path, seed: int
) -> None:
    _check(capture, tmp_path, _pass_over_many(random.Random(seed)), 300 * 0.0006)


def _check(capture: Capture, tmp_path: Path, program: str, least: float) -> str:
    """The workload of a program that computes for so many seconds at least."""
    (tmp_path / "app.py").write_text(program, "utf-8")
    run = capture(sys.executable, str(tmp_path / "app.py"))
    assert run.done.returncode == 0, run.done.stderr
    line = [sys.executable, "-m", "venturi", "derive", str(run.folder), "-o", "w.yaml"]
    done = warm_start.run(line, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "w.yaml").read_text("utf-8")
    found = re.search(r"seconds_between: ([\d.]+),\s+proxy_seconds_between: ([\d.]+)", text)
    assert found
    ours, proxy = map(float, found.groups())
    assert ours > least
    assert 0.9 * least < proxy < 1.3 * ours  # a busy machine adds to the application's
    return text
