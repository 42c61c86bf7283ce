"""Storage refuses one rank in a call that a library makes for all: none of them hangs for ever."""

from __future__ import annotations

import json
import os
import resource
from pathlib import Path
from typing import Any

import pytest

from engine.running import Engine, Outcome, end, held, is_gone, parse, rest_of
from engine.test_silence import holder
from venturi.model.plan import Plan
from venturi.model.workload import Workload
from venturi.plan.make import make_plan
from venturi.plan.setting import RunSettings

RANKS = 3
BOXES = {"datasets": {"u": {"type": "f64", "shape": [RANKS, 8192], "split": [RANKS, 1]}}}
ALONE = {"to": "f", "transfer": "4 KiB", "size": "64 KiB"}
TOGETHER = {"to": "f.u", "transfer": "4 KiB", "collective": True}
HOLD = {"exec": {"command": "hold", "time": "600 s"}}


def made(place: Path, file: dict[str, Any], body: list[Any], **keys: Any) -> Plan:
    data = {
        "workload": 1,
        "name": "left-alone",
        "heartbeat": "1 s",
        "groups": {"g": {"ranks": RANKS}},
        "files": {"f": {"path": "f", "interface": "hdf5", **file}},
        "program": {"g": [{"phase": "p", "do": [{"create": "f"}, *body, {"close": "f"}], **keys}]},
    }
    journal = place / "journal"
    journal.mkdir()
    settings = RunSettings(repetitions=1, run_directory=str(place / "run"), journal=str(journal))
    plan = make_plan(Workload.model_validate_json(json.dumps(data)), settings).plan
    (journal / "plan.json").write_text(plan.to_json())
    return plan


def refused_run(engine: Engine, plan: Plan, comm: str, victim: int) -> Outcome:
    """From the `hold` on no file of one rank may become longer."""
    process = engine.start(plan, comm)
    try:
        go_on = held(plan)
        resource.prlimit(holder(comm, plan, victim), resource.RLIMIT_FSIZE, (0, 0))
        go_on.touch()
        out, errors = rest_of(process)
        events = "\n".join(line for line in out.splitlines() if line.startswith("{"))
        return Outcome(process.returncode, parse(events), errors)
    finally:
        end(process)


@pytest.mark.needs("mpich")
@pytest.mark.parametrize("victim", [0, 1])
def test_who_is_refused_in_a_call_together_says_so_and_ends_the_job(
    engine: Engine, tmp_path: Path, victim: int
) -> None:
    """HDF5 returns on that rank and keeps the others (here with MPICH below)."""
    plan = made(tmp_path, BOXES, [HOLD, {"write": TOGETHER}])
    outcome = refused_run(engine, plan, "mpich", victim)
    failed = outcome.of("failed")[0]
    assert failed["code"] == "io"
    assert f"write of f failed on rank {victim}" in failed["message"]
    assert outcome.code == failed["exit_code"] == 3


def test_a_failed_run_does_not_close_what_one_rank_cannot_close(
    engine: Engine, tmp_path: Path, mpi: str
) -> None:
    """A close would write again what was refused, and hang."""
    plan = made(tmp_path, {}, [HOLD, {"write": ALONE}])
    outcome = refused_run(engine, plan, mpi, 1)
    assert outcome.failed["code"] == "io"
    assert "write of f failed on rank 1" in outcome.failed["message"]
    assert outcome.code == 3
    assert is_gone(plan)


def test_a_close_that_hangs_in_the_library_ends_at_the_deadline(
    engine: Engine, tmp_path: Path, mpi: str
) -> None:
    """Nobody comes out of it, so nobody can say why: who is silent is named.

    All have written before the first of them comes to the `hold`.
    """
    plan = made(tmp_path, {}, [{"write": ALONE}, "barrier", HOLD], deadline="6 s")
    outcome = refused_run(engine, plan, mpi, 1)
    failed = outcome.of("failed")[0]
    assert failed["code"] == "deadline"
    assert failed["where"] == "p"
    assert f"rank 1 on {os.uname().nodename} completed nothing for" in failed["message"]
    assert outcome.code != 0
