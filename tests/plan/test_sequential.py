"""Requests that go on at the position of the open file: what is refused, and where they lie."""

from __future__ import annotations

import pytest

from venturi.model.error import UserError
from venturi.model.workload import Workload
from venturi.model.yaml_text import parse_yaml
from venturi.plan.make import PlanResult, make_plan
from venturi.plan.setting import RunSettings
from venturi.plan.stream import RequestStream

WORKLOAD = """
workload: 1
name: w
about: a file that is written from its position on
groups: {{g: {{ranks: 1}}}}
files: {{f: {{path: f, shared: rank{file}}}}}
program:
  g:
    - phase: w
      {phase}do:
        - create: f
        - for: i
          in: 3
          do:
            - write: {{to: f, pattern: sequential, {write}}}
        - close: f
"""


def planned(write: str, file: str = "", phase: str = "") -> PlanResult:
    text = WORKLOAD.format(write=write, file=file, phase=phase)
    return make_plan(parse_yaml(text, "w.yaml", Workload), RunSettings())


@pytest.mark.parametrize(
    ("write", "file", "phase", "says"),
    [
        ("size: 100, mix: [{bytes: 10}]", "", "", "'mix' does not go with the pattern"),
        ("size: 100, reads: 0.5", "", "", "'reads' does not go with the pattern"),
        ("transfer: 8, count: 4", "", "limit: 5 s\n      ", "'limit' or 'at_least'"),
        ("transfer: 8, count: 4", "", "at_least: 5 s\n      ", "'limit' or 'at_least'"),
        ("count: 3", "", "", "'transfer' is missing"),
        ("size: 100", ", interface: hdf5", "", "is known in a run only"),
        ("size: 10, at: -5", "", "", "0 or more is needed, not -5"),
    ],
)
def test_what_cannot_be_is_refused(write: str, file: str, phase: str, says: str) -> None:
    with pytest.raises(UserError, match=says):
        planned(write, file, phase)


@pytest.mark.parametrize(
    ("write", "places"),
    [
        ("size: 100", [(0, 100), (100, 100), (200, 100)]),
        ('size: "pick(i, 10, 7)"', [(0, 10), (10, 7), (17, 10)]),
        ("transfer: 4, size: 6", [(0, 4), (4, 2), (6, 4), (10, 2), (12, 4), (16, 2)]),
        (
            "transfer: 5, count: 2, at: 50 * i",
            [(0, 5), (5, 5), (50, 5), (55, 5), (100, 5), (105, 5)],
        ),
    ],
)
def test_requests_lie_where_the_one_before_ended(write: str, places: list[tuple[int, int]]) -> None:
    operations = RequestStream(planned(write).plan, 0).operations()
    found = [(one.offset, one.bytes) for one in operations if one.kind.value == "write"]
    assert found == places
