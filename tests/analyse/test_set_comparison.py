"""Sets of runs: points side by side, sessions as values, and what differs said first."""

from __future__ import annotations

import pytest

from store.test_store import result
from venturi.analyse.history import history_of
from venturi.analyse.set_comparison import compared_sets
from venturi.model.comparison import ComparisonSet, MetricChange
from venturi.model.document import parse_json
from venturi.model.error import UserError
from venturi.model.output import Better
from venturi.model.result import Measure, Result


def runs(machine: str, factor: float = 1.0, tasks: tuple[int, ...] = (1, 2)) -> list[Result]:
    """One session of a campaign on a machine: six runs at each of some points."""
    return [
        result(
            f"{machine}-{n}-{repetition}",
            machine=machine,
            session=machine,
            ranks=n,
            parameters={"tasks": n},
            facts={"kernel": f"of {machine}", "CPU": "one"},
            metrics={
                "write": Measure(
                    unit="B/s", better=Better.HIGHER, values=[n * factor * (100 + repetition)]
                )
            },
        )
        for repetition in range(6)
        for n in tasks
    ]


def test_points_are_compared_one_by_one() -> None:
    found = compared_sets(runs("alpha"), runs("beta", 0.8, (1, 2, 4)), ("a", "b"))
    assert [(d.what, d.first, d.second) for d in found.differences] == [
        ("machine", "alpha", "beta"),
        ("kernel", "of alpha", "of beta"),
    ]
    rows = [row for part in found.parts for row in part.rows]
    assert [(row.change, row.is_worse, row.first.n) for row in rows] == [
        (MetricChange.LOWER, True, 6)
    ] * 2
    assert [row.ratio for row in rows] == [pytest.approx(0.8, rel=0.01)] * 2
    assert rows[0].p_adjusted is not None
    assert rows[0].p_adjusted < 0.05
    assert {part.judged for part in found.parts} == {2}
    assert found.only_second == ["tool on 4 ranks (tasks 4)"]
    assert found.headline == "2 of 2 points differ significantly, 2 of them for the worse."
    assert parse_json(ComparisonSet, found.to_json()) == found


def test_what_is_left_out_is_said() -> None:
    bad = runs("beta")[0].model_copy(update={"level": "INVALID", "reasons": ["2 errors"]})
    found = compared_sets(runs("alpha"), [*runs("beta", tasks=(2,)), bad], ("a", "b"))
    assert found.headline.endswith(f" Left out as INVALID: {bad.id}: 2 errors.")
    assert history_of([bad]).headline.startswith("No run measured anything. Left out as INVALID")


def test_several_sessions_count_one_value_each() -> None:
    """Six repetitions on each of two days are two values, too few for a significant difference."""
    days = [*runs("alpha"), *(r.model_copy(update={"session": "day2"}) for r in runs("alpha"))]
    found = compared_sets(days, runs("beta", 0.5), ("a", "b"))
    row = found.parts[0].rows[0]
    assert (row.first.n, row.second.n, row.change) == (2, 1, MetricChange.APART)


def test_unlike_things_are_refused() -> None:
    with pytest.raises(UserError, match=r"did nothing alike: ranks is 1 in the first and 2 in"):
        compared_sets(runs("alpha", tasks=(1,)), runs("beta", tasks=(2,)), ("a", "b"))
    warm = [
        r.model_copy(
            update={
                "metrics": {"write": r.metrics["write"].model_copy(update={"condition": "warm"})}
            }
        )
        for r in runs("beta")
    ]
    found = compared_sets(runs("alpha"), warm, ("a", "b"))
    assert {row.change for part in found.parts for row in part.rows} == {MetricChange.UNLIKE}
    failed = [r.model_copy(update={"level": "INVALID"}) for r in runs("beta")]
    with pytest.raises(UserError, match="no run that measured anything"):
        compared_sets(runs("alpha"), failed, ("a", "b"))
