"""A program that reads behind what it wrote is no candidate: a run of it would fail."""

from __future__ import annotations

import math

import pytest

from venturi.derive.cost import cost_bits
from venturi.derive.operation.expansion import asked_by_proxy
from venturi.derive.operation.likeness import Judgement
from venturi.model.workload import Workload
from venturi.model.yaml_text import parse_yaml
from venturi.plan.make import make_plan
from venturi.plan.setting import RunSettings

TEXT = """
workload: 1
name: grows
parameters:
  np: {{default: {ranks}, role: ranks}}
groups:
  app: {{ranks: np}}
files:
  f: {{path: f, shared: {shared}}}
program:
  app:
    - phase: both
      do:
        - create: f
        - for: i
          in: 4
          do:
            - write: {{to: f, size: 4 KiB, at: "4 KiB * i"}}
            - read: {{from: f, size: 4 KiB, at: "{at}"}}
        - close: f
"""


def beyond(at: str, ranks: int = 1, shared: str = "rank") -> tuple[Workload, str]:
    text = TEXT.format(at=at, ranks=ranks, shared=shared)
    workload = parse_yaml(text, "t.yaml", Workload)
    plan = make_plan(workload, RunSettings()).plan
    return workload, asked_by_proxy(plan, range(ranks), 100).beyond


def test_a_loop_that_reads_ahead_of_its_writes_is_named_and_costs_too_much() -> None:
    workload, text = beyond("12 KiB - 4 KiB * i")
    assert text == "read of 'f' up to 16384 B, which ends at 4096 B"
    assert cost_bits(workload, Judgement(None, beyond=text), 0) == math.inf
    assert cost_bits(workload, Judgement(None), 0) < math.inf


@pytest.mark.parametrize("at", ["4 KiB * i", "0"])
def test_what_was_written_may_be_read(at: str) -> None:
    assert beyond(at)[1] == ""


def test_of_files_that_others_write_too_no_end_is_known() -> None:
    assert beyond("12 KiB - 4 KiB * i", ranks=2, shared="all")[1] == ""
    assert beyond("12 KiB - 4 KiB * i", ranks=2)[1] != ""
