"""What is computed before the operations of items, in a plan and in its streams."""

from __future__ import annotations

from typing import Any

import pytest

from venturi.model.document import parse_data
from venturi.model.error import UserError
from venturi.model.plan import Items, ItemVerb
from venturi.model.workload import EachStep, Workload
from venturi.plan.make import PlanResult, make_plan
from venturi.plan.scope import Scope
from venturi.plan.setting import RunSettings
from venturi.plan.stream import RequestStream


def planned(verbs: list[str], think: Any, **tree: Any) -> PlanResult:
    each = {"on": "few", "do": verbs, "think": think}
    data = {
        "workload": 1,
        "name": "app",
        "repeat": 1,
        "groups": {"g": {"ranks": 2}},
        "files": {
            "few": {"path": "few", "shared": "rank", "tree": {"depth": 0, "items": 7, **tree}}
        },
        "program": {"g": [{"phase": "all", "do": [{"each": each}]}]},
    }
    return make_plan(parse_data(Workload, data), RunSettings())


def thinks_of(found: PlanResult) -> list[float]:
    (phase,) = found.plan.groups[0].program
    (step,) = [one for one in phase.body if isinstance(one, Items)]  # type: ignore[union-attr]
    return step.thinks_s


@pytest.mark.parametrize(
    ("think", "seconds"),
    [
        (0, []),
        ([0, "0 s", 0], []),
        ("2 ms", [0.002, 0.0, 0.0]),
        (["2 ms", 0, "1 us"], [0.002, 0.0, 1e-6]),
    ],
)
def test_one_time_is_before_each_item_and_a_list_before_each_operation(
    think: Any, seconds: list[float]
) -> None:
    found = planned(["create", "write", "close"], think, size="1 KiB")
    assert thinks_of(found) == pytest.approx(seconds)
    assert found.totals.seconds_computing == pytest.approx(7 * sum(seconds))
    stream = RequestStream(found.plan, 1)
    assert len(list(stream.operations())) == 3 * 7
    assert stream.seconds_between == pytest.approx(7 * sum(seconds))


def test_computing_before_what_is_not_done_is_before_what_comes_next() -> None:
    """An item without data has no write."""
    found = planned(["create", "write", "close"], ["1 ms", "2 ms", "4 ms"], size=0)
    stream = RequestStream(found.plan, 0)
    moments = [(one.kind.value, stream.seconds_between) for one in stream.operations()]
    assert [kind for kind, _ in moments[:3]] == ["create", "close", "create"]
    assert [moment for _, moment in moments[:3]] == pytest.approx([0.001, 0.007, 0.008])


@pytest.mark.parametrize(
    ("think", "what"),
    [
        (["1 ms"], "think: 1 times for 3 operations of an item"),
        (["1 ms", 0, 0, 0], "think: 4 times for 3 operations of an item"),
        ("-1 s", "think: a duration of 0 s or more is needed"),
        ([0, 0, "-1 us"], "think[2]: a duration of 0 s or more is needed"),
    ],
)
def test_other_times_are_refused_where_they_stand(think: Any, what: str) -> None:
    with pytest.raises(UserError) as caught:
        planned(["create", "write", "close"], think, size=100)
    assert f"each.{what}" in caught.value.message


@pytest.mark.parametrize(
    ("verbs", "without", "seconds"),
    [
        (["create", "sync", "close"], "sync", [0.001, 0.006]),
        (["create", "close", "stat"], "stat", [0.001, 0.006]),
        (["stat", "open", "close"], "stat", [0.003, 0.004]),
        (["stat", "open", "stat"], "stat", [0.007]),
    ],
)
def test_computing_before_a_verb_that_goes_stays(
    verbs: list[str], without: str, seconds: list[float]
) -> None:
    each = EachStep(on="few", do=[ItemVerb(verb) for verb in verbs], think=["1 ms", "2 ms", "4 ms"])
    left = each.without(ItemVerb(without))
    kept = [verb.value for verb in left.do]
    assert kept == [verb for verb in verbs if verb != without]
    if "create" in kept:
        assert thinks_of(planned(kept, left.think, size=100)) == pytest.approx(seconds)
    scope = Scope({}, {}, {})
    assert isinstance(left.think, list)
    assert [scope.constant(one, "think") for one in left.think] == pytest.approx(seconds)
