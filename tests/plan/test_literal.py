"""Bytes that a workload gives, and names for expressions: what is planned, and what is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from venturi.model.error import UserError
from venturi.model.workload import Workload
from venturi.plan.make import PlanResult, make_plan
from venturi.plan.setting import RunSettings


def made(*writes: dict[str, Any], **more: Any) -> PlanResult:
    file = {"path": "f", "shared": "rank", **more.pop("file", {})}
    steps = [{"create": "f"}, *({"write": {"to": "f", **write}} for write in writes)]
    steps = more.pop("steps", [*steps, {"close": "f"}])
    document = {
        "workload": 1,
        "name": "given",
        "groups": {"g": {"ranks": 3}},
        "files": {"f": file},
        "program": {"g": [{"phase": "p", "do": steps}]},
        **more,
    }
    return make_plan(Workload.model_validate_json(json.dumps(document)), RunSettings())


def test_given_bytes_are_counted() -> None:
    totals = made(
        {"text": "rank {rank:03d} {{\n"},
        {"numbers": ["rank", 2, 3], "type": "i16", "count": "2 + rank", "at": 100},
    ).totals
    assert totals.bytes_written == 3 * len("rank 000 {\n") + 6 * (2 + 3 + 4)
    assert totals.operations["write"] == 3 + 9


@pytest.mark.parametrize(
    ("write", "file", "words"),
    [
        ({"text": "{rank}"}, {}, "'{rank}' has no width"),
        ({"text": "{rank:30d}"}, {}, "has no width"),
        ({"text": ""}, {}, "this is empty"),
        ({"text": "a", "numbers": [1]}, {}, "both 'text' and 'numbers'"),
        ({"numbers": [1], "size": 8}, {}, "'size' does not go with bytes that are given"),
        ({"numbers": [1], "pattern": "random"}, {}, "are written contiguous, strided, append"),
        ({"numbers": ["step"]}, {}, "unknown name 'step'"),
        ({"numbers": [1]}, {"content": {"verify": True}}, "is verified by stamps of its own"),
    ],
)
def test_what_cannot_be_given_is_refused(
    write: dict[str, Any], file: dict[str, Any], words: str
) -> None:
    with pytest.raises(UserError, match=r"program\.g\[0\]") as caught:
        made(write, file=file)
    assert words in str(caught.value)


def test_a_read_cannot_be_given() -> None:
    steps = [{"create": "f"}, {"read": {"from": "f", "numbers": [1]}}, {"close": "f"}]
    with pytest.raises(UserError, match="what is read is in the file"):
        made(steps=steps)


def test_names_stand_for_expressions_of_rank_and_loops() -> None:
    loop = {"for": "i", "in": 4, "do": [{"write": {"to": "f", "size": "share", "at": "place"}}]}
    steps = [{"create": "f"}, loop, {"close": "f"}]
    define = {"share": "10 * (rank + 1)", "place": "i * share"}
    assert made(steps=steps, define=define).totals.bytes_written == 4 * (10 + 20 + 30)


@pytest.mark.parametrize(
    ("define", "words"),
    [
        ({"ranks": 1}, "already a name of something else"),
        ({"a": "1 +"}, "define.a"),
        ({"a": "b", "b": 1}, "unknown name 'b'"),
        ({"i": 1, "a": 1}, "the loop variable 'i' is already a name"),
    ],
)
def test_wrong_names_are_refused(define: dict[str, Any], words: str) -> None:
    loop = {"for": "i", "in": 2, "do": [{"write": {"to": "f", "size": "a"}}]}
    with pytest.raises(UserError) as caught:
        made(steps=[{"create": "f"}, loop, {"close": "f"}], define=define)
    assert words in str(caught.value)
