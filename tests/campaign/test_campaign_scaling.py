"""A campaign that scales: efficiency as a gate, as a table, in histories, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from command_line import venturi
from venturi.campaign.space import points_of
from venturi.campaign.study import others_of
from venturi.model.campaign import Campaign
from venturi.model.yaml_text import parse_yaml

CAMPAIGN = """
campaign: 1
name: scaled
study: %s
space:
  zip: [{tasks: [1, 2, 4, 8, 16], ms: [1000, 550, 325, 213, %d]}]
repeat: 6
steps:
  run:
    command: "echo time: {ms}.{repetition}; echo {tasks}"
    metrics:
      time: {regex: "time: (.*)", unit: ms, better: lower}
      rate: {derive: 1000 / time, unit: 1/s, better: higher}
"""
STRONG = "{kind: strong, over: tasks%s}"


def run(folder: Path, study: str, last: int = 156, *words: str) -> tuple[int, dict[str, Any]]:
    """Exit code and result of the campaign; 1000 ms on one task, a tenth of it serial."""
    (folder / "scaled.yaml").write_text(CAMPAIGN % (study, last))
    (folder / "target").mkdir(exist_ok=True)
    line = ("campaign", "run", "scaled.yaml", "-d", "target", "-q", "--json", *words)
    done = venturi(folder, *line)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


def test_a_law_its_page_its_metrics_and_its_history(tmp_path: Path) -> None:
    code, result = run(tmp_path, STRONG % "", 156, "--metrics", "metrics.txt")
    (curve,) = result["study"]["curves"]
    assert code == 0
    assert [point["size"] for point in curve["points"]] == [1, 2, 4, 8, 16]
    assert curve["fit"]["serial_low"] <= 0.1 <= curve["fit"]["serial_high"]
    assert curve["fit"]["stops_at"] is None
    states = {rule["rule"]: rule["state"] for rule in result["study"]["guidelines"]}
    assert states["sizes span orders of magnitude"] == "partly"
    assert states["several independent runs of each size"] == "met"
    assert states["a problem like production"] == "not known"
    assert 'venturi_time_efficiency{campaign="scaled"' in (tmp_path / "metrics.txt").read_text()
    page = venturi(tmp_path, "report", "scaled.campaign", "--format", "md").stdout
    assert "Amdahl's law agrees with the times from tasks 1 to 16" in page
    assert "| 16 | 156 ms |" in page
    history = venturi(tmp_path, "results", "history", "--json").stdout
    series = {one["metric"]: one for one in json.loads(history)["series"]}
    efficiency = series["time[tasks=16].efficiency"]
    assert efficiency["sessions"][0]["value"] == curve["points"][-1]["efficiency"]["value"]
    assert efficiency["better"] == "higher"
    texts = [
        path.read_text("utf-8") for path in (tmp_path / "store" / "runs").glob("*/result.json")
    ]
    results = [json.loads(text) for text in texts]
    assert [one["source"]["kind"] for one in results].count("study") == 1
    assert len({one["facts"]["host"] for one in results}) == 1


def test_a_terminal_says_all_of_it_within_its_width(tmp_path: Path) -> None:
    run(tmp_path, STRONG % "")
    text = venturi(tmp_path, "campaign", "status", "scaled.campaign").stdout
    assert "Strong scaling over tasks, base 1" in text
    assert "serial share" in text
    assert "not known a problem like production" in " ".join(text.split())
    assert max(map(len, text.splitlines())) <= 80


def test_without_its_base_nothing_is_concluded_or_kept(tmp_path: Path) -> None:
    text = CAMPAIGN.replace("echo time:", "test {tasks} -gt 1 && echo time:")
    (tmp_path / "scaled.yaml").write_text(text % (STRONG % "", 156))
    (tmp_path / "target").mkdir()
    line = ("campaign", "run", "scaled.yaml", "-d", "target", "-q", "--json")
    done = venturi(tmp_path, *line)
    assert done.returncode == 3
    study = json.loads(done.stdout)["study"]
    assert study["curves"] == []
    assert study["without"] == ["run, time: the base, tasks 1, has no value"]
    assert (
        "the base, tasks 1, has no value"
        in venturi(tmp_path, "report", "scaled.campaign", "--format", "md").stdout
    )


@pytest.mark.parametrize(("failing", "code"), [("99", 0), ("16", 3)])
def test_a_session_with_a_failed_run_has_no_efficiency_in_the_store(
    tmp_path: Path, failing: str, code: int
) -> None:
    text = CAMPAIGN.replace("echo time:", f"test {{tasks}} != {failing} && echo time:")
    (tmp_path / "scaled.yaml").write_text(text % (STRONG % ", of: [rate]", 156))
    (tmp_path / "target").mkdir()
    done = venturi(tmp_path, "campaign", "run", "scaled.yaml", "-d", "target", "-q", "--json")
    assert done.returncode == code
    (curve,) = json.loads(done.stdout)["study"]["curves"]
    assert curve["metric"] == "rate"
    assert len(curve["points"]) == (4 if code else 5)
    series = json.loads(venturi(tmp_path, "results", "history", "--json").stdout)["series"]
    kept = {one["metric"] for one in series if "efficiency" in one["metric"]}
    assert kept == (set() if code else {f"rate[tasks={n}].efficiency" for n in (2, 4, 8, 16)})


def test_a_page_has_so_many_metrics_and_says_how_many_more(tmp_path: Path) -> None:
    metrics = ", ".join(
        f"'{name}': {{regex: 'time: (.*)', unit: s, better: lower}}"
        for name in (f"t{n}" for n in range(10))
    )
    text = CAMPAIGN[: CAMPAIGN.index("    metrics:")] + f"    metrics: {{{metrics}}}\n"
    (tmp_path / "scaled.yaml").write_text(text % (STRONG % "", 156))
    (tmp_path / "target").mkdir()
    line = ("campaign", "run", "scaled.yaml", "-d", "target", "-q", "--json", "--repeat", "1")
    study = json.loads(venturi(tmp_path, *line).stdout)["study"]
    assert [curve["metric"] for curve in study["curves"]] == [f"t{n}" for n in range(8)]
    said = "2 more metrics are not followed; name them in study.of"
    assert study["without"] == [f"run, t0 and others: {said}"]


@pytest.mark.parametrize(
    ("space", "others"),
    [
        ("product: {tasks: [1, 2], way: [a, b]}", ["way"]),
        ("zip: [{tasks: [1, 2], total: [10, 20]}]", []),
        ("zip: [{tasks: [1, 2, 1, 2], way: [a, a, b, b]}]", ["way"]),
        ("{product: {tasks: [1, 2], per: [3, 5]}, derive: {total: tasks * per}}", ["per"]),
        ("{product: {nodes: [1, 2], ppn: [4]}, derive: {tasks: nodes * ppn}}", []),
    ],
)
def test_what_tells_curves_apart(space: str, others: list[str]) -> None:
    text = f"campaign: 1\nname: c\nspace: {space if space[0] == '{' else '{' + space + '}'}\n"
    text += "steps: {run: {command: 'echo {tasks}'}}\n"
    campaign = parse_yaml(text, "c.yaml", Campaign)
    assert others_of(campaign, "tasks", points_of(campaign.space)) == others


@pytest.mark.parametrize(
    ("threshold", "last", "code", "outcome"),
    [
        ("{at_least: 35 %}", 156, 0, "PASS"),
        ("{at_least: 0.35}", 312, 4, "FAIL"),
        ("{at_most: 0.95}", 156, 0, "PASS"),
        ("{at_least: 0.4001}", 156, 0, "UNDECIDED"),
    ],
)
def test_a_gate_on_efficiency(
    tmp_path: Path, threshold: str, last: int, code: int, outcome: str
) -> None:
    study = STRONG % f", thresholds: {{efficiency: {threshold}}}"
    found, result = run(tmp_path, study, last, "--junit", "junit.xml")
    judged = {row["parameters"]["tasks"]: row["thresholds"] for row in result["rows"]}
    assert found == code
    assert judged[1] == []
    assert judged[16][0]["metric"] == "efficiency of time"
    assert judged[16][0]["outcome"] == outcome
    assert ("<failure" in (tmp_path / "junit.xml").read_text()) is (code == 4)


@pytest.mark.parametrize(
    ("study", "said"),
    [
        ("sideways", "study"),
        ("strong", "nothing says over what"),
        ("{kind: strong, over: nodes}", "there is no parameter 'nodes'"),
        ("{kind: strong, over: tasks, base: 3}", "tasks is never 3"),
        ("{kind: strong, over: tasks, of: [speed]}", "there is no metric 'speed'"),
        (
            "{kind: strong, over: tasks, thresholds: {efficiency: {at_least: 1 MB}}}",
            "study.thresholds.efficiency",
        ),
    ],
)
def test_a_study_that_cannot_be_is_one_sentence(tmp_path: Path, study: str, said: str) -> None:
    (tmp_path / "scaled.yaml").write_text(CAMPAIGN % (study, 156))
    (tmp_path / "target").mkdir()
    done = venturi(tmp_path, "campaign", "run", "scaled.yaml", "-d", "target")
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "scaled.campaign").exists()
