"""What a process wrote may be torn or damaged anywhere: what is whole is used, and less is said.

`VENTURI_FUZZ=N`, with more than 10,000, makes five times as many inputs (`make nightly`).
"""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path

import pytest

from venturi.capture.clock import Beginning
from venturi.capture.merge import LaunchFacts, merge
from venturi.capture.process_file import ProcessFile, read_process_file
from venturi.capture.spool import read_all
from venturi.capture.tracer import TracerSettings, configure, environment
from venturi.model.trace import Trace
from venturi.model.trace_folder import Captured, read_trace, write_trace

FACTS = LaunchFacts(Beginning("host", 1, 1), "", 1.0, ("calls",))
INPUTS = 10_000 if int(os.environ.get("VENTURI_FUZZ", "0")) > 10_000 else 2_000
PARTS = 4
"""Tests that share them, so that they can run side by side."""


@pytest.fixture(scope="module")
def written(programs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a process as the tracer leaves it."""
    spool = tmp_path_factory.mktemp("spool")
    here = spool / "here"
    here.mkdir()
    configure(spool, TracerSettings())
    subprocess.run([str(programs / "calls")], cwd=here, env=environment(spool), check=True)
    [path] = spool.glob("*.vtrace")
    return path


def captured(file: ProcessFile | None) -> Captured:
    return merge([file] if file else [], FACTS, "x", "1")


def of_spool(spool: Path) -> Captured:
    """The trace of a folder, whatever is in it."""
    files, broken = read_all(spool)
    return merge(files, FACTS, "x", "1", broken)


def is_labelled(trace: Trace) -> bool:
    """Whether the trace says that something is missing."""
    words = ("damaged", "cannot be read", "recording stopped", "was not traced")
    return any(word in gap.what for gap in trace.gaps for word in words)


def test_a_whole_file_has_no_label(written: Path) -> None:
    file = read_process_file(written)
    assert file is not None
    assert file.damage == ()
    gaps = [gap.what for gap in captured(file).trace.gaps]
    assert [what for what in gaps if "writable shared mappings" not in what] == []


def test_each_part_of_a_torn_file_is_used(written: Path, tmp_path: Path) -> None:
    content = written.read_bytes()
    torn = tmp_path / "1.1.vtrace"
    seen = set()
    for size in range(0, len(content), 3001):
        torn.write_bytes(content[:size])
        trace = of_spool(tmp_path).trace
        assert is_labelled(trace)
        seen.add(trace.operation_count)
    assert min(seen) == 0
    assert max(seen) == captured(read_process_file(written)).trace.operation_count > 50


def damaged(content: bytes, chance: random.Random) -> bytearray:
    """The content with a few bytes changed, mostly where something is."""
    changed = bytearray(content)
    for _ in range(chance.randint(1, 8)):
        at = chance.choice(
            (chance.randrange(400), chance.randrange(4096), 4096 + chance.randrange(40_000))
        )
        changed[at] = chance.choice((0, 1, 0x7F, 0xFF, chance.randrange(256)))
    return changed


@pytest.mark.parametrize("part", range(PARTS))
def test_damage_is_said_where_anything_is_missing(written: Path, tmp_path: Path, part: int) -> None:
    content = written.read_bytes()
    whole = captured(read_process_file(written)).trace.operation_count
    path = tmp_path / "1.1.vtrace"
    chance = random.Random(part)
    lost = 0
    for number in range(INPUTS // PARTS):
        path.write_bytes(damaged(content, chance))
        found = of_spool(tmp_path)
        if found.trace.operation_count < whole:
            lost += 1
            assert is_labelled(found.trace), (part, number)
        if number % 100 == 0:
            folder = tmp_path / f"{number}.trace"
            write_trace(folder, found)
            assert read_trace(folder).trace.operation_count == found.trace.operation_count
    assert lost > INPUTS // PARTS // 20
