"""Runs of lines that are taken together give what the lines give one by one."""

from __future__ import annotations

import random
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from venturi.model.trace_folder import Captured
from venturi.sources import move
from venturi.sources.strace import read_strace

FILES = ("/w/a", "/w/b", "/w/log", "socket:[7]", "/w/c (deleted)")


def data_call(chance: random.Random) -> str:
    """A read, write or seek on one of few descriptors, of few sizes."""
    number = chance.randrange(3, 8)
    target = f"{number}<{FILES[number - 3]}>" if chance.random() < 0.99 else f"{number}"
    size = chance.choice((1, 4096, 100_000))
    what = chance.randrange(7)
    if what == 0:
        place = chance.randrange(10_000)
        return f"lseek({target}, {place}, SEEK_SET) = {place}"
    if what == 1:
        return f"lseek({target}, -5, SEEK_CUR) = {chance.randrange(100)}"
    if what == 2:
        return f'pwrite64({target}, ""..., {size}, {chance.randrange(10**6)}) = {size}'
    if what == 3:
        return f'pread64({target}, ""..., {size}, {chance.randrange(10**6)}) = {size}'
    if what == 4:
        return f"writev({target}, [...], 2) = {size}"
    return f'{chance.choice(("read", "write"))}({target}, ""..., {size}) = {size}'


def other_call(chance: random.Random, number: int) -> str:
    """What runs end at, or what looks as if it could be in one."""
    file = FILES[chance.randrange(3)]
    made = chance.randrange(3, 8)
    return chance.choice(
        (
            f'openat(AT_FDCWD</w>, "{file}", O_RDWR|O_CREAT|O_TRUNC, 0644) = {made}<{file}>',
            f'openat(AT_FDCWD</w>, "{file}", O_WRONLY|O_APPEND) = {made}<{file}>',
            f"close({made}<{FILES[made - 3]}>) = 0",
            f"dup2(3<{FILES[0]}>, {made}) = {made}<{FILES[0]}>",
            f"lseek(3<{FILES[0]}>, 0, SEEK_END) = 777",
            f'read(3<{FILES[0]}>, ""..., 5) = -1 EAGAIN (again)',
            f'write(3<{FILES[0]}>, ""..., 5) = 99999999999999999999',
            f'write(3<{FILES[0]}>, ""..., 5) = 999999999999999999',
            f"clone(child_stack=NULL, flags=CLONE_FILES|SIGCHLD) = {number}",
            "not a line of strace",
            f'pwrite64(3<{FILES[0]}>, ""..., 5, 123456789012345678901) = 5',
            f'write(3<{FILES[0]}>, ""..., 5 <unfinished ...>',
        )
    )


def text_of(chance: random.Random, lines: int) -> str:
    out = []
    tasks = [70]
    calls: list[str] = []
    for number in range(lines):
        if number % 150 == 0:
            calls = [data_call(chance) for _ in range(chance.choice((1, 5, 30)))]
        task = chance.choice(tasks)
        call = chance.choice(calls)
        if chance.random() < 0.003:
            call = other_call(chance, 71 + len(tasks))
            if call.startswith("clone"):
                tasks.append(71 + len(tasks))
        if chance.random() < 0.3 and call.startswith("p"):
            head, _, tail = call.rpartition(", ")
            call = f"{head}, {chance.randrange(10**6)}){tail.partition(')')[2]}"
        end = "" if call.endswith(">") or call.startswith("not") else " <0.000020>"
        stamp = 1_700_000_000_000_000 + number * 30 - chance.randrange(50)
        who = "" if chance.random() < 0.001 else f"{task}  "
        out.append(f"{who}{stamp // 10**6}.{stamp % 10**6:06} {call}{end}\n")
    return "".join(out)


def read(path: Path, fewest: int, monkeypatch: pytest.MonkeyPatch) -> tuple[Captured, int]:
    """The trace, and how many lines were taken together."""
    taken = 0
    whole = move.MoveRun.table

    def counted(run: move.MoveRun, offset: move.Numbers) -> move.Numbers:
        nonlocal taken
        taken += len(offset)
        return whole(run, offset)

    with monkeypatch.context() as patch:
        patch.setattr(move, "FEWEST", fewest)
        patch.setattr(move.MoveRun, "table", counted)
        return read_strace([path]), taken


@pytest.mark.needs("strace")
def test_together_is_as_one_by_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "log"
    together = sum(compare(path, seed, monkeypatch) for seed in range(12))
    assert together > 10_000


def compare(path: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many lines were taken together; raises AssertionError where that makes a difference."""
    path.write_text(text_of(random.Random(seed), 4000), encoding="utf-8")
    slow, none = read(path, 10**9, monkeypatch)
    quick, taken = read(path, 4, monkeypatch)
    assert none == 0
    assert slow.operations is not None
    assert quick.operations is not None
    for field in fields(slow.operations):
        one, other = (getattr(c.operations, field.name) for c in (slow, quick))
        assert np.array_equal(one, other), (seed, field.name, np.flatnonzero(one != other)[:5])
    assert quick.trace == slow.trace
    return taken


def test_the_last_line_needs_no_end(tmp_path: Path) -> None:
    path = tmp_path / "log"
    line = '7  1700000000.{:06} write(3</w/a>, ""..., 100) = 100 <0.000010>\n'
    path.write_text("".join(line.format(k) for k in range(200)).rstrip("\n"), encoding="utf-8")
    captured = read_strace([path])
    assert captured.trace.operation_count == 200
    assert captured.trace.gaps == []
