"""Requests that go where a file ends: where that is, is not asked before each of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from plans import LOOP, file, loop, manage, number, phase, plan, write
from running import Engine, traced

from venturi.model.layout import Content
from venturi.model.plan import Append, Plan

TURNS, SIZE, CUT = 200, 48, 480


def appends(place: Path, *, verify: bool = False) -> Plan:
    """A log that grows, is cut, and grows again."""
    more = loop(LOOP, TURNS, write(SIZE, Append(count=number(1))))
    cut = manage("truncate", bytes=number(CUT))
    program = [phase("p", manage("create"), more, cut, more, manage("close"))]
    target = file(per_rank=True, append=True, content=Content(verify=verify))
    return plan(place, [target], program, loops=["turn"])


@pytest.mark.needs("strace")
@pytest.mark.parametrize(("verify", "most"), [(False, TURNS // 4), (True, 3 * TURNS)])
def test_an_own_file_is_asked_where_it_ends_when_that_is_not_known(
    engine: Engine, tmp_path: Path, verify: bool, most: int
) -> None:
    made = appends(tmp_path, verify=verify)
    lines = traced(engine, made, "fstat,newfstatat,statx,pwrite64")
    asked = [line for line in lines if re.search(r"\b(fstat|newfstatat|statx)\(\d", line)]
    places = [int(found[1]) for line in lines if (found := re.search(r", 48, (\d+)\) = 48", line))]
    assert len(asked) < most
    assert places == [SIZE * i for i in range(TURNS)] + [CUT + SIZE * i for i in range(TURNS)]
