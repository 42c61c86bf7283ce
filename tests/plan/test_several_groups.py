"""Groups at once: their ranks, and files that only one of them may make."""

from __future__ import annotations

from typing import Any

import pytest

from venturi.model.error import UserError
from venturi.model.workload import Workload
from venturi.plan.make import make_plan
from venturi.plan.setting import RunSettings

WRITE = [{"create": "f"}, {"write": {"to": "f", "transfer": "1 KiB", "count": 4}}]
READ = [{"read": {"from": "f", "transfer": "1 KiB", "count": 4}}]


def workload(
    programs: dict[str, list[dict[str, Any]]],
    *,
    instances: int = 1,
    **file: Any,
) -> Workload:
    """Groups a, b... of two ranks with one phase each; the last one has several instances."""
    groups: dict[str, Any] = {name: {"ranks": 2} for name in programs}
    groups[list(programs)[-1]]["instances"] = instances
    return Workload.model_validate(
        {
            "workload": 1,
            "name": "groups",
            "groups": groups,
            "files": {"f": {"path": "f", **file}, "g": {"path": "g", "prestage": "4 KiB"}},
            "program": {
                name: [{"phase": f"{name}-phase", "do": body}] for name, body in programs.items()
            },
        }
    )


def test_groups_have_their_ranks_one_behind_the_other() -> None:
    idle: list[dict[str, Any]] = [{"compute": "0 s"}]
    made = make_plan(workload({"a": WRITE, "b": idle}, instances=3), RunSettings())
    places = [(group.first, group.ranks, group.instances) for group in made.plan.groups]
    assert places == [(0, 2, 1), (2, 2, 3)]
    assert made.plan.ranks == 8
    assert made.totals.bytes_written == 2 * 4096


def test_each_instance_makes_files_of_its_own() -> None:
    made = make_plan(workload({"b": WRITE}, instances=3), RunSettings())
    assert made.totals.bytes_written == 3 * 2 * 4096
    assert made.totals.files == 3 + 1


@pytest.mark.parametrize(
    ("programs", "file", "words"),
    [
        ({"a": WRITE, "b": WRITE}, {}, "both make it"),
        ({"a": WRITE, "b": READ}, {"prestage": "4 KiB"}, "nothing says who comes first"),
        ({"a": READ, "b": READ}, {"prestage": "4 KiB", "content": {"verify": True}}, "verified"),
        ({"a": WRITE, "b": READ}, {}, "is read but nothing wrote it"),
    ],
)
def test_files_that_groups_would_quarrel_about_are_refused(
    programs: dict[str, list[dict[str, Any]]], file: dict[str, Any], words: str
) -> None:
    with pytest.raises(UserError, match=words):
        make_plan(workload(programs, **file), RunSettings())


def test_two_groups_may_read_what_was_there_before() -> None:
    made = make_plan(workload({"a": READ, "b": READ}, prestage="4 KiB"), RunSettings())
    assert made.totals.bytes_read == 4 * 4096
    assert made.totals.bytes_prestaged == 2 * 2 * 4096


def test_phases_of_all_groups_have_names_of_their_own() -> None:
    data = workload({"a": WRITE, "b": [{"compute": "0 s"}]}).model_dump(by_alias=True)
    data["program"]["b"][0]["phase"] = "a-phase"
    with pytest.raises(UserError, match="already a phase 'a-phase'"):
        make_plan(Workload.model_validate(data), RunSettings())
