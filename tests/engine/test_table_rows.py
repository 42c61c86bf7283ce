"""Loops over tables: the engine makes the call of each row, and refuses what is no table."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from case.stream import assert_same
from case.table_program import random_rows, rows_of_ranks, workload_of, workload_of_ranks
from engine.running import Engine, Outcome
from venturi.model import plan as p
from venturi.model.event import EventLine
from venturi.model.workload import Workload
from venturi.plan.make import make_plan
from venturi.plan.setting import RunSettings
from venturi.store.log import merge_logs


def planned(seed: int, place: Path) -> p.Plan:
    return planned_of(workload_of(random_rows(seed), log_operations=True), place)


def planned_of(workload: Workload, place: Path) -> p.Plan:
    journal = place / "journal"
    journal.mkdir()
    settings = RunSettings(
        run_directory=str(place / "run"), journal=str(journal), repetitions=2, most_ranks=8
    )
    return make_plan(workload, settings).plan


def run(engine: Engine, plan: p.Plan) -> Outcome:
    Path(plan.journal, "plan.json").write_text(plan.to_json())
    return engine.run(plan)


@pytest.mark.parametrize("seed", range(15))
def test_the_engine_makes_the_calls_of_the_rows(engine: Engine, tmp_path: Path, seed: int) -> None:
    plan = planned(seed, tmp_path).model_copy(update={"repetitions": 1})
    outcome = run(engine, plan)
    assert outcome.code == 0, outcome.stderr or outcome.events[-1]
    events = [EventLine.model_validate_json(json.dumps(event)).root for event in outcome.events]
    merge_logs(Path(plan.journal), events, tmp_path)
    assert_same(tmp_path / "operations.npz", plan, 0)


@pytest.mark.parametrize("ranks", [2, 4])
@pytest.mark.parametrize("seed", range(4))
def test_each_rank_makes_the_calls_of_its_rows(
    engine: Engine, tmp_path: Path, seed: int, ranks: int
) -> None:
    workload = workload_of_ranks(rows_of_ranks(seed, ranks))
    plan = planned_of(workload.model_copy(update={"log_operations": True}), tmp_path)
    plan = plan.model_copy(update={"repetitions": 1})
    outcome = run(engine, plan)
    assert outcome.code == 0, outcome.stderr or outcome.events[-1]
    events = [EventLine.model_validate_json(json.dumps(event)).root for event in outcome.events]
    merge_logs(Path(plan.journal), events, tmp_path)
    for rank in range(ranks):
        assert_same(tmp_path / "operations.npz", plan, rank)


def whole(number: int) -> p.Instruction:
    return p.Instruction(operator=p.Operator.INTEGER, integer=number)


def spoilt(plan: p.Plan, **change: object) -> p.Plan:
    """The plan with something else in its loop, or in the first column of its table."""
    phase = plan.groups[0].program[0]
    assert isinstance(phase, p.Phase)
    loop = phase.body[0]
    assert isinstance(loop, p.For)
    column = {key: value for key, value in change.items() if key in ("variable", "values")}
    columns = [loop.columns[0].model_copy(update=column), *loop.columns[1:]]
    rest = {key: value for key, value in change.items() if key not in column}
    loop = loop.model_copy(update={"columns": columns, **rest})
    group = plan.groups[0].model_copy(
        update={"program": [phase.model_copy(update={"body": [loop]})]}
    )
    return plan.model_copy(update={"groups": [group]})


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"values": "AAAA"}, "is not base64 of"),
        ({"values": "?" * 80}, "is not base64 of"),
        ({"values": ""}, "is not base64 of"),
        ({"variable": 0}, "is not the slot of a loop variable"),
        ({"variable": 99}, "is not the slot of a loop variable"),
        ({"rows": 7}, "is not base64 of"),
        ({"rows": -1}, "must be at least 0"),
        ({"first": [whole(1)]}, "rows from row 1 on are not in a table of"),
        ({"count": [whole(10**15)]}, "rows from row 0 on are not in a table of"),
        ({"first": [whole(2**62)], "count": [whole(2**62)]}, "are not in a table of"),
    ],
)
def test_what_is_no_table_is_refused(
    engine: Engine, tmp_path: Path, change: dict[str, object], said: str
) -> None:
    outcome = run(engine, spoilt(planned(0, tmp_path), **change))
    assert outcome.code == 2
    assert said in outcome.stderr


def test_a_step_that_is_not_there_ends_the_run(engine: Engine, tmp_path: Path) -> None:
    plan = planned(0, tmp_path)
    phase = plan.groups[0].program[0]
    assert isinstance(phase, p.Phase)
    loop = phase.body[0]
    assert isinstance(loop, p.For)
    choice = loop.body[1]
    assert isinstance(choice, p.Choose)
    short = choice.model_copy(update={"body": choice.body[:4]})
    outcome = run(engine, spoilt(plan, body=[loop.body[0], short]))
    assert outcome.code == 2
    assert "there is no step" in outcome.stderr
    assert not (tmp_path / "run").exists()
