"""The memory of requests: steps that take turns do not make each other's anew."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from plans import LOOP, file, loop, manage, nest, phase, plan, write
from running import Engine

from venturi.model.layout import Content
from venturi.model.plan import Step

MIB = 2**20
TURNS = 60
POOL = 64 * MIB


def processor_s(engine: Engine, place: Path, *steps: Step) -> float:
    """What a run uses of a processor whose steps take so many turns."""
    place.mkdir()
    program = [phase("p", manage("create"), manage("create", 1), loop(LOOP, TURNS, *steps))]
    files = [file(), file("other", content=Content(compressibility=0.5))]
    made = plan(place, files, program, loops=["turn"])
    run = subprocess.Popen(engine.command(made), stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(run.pid, 0)
    run.returncode = os.waitstatus_to_exitcode(status)
    assert run.returncode == 0
    return used.ru_utime


def test_steps_that_take_turns_keep_their_memory(engine: Engine, tmp_path: Path) -> None:
    far = write(4096, nest(0, (1, 4096)), memory_bytes=POOL)
    near = write(4096, nest(0, (1, 4096)))
    other = write(4096, nest(0, (1, 4096)), memory_bytes=POOL, index=1)
    alone = processor_s(engine, tmp_path / "alone", far)
    in_turn = processor_s(engine, tmp_path / "in_turn", far, near, other)
    # Filling the memory of one step anew takes as long as all of the run by itself.
    assert in_turn < 5 * alone, (in_turn, alone)
