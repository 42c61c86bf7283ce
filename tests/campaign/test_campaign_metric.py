"""Numbers in what a run wrote."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from venturi.campaign.metric import check_metric, metrics_in, record_metrics
from venturi.model.campaign import CampaignMetric
from venturi.model.error import RunFailed, UserError
from venturi.model.output import Better, Pick
from venturi.model.result import direction_of

_IOR = "access bw\nwrite 100.5\nread 7\nwrite 200.25\n"


@pytest.mark.parametrize(
    ("pick", "value"),
    [
        (Pick.FIRST, 100.5),
        (Pick.LAST, 200.25),
        (Pick.LEAST, 100.5),
        (Pick.MOST, 200.25),
        (Pick.MEDIAN, 150.375),
        (Pick.SUM, 300.75),
    ],
)
def test_one_of_several_matches(tmp_path: Path, pick: Pick, value: float) -> None:
    (tmp_path / "stdout").write_text(_IOR)
    metric = CampaignMetric(regex=r"^write ([\d.]+)$", pick=pick)
    assert metrics_in(tmp_path, {"bw": metric}, {}) == {"bw": value}


def test_json_and_csv(tmp_path: Path) -> None:
    document = {"tests": [{"Results": [{"bwMiB": 3.5}, {"bwMiB": 4}]}]}
    (tmp_path / "out.json").write_text(json.dumps(document))
    (tmp_path / "t.csv").write_text("op,rate\nwrite,1e3\nread,2e3\n")
    found = metrics_in(
        tmp_path,
        {
            "a": CampaignMetric(json="tests[0].Results[1].bwMiB", file="out.json"),
            "b": CampaignMetric(column="rate", file="t.csv", pick=Pick.MOST),
        },
        {},
    )
    assert found == {"a": 4.0, "b": 2000.0}


@pytest.mark.parametrize(
    ("metric", "said"),
    [
        (CampaignMetric(regex="write (.*)"), "2 values .* say which"),
        (CampaignMetric(regex="nothing (.*)"), "is missing"),
        (CampaignMetric(regex="access (.*)"), "'bw' in stdout is no number"),
        (CampaignMetric(json="a.b"), "not JSON"),
        (CampaignMetric(regex="(x)", file="gone"), "No such file"),
        (CampaignMetric(column="rate"), "is missing"),
    ],
)
def test_a_missing_metric_is_a_failed_run(
    tmp_path: Path, metric: CampaignMetric, said: str
) -> None:
    (tmp_path / "stdout").write_text(_IOR)
    with pytest.raises(RunFailed, match=said):
        metrics_in(tmp_path, {"m": metric}, {})


@pytest.mark.parametrize(("regex", "said"), [("(", "no regular"), ("abc", "no bracket")])
def test_a_pattern_is_checked_before_anything_runs(regex: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        check_metric("steps.run.metrics.m", CampaignMetric(regex=regex))


def test_exactly_one_way_to_find_it() -> None:
    with pytest.raises(ValueError, match="one of regex, json, column and derive"):
        CampaignMetric(regex="(a)", column="b")


def test_what_is_no_record(tmp_path: Path) -> None:
    with pytest.raises(RunFailed, match="no record"):
        record_metrics("killed")


@pytest.mark.parametrize(
    ("unit", "better"),
    [("B/s", Better.HIGHER), ("1/s", Better.HIGHER), ("s", Better.LOWER), ("B", Better.NONE)],
)
def test_a_metric_of_a_workload_improves_as_its_unit_says(unit: str, better: Better) -> None:
    record = {"phases": [], "metrics": {"own": {"median": 2.0, "unit": unit}}}
    assert record_metrics(json.dumps(record))["own"].better is better


@pytest.mark.parametrize(
    ("unit", "stated", "better"),
    [
        ("us", None, Better.LOWER),
        ("us", Better.NONE, Better.NONE),
        ("MiB/s", None, Better.HIGHER),
        ("MiB/s", Better.LOWER, Better.LOWER),
        ("MiB/s", Better.NONE, Better.NONE),
        ("x", Better.HIGHER, Better.HIGHER),
        ("x", None, Better.NONE),
    ],
)
def test_what_is_stated_comes_before_what_the_unit_says(
    unit: str, stated: Better | None, better: Better
) -> None:
    assert direction_of(unit, stated) is better


def test_statistics_defaults_and_what_follows_from_metrics(tmp_path: Path) -> None:
    (tmp_path / "stdout").write_text("x=1000000001\nx=1000000002\nx=1000000003\n")
    picks = {
        pick.value: CampaignMetric(regex="x=(.*)", pick=pick)
        for pick in Pick
        if pick is not Pick.ONLY
    }
    found = metrics_in(
        tmp_path,
        {
            **picks,
            "none": CampaignMetric(regex="y=(.*)", default=-1.0),
            "nothing": CampaignMetric(regex="y=(.*)", pick=Pick.COUNT),
            "per_task": CampaignMetric(derive="sum / tasks + none"),
        },
        {"tasks": 3, "way": "own"},
    )
    assert (found["mean"], found["deviation"], found["count"]) == (1000000002, 1, 3)
    assert (found["none"], found["nothing"], found["per_task"]) == (-1, 0, 1000000001)
    with pytest.raises(RunFailed, match="names way2, which is no parameter"):
        metrics_in(tmp_path, {"m": CampaignMetric(derive="way2")}, {"way": 1})
