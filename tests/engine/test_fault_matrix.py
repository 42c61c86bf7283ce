"""An error in every kind of phase, on one rank of three: all end together, and it is located."""

from __future__ import annotations

import errno
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from engine.running import Engine, Outcome, is_gone
from venturi.model.plan import Plan
from venturi.model.workload import Workload
from venturi.plan.make import make_plan
from venturi.plan.setting import RunSettings

RANKS, VICTIM = 3, 1
WRITE = {"to": "data", "transfer": "4 KiB", "size": "128 KiB"}
READ = {"from": "data", "transfer": "4 KiB", "size": "128 KiB"}
CODES = {"eio": errno.EIO, "enospc": errno.ENOSPC}


@dataclass(frozen=True)
class Kind:
    """A kind of phase: what it does, and which operation of it fails."""

    body: list[Any]
    operation: str = "write"
    nth: int = 5
    keys: dict[str, Any] = field(default_factory=dict)
    file: dict[str, Any] = field(default_factory=dict)
    before: list[Any] = field(default_factory=list)
    path: str = "p"
    """The phase that fails; one around it does not finish."""


def whole(**keys: Any) -> list[Any]:
    """Creates, writes, closes."""
    return [{"create": "data"}, {"write": {**WRITE, **keys}}, {"close": "data"}]


OWN = {"shared": "rank"}
BY_TREE = {"tree": {"items": 20, "size": 100}, "path": "tree"}
VAST = {"to": "data", "transfer": "4 KiB", "size": "16 TiB"}
"""Takes minutes even on storage that does nothing."""
NULL = {"interface": "null"}
THERE = [{"phase": "first", "do": whole()}]
KINDS = {
    "create": Kind(whole(), "create", 1, file=OWN),
    "close": Kind(whole(), "close", 1),
    "plain": Kind(whole()),
    "limit": Kind(whole(), keys={"limit": "60 s"}),
    "limit and barriers": Kind(
        [{"create": "data"}, "barrier", {"write": WRITE}, "barrier", {"close": "data"}],
        keys={"limit": "60 s"},
    ),
    "at least": Kind(whole(), nth=50, keys={"at_least": "60 s"}),
    "barrier": Kind(
        [{"create": "data"}, {"write": WRITE}, "barrier", {"write": WRITE}, {"close": "data"}],
        nth=40,
    ),
    "inner phase": Kind(
        [{"create": "data"}, {"phase": "inner", "do": [{"write": WRITE}]}], path="p/inner"
    ),
    "loop": Kind([{"create": "data"}, {"for": "i", "in": 9, "do": [{"write": WRITE}]}], nth=99),
    "one rank": Kind([{"create": "data"}, {"when": "rank == 1", "do": [{"write": WRITE}]}], nth=3),
    "rate": Kind(whole(rate=1000)),
    "depth": Kind(whole(depth=8), file={"interface": "uring"}),
    "rate and depth": Kind(whole(rate=1000, depth=8), file={"interface": "uring"}),
    "mapped": Kind(whole(), file={"interface": "mmap"}),
    "streamed": Kind(whole(), file={"interface": "stdio"}),
    "verified": Kind(whole(), file={"content": {"verify": True}}),
    "sync of each": Kind(whole(sync="fsync"), "sync"),
    "sync": Kind([*whole()[:2], {"sync": {"on": "data", "mode": "fsync"}}], "sync", 1),
    "sync of all": Kind([*whole()[:2], {"sync": "file_system"}], "sync", 1),
    "append": Kind([{"create": "data"}, {"write": {**WRITE, "pattern": "append"}}], file=OWN),
    "random": Kind(whole(pattern="random")),
    "file of a node": Kind(whole(), file={"shared": "node"}),
    "open": Kind([{"open": "data"}, {"read": READ}], "open", 2, before=THERE),
    "read": Kind([{"open": "data"}, {"read": READ}], "read", before=THERE),
    "reads among writes": Kind(
        [{"open": "data"}, {"write": {**WRITE, "pattern": "random", "reads": 0.5}}],
        "read",
        before=THERE,
    ),
    "cold": Kind([{"open": "data"}, {"read": READ}], "read", keys={"cache": "drop"}, before=THERE),
    "items": Kind([{"each": {"on": "data", "do": ["create", "write", "close"]}}], file=BY_TREE),
    "items in a limit": Kind(
        [{"each": {"on": "data", "do": ["create", "write", "close"]}}],
        keys={"limit": "60 s"},
        file=BY_TREE,
    ),
    "long": Kind([{"create": "data"}, {"write": VAST}], file=NULL),
    "long, verified": Kind(
        [{"create": "data"}, {"write": VAST}], file={**NULL, "content": {"verify": True}}
    ),
    "long, at a rate": Kind([{"create": "data"}, {"write": {**VAST, "rate": 1000}}], file=NULL),
    "long, reads among writes": Kind(
        [{"open": "data"}, {"write": {**VAST, "pattern": "random", "reads": 0.5}}],
        file={**NULL, "prestage": "16 TiB"},
    ),
    "long, in flight": Kind(
        [{"create": "data"}, {"write": {**VAST, "depth": 8}}], file={"interface": "simulated"}
    ),
    "long, items": Kind(
        [{"each": {"on": "data", "do": ["create", "write", "close"]}}],
        file={**NULL, "path": "tree", "tree": {"items": 10**10, "size": 100}},
    ),
    "long, asleep": Kind([{"create": "data"}, {"write": WRITE}, {"compute": 300}]),
    "long, computing": Kind(
        [{"create": "data"}, {"write": WRITE}, {"compute": {"seconds": 300, "mode": "spin"}}]
    ),
    "long, barriers": Kind(
        [{"create": "data"}, {"for": "i", "in": 10**9, "do": [{"write": WRITE}, "barrier"]}],
        file=NULL,
    ),
}


