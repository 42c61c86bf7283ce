"""Workloads without their pauses: what is left out, and where time itself matters."""

from __future__ import annotations

import pytest

from venturi.model.plan import Interface
from venturi.model.workload import Workload
from venturi.model.yaml_text import parse_yaml
from venturi.plan.make import make_plan
from venturi.plan.setting import RunSettings
from venturi.tune.catalogue import context_of
from venturi.tune.evaluation_context import EvaluationContext
from venturi.tune.pace import hurried, pauses_s

STEPS = """
        - create: f
        - write: {to: f, transfer: 512, count: 10, think: 20 ms}
        - for: i
          in: 2
          do: [{compute: {seconds: 1, mode: spin}}, {sync: f}]
        - compute: 0.5
"""


def context(steps: str, keys: str = "", head: str = "") -> EvaluationContext:
    text = (
        f"workload: 1\nname: w\n{head}files: {{f: {{path: f}}}}\nprogram:\n  g:\n"
        f"    - phase: work\n{keys}      do:{steps}"
    )
    built = frozenset(interface.value for interface in Interface)
    return context_of(parse_yaml(text, "w.yaml", Workload), RunSettings(), "ext4", built)


def test_nothing_but_the_pauses_is_left_out() -> None:
    before = context(STEPS.replace("{sync: f}", "barrier"))
    assert pauses_s(before) == pytest.approx(2.7)
    after = make_plan(hurried(before.workload), RunSettings()).totals
    assert after.seconds_computing == 0
    assert after.operations == before.made.totals.operations
    assert after.sizes == before.made.totals.sizes


@pytest.mark.parametrize(
    ("steps", "keys", "head"),
    [
        ("\n        - write: {to: f, transfer: 512, count: 9, rate: 100}", "", ""),
        ("\n        - write: {to: f, transfer: 512, count: 9, think: 1 s}", "      limit: 5\n", ""),
        ("\n        - write: {to: f, size: 1, think: 1 s}", "      at_least: 5\n", ""),
        ("\n        - write: {to: f, size: 1, think: 1 s}", "", "deadline: 9 s\n"),
    ],
)
def test_where_time_is_a_part_of_the_work_no_pause_can_go(steps: str, keys: str, head: str) -> None:
    assert pauses_s(context(f"{steps}\n        - compute: 1\n", keys, head)) == 0
