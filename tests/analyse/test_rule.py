"""Rules of a benchmark and what they may name."""

from __future__ import annotations

import pytest

from analyse.phase import phase
from venturi import library
from venturi.analyse.metric import check_metrics, measured_in
from venturi.analyse.rule import rules_of
from venturi.model.error import UserError
from venturi.model.workload import Metric, Rule, Workload


def ruled(holds: str, says: str = "broken", value: str = "time(write)") -> Workload:
    """`ior` with a metric of this value and a rule."""
    update = {
        "metrics": {"spent": Metric(value=value)},
        "rules": {"r": Rule(holds=holds, says=says)},
    }
    return library.load("ior").model_copy(update=update)


def test_a_rule_may_name_a_metric_of_each_repetition() -> None:
    workload = ruled("spent < 3", "it took {spent} s")
    check_metrics(workload, ["write"])
    rows = [phase("write", seconds, n, {"write": (1, 10)}) for n, seconds in enumerate((2.0, 4.0))]
    _, numbers = measured_in(workload, {}, rows)
    (rule,) = rules_of(workload, numbers, rows, 1)
    assert (rule.holds, rule.says) == (False, "it took 4 s")
    (rule,) = rules_of(workload, numbers, rows[:1], 1)
    assert (rule.holds, rule.says) == (True, "")


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"holds": "spend < 3"}, "rules.r: 'spend'"),
        ({"holds": "spent < 3", "says": "{time(write) + spend}"}, "rules.r: 'spend'"),
        ({"holds": "spent < 3", "value": "time(write) / spent"}, "metrics.spent: 'spent'"),
        ({"holds": "spent < 3", "value": "nodes * time(write)"}, "metrics.spent: 'nodes'"),
    ],
)
def test_a_number_that_no_run_has_is_refused(changes: dict[str, str], place: str) -> None:
    with pytest.raises(UserError, match=place) as caught:
        check_metrics(ruled(**changes), ["write"])
    assert "node_memory" in caught.value.hint


def test_parameters_rates_and_the_machine_are_known() -> None:
    check_metrics(ruled("spent < transfer and write > 0 and nodes * node_memory > 0"), ["write"])
