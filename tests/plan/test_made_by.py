"""Entries that name files of others: which ones are planned, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from venturi.model.error import UserError
from venturi.model.plan import CachePolicy, Interface
from venturi.model.workload import Workload
from venturi.plan.make import PlanResult, make_plan
from venturi.plan.setting import RunSettings

MAKE = {
    "for": "i",
    "in": 3,
    "do": [{"create": "f"}, {"write": {"to": "f", "size": "4 KiB"}}, {"close": "f"}],
}
READ = [{"open": "again"}, {"read": {"from": "again", "size": "4 KiB"}}, {"close": "again"}]


def made(
    *steps: Any, again: dict[str, Any] | None = None, f: dict[str, Any] | None = None, **phase: Any
) -> PlanResult:
    files = {
        "f": {"path": "f.{i}", "shared": "rank", **(f or {})},
        "again": {"path": "f.2", "shared": "rank", "made_by": ["f"], **(again or {})},
    }
    program = [{"phase": "make", "do": [MAKE]}, {"phase": "use", "do": list(steps), **phase}]
    return make_plan(
        Workload.model_validate(
            {
                "workload": 1,
                "name": "again",
                "groups": {"g": {"ranks": 2}},
                "files": files,
                "program": {"g": program},
            }
        ),
        RunSettings(),
    )


def test_files_of_another_entry_are_read_under_its_names() -> None:
    found = made(*READ)
    assert found.totals.files == 2 * 3
    assert found.totals.bytes_read == 2 * 4096
    assert found.plan.files[1].path[0].text == "f.2"


def test_they_may_be_written_and_removed() -> None:
    write = [{"open": "again"}, {"write": {"to": "again", "size": 1, "at": 4096}}]
    found = made(*write, {"close": "again"}, {"unlink": "again"})
    assert found.totals.operations["unlink"] == 2


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"again": {"made_by": ["g"]}}, "no other file 'g'"),
        ({"again": {"made_by": ["again"]}}, "no other file 'again'"),
        ({"again": {"shared": "all"}}, "shared otherwise"),
        ({"again": {"interface": Interface.STDIO}}, "another interface"),
        ({"again": {"prestage": 1}}, "makes the files"),
        ({"f": {"content": {"verify": True}}}, "verify"),
        ({"f": {"interface": Interface.HDF5}, "again": {"interface": Interface.HDF5}}, "one name"),
        ({"cache": CachePolicy.DROP}, "caches of 'again' cannot be dropped"),
    ],
)
def test_what_cannot_be_the_same_files_is_refused(keys: dict[str, Any], words: str) -> None:
    with pytest.raises(UserError, match=words):
        made(*READ, **keys)


def test_they_are_not_made_twice() -> None:
    with pytest.raises(UserError, match="is made by 'f'"):
        made({"create": "again"})


def test_what_nobody_made_is_not_there() -> None:
    data = {
        "workload": 1,
        "name": "again",
        "groups": {"g": {"ranks": 1}},
        "files": {"f": {"path": "f"}, "again": {"path": "f", "made_by": ["f"]}},
        "program": {"g": [{"phase": "use", "do": READ}]},
    }
    with pytest.raises(UserError, match="nothing made it"):
        make_plan(Workload.model_validate(data), RunSettings())
