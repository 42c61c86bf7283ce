"""A rank that is stopped while it waits in any other way than those of test_silence.py."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from engine.running import Engine, is_gone
from engine.test_silence import DEADLINE_S, STALL_S, check, stopped_run
from venturi.model.plan import Plan
from venturi.model.workload import Workload
from venturi.plan.make import make_plan
from venturi.plan.setting import RunSettings

STARTED = '"phase_started","path":"p"'
WRITE = {"to": "f", "transfer": "4 KiB", "size": "64 KiB"}
FOREVER = {"for": "i", "in": 10**9, "do": [{"write": WRITE}]}


@dataclass(frozen=True)
class Wait:
    """A way to wait: the program, whose rank 0 is late at one operation, and who is stopped."""

    programs: dict[str, list[Any]]
    late: str = ""
    file: dict[str, Any] = field(default_factory=dict)
    mark: str = STARTED
    victim: int = 2
    where: str = "phase p"


def alone(*body: Any, **keys: Any) -> dict[str, list[Any]]:
    """One group with one phase."""
    return {"g": [{"phase": "p", "do": list(body), **keys}]}


GATHERED = {"interface": "netcdf"}
TOGETHER = {"interface": "mpiio"}
COLLECTIVE = {"write": {**WRITE, "collective": True}}
SIGNALLED = {
    "late": [{"phase": "q", "do": [{"create": "f"}, {"compute": 60}]}, {"signal": "done"}],
    "waiting": [{"phase": "p", "do": [{"wait": "done"}]}],
}

WAITS = {
    "limit": Wait(alone({"create": "f"}, FOREVER, limit="0.2 s"), "write", file={"shared": "rank"}),
    "barrier in a limit": Wait(
        alone({"create": "f"}, "barrier", {"write": WRITE}, limit="60 s"),
        "create",
        file={"shared": "rank"},
    ),
    "signal": Wait(SIGNALLED, mark='"hello"', victim=2, where=""),
    "listening": Wait(SIGNALLED, mark='"hello"', victim=1, where=""),
    "end of a repetition": Wait(
        {"g": [{"phase": "p", "do": [{"compute": 0}]}, {"compute": "60 if rank == 0 else 0"}]},
        mark='"phase_finished","path":"p"',
        where="",
    ),
    "gathering": Wait(alone({"create": "f"}, {"write": WRITE}), "write", GATHERED),
    "finding": Wait(alone({"compute": "60 if rank == 0 else 0"}, {"find": {"name": "*"}})),
    "command": Wait(alone({"exec": {"command": "true", "time": "60 s"}})),
    "many phases": Wait(
        {"g": [{"for": "i", "in": 10**9, "do": [{"phase": "p", "do": [{"compute": 0}]}]}]},
        where="",
    ),
}
OF_MPI = {
    "open together": Wait(alone({"create": "f"}, COLLECTIVE), "open", TOGETHER),
    "calls together": Wait(alone({"create": "f"}, COLLECTIVE), "write", TOGETHER),
    "create together": Wait(
        alone({"create": "f"}, {"write": {**WRITE, "collective": True}}, {"close": "f"}),
        "create",
        TOGETHER,
    ),
    "close together": Wait(alone({"create": "f"}, COLLECTIVE, {"close": "f"}), "close", TOGETHER),
    "HDF5, calls together": Wait(
        alone({"create": "f"}, COLLECTIVE), "write", {"interface": "hdf5"}
    ),
    "HDF5, close": Wait(
        alone({"create": "f"}, {"write": WRITE}, {"close": "f"}), "close", {"interface": "hdf5"}
    ),
}
OF_OPENMPI = {
    "PnetCDF, calls together": Wait(
        alone({"create": "f"}, COLLECTIVE), "write", {"interface": "pnetcdf"}
    ),
}
CASES = [(comm, name) for comm in ("forked", "openmpi", "mpich") for name in WAITS]
CASES += [(comm, name) for comm in ("openmpi", "mpich") for name in OF_MPI]
CASES += [("openmpi", name) for name in OF_OPENMPI]


def made(place: Path, wait: Wait) -> Plan:
    """The plan of three ranks, of which rank 0 is a minute late at an operation."""
    several = len(wait.programs) > 1
    ranks = {"late": 1, "waiting": 2} if several else {"g": 3}
    late = {"kind": "delay", "operation": wait.late, "rank": 0, "seconds": 60}
    data = {
        "workload": 1,
        "name": "waits",
        "heartbeat": STALL_S,
        "deadline": DEADLINE_S,
        "groups": {name: {"ranks": ranks[name]} for name in wait.programs},
        "files": {"f": {"path": "f", "faults": [late] if wait.late else [], **wait.file}},
        "program": wait.programs,
    }
    journal = place / "journal"
    journal.mkdir()
    settings = RunSettings(repetitions=2, run_directory=str(place / "run"), journal=str(journal))
    plan = make_plan(Workload.model_validate_json(json.dumps(data)), settings).plan
    (journal / "plan.json").write_text(plan.to_json())
    return plan


@pytest.mark.parametrize(("comm", "name"), CASES)
def test_a_stopped_rank_is_named_and_ended(
    engine: Engine, tmp_path: Path, comm: str, name: str
) -> None:
    wait = {**WAITS, **OF_MPI, **OF_OPENMPI}[name]
    plan = made(tmp_path, wait)
    outcome = stopped_run(engine, plan, comm, wait.mark, wait.victim, wait.where)
    check(outcome, comm, wait.victim, wait.where, exact=name in WAITS)
    if comm == "forked":
        assert is_gone(plan)
