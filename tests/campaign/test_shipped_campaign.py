"""Campaigns that ship: each plans at both scales, runs small, and has its figure on its page."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import command_line
from venturi import library
from venturi.campaign.contrast import contrast_rows
from venturi.campaign.latency_sample import sample_of
from venturi.campaign.scale import at_scale, in_targets, target_names
from venturi.campaign.session import CampaignRequest, planned
from venturi.campaign.space import points_of
from venturi.model.campaign import Campaign, CampaignRow, MetricSummary
from venturi.model.error import UserError
from venturi.model.latency_sample import LatencyRequest
from venturi.model.output import Better
from venturi.model.published_figure import PublishedPoint, amount_of
from venturi.model.yaml_text import parse_yaml

NAMES = library.campaign_names()
venturi = partial(command_line.venturi, columns=100)


def loaded(name: str) -> Campaign:
    """A campaign that ships."""
    return parse_yaml(library.campaign_text(name), name, Campaign)


@pytest.mark.parametrize("name", NAMES)
def test_its_file_is_named_as_the_campaign_and_has_two_scales(name: str) -> None:
    campaign = loaded(name)
    assert campaign.name == name
    assert {"laptop", "paper"} <= set(campaign.scales)
    assert all(scale.about for scale in campaign.scales.values())
    assert campaign.published
    assert all(figure.how and figure.run and figure.source for figure in campaign.published)


@pytest.mark.parametrize("name", NAMES)
def test_it_is_planned_at_the_published_scale(name: str, tmp_path: Path) -> None:
    machine = tmp_path / "machine.yaml"
    machine.write_text("{schema: venturi.machine/2, name: large, most_ranks: 10000}")
    line = ("campaign", "run", name, "-d", ".", "--on", "machine.yaml", "--scale", "paper")
    shown = venturi(tmp_path, *line, "--dry-run")
    assert shown.returncode == 0, shown.stderr
    assert f" {name}\n" in shown.stdout
    request = CampaignRequest(Path(name), tmp_path, tmp_path, str(machine), scale="paper")
    laptop = CampaignRequest(Path(name), tmp_path, tmp_path, "local")
    large, small = (
        max(task.ranks for task in planned(one, tmp_path).tasks) for one in (request, laptop)
    )
    assert large > small


@pytest.mark.parametrize("name", NAMES)
def test_it_runs_small_and_its_page_has_the_published_figure(name: str, tmp_path: Path) -> None:
    (tmp_path / "target").mkdir()
    line = ("campaign", "run", name, "-d", "target", "--repeat", "1", "-q", "--json")
    done = venturi(tmp_path, *line)
    assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads(done.stdout)
    assert result["scale"] == "laptop"
    assert set(result["states"]) == {"done"}
    page = venturi(tmp_path, "report", f"{name}.campaign", "--format", "md").stdout
    for figure in loaded(name).published:
        assert f"Published beside ours: {figure.source}, {figure.figure}" in page
    assert "Ours: scale laptop" in page
    if not loaded(name).contrasts:
        assert "This run measured nothing that stands beside it." not in page
    assert not list((tmp_path / "target").iterdir())


def test_a_wrong_name_or_scale_is_one_error(tmp_path: Path) -> None:
    wrong = venturi(tmp_path, "campaign", "run", "cache-curv", "-d", ".")
    assert wrong.returncode == 2
    assert "did you mean 'cache-curve'?" in wrong.stderr
    scale = venturi(tmp_path, "campaign", "run", "cache-curve", "-d", ".", "--scale", "huge")
    assert scale.returncode == 2
    assert "use laptop, paper" in scale.stderr
    nodes = venturi(tmp_path, "campaign", "run", "ior-scaling", "-d", ".", "--scale", "paper")
    assert nodes.returncode == 2
    assert "machine local is one node" in nodes.stderr
    assert not list(tmp_path.glob("*.campaign"))


def test_what_is_not_built_is_left_out_and_named(tmp_path: Path) -> None:
    shown = venturi(tmp_path, "campaign", "run", "io-libraries", "-d", ".", "--dry-run")
    assert "mpiio: 6 points left out" in shown.stderr
    assert "12 points, 72 runs" in shown.stdout


def test_two_file_systems_have_their_latencies_below_each_other(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    line = ("campaign", "run", "md-latency", "-d", "one", "-d", "two", "--repeat", "1", "-q")
    done = venturi(tmp_path, *line, "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads(done.stdout)
    found = {
        row["parameters"]["target"]: row["latency"] for row in result["rows"] if row["latency"]
    }
    assert list(found) == ["one", "two"]
    for sample in found.values():
        assert sample["operations"] == 2 * 500
        assert len(sample["at_s"]) == len(sample["latency_s"]) >= 600
        assert sample["median_s"] <= sample["p99_s"] <= sample["most_s"]
    assert sum(row["step"] == "means" for row in result["rows"]) == 5
    page = venturi(tmp_path, "report", "md-latency.campaign", "--format", "md").stdout
    assert "Latency of create over time" in page
    assert "| geometric | case one slow | 8.1 |  | 8.11 |" in page


def test_every_slow_operation_is_drawn_and_some_of_the_others(tmp_path: Path) -> None:
    latency_ns = np.full(1000, 1_000_000)
    latency_ns[[3, 500, 999]] = 200_000_000
    begin_ns = np.arange(1000) * 10_000_000
    np.savez(
        tmp_path / "operations.npz",
        begin_ns=begin_ns,
        end_ns=begin_ns + latency_ns,
        phase=np.where(np.arange(1000) < 500, 2, 3).astype(np.uint32),
        rank=np.zeros(1000, np.uint32),
        kind=np.zeros(1000, np.uint8),
        phase_names=np.array(["before", "p", "p"]),
        kind_names=np.array(["create"]),
    )
    request = LatencyRequest(operation="create", phase="p", points=50)
    sample = sample_of(tmp_path / "operations.npz", request, "r", 1)
    assert sample is not None
    assert (sample.operations, sample.over, len(sample.at_s)) == (1000, 3, 53)
    slow = {at: v for at, v in zip(sample.at_s, sample.latency_s, strict=True) if v > 0.1}
    assert slow == pytest.approx({0.03: 0.2, 5.0: 0.2, 9.99: 0.2})
    other = LatencyRequest(operation="unlink", phase="p")
    assert sample_of(tmp_path / "operations.npz", other, "r", 1) is None


@pytest.mark.parametrize(
    ("workload", "phase", "said"),
    [("md-workbench", "benchmark", "keeps no log"), ("md-latency", "read", "no phase 'read'")],
)
def test_a_sample_of_latencies_needs_a_log(
    workload: str, phase: str, said: str, tmp_path: Path
) -> None:
    text = f"""
