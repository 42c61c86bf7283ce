"""What an interface's files cannot hold is refused when the plan is made, with what to do."""

from __future__ import annotations

import json
from typing import Any

import pytest

from venturi import library
from venturi.model.error import UserError
from venturi.model.workload import Workload
from venturi.model.yaml_text import parse_yaml
from venturi.plan.make import make_plan
from venturi.plan.setting import RunSettings


def workload_of(text: dict[str, Any]) -> Workload:
    return parse_yaml(json.dumps(text), "a test", Workload)


def refused(workload: Workload, **assignments: object) -> str:
    """The refusal of a plan, or nothing."""
    words = {key.replace("__", "."): str(value) for key, value in assignments.items()}
    try:
        make_plan(workload, RunSettings(assignments=words))
    except UserError as error:
        return f"{error.message} {error.hint}"
    return ""


@pytest.mark.parametrize(
    ("name", "settings", "told"),
    [
        ("vorpal", {"interface": "netcdf"}, "a file of netcdf in a classic format has no chunks"),
        ("vorpal", {"interface": "pnetcdf"}, "a file of pnetcdf has no chunks"),
        ("vorpal", {"interface": "lime"}, "a file of lime holds one row of bytes"),
        ("flash3", {"interface": "lime"}, "a file of lime holds one row of bytes"),
        ("ecmwf", {"interface": "hdf5"}, "a file of hdf5 can be read only when it is closed"),
        ("ecmwf", {"interface": "netcdf"}, "'product' uses it while 'member' still has it open"),
        ("ecmwf", {"interface": "pnetcdf"}, "can be read only when it is closed"),
        ("ecmwf", {"interface": "bundle"}, "can be read only when it is closed"),
        ("madbench2", {"interface": "fieldstore"}, "finds only what its writers have synced"),
        ("tsmp-a", {"interface": "netcdf"}, "'write' under a condition on the rank"),
    ],
)
def test_a_use_case_on_what_cannot_hold_it(name: str, settings: dict[str, Any], told: str) -> None:
    assert told in refused(library.load(name), **settings)


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("vorpal", {"interface": "netcdf", "interface__format": "netcdf4"}),
        ("vorpal", {"interface": "netcdf", "chunked": 0}),  # the file with chunks is not used
        ("vorpal", {"interface": "posix"}),
        ("ecmwf", {"interface": "hdf5", "pgen": 0}),  # nobody reads
        ("ecmwf", {"interface": "lime"}),
        ("ecmwf", {"interface": "mpiio"}),
        ("lqcd-bc", {}),  # closed before the other group begins
        ("flash3", {"interface": "pnetcdf"}),
    ],
)
def test_what_can_be_held_is_planned(name: str, settings: dict[str, Any]) -> None:
    assert refused(library.load(name), **settings) == ""


def of_dataset(interface: str, options: dict[str, str], **dataset: object) -> Workload:
    file = {"path": "f", "interface": interface, "options": options, "datasets": {"d": dataset}}
    steps = [{"create": "f"}, {"write": "f.d"}, {"close": "f"}]
    text = {"workload": 1, "name": "one", "files": {"f": file}}
    return workload_of({**text, "program": {"g": [{"phase": "p", "do": steps}]}})


@pytest.mark.parametrize(
    ("interface", "options", "dataset", "told"),
    [
        ("netcdf", {"format": "cdf2"}, {"type": "i64"}, "the format cdf2 has no i64"),
        ("netcdf", {"format": "cdf2"}, {"type": "f64", "shape": [2**30], "count": 2}, "more than"),
        ("netcdf", {"format": "cdf2"}, {"type": "i8", "shape": [2**32]}, "more than"),
        ("netcdf", {"format": "cdf2"}, {"type": "f64", "shape": [2**30]}, ""),
        ("netcdf", {}, {"type": "i64", "shape": [2**33]}, ""),
        ("hdf5", {}, {"type": "f64", "shape": [2**29], "chunks": [2**29]}, "below 4 GiB"),
        ("hdf5", {}, {"type": "f64", "shape": [2**29], "chunks": [2**29 - 1]}, ""),
        ("netcdf", {"format": "netcdf4"}, {"type": "f64", "chunks": [8]}, ""),
        ("netcdf", {"format": "cdf5"}, {"type": "f64", "chunks": [8]}, "has no chunks"),
    ],
)
def test_limits_of_formats(
    interface: str, options: dict[str, str], dataset: dict[str, Any], told: str
) -> None:
    made = of_dataset(interface, options, **{"shape": [16], "split": [1], **dataset})
    found = refused(made)
    assert told in found
    assert bool(told) == bool(found)


def test_a_close_under_another_condition_may_come_too_late() -> None:
    def plan(close_in_loop: bool) -> str:
        close: Any = {"close": "f"}
        if not close_in_loop:
            close = {"when": "i == 1", "do": [close]}
        steps = [{"create": "f"}, {"write": {"to": "f", "size": 100}}, close]
        loop = {"phase": "make", "do": steps}
        reads = [{"open": "f"}, {"read": {"from": "f", "size": 100}}, {"close": "f"}]
        text = {
            "workload": 1,
            "name": "two",
            "groups": {"a": {"ranks": 1}, "b": {"ranks": 1}},
            "files": {"f": {"path": "f_{i}", "interface": "hdf5"}},
            "program": {
                "a": [{"for": "i", "in": 2, "do": [loop, {"signal": "made {i}"}]}],
                "b": [
                    {"for": "i", "in": 2, "do": [{"wait": "made {i}"}, {"phase": "u", "do": reads}]}
                ],
            },
        }
        return refused(workload_of(text))

    assert plan(close_in_loop=True) == ""
    assert "'b' uses it while 'a' still has it open" in plan(close_in_loop=False)


@pytest.mark.parametrize(
    ("write", "between", "fine"),
    [({}, [], False), ({}, [{"sync": "fdatasync"}], True), ({"sync": "flush"}, [], True)],
)
def test_a_field_store_is_read_behind_a_sync(
    write: dict[str, Any], between: list[Any], fine: bool
) -> None:
    steps = [{"write": {"to": "f", "size": 100, **write}}, *between]
    reads = {"when": "i > 0", "do": [{"read": {"from": "f", "size": 100}}]}
    loop = {"for": "i", "in": 2, "do": [reads, *steps]}
    text = {
        "workload": 1,
        "name": "store",
        "files": {"f": {"path": "f", "interface": "fieldstore"}},
        "program": {"g": [{"phase": "p", "do": [{"create": "f"}, loop, {"close": "f"}]}]},
    }
    assert (refused(workload_of(text)) == "") is fine
