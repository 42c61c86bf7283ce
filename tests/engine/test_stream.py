"""Random workloads: the engine does what the stream of operations says, one by one."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from case.stream import assert_same, streamed
from engine.running import Engine, Outcome, on_nodes
from venturi.model.event import EventLine
from venturi.model.plan import Plan
from venturi.model.workload import Workload
from venturi.model.yaml_text import parse_yaml
from venturi.plan.make import make_plan
from venturi.plan.setting import RunSettings
from venturi.store.log import merge_logs

Doc = dict[str, Any]
PLACE = 512
PLACES = 96
"""Every file of bytes has room for so many places of so many bytes for each rank."""


def filled(name: str) -> list[Doc]:
    """The whole of a file is written, so that any later read finds its bytes."""
    return [{"create": name}, {"write": {"to": name, "transfer": PLACE, "count": PLACES}}]


def some_bytes(pick: random.Random, name: str) -> Doc:
    """A data step that stays within a rank's part of a file."""
    verb, key = pick.choice([("write", "to"), ("read", "from")])
    step: Doc = {key: name}
    match pick.randrange(7):
        case 0:
            step |= {"transfer": PLACE * pick.randint(1, 4), "size": PLACE * 4 * pick.randint(1, 9)}
        case 1:
            step |= {"pattern": "segmented", "transfer": PLACE, "block": PLACE * pick.randint(1, 3)}
            step |= {"segments": pick.randint(1, 5)}
        case 2:
            step |= {"pattern": "strided", "transfer": PLACE, "count": pick.randint(1, PLACES)}
        case 3:
            step |= {"pattern": "random", "transfer": PLACE, "size": PLACE * PLACES}
            step |= pick.choice(
                [{}, {"count": 33, "replacement": True}, {"count": 70, "zipf": 1.2}]
            )
        case 4:
            rows = [[pick.randrange(PLACES) * PLACE, pick.randint(1, PLACE)] for _ in range(5)]
            step |= {"table": rows, "pattern": "table", "segments": pick.randint(1, 2)}
            step |= {"block": PLACE * PLACES}
        case 5:
            mix = [
                {"bytes": pick.randint(1, PLACE), "weight": pick.randint(1, 5)} for _ in range(3)
            ]
            step |= {"mix": mix, "count": pick.randint(1, PLACES)}
        case 6:
            step |= {"transfer": PLACE, "count": pick.randint(1, PLACES)}
            step |= {"seeks": pick.choice([0.3, 1, 1.7]), "empty_reads": pick.choice([0, 0.4])}
    if verb == "write" and "table" not in step and "seeks" not in step and pick.random() < 0.4:
        step["reads"] = round(pick.random(), 2)
    if verb == "write" and pick.random() < 0.3:
        step["sync"] = "fsync"
    if verb == "read" and step.get("pattern") == "table":
        step["segments"] = 1
    return {verb: step}


def some_items(pick: random.Random, name: str) -> list[Doc]:
    """Steps on a tree whose items are all there, which leave them there."""
    reads: Doc = {"on": name, "do": ["open", "read", "close"]}
    if pick.random() < 0.5:
        reads["bytes"] = pick.randint(1, 2000)
    if pick.random() < 0.5:
        reads["order"] = "shuffled"
    if pick.random() < 0.5:
        reads |= {"first": pick.randint(0, 2), "count": pick.randint(1, 2)}
    chain = [] if name == "dealt" else [[{"each": {"on": name, "do": ["rename"]}}]]
    return pick.choice(
        [
            *chain,  # items of several sizes would change places
            [{"stat": name}],
            [{"each": reads}],
            [{"each": {"on": name, "do": ["open", "write", "sync", "close"]}}],
            [{"each": {"on": name, "do": ["link", "unlink_link", "stat"]}}],
        ]
    )


def some_body(pick: random.Random, deep: int) -> list[Doc]:
    """Steps, some in loops or under a condition."""
    body: list[Doc] = []
    for _ in range(pick.randint(1, 3)):
        chance = pick.random()
        if deep and chance < 0.3:
            loop: Doc = {"for": f"i{deep}", "in": pick.randint(0, 3)}
            body.append({**loop, "do": some_body(pick, deep - 1)})
        elif deep and chance < 0.4:
            condition = f"rank % 2 == {pick.randint(0, 1)}"
            body.append({"when": condition, "do": [some_bytes(pick, pick.choice(["own", "all"]))]})
        elif chance < 0.6:
            body += some_items(pick, pick.choice(["mine", "dealt"]))
        else:
            body.append(some_bytes(pick, pick.choice(["own", "all"])))
    return body


