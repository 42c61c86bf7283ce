"""Groups that wait for each other: the order, exact times, and every way a wait can end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from engine.running import Engine, Outcome, end, is_gone, parse, rest_of
from venturi.model.plan import Plan
from venturi.model.workload import Workload
from venturi.plan.make import make_plan
from venturi.plan.setting import RunSettings

GROUPS = ["forked", "openmpi", "mpich"]


def made(
    place: Path,
    programs: dict[str, list[Any]],
    *,
    repetitions: int = 1,
    ranks: int = 2,
    **rest: Any,
) -> Plan:
    """The plan of groups of two ranks each, ready to run."""
    journal = place / "journal"
    journal.mkdir(exist_ok=True)
    instances = rest.pop("instances", {})
    data = {
        "workload": 1,
        "name": "signals",
        "groups": {
            name: {"ranks": ranks, "instances": instances.get(name, 1)} for name in programs
        },
        "files": {"f": {"path": "f", **rest.pop("file", {})}},
        "program": programs,
        **rest,
    }
    settings = RunSettings(
        repetitions=repetitions,
        run="r1",
        run_directory=str(place / "run"),
        journal=str(journal),
    )
    plan = make_plan(Workload.model_validate_json(json.dumps(data)), settings).plan
    (journal / "plan.json").write_text(plan.to_json())
    return plan


def write(**rest: Any) -> dict[str, Any]:
    """A phase that makes and writes the file."""
    steps = [{"create": "f"}, {"write": {"to": "f", "size": "32 KiB", "transfer": "4 KiB"}}]
    return {"phase": "write", "do": [*steps, {"close": "f"}], **rest}


def read(*before: Any, **rest: Any) -> dict[str, Any]:
    """A phase that reads it."""
    steps = [{"open": "f"}, {"read": {"from": "f", "size": "32 KiB", "transfer": "4 KiB"}}]
    return {"phase": "read", "do": [*before, *steps, {"close": "f"}], **rest}


def sleep(seconds: float) -> dict[str, Any]:
    return {"compute": seconds}


def run(engine: Engine, plan: Plan, comm: str) -> Outcome:
    """Runs a plan; its events are those of all groups."""
    return whole(engine.run(plan, comm), plan)


def whole(outcome: Outcome, plan: Plan) -> Outcome:
    """The outcome with the events that other groups wrote into the journal before the last one."""
    others = [parse(f.read_text()) for f in sorted(Path(plan.journal).glob("events.*.jsonl"))]
    events = [*outcome.events[:-1], *(event for found in others for event in found)]
    return Outcome(outcome.code, [*events, *outcome.events[-1:]], outcome.stderr)


def span(event: dict[str, Any]) -> tuple[float, float]:
    """When a phase began and ended, in seconds since hello."""
    return event["at_s"], event["at_s"] + event["seconds"]["total"]


@pytest.mark.parametrize("comm", GROUPS)
def test_readers_begin_when_the_writers_have_ended(
    engine: Engine, tmp_path: Path, comm: str
) -> None:
    plan = made(
        tmp_path,
        {
            "readers": [{"wait": "written"}, read()],
            "writers": [sleep(0.3), write(), {"signal": "written"}],
        },
        repetitions=3,
    )
    outcome = run(engine, plan, comm)
    assert outcome.code == 0, (outcome.events, outcome.stderr)
    for repetition in range(3):
        _, written = span(outcome.phase("write", repetition))
        begun, _ = span(outcome.phase("read", repetition))
        assert begun >= written
    assert is_gone(plan)


@pytest.mark.parametrize("comm", GROUPS)
def test_the_time_of_a_wait_is_told(engine: Engine, tmp_path: Path, comm: str) -> None:
    plan = made(
        tmp_path,
        {
            "readers": [read({"signal": "begun"}, {"wait": "written"})],
            "writers": [{"wait": "begun"}, sleep(0.1), write(), {"signal": "written"}],
        },
    )
    event = run(engine, plan, comm).phase("read")
    assert 0 < event["seconds"]["wait"] <= event["seconds"]["total"]
    assert event["bytes"] == 65536


@pytest.mark.parametrize("comm", GROUPS)
def test_a_simulated_wait_ends_with_the_latest_signal(
    engine: Engine, tmp_path: Path, comm: str
) -> None:
    plan = made(
        tmp_path,
        {
            "readers": [{"phase": "p", "do": [{"wait": "x"}, {"compute": 2}]}],
            "writers": [{"phase": "q", "do": [{"compute": "3 + 4 * rank"}, {"signal": "x"}]}],
        },
        file={"interface": "simulated"},
    )
    outcome = run(engine, plan, comm)
    assert outcome.code == 0, (outcome.events, outcome.stderr)
    assert outcome.phase("p")["seconds"]["wait"] == pytest.approx(7)
    assert outcome.phase("p")["seconds"]["total"] == pytest.approx(9)


@pytest.mark.parametrize("comm", GROUPS)
def test_many_steps_and_instances(engine: Engine, tmp_path: Path, comm: str) -> None:
    steps = 300
    ping = {"for": "i", "in": steps, "do": [{"signal": "ping {i}"}, {"wait": "pong {i}"}]}
    pong = {"for": "i", "in": steps, "do": [{"wait": "ping {i}"}, {"signal": "pong {i}"}]}
    plan = made(
        tmp_path,
        {
            "left": [{"phase": "l", "do": [ping]}],
            "right": [{"phase": "r", "do": [pong]}],
        },
        ranks=1,
        instances={"right": 2},
        repetitions=2,
    )
    outcome = run(engine, plan, comm)
    assert outcome.code == 0, (outcome.events, outcome.stderr)
    assert len(outcome.of("phase_finished")) == 2 * 3


def test_a_rank_alone_may_wait_for_its_own_signal(engine: Engine, tmp_path: Path) -> None:
    program = [write(), {"signal": "x"}, {"wait": "x"}, {"phase": "p", "do": [sleep(0)]}]
    outcome = engine.run(made(tmp_path, {"one": program}, ranks=1), "alone")
    assert outcome.code == 0, (outcome.events, outcome.stderr)
    assert len(outcome.of("phase_finished")) == 2


@pytest.mark.parametrize("comm", GROUPS)
@pytest.mark.parametrize("victim", [0, 1])
def test_a_failure_elsewhere_ends_a_wait_and_is_what_is_told(
    engine: Engine, tmp_path: Path, comm: str, victim: int
) -> None:
    fault = {"kind": "eio", "operation": "write", "rank": victim}
    plan = made(
        tmp_path,
        {
            "readers": [{"wait": "written"}, read()],
            "writers": [write(), {"signal": "written"}],
        },
        file={"faults": [fault]},
    )
    outcome = run(engine, plan, comm)
    assert outcome.code == 3, (outcome.events, outcome.stderr)
    assert outcome.failed["code"] == "io"
    assert "write of f failed" in outcome.failed["message"]
    assert [event["path"] for event in outcome.of("phase_finished")] == ["write"]
    assert is_gone(plan)


@pytest.mark.parametrize("comm", GROUPS)
def test_a_failure_in_ones_own_group_ends_a_wait(engine: Engine, tmp_path: Path, comm: str) -> None:
    # Rank 1 fails inside the phase in which rank 0 already waits for it.
    fault = {"kind": "eio", "operation": "write", "rank": 1}
    inside = write()
    inside["do"] += [{"signal": "x"}, {"wait": "x"}]
    plan = made(tmp_path, {"one": [inside]}, file={"faults": [fault]})
    outcome = run(engine, plan, comm)
    assert outcome.code == 3, (outcome.events, outcome.stderr)
    assert outcome.failed["code"] == "io"


def waiting(place: Path, **rest: Any) -> Plan:
    """Readers wait for writers that sleep for a minute."""
    return made(
        place,
        {
            "readers": [read({"wait": "written"}, **rest)],
            "writers": [{"phase": "sleep", "do": [sleep(60)]}, write(), {"signal": "written"}],
        },
        deadline="50 s",
    )


def started(engine: Engine, plan: Plan, comm: str) -> subprocess.Popen[str]:
    """A run whose two groups are inside their first phases."""
    process = engine.start(plan, comm)
    journal = Path(plan.journal)
    until = time.monotonic() + 600
    assert process.stdout is not None
    while '"phase_started"' not in process.stdout.readline():
        assert time.monotonic() < until
    while not any('"phase_started"' in file.read_text() for file in journal.glob("events*")):
        assert time.monotonic() < until
        time.sleep(0.02)
    return process


def finished(process: subprocess.Popen[str]) -> Outcome:
    """What it left; an `mpirun` that is interrupted speaks among the events."""
    out, err = rest_of(process)
    events = "".join(line for line in out.splitlines(keepends=True) if line.startswith("{"))
    return Outcome(process.returncode, parse(events), err)


@pytest.mark.parametrize("comm", GROUPS)
def test_a_deadline_ends_a_wait(engine: Engine, tmp_path: Path, comm: str) -> None:
    outcome = engine.run(waiting(tmp_path, deadline="1.5 s"), comm)
    assert outcome.code == 3, (outcome.events, outcome.stderr)
    assert outcome.failed["code"] == "deadline"
    assert "phase read was not over at its deadline" in outcome.failed["message"]


@pytest.mark.parametrize("comm", GROUPS)
def test_an_interrupt_ends_a_wait(engine: Engine, tmp_path: Path, comm: str) -> None:
    process = started(engine, waiting(tmp_path), comm)
    try:
        process.send_signal(signal.SIGINT)
        outcome = finished(process)
    finally:
        end(process)
    assert outcome.code != 0
    assert comm != "forked" or outcome.code == 130


@pytest.mark.parametrize("comm", GROUPS)
def test_a_dead_writer_ends_a_wait(engine: Engine, tmp_path: Path, comm: str) -> None:
    plan = waiting(tmp_path)
    process = started(engine, plan, comm)
    try:
        os.kill(writers_of(process.pid)[-1], signal.SIGKILL)
        outcome = finished(process)
    finally:
        end(process)
    assert outcome.code != 0
    if comm == "forked":
        assert outcome.failed["code"] == "lost_rank"
    engine.clean(plan)
    assert is_gone(plan)


def writers_of(process: int) -> list[int]:
    """The ranks of a run, below whatever started them, in the order of their start."""
    parents: dict[int, list[int]] = {}
    for place in Path("/proc").glob("[0-9]*"):
        try:
            name, _, rest = (place / "stat").read_text().rpartition(")")
        except OSError:
            continue
        if "venturi-watch" in name:
            continue
        parents.setdefault(int(rest.split()[1]), []).append(int(place.name))
    below = [process]
    for found in below:
        below += sorted(parents.get(found, []))
    return [p for p in below if p not in parents and is_engine(p)] or below


def is_engine(process: int) -> bool:
    try:
        return "venturi-engine" in os.readlink(f"/proc/{process}/exe")
    except OSError:
        return False