campaign: 1
name: c
steps: {{a: {{workload: {workload}, sample_latency: {{operation: create, phase: {phase}}}}}}}
"""
    (tmp_path / "c.yaml").write_text(text)
    done = venturi(tmp_path, "campaign", "run", "c.yaml", "-d", ".", "--dry-run")
    assert done.returncode == 2
    assert said in done.stderr


def test_a_scale_changes_space_steps_and_repetitions() -> None:
    text = """
campaign: 1
name: c
space: {product: {n: [1]}}
scales: {paper: {space: {product: {n: [1, 2]}}, repeat: 3, time: 1 h}}
steps:
  a: {workload: ior}
  b: {command: "true {n}", scale: small}
"""
    campaign = parse_yaml(text, "c", Campaign)
    paper = at_scale(campaign, "paper")
    assert (len(points_of(paper.space)), paper.repeat) == (2, 3)
    assert [step.scale for step in paper.steps.values()] == ["paper", "small"]
    assert paper.steps["a"].time == "1 h"
    assert at_scale(campaign, None) == campaign


def test_several_directories_are_a_parameter() -> None:
    names = target_names((Path("/a/x"), Path("/b/x")))
    assert names == ["/a/x", "/b/x"]
    assert target_names((Path("/a/x"), Path("/b/y"))) == ["x", "y"]
    with pytest.raises(UserError, match="given twice"):
        target_names((Path("/a"), Path("/a")))
    text = """
