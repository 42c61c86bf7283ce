"""A lookup of a name that is not there is planned for single files of the run alone."""

from __future__ import annotations

import pytest

from venturi.model.error import UserError
from venturi.model.workload import Workload
from venturi.model.yaml_text import parse_yaml
from venturi.plan.make import make_plan
from venturi.plan.setting import RunSettings

TEXT = """
workload: 1
name: searcher
groups: {tasks: {ranks: 3}}
files:
  own: {path: own, shared: rank}
  all: {path: all, shared: all}
  tree: {path: tree, tree: {items: 3}}
  theirs: {path: /etc/hostname, foreign: true}
program:
  tasks:
    - phase: search
      do: [{miss: NAME}]
"""


@pytest.mark.parametrize("name", ["own", "all"])
def test_each_rank_asks_by_itself(name: str) -> None:
    workload = parse_yaml(TEXT.replace("NAME", name), "searcher", Workload)
    assert make_plan(workload, RunSettings()).totals.operations == {"miss": 3}


@pytest.mark.parametrize(("name", "why"), [("tree", "tree of files"), ("theirs", "somebody else")])
def test_others_are_refused_where_they_are_said(name: str, why: str) -> None:
    workload = parse_yaml(TEXT.replace("NAME", name), "searcher", Workload)
    with pytest.raises(UserError, match=rf"program.tasks\[0\].do\[0\]: '{name}' is .*{why}"):
        make_plan(workload, RunSettings())
