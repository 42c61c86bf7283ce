"""Templates for CI services, executed step by step as their runners do, and the files they show."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import batch_stand_in
import pytest
import yaml
from template_script import put_venturi, run_script

from venturi.model.campaign import CampaignResult, CampaignRow, MetricSummary
from venturi.model.output import Better
from venturi.report.junit import junit_text
from venturi.report.open_metrics import open_metrics_text

TEMPLATES = Path(__file__).parents[2] / "examples" / "ci"
CAMPAIGN = """
campaign: 1
name: nightly
every: 24 h
space: {product: {size: [1, 2]}}
repeat: 1
steps:
  run:
    command: "echo rate: {size}.5; test ! -e {dir}/broken"
    metrics: {rate: {regex: "rate: (.*)", unit: MiB/s, better: higher}}
"""
MACHINE = """
schema: venturi.machine/2
name: cluster
targets: [{name: scratch, path: %s}]
scheduler: {kind: pbs, poll_s: 0.2}
"""


class Runner:
    """A checkout with the campaign, and Venturi on the path, beside a batch system."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("scratch", "jobs"):
            (folder / name).mkdir()
        commands = batch_stand_in.install(folder / "bin")
        put_venturi(commands)
        (folder / "campaign.yaml").write_text(CAMPAIGN)
        (folder / "machine.yaml").write_text(MACHINE % (folder / "scratch"))
        self.environment = os.environ | {
            "PATH": f"{commands}:{os.environ['PATH']}",
            "STAND_IN": str(folder / "jobs"),
            "VENTURI_STORE": str(folder / "store"),
            "BENCH": str(folder),
        }

    def run(self, script: str, **variables: str) -> int:
        """A script as a runner starts one: bash that ends at the first failure."""
        return run_script(script, self.folder, self.environment | variables)

    @property
    def submitted(self) -> int:
        """How many jobs the batch system got."""
        return sum(1 for _ in (self.folder / "jobs").iterdir())


def _gitlab() -> dict[str, Any]:
    """The template with `extends` carried out, as GitLab does: keys of the job's own win."""
    data: dict[str, Any] = yaml.safe_load((TEMPLATES / "gitlab.yml").read_text("utf-8"))
    for name, job in data.items():
        if isinstance(job, dict) and "extends" in job:
            data[name] = data[job["extends"]] | job
    return data


def _chosen(variables: dict[str, str]) -> list[str]:
    """The jobs of a pipeline, by their rules."""
    data = _gitlab()
    known = data["variables"] | variables
    found = []
    for name, job in data.items():
        if name.startswith(".") or not isinstance(job, dict) or "script" not in job:
            continue
        rule = next((rule for rule in job["rules"] if _holds(rule["if"], known)), None)
        if rule is not None and rule.get("when") != "never":
            found.append(name)
    return found


def _holds(text: str, known: dict[str, str]) -> bool:
    def one(part: str) -> bool:
        match = re.fullmatch(r'\s*\$(\w+) (==|!=) "([^"]*)"\s*', part)
        assert match is not None, part
        return (known.get(match[1]) == match[3]) == (match[2] == "==")

    return any(one(part) for part in text.split("||"))


@pytest.mark.parametrize("source", ["schedule", "web", "api", "merge_request_event"])
def test_which_jobs_gitlab_starts(source: str) -> None:
    """Scheduled, on demand and for merge requests; a push starts none."""
    assert _chosen({"CI_PIPELINE_SOURCE": source}) == ["campaign-login"]
    assert _chosen({"CI_PIPELINE_SOURCE": source, "WHERE": "allocation"}) == ["campaign-allocation"]
    assert _chosen({"CI_PIPELINE_SOURCE": "push"}) == []
    assert _chosen({"WATCH": "yes"}) == ["watch"]
    assert _chosen({"SITE": "yes"}) == ["pages"]


