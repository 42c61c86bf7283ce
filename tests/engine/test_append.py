"""Requests that go where a file ends: where that is, is not asked before each of them."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest
from plans import LOOP, file, loop, manage, number, phase, plan, write
from running import Engine, traced

from case.stream import assert_same
from venturi.model.event import EventLine
from venturi.model.layout import Content
from venturi.model.plan import Append, Plan
from venturi.model.workload import Workload
from venturi.plan.make import make_plan
from venturi.plan.setting import RunSettings
from venturi.store.log import merge_logs

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


def drawn_steps(chance: random.Random) -> list[dict[str, Any]]:
    """Appends of one size and of several, and syncs between them."""
    found: list[dict[str, Any]] = []
    for _ in range(chance.randint(2, 6)):
        sizes = chance.sample([1, 100, 512, 4096, 70_000], chance.randint(1, 3))
        parts = [{"bytes": size, "weight": chance.randint(1, 3)} for size in sizes]
        own = {"mix": parts} if len(parts) > 1 else {"transfer": sizes[0]}
        step = {"to": "log", "pattern": "append", "count": chance.randint(1, 9), **own}
        found.append({"write": step})
        if chance.random() < 0.3:
            found.append({"sync": {"on": "log"}})
    return found


@pytest.mark.parametrize("seed", range(12))
def test_each_append_begins_where_the_one_before_ended(
    engine: Engine, tmp_path: Path, seed: int
) -> None:
    """Whatever their sizes; and what a sync makes durable is what was written."""
    do = [{"create": "log"}, *drawn_steps(random.Random(seed)), {"sync": {"on": "log"}}]
    data = {
        "workload": 1,
        "name": "appends",
        "files": {"log": {"path": "log", "shared": "rank"}},
        "program": {"g": [{"phase": "p", "do": [*do, {"close": "log"}]}]},
        "log_operations": True,
    }
    settings = RunSettings(
        run_directory=str(tmp_path / "run"), journal=str(tmp_path), repetitions=1
    )
    made = make_plan(Workload.model_validate_json(json.dumps(data)), settings).plan
    (tmp_path / "plan.json").write_text(made.to_json())
    outcome = engine.run(made)
    assert outcome.code == 0, outcome.stderr or outcome.events[-1]
    events = [EventLine.model_validate_json(json.dumps(event)).root for event in outcome.events]
    (tmp_path / "merged").mkdir()
    merge_logs(tmp_path, events, tmp_path / "merged")
    assert_same(tmp_path / "merged" / "operations.npz", made, 0)
    done = outcome.phase("p")
    assert done["bytes_durable"] == done["bytes"]