campaign: 1
name: c
space: {product: {n: [1, 2]}, points: [{n: 5}]}
steps: {a: {command: "true {n} {dir}"}, b: {command: "true"}}
"""
    made = in_targets(parse_yaml(text, "c", Campaign), ["x", "y"])
    found = [(point["target"], point["n"]) for point in points_of(made.space)]
    assert (made.steps["a"].per, made.steps["b"].per) == (["target"], [])
    assert sorted(found) == sorted((t, n) for t in ("x", "y") for n in (1, 2, 5))
    with pytest.raises(UserError, match="a parameter 'target' of its own"):
        in_targets(made, ["x", "y"])


def _row(step: str, values: list[float], **parameters: int | str) -> CampaignRow:
    metric = MetricSummary(
        name="rate",
        unit="B/s",
        better=Better.HIGHER,
        values=values,
        median=values[len(values) // 2],
        low=min(values),
        high=max(values),
        coverage=0.9,
    )
    return CampaignRow(
        step=step, point=step, parameters=dict(parameters), states={"done": 3}, metrics=[metric]
    )


def test_a_contrast_has_the_ratio_of_medians_and_of_the_best() -> None:
    text = """
campaign: 1
name: c
steps: {a: {command: x}, b: {command: y}}
contrasts:
  error: {form: difference, first: {step: a, metric: rate}, second: {step: b, metric: rate}}
  ratio:
    first: {step: a, metric: rate, where: {target: first}}
    second: {step: a, metric: rate, where: {target: second}}
"""
    campaign = parse_yaml(text, "c", Campaign)
    rows = [
        _row("a", [100.0, 110.0, 150.0], n=1, target="p"),
        _row("a", [40.0, 55.0, 60.0], n=1, target="q"),
        _row("b", [99.0, 100.0, 120.0], n=1, target="p"),
        _row("b", [1.0, 1.0, 1.0], n=2, target="p"),
    ]
    error, ratio = contrast_rows(campaign, rows)
    assert (error.name, error.parameters) == ("error", {"n": 1, "target": "p"})
    assert error.value == pytest.approx(10.0)
    assert error.of_best == pytest.approx(25.0)
    assert error.low < error.value < error.high
    assert ratio.value == pytest.approx(2.0)
    assert ratio.of_best == pytest.approx(2.5)
    assert ratio.parameters == {"n": 1}


def test_a_stated_peak_gives_each_target_its_efficiency(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    (tmp_path / "machine.yaml").write_text(f"""
schema: venturi.machine/2
name: m
targets:
  - {{name: one, path: {tmp_path / "one"}}}
  - {{name: two, path: {tmp_path / "two"}}}
bounds:
  - {{operation: write, bytes_per_second: 1.0e+12, target: one, about: stated peak}}
""")
    line = ("campaign", "run", "storage-efficiency", "-d", "one", "-d", "two", "--repeat", "1")
    done = venturi(tmp_path, *line, "--on", "machine.yaml", "-q", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    found = {
        (row["parameters"]["target"], metric["name"]): metric["median"]
        for row in json.loads(done.stdout)["rows"]
        if row["step"] == "full"
        for metric in row["metrics"]
    }
    rate = found["one", "write.rate"]
    assert found["one", "write.efficiency"] == pytest.approx(100 * rate / 1e12)
    assert not {("two", "write.efficiency"), ("one", "read.efficiency")} & found.keys()
    page = venturi(tmp_path, "report", "storage-efficiency.campaign", "--format", "md").stdout
    (line,) = [one for one in page.splitlines() if one.startswith("| full | target one | write |")]
    assert "(storage: stated peak; from the machine file)" in line
    assert not any(one.startswith("| full | target two | write |") for one in page.splitlines())


def test_published_values_have_units() -> None:
    assert amount_of("4 GiB/s", "GB/s") == pytest.approx(4.294967296)
    assert amount_of(3, "GB/s") == 3.0
    with pytest.raises(ValueError, match="unknown unit"):
        PublishedPoint(value="4 parsecs")
    with pytest.raises(ValueError, match="at least 'at'"):
        PublishedPoint()
