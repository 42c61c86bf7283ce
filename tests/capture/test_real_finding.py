"""Findings of real programs: each of one that has the habit, and not of one that nearly has it.

A habit goes on until the program was in its calls for long enough to be worth a remark, however
fast they are here.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from venturi.capture.run import CaptureContext
from venturi.capture.run import capture as captured
from venturi.capture.tracer import TracerSettings
from venturi.derive.finding import operation_findings

HELP = """
import os, sys, time
MIB = 1 << 20
RANK = int(os.environ.get("PMI_RANK", "0"))

def new(name, flags=0):
    return os.open(name, os.O_RDWR | os.O_CREAT | flags)

def sparse(name, size):
    file = new(name)
    os.ftruncate(file, size)
    return file

def often(act, least=50, most=100_000):
    spent = count = 0
    while count < least or (spent < 0.05 and count < most):
        began = time.perf_counter()
        act(count)
        spent += min(time.perf_counter() - began, 1e-3)
        count += 1

def stream(name):
    import ctypes
    C = ctypes.CDLL(None)
    C.fopen.restype = ctypes.c_void_p
    file = ctypes.c_void_p(C.fopen(name, b"w"))
    return lambda data: C.fwrite(data, 1, len(data), file)
"""


@dataclass(frozen=True)
class Habit:
    """A finding, a program that has it, and one that nearly has it."""

    finding: str
    has: str
    has_not: str
    ranks: int = 1


HABITS = (
    Habit(
        "small-requests",
        "f = new('f'); often(lambda i: os.pwrite(f, bytes(4096), i * 4096))",
        "f = new('f')\nfor i in range(40): os.pwrite(f, bytes(MIB), i * MIB)",
    ),
    Habit(
        "stdio-bulk",
        "put = stream(b'f'); often(lambda i: put(bytes(65536)))",
        "put = stream(b'log')\nfor i in range(1000): put(b'a line of a log\\n')\n"
        "f = new('f')\nfor i in range(40): os.write(f, bytes(MIB))",
    ),
    Habit(
        "sync-each-write",
        "f = new('f'); often(lambda i: (os.write(f, bytes(200)), os.fdatasync(f)))",
        "f = new('f')\nfor i in range(200): os.write(f, bytes(200))\nos.fdatasync(f)",
    ),
    Habit(
        "too-many-seeks",
        "f = sparse('f', MIB)\n"
        "often(lambda i: [os.lseek(f, p, 0) for p in (1, 9, i)] and os.read(f, 8))",
        "f = sparse('f', MIB)\nfor i in range(5000): os.lseek(f, 8 * i, 0); os.read(f, 8)",
    ),
    Habit(
        "misaligned",
        "f = new('f'); often(lambda i: os.pwrite(f, bytes(8192), 512 + 8192 * i))",
        "f = new('f'); os.write(f, bytes(512))\n"
        "for i in range(1, 1000): os.pwrite(f, bytes(8192), 8192 * i)",
    ),
    Habit(
        "random-access",
        "import random\nf = sparse('f', 64 * MIB)\n"
        "often(lambda i: os.pread(f, 4096, random.randrange(16384) * 4096))",
        "f = sparse('f', MIB)\nfor i in range(1024): os.pread(f, 4096, i % 256 * 4096)",
    ),
    Habit(
        "redundant-reads",
        "f = sparse('f', MIB); often(lambda i: os.pread(f, 65536, i % 16 * 65536))",
        "f = sparse('f', 64 * MIB)\nfor i in range(1024): os.pread(f, 65536, i * 65536)",
    ),
    Habit(
        "redundant-writes",
        "f = new('f'); often(lambda i: os.pwrite(f, bytes(65536), i % 16 * 65536))",
        "for i in range(9):\n"
        "    f = new('new', os.O_TRUNC)\n"
        "    for j in range(20): os.write(f, bytes(MIB))\n"
        "    os.close(f); os.rename('new', 'f')",
    ),
    Habit(
        "read-write-switches",
        "f = sparse('f', MIB)\noften(lambda i: os.pwrite(f, os.pread(f, 4096, 0), i % 256 * 4096))",
        "f = new('f')\nfor i in range(1000): os.pwrite(f, bytes(4096), i * 4096)\n"
        "for i in range(1000): os.pread(f, 4096, i * 4096)",
    ),
    Habit(
        "write-then-truncate",
        "f = new('f'); often(lambda i: os.pwrite(f, bytes(MIB), i % 4 * MIB)); os.ftruncate(f, 0)",
        "f = new('f')\n"
        "for i in range(200):\n"
        "    os.pwrite(f, bytes(MIB), 0); os.pread(f, MIB, 0); os.ftruncate(f, 0)",
    ),
    Habit(
        "temporary-files",
        "f = new('f'); often(lambda i: os.write(f, bytes(65536))); os.unlink('f')",
        "os.close(new('old')); os.unlink('old')\n"
        "try: os.unlink('new')\n"
        "except FileNotFoundError: pass\n"
        "for name in ('old', 'new'):\n"
        "    f = new(name, os.O_EXCL)\n"
        "    for i in range(200): os.pwrite(f, bytes(MIB), 0)",
    ),
    Habit(
        "too-many-opens",
        "new('f'); often(lambda i: os.close(os.open('f', 0)))",
        "for i in range(1000): os.close(new(f'f{i}'))",
    ),
    Habit(
        "repeated-stats",
        "new('f'); often(lambda i: os.stat('f'))",
        "for i in range(1000): os.close(new(f'f{i}')); os.stat(f'f{i}')",
    ),
    Habit(
        "metadata-heavy",
        "often(lambda i: (os.write(f := new(f'f{i}'), b'x'), os.close(f), os.unlink(f'f{i}')))",
        "f = new('f')\nfor i in range(64): os.write(f, bytes(16 * MIB)); os.lseek(f, 0, 0)",
    ),
    Habit(
        "tiny-files",
        "often(lambda i: (os.write(f := new(f'f{i}'), bytes(99)), os.close(f)), least=200)",
        "for i in range(200): os.write(f := new(f'f{i}'), bytes(MIB)); os.close(f)",
    ),
    Habit(
        "import-storm",
        "sys.path[:0] = [f'{i}/site-packages' for i in range(99)]\n"
        "for path in sys.path[:99]: os.makedirs(path)\n"
        "def look(i):\n"
        "    try: __import__(f'missing{i}')\n"
        "    except ImportError: pass\n"
        "often(look)",
        "import json, math\nfor i in range(100): os.close(new(f'f{i}'))",
    ),
    Habit(
        "failed-lookups",
        "often(lambda i: os.path.exists(f'missing{i}'), least=300)",
        "for i in range(1000): os.close(new(f'f{i}')); os.path.exists(f'f{i // 2}')\n"
        "for i in range(300): os.path.exists(f'missing{i}')",
    ),
    Habit(
        "folder-walk",
        "often(lambda i: [os.stat(one) for one in os.scandir(f'tree/{i % 10}')])",
        "for one in [one for i in range(10) for one in os.scandir(f'tree/{i}')]:\n"
        "    os.stat(one); os.close(os.open(one, 0))",
    ),
    Habit(
        "imbalance",
        "f = new(f'f{RANK}')\nfor i in range(10 if RANK else 200): os.pwrite(f, bytes(MIB), 0)",
        "f = new(f'f{RANK}')\nfor i in range(180 + 20 * RANK): os.pwrite(f, bytes(MIB), 0)",
        ranks=2,
    ),
    Habit(
        "append-contention",
        "f = new('log', os.O_APPEND); often(lambda i: os.write(f, bytes(80)))",
        "f = new(f'log{RANK}', os.O_APPEND)\nfor i in range(5000): os.write(f, bytes(80))",
        ranks=2,
    ),
    Habit(
        "shared-file-contention",
        "f = new('f')\nfor i in range(5000): os.pwrite(f, bytes(4096), (2 * i + RANK) * 4096)",
        "f = new('f')\nfor i in range(5000): os.pwrite(f, bytes(4096), (5000 * RANK + i) * 4096)",
        ranks=2,
    ),
)

TURNS = 'for rank in $(seq 0 {last}); do PMI_RANK=$rank "$0" -ISc "$1"; done'
"""Ranks one after the other: none is in another's way."""


def found_in(program: str, ranks: int, tmp_path: Path) -> set[str]:
    here = tmp_path / "here"
    for folder in (here / "tree" / str(i) for i in range(10)):
        folder.mkdir(parents=True)
        for i in range(20):
            (folder / f"{i}").write_text("x")
    line: tuple[str, ...] = (sys.executable, "-ISc", HELP + program)
    if ranks > 1:
        line = ("sh", "-c", TURNS.format(last=ranks - 1), sys.executable, HELP + program)
    outcome = captured(line, tmp_path / "x.trace", TracerSettings(), CaptureContext(here=here))
    assert outcome.finished.code == 0
    return {finding.id for finding in operation_findings(outcome.captured)}


@pytest.mark.parametrize("habit", HABITS, ids=lambda habit: habit.finding)
def test_a_program_that_has_the_habit(habit: Habit, tmp_path: Path) -> None:
    assert habit.finding in found_in(habit.has, habit.ranks, tmp_path)


@pytest.mark.parametrize("habit", HABITS, ids=lambda habit: habit.finding)
def test_a_program_that_nearly_has_it(habit: Habit, tmp_path: Path) -> None:
    assert habit.finding not in found_in(habit.has_not, habit.ranks, tmp_path)
