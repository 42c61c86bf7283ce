"""Datasets of which ranks have different numbers of rows: covered once, or refused."""

from __future__ import annotations

import pytest

from venturi.model import plan as p
from venturi.model.error import UserError
from venturi.model.expression import evaluate
from venturi.model.workload import Workload
from venturi.model.yaml_text import parse_yaml
from venturi.plan.make import PlanResult, make_plan
from venturi.plan.setting import RunSettings

FIRST = "rank * 2 + rank * (rank - 1) // 2"
"""Rank r has r + 2 rows."""


def made_of(
    partition: str, interface: str = "hdf5", step: str = "to: f.u", rows: int = 9
) -> PlanResult:
    text = (
        "workload: 1\nname: t\nparameters: {np: {default: 3, role: ranks}}\n"
        "groups: {g: {ranks: np}}\n"
        f"files:\n  f: {{path: f, interface: {interface}, datasets: {{v: {{shape: [7], partition: "
        "{first: '7 * rank if rank < 1 else rank + 3', rows: '4 if rank < 1 else 1 + rank // 2'}}, "
        f"u: {{count: 2, type: i8, shape: [{rows}, 5], {partition}}}}}}}\n"
        f"program:\n  g:\n    - phase: w\n      do:\n        - write: {{{step}}}\n"
    )
    return make_plan(parse_yaml(text, "t.yaml", Workload), RunSettings())


def step_of(made: PlanResult) -> p.Transfer:
    phase = made.plan.groups[0].program[0]
    assert isinstance(phase, p.Phase)
    [step] = [step for step in phase.body if isinstance(step, p.Transfer)]
    return step


@pytest.mark.parametrize("rank", range(3))
def test_a_rank_s_rows_as_a_box_and_as_bytes(rank: int) -> None:
    partition = f"partition: {{first: {FIRST}, rows: rank + 2}}"
    slots = [rank, 3, 3, 0, 0, 0]
    first, rows = [(0, 2), (2, 3), (5, 4)][rank]
    box = step_of(made_of(partition)).pattern
    assert isinstance(box, p.Box)
    assert [evaluate(code, slots) for code in box.start] == [first, 0]
    assert [evaluate(code, slots) for code in box.extent] == [rows, 5]
    made = made_of(partition, "posix")
    nest = step_of(made).pattern
    assert isinstance(nest, p.Nest)
    assert evaluate(nest.base, slots) == 7 * 8 + first * 5
    assert evaluate(step_of(made).size, slots) == rows * 5
    assert made.totals.bytes_written == 2 * 45


@pytest.mark.parametrize(
    ("partition", "step", "message"),
    [
        (f"partition: {{first: {FIRST}, rows: 2}}", "to: f.u", "rank 2 begins at row 5"),
        ("partition: {first: rank, rows: 2}", "to: f.u", "rank 1 begins at row 1"),
        ("partition: {first: 2 * rank, rows: 2}", "to: f.u", "end at row 6 of 9"),
        ("partition: {first: 0, rows: 9 if rank == 0 else 0}", "to: f.u", "rank 1 has 0 rows"),
        ("partition: {first: rank / 2, rows: 2}", "to: f.u", "whole number"),
        ("partition: {first: 3 * rank, rows: 3}", "to: f.u, transfer: 5", "one call"),
        ("partition: {first: 3 * rank, rows: 3}, split: [3, 1]", "to: f.u", "neither 'split'"),
        ("partition: {first: 3 * rank, rows: 3}, individual: true", "to: f.u", "'individual'"),
    ],
)
def test_what_is_refused(partition: str, step: str, message: str) -> None:
    with pytest.raises(UserError) as caught:
        made_of(partition, step=step)
    assert message in caught.value.message