def made(place: Path, kind: Kind, error: str) -> Plan:
    """The plan: the phase, and one behind it that must not begin."""
    one = {"kind": error, "operation": kind.operation, "rank": VICTIM, "nth": kind.nth}
    data = {
        "workload": 1,
        "name": "faults",
        "groups": {"g": {"ranks": RANKS}},
        "files": {"data": {"path": "data", "faults": [one], **kind.file}},
        "program": {
            "g": [
                *kind.before,
                {"phase": "p", "do": kind.body, **kind.keys},
                {"phase": "behind", "do": [{"compute": 0}]},
            ]
        },
    }
    journal = place / "journal"
    journal.mkdir()
    settings = RunSettings(repetitions=2, run_directory=str(place / "run"), journal=str(journal))
    plan = make_plan(Workload.model_validate_json(json.dumps(data)), settings).plan
    (journal / "plan.json").write_text(plan.to_json())
    return plan


def check(outcome: Outcome, kind: Kind, error: str) -> None:
    """Counted once, located, all stopped together, nothing behind it begun."""
    assert outcome.code == 3, outcome.stderr
    event = outcome.phase(kind.path)
    assert event["errors"] == 1
    assert event["stopped_by"] == "error"
    detail = event["details"][0]
    assert (detail["rank"], detail["operation"]) == (VICTIM, kind.operation)
    assert detail["errno"] == CODES[error]
    assert outcome.failed["code"] == "io"
    assert f"failed on rank {VICTIM}" in outcome.failed["message"]
    assert "behind" not in {event["path"] for event in outcome.of("phase_started")}


@pytest.mark.parametrize("error", CODES)
@pytest.mark.parametrize("name", KINDS)
def test_forked_ranks_end_together(engine: Engine, tmp_path: Path, name: str, error: str) -> None:
    plan = made(tmp_path, KINDS[name], error)
    check(engine.run(plan), KINDS[name], error)
    assert is_gone(plan)


TOGETHER = {
    "calls together": Kind(whole(collective=True)),
    "calls together in a limit": Kind(whole(collective=True), keys={"limit": "60 s"}),
    "calls together at a rate": Kind(whole(collective=True, rate=1000)),
    "reads among calls together": Kind(
        [
            {"create": "data"},
            {"write": {**WRITE, "collective": True}},
            {"write": {**WRITE, "pattern": "random", "reads": 0.5, "collective": True}},
        ],
        "read",
    ),
    "view": Kind(whole(collective=True), file={"options": {"view": "strided"}}),
    "not together": Kind(whole()),
    "long, not together": Kind([{"create": "data"}, {"write": VAST}], file=NULL),
    "in flight": Kind(whole(depth=4)),
    "file of a node, together": Kind(whole(collective=True), file={"shared": "node"}),
}


@pytest.mark.parametrize("name", TOGETHER)
def test_mpi_ranks_end_together(engine: Engine, tmp_path: Path, mpi: str, name: str) -> None:
    kind = TOGETHER[name]
    mpiio = Kind(
        kind.body, kind.operation, kind.nth, kind.keys, {"interface": "mpiio", **kind.file}
    )
    plan = made(tmp_path, mpiio, "eio")
    check(engine.run(plan, mpi), kind, "eio")
    assert is_gone(plan)


def test_a_short_transfer_of_a_call_together_is_continued(
    engine: Engine, tmp_path: Path, mpi: str
) -> None:
    kind = Kind(whole(collective=True), file={"interface": "mpiio"})
    plan = made(tmp_path, kind, "short")
    outcome = engine.run(plan, mpi)
    assert outcome.code == 0, outcome.stderr
    assert outcome.phase("p")["short_transfers"] == 1
    assert outcome.phase("p")["bytes"] == RANKS << 17