@pytest.mark.parametrize(("name", "jobs"), [("campaign-login", 1), ("campaign-allocation", 0)])
def test_gitlabs_jobs(tmp_path: Path, name: str, jobs: int) -> None:
    """One submits and waits, the other runs where it is; both leave what GitLab is to show."""
    runner = Runner(tmp_path)
    data = _gitlab()
    job = data[name]
    results = tmp_path / "results.git"
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(results)], check=True)
    variables = data["variables"] | job["variables"]
    variables |= {"RESULTS_REPOSITORY": str(results), "HISTORY": "campaign:nightly"}
    assert runner.run("\n".join(job["script"]), **variables) == 0
    assert runner.submitted == jobs
    listed = ["git", "-C", str(results), "ls-tree", "-r", "--name-only", "HEAD"]
    pushed = subprocess.run(listed, capture_output=True, text=True, check=True).stdout
    assert sum(line.endswith(".json") for line in pushed.splitlines()) == 2
    for path in job["artifacts"]["paths"]:
        assert (tmp_path / path).is_file()
    suite = ElementTree.parse(tmp_path / job["artifacts"]["reports"]["junit"]).getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("2", "0")
    metrics = (tmp_path / job["artifacts"]["reports"]["metrics"]).read_text()
    assert (
        'venturi_rate{campaign="nightly",machine="cluster",step="run",size="2",unit="MiB/s"} 2.5\n'
        in metrics
    )
    assert runner.run("\n".join(data["watch"]["script"]), **variables) == 0
    site = data["pages"]
    titled = {**variables, "CI_PROJECT_TITLE": "Nightly results"}
    assert runner.run("\n".join(site["script"]), **titled) == 0
    status = (tmp_path / site["artifacts"]["paths"][0] / "index.html").read_text("utf-8")
    assert "Nightly results" in status
    assert "workload/nightly.html" in status


