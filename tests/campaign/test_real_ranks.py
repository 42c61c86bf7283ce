"""What a dry run, a task and a job's script say of ranks is what the run starts."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest

from cli.conftest import Cli, cli  # noqa: F401
from plan.test_rank_share import drawn
from venturi.campaign.job import Room, packed
from venturi.campaign.scheduler.slurm import Slurm
from venturi.campaign.session import CampaignRequest, planned
from venturi.campaign.task import CampaignTask
from venturi.model.error import UserError
from venturi.model.machine import Scheduler
from venturi.plan.make import make_plan
from venturi.plan.setting import RunSettings


def text_of(steps: dict[str, Any], space: dict[str, Any] | None = None) -> str:
    campaign = {"campaign": 1, "name": "ranks", "repeat": 1, "space": space or {}, "steps": steps}
    return json.dumps(campaign)


def tasks_of(folder: Path, text: str) -> list[CampaignTask]:
    """The tasks of a campaign on this host, as a dry run plans them."""
    request = CampaignRequest(
        file=folder / "c.yaml", directory=folder, store=folder / "store", machine="local", text=text
    )
    return planned(request, folder / "c.campaign").tasks


def tasks_of_script(tasks: list[CampaignTask]) -> list[int]:
    """The numbers of tasks that the scripts of jobs ask for."""
    jobs = packed(tasks, Room(), 1)
    scripts = [Slurm(Scheduler()).render(job, job.name, Path("/f"), Path("/o")) for job in jobs]
    return [int(found[1]) for text in scripts if (found := re.search(r"--ntasks=(\d+)", text))]


@pytest.mark.parametrize(
    ("name", "own"), [("ecmwf", 10), ("tsmp-a", 5), ("cryoem-stream", 4), ("interference", 6)]
)
def test_a_step_without_ranks_asks_for_those_of_its_workload(
    tmp_path: Path, name: str, own: int
) -> None:
    tasks = tasks_of(tmp_path, text_of({"run": {"workload": name}}))
    assert [task.ranks for task in tasks] == tasks_of_script(tasks) == [own]


@pytest.mark.parametrize("seed", range(40))
def test_tasks_have_the_ranks_of_the_plan_of_their_own_command(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    workload, _ = drawn(chance)
    file = tmp_path / "w.yaml"
    file.write_text(workload.to_json(), "utf-8")
    times = chance.sample(range(1, 5), 2)
    step: dict[str, Any] = {"workload": str(file), "set": {"times": "{n}"}}
    if chance.random() < 0.5:
        step["ranks"] = chance.randint(1, 16)
    text = text_of({"run": step}, {"product": {"n": times}})
    expected = [
        make_plan(
            workload, RunSettings(ranks=step.get("ranks"), assignments={"times": str(n)})
        ).plan.ranks
        for n in times
        if can_be_planned(workload, step.get("ranks"), n)
    ]
    if len(expected) < len(times):
        with pytest.raises(UserError, match=r"run-000\d \(n=\d\): .*-n"):
            tasks_of(tmp_path, text)
        return
    tasks = tasks_of(tmp_path, text)
    assert sorted(task.ranks for task in tasks) == sorted(expected)
    assert sorted(tasks_of_script(tasks)) == sorted(set(expected))


def can_be_planned(workload: Any, ranks: int | None, times: int) -> bool:
    try:
        make_plan(workload, RunSettings(ranks=ranks, assignments={"times": str(times)}))
    except UserError:
        return False
    return True


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_a_dry_run_shows_the_ranks_of_the_record(
    cli: Cli,  # noqa: F811
    tmp_path: Path,
    seed: int,
) -> None:
    chance = random.Random(seed)
    workload, _ = drawn(chance)
    file = tmp_path / "w.yaml"
    file.write_text(workload.to_json(), "utf-8")
    wanted = next(n for n in range(1 + chance.randint(0, 6), 40) if can_be_planned(workload, n, 1))
    words = ("run", str(file), "-d", str(cli.target), "-n", str(wanted), "--set", "times=1")
    shown = cli.json(*words, "--dry-run")
    record = cli.json(*words, "--repeat", "1", "-q")
    assert shown["ranks"] == record["ranks"] == wanted
    assert sum(group["ranks"] * group["instances"] for group in shown["groups"]) == wanted
    done = {(row["group"], row["ranks"]) for row in record["phases"]}
    assert done == {(group["name"], group["ranks"]) for group in shown["groups"]}


def test_a_dry_run_refuses_what_the_run_refuses(cli: Cli) -> None:  # noqa: F811
    for words in (["-n", "1000000"], ["-N", "2"]):
        line = ("run", "ior", "-d", str(cli.target), *words)
        real, dry = cli(*line), cli(*line, "--dry-run")
        assert (real.returncode, dry.returncode) == (2, 2)
        assert real.stderr == dry.stderr