def some_workload(seed: int) -> Doc:
    """A program over files of each rank, of all, and trees; `own` is open throughout."""
    pick = random.Random(seed)
    sizes = [{"bytes": pick.randint(0, 3000), "weight": pick.randint(1, 4)} for _ in range(3)]
    files: Doc = {
        "own": {"path": "own.{rank:03d}", "shared": "rank"},
        "all": {"path": "all"},
        "mine": {
            "path": "mine",
            "tree": {"depth": pick.randint(0, 2), "branch": 2, "items": 4, "size": 700},
        },
        "dealt": {
            "path": "dealt",
            "tree": {"depth": 1, "branch": 3, "items": 5, "owner": "all", "sizes": sizes},
        },
    }
    making = [
        {"each": {"on": tree, "do": ["create", "write", "close"]}} for tree in ("mine", "dealt")
    ]
    phases = [{"phase": "make", "do": [*filled("own"), *filled("all"), *making]}]
    phases += [{"phase": f"p{i}", "do": some_body(pick, 2)} for i in range(pick.randint(1, 4))]
    return {
        "workload": 1,
        "name": "random",
        "parameters": {"np": {"default": 2, "role": "ranks"}},
        "groups": {"g": {"ranks": "np"}},
        "log_operations": True,
        "files": files,
        "program": {"g": phases},
    }


def plan_of(document: Doc, place: Path, **settings: int) -> Plan:
    """The plan of one repetition below a place, written for the engine."""
    journal = place / "journal"
    journal.mkdir()
    where = {"run_directory": str(place / "run"), "journal": str(journal)}
    workload = parse_yaml(json.dumps(document), "random", Workload)
    plan = make_plan(workload, RunSettings(repetitions=1, **where, **settings)).plan
    (journal / "plan.json").write_text(plan.to_json())
    return plan


def assert_streams(outcome: Outcome, plan: Plan, place: Path, nodes: int = 1) -> None:
    assert outcome.code == 0, outcome.stderr or outcome.events[-1]
    events = [EventLine.model_validate_json(json.dumps(event)).root for event in outcome.events]
    merge_logs(Path(plan.journal), events, place)
    for rank in range(plan.ranks):
        assert len(streamed(plan, rank, nodes)) > PLACES
        assert_same(place / "operations.npz", plan, rank, nodes=nodes)


@pytest.mark.parametrize("seed", range(60))
def test_the_engine_does_what_the_stream_says(engine: Engine, tmp_path: Path, seed: int) -> None:
    plan = plan_of(some_workload(seed), tmp_path, ranks=1 + seed % 3, seed=seed)
    assert_streams(engine.run(plan), plan, tmp_path)


@pytest.mark.needs("root", "mpich")
@pytest.mark.parametrize("seed", range(6))
def test_whose_part_a_rank_takes_on_several_nodes(
    engine: Engine, tmp_path: Path, seed: int
) -> None:
    """Nodes are filled one behind the other; the last one may have fewer ranks."""
    pick = random.Random(seed)
    ranks, per_node = pick.randint(4, 7), pick.randint(2, 3)
    document = some_workload(seed)
    reads = {"from": "own", "transfer": PLACE, "count": PLACES}
    phases = document["program"]["g"]
    phases.append({"phase": "done", "do": [{"close": "own"}]})
    for number, word in enumerate(("next node", "nodes 2", "random", "permuted", "shift 1")):
        whole = {"on": "mine", "do": ["open", "read", "close"]}
        body = [{"read": reads, "from": word}, {"each": whole, "from": word}]
        phases.append({"phase": f"q{number}", "do": body})
    nodes = -(-ranks // per_node)
    plan = plan_of(document, tmp_path, ranks=ranks, seed=seed, nodes=nodes)
    outcome = on_nodes(engine, "mpich", plan, f"rank / {-(-ranks // nodes)}")
    assert_streams(outcome, plan, tmp_path, nodes)