@pytest.mark.needs("runner")
@pytest.mark.parametrize(
    ("words", "job"),
    [
        ((), "campaign-login"),
        (("--variable", "WHERE=allocation"), "campaign-allocation"),
    ],
)
def test_gitlabs_template_in_a_local_runner(
    tmp_path: Path, words: tuple[str, ...], job: str
) -> None:
    """A runner that knows GitLab's schema chooses the job, runs it and keeps its artifacts."""
    runner = Runner(tmp_path)
    shutil.copy(TEMPLATES / "gitlab.yml", tmp_path / ".gitlab-ci.yml")
    results = tmp_path / "results.git"
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(results)], check=True)
    subprocess.run(["git", "init", "-q", "-b", "main", str(tmp_path)], check=True)
    variables = {"CI_PIPELINE_SOURCE": "schedule", "RESULTS_REPOSITORY": str(results)}
    said = [word for pair in variables.items() for word in ("--variable", "=".join(pair))]
    line = ["gitlab-ci-local", "--shell-executor-no-image", *said, *words]
    done = subprocess.run(
        line,
        cwd=tmp_path,
        env=runner.environment,
        text=True,
        capture_output=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"PASS  {job}" in done.stdout
    assert "json schema validated" in done.stderr
    assert runner.submitted == (1 if job == "campaign-login" else 0)
    listed = ["git", "-C", str(results), "ls-tree", "-r", "--name-only", "HEAD"]
    pushed = subprocess.run(listed, capture_output=True, text=True, check=True).stdout
    assert sum(line.endswith(".json") for line in pushed.splitlines()) == 2
    suite = ElementTree.parse(tmp_path / "junit.xml").getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("2", "0")
    (tmp_path / "scratch" / "broken").touch()
    again = subprocess.run(
        line,
        cwd=tmp_path,
        env=runner.environment,
        text=True,
        capture_output=True,
        timeout=100,
        check=False,
    )
    assert again.returncode != 0
    assert f"FAIL  {job}" in again.stdout


def test_a_failure_fails_gitlabs_job_and_is_in_its_report(tmp_path: Path) -> None:
    runner = Runner(tmp_path)
    data = _gitlab()
    job = data["campaign-login"]
    (tmp_path / "scratch" / "broken").touch()
    assert runner.run("\n".join(job["script"]), **data["variables"], **job["variables"]) == 3
    suite = ElementTree.parse(tmp_path / "junit.xml").getroot()
    assert suite.get("failures") == "2"
    failures = list(suite.iter("failure"))
    assert [failure.get("message") for failure in failures] == ["1 failed"] * 2
    assert failures[0].text == "exit code 1"


def test_a_regression_fails_gitlabs_job(tmp_path: Path) -> None:
    """Where the gate of the history closes: its exit code is the job's."""
    runner = Runner(tmp_path)
    data = _gitlab()
    job = data["campaign-login"]
    gate = tmp_path / "bin" / "venturi"
    gate.write_text(
        '#!/bin/sh\ncase "$1 $2" in "results history") exit 4;;'
        f' *) exec {sys.executable} -m venturi "$@";; esac\n'
    )
    variables = data["variables"] | job["variables"] | {"HISTORY": "campaign:nightly"}
    assert runner.run("\n".join(job["script"]), **variables, CI_JOB_URL="https://ci/7") == 4


def test_github(tmp_path: Path) -> None:
    runner = Runner(tmp_path)
    data = yaml.safe_load((TEMPLATES / "github.yml").read_text("utf-8"))
    environment = data["env"] | {"CAMPAIGN": "campaign.yaml"}
    steps = data["jobs"]["campaign"]["steps"]
    for step in [*steps, *data["jobs"]["watch"]["steps"]]:
        if "run" in step:
            assert runner.run(step["run"], **environment) == 0
    for path in steps[-1]["with"]["path"].split("\n"):
        assert (tmp_path / path).is_file()
    assert "workload/nightly.html" in (tmp_path / "public" / "index.html").read_text("utf-8")
    assert set(data[True]) == {"schedule", "workflow_dispatch", "pull_request"}  # YAML 1.1's `on`


def test_cron_and_systemd(tmp_path: Path) -> None:
    """Their lines run, one night after the other."""
    runner = Runner(tmp_path)
    lines = (TEMPLATES / "crontab").read_text("utf-8").splitlines()
    commands = [line.split(maxsplit=5)[5] for line in lines if line[:1].isdecimal()]
    assert [runner.run(command) for command in commands] == [0, 0, 0]
    assert "nightly on cluster: fine" in (tmp_path / "cron.log").read_text()
    first = tmp_path / "public" / "index.html"
    assert "workload/nightly.html" in first.read_text("utf-8")
    first.unlink()
    services = [TEMPLATES / f"venturi-{name}.service" for name in ("campaign", "due")]
    starts = re.findall(r"(?m)^ExecStart=(.*)$", "".join(one.read_text() for one in services))
    assert len(starts) == 3
    assert [runner.run(command) for command in starts] == [0, 0, 0]
    assert "workload/nightly.html" in first.read_text("utf-8")
    assert len(list(tmp_path.glob("nightly*.campaign"))) == 2


def test_what_may_stand_in_names_is_escaped() -> None:
    metric = MetricSummary(
        name="write.rate",
        unit="B/s",
        better=Better.HIGHER,
        values=[1.0],
        median=1.0,
        low=1.0,
        high=1.0,
        coverage=0.0,
    )
    row = CampaignRow(
        step="run",
        point="run-0001",
        parameters={"way": 'a "b"\n<c>&'},
        states={"done": 1, "lost": 1},
        reasons=["bell \x07"],
        metrics=[metric],
    )
    result = CampaignResult(
        name="x", about="", machine="m", directory="d", points=1, states={"lost": 1}, rows=[row]
    )
    suite = ElementTree.fromstring(junit_text(result).encode())
    case = next(suite.iter("testcase"))
    assert case.get("name") == 'run-0001 way=a "b"\n<c>&'
    assert suite.get("errors") == "1"
    assert next(suite.iter("error")).text == "bell ?"
    assert open_metrics_text(result).splitlines() == [
        "# TYPE venturi_write_rate gauge",
        r'venturi_write_rate{campaign="x",machine="m",step="run",way="a \"b\"\n<c>&",'
        'unit="B/s"} 1.0',
        "# EOF",
    ]
