"""Phases that go on after errors: each is counted and located, and nothing but it is missing."""

from __future__ import annotations

import errno
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from engine.running import Engine, Outcome, is_gone, kinds
from venturi.model.plan import Plan
from venturi.model.workload import Workload
from venturi.plan.make import make_plan
from venturi.plan.setting import RunSettings

RANKS, VICTIM = 3, 1
REQUESTS = 32
FAILED = [4, 11, 18, 25]
"""The requests of the victim that fail, counted from 0."""
WRITE = {"to": "data", "transfer": "4 KiB", "size": "128 KiB"}
READ = {"from": "data", "transfer": "4 KiB", "size": "128 KiB"}


@dataclass(frozen=True)
class Kind:
    """A phase in which every seventh operation of one rank fails, from the fifth on."""

    body: list[Any]
    operation: str = "write"
    file: dict[str, Any] = field(default_factory=dict)
    before: list[Any] = field(default_factory=list)
    rest: dict[str, int] = field(default_factory=dict)
    """How many operations of other kinds there are beside it."""


def whole(**keys: Any) -> list[Any]:
    return [{"create": "data"}, {"write": {**WRITE, **keys}}, {"close": "data"}]


def each(*verbs: str) -> list[Any]:
    return [{"each": {"on": "data", "do": list(verbs)}}]


THERE = [{"phase": "first", "do": whole()}]
TREE = {"path": "tree", "tree": {"items": REQUESTS, "size": 100}}
KINDS = {
    "plain": Kind(whole()),
    "verified": Kind(whole(), file={"content": {"verify": True}}),
    "rate": Kind(whole(rate=10_000)),
    "depth": Kind(whole(depth=8), file={"interface": "uring"}),
    "rate and depth": Kind(whole(rate=10_000, depth=8), file={"interface": "uring"}),
    "mapped": Kind(whole(), file={"interface": "mmap"}),
    "sync of each": Kind(whole(sync="fsync"), "sync", rest={"write": RANKS * REQUESTS}),
    "random": Kind(whole(pattern="random")),
    "append": Kind(whole(pattern="append"), file={"shared": "rank"}),
    "read": Kind([{"open": "data"}, {"read": READ}], "read", before=THERE),
    "items": Kind(each("create", "write", "close"), file=TREE),
    "stat of items": Kind(
        each("stat"),
        "stat",
        TREE,
        [{"phase": "first", "do": each("create", "close")}],
    ),
}
TOGETHER = {
    "calls together": Kind(whole(collective=True)),
    "not together": Kind(whole()),
    "in flight": Kind(whole(depth=4)),
}


def made(place: Path, kind: Kind, **keys: Any) -> Plan:
    """The plan: the phase, and one behind it that must come."""
    one = {"kind": "eio", "operation": kind.operation, "rank": VICTIM, "nth": 5, "every": 7}
    data = {
        "workload": 1,
        "name": "goes-on",
        "groups": {"g": {"ranks": RANKS}},
        "files": {"data": {"path": "data", "faults": [one], **kind.file}},
        "program": {
            "g": [
                *kind.before,
                {"phase": "p", "on_error": "go on", "do": kind.body, **keys},
                {"phase": "behind", "do": [{"compute": 0}]},
            ]
        },
    }
    journal = place / "journal"
    journal.mkdir()
    settings = RunSettings(repetitions=1, run_directory=str(place / "run"), journal=str(journal))
    plan = make_plan(Workload.model_validate_json(json.dumps(data)), settings).plan
    (journal / "plan.json").write_text(plan.to_json())
    return plan


def check(outcome: Outcome, kind: Kind) -> None:
    assert outcome.code == 3, outcome.stderr
    assert outcome.of("failed") == []
    event = outcome.phase("p")
    assert event["stopped_by"] == "work"
    assert event["errors"] == len(FAILED)
    assert kinds(event)[kind.operation] == RANKS * REQUESTS - len(FAILED)
    for other, count in kind.rest.items():
        assert kinds(event)[other] == count
    for detail in event["details"]:
        assert (detail["rank"], detail["operation"]) == (VICTIM, kind.operation)
        assert detail["errno"] == errno.EIO
        assert 0 <= detail["at_s"] <= event["seconds"]["total"]
    assert len(event["details"]) == len(FAILED)
    assert outcome.phase("behind")["errors"] == 0
    assert outcome.of("finished")[0]["errors"] == len(FAILED)


@pytest.mark.parametrize("name", KINDS)
def test_forked_ranks_go_on(engine: Engine, tmp_path: Path, name: str) -> None:
    plan = made(tmp_path, KINDS[name])
    outcome = engine.run(plan)
    check(outcome, KINDS[name])
    if name in ("plain", "verified"):
        offsets = [detail["offset"] for detail in outcome.phase("p")["details"]]
        assert offsets == [(VICTIM * REQUESTS + number) * 4096 for number in FAILED]
    assert is_gone(plan)


@pytest.mark.parametrize("name", TOGETHER)
def test_mpi_ranks_go_on(engine: Engine, tmp_path: Path, mpi: str, name: str) -> None:
    kind = Kind(TOGETHER[name].body, file={"interface": "mpiio"})
    plan = made(tmp_path, kind)
    check(engine.run(plan, mpi), kind)
    assert is_gone(plan)


def test_a_name_that_cannot_be_had_ends_the_run_all_the_same(
    engine: Engine, tmp_path: Path
) -> None:
    one = {"kind": "eio", "operation": "create", "rank": VICTIM, "nth": 1}
    plan = made(tmp_path, Kind(whole(), file={"shared": "rank", "faults": [one]}))
    outcome = engine.run(plan)
    assert outcome.code == 3
    assert f"create of data.{VICTIM:08d}" in outcome.failed["message"]
    assert "behind" not in {event["path"] for event in outcome.of("phase_started")}


def test_a_limit_ends_a_phase_that_goes_on(engine: Engine, tmp_path: Path) -> None:
    """Who failed more often does as many as the others; what failed is not among them."""
    body = [
        {"create": "data"},
        {"for": "i", "in": 10**9, "do": [{"write": {**WRITE, "think": "10 us"}}]},
    ]
    plan = made(tmp_path, Kind(body, file={"shared": "rank"}), limit="0.2 s")
    event = engine.run(plan).phase("p")
    assert event["stopped_by"] in ("limit", "deadline")
    assert event["errors"] > 0
    if event["stopped_by"] == "limit":
        assert len(set(event["per_rank"]["operations"])) == 1
