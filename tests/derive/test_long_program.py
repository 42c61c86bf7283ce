"""What comes behind the operations that are written out is looked at for what would fail, too."""

from __future__ import annotations

import pytest

from venturi.derive.operation.expansion import asked_by_proxy
from venturi.model.workload import Workload
from venturi.model.yaml_text import parse_yaml
from venturi.plan.make import make_plan
from venturi.plan.setting import RunSettings

MOST = 100
TEXT = """
workload: 1
name: long
parameters:
  np: {{default: 1, role: ranks}}
groups:
  app: {{ranks: np}}
files:
  f: {{path: f, shared: rank}}
program:
  app:
    - phase: first
      do:
        - create: f
        - write: {{to: f, transfer: 1 KiB, count: {count}}}
        {close}
    - for: i
      in: 3
      do:
        - phase: second
          do: [{body}]
"""


def fault(count: int, is_closed: bool, body: str) -> str:
    close = "- close: f" if is_closed else ""
    workload = parse_yaml(TEXT.format(count=count, close=close, body=body), "t.yaml", Workload)
    return asked_by_proxy(make_plan(workload, RunSettings()).plan, range(1), MOST).fault


@pytest.mark.parametrize("count", [5, 20 * MOST])
@pytest.mark.parametrize(
    ("is_closed", "body", "said"),
    [
        (True, "{open: f}, {close: f}", ""),
        (False, "{close: f}", "close of 'f' (f.00000000), which is not open"),
        (True, "{unlink: f}", "unlink of 'f' (f.00000000), which is not there any more"),
    ],
)
def test_a_fault_is_seen_however_long_the_program_is(
    count: int, is_closed: bool, body: str, said: str
) -> None:
    assert fault(count, is_closed, body) == said
