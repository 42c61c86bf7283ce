"""Where a proxy runs: under an MPI wherever the engine without one could not do its work."""

from __future__ import annotations

import pytest

from venturi.capture.proxy import machine_for
from venturi.execute.engine import describe, find_engine
from venturi.model.plan import Interface
from venturi.model.workload import Workload
from venturi.model.yaml_text import parse_yaml

TEXT = """
workload: 1
name: proxy
groups: {{g: {{ranks: 2}}}}
files: {{f: {{path: f, interface: '{interface}', shared: {shared}}}}}
program:
  g:
    - phase: p
      do: [{{create: f}}, {{close: f}}]
"""


@pytest.mark.parametrize("shared", ["rank", "all"])
@pytest.mark.parametrize("interface", list(Interface))
def test_what_the_engine_without_mpi_refuses_runs_under_one(
    interface: Interface, shared: str
) -> None:
    text = TEXT.format(interface=interface.value, shared=shared)
    machine = machine_for(parse_yaml(text, "w.yaml", Workload), None)
    rows = {row["name"]: row for row in describe(find_engine())["backends"]}
    needs_mpi = "works through MPI" in rows[interface.value]["reason"]
    is_one_for_all = shared == "all" and interface.entry.shares_by_mpi
    assert (machine != "local") == (needs_mpi or is_one_for_all)
