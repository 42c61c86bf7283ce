"""What attributes and links are forecast to take: by their own curves, or not at all."""

from __future__ import annotations

import pytest

from profile_factory import curve, machine
from venturi.model.forecast import Forecast
from venturi.model.machine import Machine
from venturi.model.workload import Workload
from venturi.model.yaml_text import parse_yaml
from venturi.plan.make import make_plan
from venturi.plan.setting import RunSettings
from venturi.predict.on_machine import forecast

TEXT = """workload: 1
name: attributes-of-names
groups: {g: {ranks: 1}}
files: {t: {path: t, tree: {items: 10}}, f: {path: f, shared: rank}}
program:
  g:
    - {phase: make, do: [{each: {"on": t, do: [create, close]}}]}
    - {phase: set, do: [{set_times: t}, {create: f}, {set_mode: f}, {close: f}]}
    - {phase: links, do: [{each: {"on": t, do: [link, symlink]}}]}
"""
KNOWN = {"create": 1e-6, "close": 1e-6}
NAMES = {"set_attribute": 2e-6, "link": 3e-6, "symlink": 4e-6}


def profiled(seconds: dict[str, float]) -> Machine:
    return machine(
        *(curve(name, lambda size, ranks, s=s: s, sizes=(0,)) for name, s in seconds.items())
    )


def forecast_on(on: Machine) -> Forecast:
    workload = parse_yaml(TEXT, "names.yaml", Workload)
    return forecast(make_plan(workload, RunSettings()), on, "", False)


def test_attributes_and_links_have_curves_of_their_own() -> None:
    found = forecast_on(profiled(KNOWN | NAMES))
    assert found.unknown == []
    seconds = {each.path: each.seconds.median for each in found.phases}
    assert seconds["set"] == pytest.approx(11 * 2e-6 + 2 * 1e-6)
    assert seconds["links"] == pytest.approx(10 * 7e-6)


def test_what_a_profile_lacks_is_said() -> None:
    unknown = forecast_on(profiled(KNOWN)).unknown
    assert [any(said.startswith(word) for said in unknown) for word in NAMES] == [True] * 3
