"""Metrics are totals over totals, one value for each repetition."""

from __future__ import annotations

import pytest

from analyse.phase import phase
from venturi import library
from venturi.analyse.fidelity import fidelity_of
from venturi.analyse.metric import check_metrics, metrics_of
from venturi.model.error import UserError
from venturi.model.workload import Metric, Observed, RequestBucket


def test_rates_are_never_averaged() -> None:
    rows = [
        phase("checkpoint", 1.0, 0, {"write": (1, 1000)}),
        phase("checkpoint", 3.0, 0, {"write": (1, 1000)}),
    ]
    metrics = metrics_of(library.load("flash3"), {}, rows)
    assert metrics["write_bandwidth"].value == pytest.approx(500.0)
    assert metrics["write_bandwidth"].unit == "B/s"
    assert metrics["checkpoint"].value == pytest.approx(500.0)


def test_a_metadata_phase_counts_its_main_operation() -> None:
    kinds = {"create": (200, 0), "write": (200, 10), "close": (200, 0)}
    metrics = metrics_of(library.load("quick"), {}, [phase("create", 2.0, 0, kinds)])
    assert metrics["create"].value == pytest.approx(100.0)
    assert metrics["create"].unit == "1/s"


@pytest.mark.parametrize("repetitions", [1, 6, 60, 400])
def test_the_unit_of_a_rate_does_not_depend_on_how_often_it_was_repeated(repetitions: int) -> None:
    kinds = {"open": (2, 0), "read": (2, 1000), "close": (2, 0)}
    rows = [phase("read", 1.0, n, kinds) for n in range(repetitions)]
    read = metrics_of(library.load("ior"), {}, rows)["read"]
    assert (read.unit, read.values) == ("B/s", [2000.0] * repetitions)
    many = {"open": (200, 0), "read": (200, 1000), "close": (200, 0)}
    rows = [phase("read", 1.0, n, many if n else kinds) for n in range(repetitions + 1)]
    assert metrics_of(library.load("ior"), {}, rows)["read"].unit == "1/s"


def test_a_metric_over_an_unknown_phase_is_refused() -> None:
    workload = library.load("flash3")
    metric = Metric(value="bytes(write) / time(chekpoint)")
    broken = workload.model_copy(update={"metrics": {"x": metric}})
    with pytest.raises(UserError, match="chekpoint"):
        check_metrics(broken, ["checkpoint"])


def test_an_unknown_function_names_those_over_phases() -> None:
    metric = Metric(value="rate(checkpoint)")
    broken = library.load("flash3").model_copy(update={"metrics": {"x": metric}})
    with pytest.raises(UserError, match="no function 'rate'") as caught:
        check_metrics(broken, ["checkpoint"])
    assert "bytes, time, operations" in caught.value.hint


def observed(**changes: object) -> Observed:
    data = {
        "layer": "posix",
        "ranks": 1,
        "bytes_written": 1000,
        "bytes_read": 0,
        "operations": {"write": 10},
        "request_sizes": [
            RequestBucket(up_to_bytes=100, writes=10, reads=0),
            RequestBucket(up_to_bytes=2**63 - 1, writes=0, reads=0),
        ],
        "bytes_per_rank": [1000],
        "coverage_bytes": 1.0,
        "coverage_operations": 1.0,
    }
    return Observed(**{**data, **changes})


def test_a_faithful_proxy_has_no_distance() -> None:
    fidelity = fidelity_of(observed(), [phase("w", 1.0, 0, {"write": (10, 100)})])
    assert fidelity is not None
    assert fidelity.size_distance == 0
    assert fidelity.rank_distance == 0
    assert {row.error for row in fidelity.rows} == {0.0, None}


def test_other_sizes_and_counts_show() -> None:
    fidelity = fidelity_of(observed(), [phase("w", 1.0, 0, {"write": (5, 200)})])
    assert fidelity is not None
    assert fidelity.size_distance == 1
    writes = next(row for row in fidelity.rows if row.what == "write operations")
    assert writes.error == pytest.approx(-0.5)


def test_terms_over_executions_of_a_phase() -> None:
    rows = [
        phase("save", total, 0, {"write": (1, 1000)}).model_copy(update={"at_s": start})
        for start, total in ((10.0, 2.0), (14.0, 1.0), (19.0, 3.0))
    ]
    wanted = {
        "executions": 3,
        "mean": 2.0,
        "shortest": 1.0,
        "longest": 3.0,
        "period": 4.5,
        "span": 12.0,
    }
    metrics = {name: Metric(value=f"{name}(save)") for name in wanted}
    metrics |= {"run": Metric(value="span(all)"), "none": Metric(value="1 / mean(other)")}
    metrics["inside"] = Metric(value="seconds(write, save)")
    workload = library.load("flash3").model_copy(update={"metrics": metrics})
    found = metrics_of(workload, {}, rows)
    assert {name: found[name].value for name in wanted} == pytest.approx(wanted)
    assert found["run"].value == pytest.approx(12.0)
    assert "none" not in found
    assert "period" not in metrics_of(workload, {}, rows[:1])
    inside = sum(row.by_operation["write"].seconds for row in rows)
    assert found["inside"].value == pytest.approx(inside)


def test_a_metric_over_a_phase_of_a_group_that_is_left_out_is_fine() -> None:
    check_metrics(library.load("ecmwf"), ["archive"])
