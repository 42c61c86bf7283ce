"""A part between guard cells in memory: what the plan says of it, and what is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from venturi.model import plan as p
from venturi.model.error import UserError
from venturi.model.workload import Workload
from venturi.plan.make import make_plan
from venturi.plan.setting import RunSettings


def planned(step: dict[str, Any], interface: str = "hdf5", **file: Any) -> list[p.Transfer]:
    """The transfers of three datasets of 6 x 4 x 5 elements on two ranks."""
    dataset = {"count": 3, "type": "f32", "shape": [6, 4, 5], "split": [2, 1, 1]}
    spec = {"path": "s", "interface": interface, "datasets": {"u": dataset}, **file}
    steps = [{"create": "s"}, {"write": {"to": "s.u", **step}}, {"close": "s"}]
    document = {
        "workload": 1,
        "name": "w",
        "groups": {"g": {"ranks": 2}},
        "files": {"s": spec},
        "program": {"g": [{"phase": "dump", "do": steps}]},
    }
    made = make_plan(Workload.model_validate_json(json.dumps(document)), RunSettings())
    assert made.totals.bytes_written == 3 * 6 * 4 * 5 * 4
    (phase,) = made.plan.groups[0].program
    assert isinstance(phase, p.Phase)
    return [step for step in phase.body if isinstance(step, p.Transfer)]


@pytest.mark.parametrize("interface", ["hdf5", "netcdf", "posix"])
def test_each_part_is_packed_whole(interface: str) -> None:
    (transfer,) = planned({"halo": [0, 2, 1], "interleaved": 3}, interface)
    assert transfer.halo is not None
    assert [code[0].integer for code in transfer.halo.extent] == [3, 4, 5]
    assert transfer.halo.guard == [0, 2, 1]
    assert (transfer.halo.element_bytes, transfer.halo.variables) == (4, 3)


def test_variables_side_by_side_need_no_guard_cells() -> None:
    (transfer,) = planned({"interleaved": 3})
    assert transfer.halo is not None
    assert transfer.halo.guard == [0, 0, 0]


@pytest.mark.parametrize("step", [{}, {"halo": [0, 0, 0]}, {"interleaved": 1}])
def test_memory_as_the_file_has_it_is_not_packed(step: dict[str, Any]) -> None:
    (transfer,) = planned(step)
    assert transfer.halo is None


@pytest.mark.parametrize(
    ("step", "file", "said"),
    [
        ({"halo": [1, 1]}, {}, "2 numbers for 3 dimensions"),
        ({"halo": [0, 1, 1], "transfer": 80}, {}, "'transfer' does not go with 'halo'"),
        ({"halo": [0, 1, -1]}, {}, r"halo\[2\]"),
        ({"halo": [0, 1, 1], "depth": 2}, {"interface": "uring"}, "'depth' is 1"),
        ({"halo": [0, 1, 1]}, {"content": {"duplicates": 0.5}}, "cannot have 'duplicates'"),
    ],
)
def test_what_cannot_be_packed_is_refused(
    step: dict[str, Any], file: dict[str, Any], said: str
) -> None:
    with pytest.raises(UserError, match=said):
        planned(step, file.pop("interface", "hdf5"), **file)


def test_bytes_have_no_guard_cells() -> None:
    steps = [{"write": {"to": "s", "size": 8, "transfer": 8, "halo": [1]}}]
    document = {
        "workload": 1,
        "name": "w",
        "groups": {"g": {"ranks": 1}},
        "files": {"s": {"path": "s"}},
        "program": {"g": [{"phase": "dump", "do": steps}]},
    }
    with pytest.raises(UserError, match="surround a part of a dataset"):
        make_plan(Workload.model_validate_json(json.dumps(document)), RunSettings())
