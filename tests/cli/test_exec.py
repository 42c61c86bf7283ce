"""Real applications in a program: what they say counts, and how they fail or are ended."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from cli.conftest import Cli, cli, wait_for  # noqa: F401
from venturi.analyse.metric import check_metrics
from venturi.model.error import UserError
from venturi.model.workload import Workload
from venturi.plan.make import make_plan
from venturi.plan.setting import RunSettings

EXAMPLE = str(Path(__file__).parents[2] / "examples" / "application" / "own-solver.yaml")


@pytest.fixture(autouse=True)
def from_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    """The example's command begins where `venturi` was started."""
    monkeypatch.chdir(Path(__file__).parents[2])


def workload(step: dict[str, Any], **more: Any) -> dict[str, Any]:
    body = [{"phase": "solve", "do": [{"exec": step}]}]
    return {"workload": 1, "name": "own", "program": {"app": body}, **more}


def written(folder: Path, step: dict[str, Any], **more: Any) -> str:
    path = folder / "own.json"
    path.write_text(json.dumps(workload(step, **more)))
    return str(path)


@pytest.mark.parametrize("machine", ["local", "openmpi", "mpich"])
def test_what_an_application_says_is_measured_beside_a_skeleton(
    cli: Cli,  # noqa: F811
    machine: str,
) -> None:
    words = ["--set", "prop=64 KiB", "--set", "noise=1 MiB", "--repeat", "2", "--on", machine]
    record = cli.json("run", EXAMPLE, "-d", str(cli.target), *words)
    metrics = record["metrics"]
    assert metrics["solver_iterations"]["values"] == [68, 68]
    assert metrics["propagators"]["values"] == [4 * 65536] * 2
    saved = metrics["T_save_prop_comm_B"]
    assert saved["n"] == 2
    assert saved["unit"] == "s"
    rates = metrics["B_write_prop_comm"]["values"]
    assert rates == pytest.approx([65536 / second for second in saved["values"]])
    assert {row["path"] for row in record["phases"]} == {"solve", "disturb"}
    solve = [row for row in record["phases"] if row["path"] == "solve"]
    assert [row["by_operation"]["exec"]["operations"] for row in solve] == [1, 1]
    for row, run in zip(solve, record["commands"], strict=True):
        assert run["files"]["propagators"] == {"files": 4, "bytes": 4 * 65536}
        assert 0 < run["seconds"] <= row["seconds"]["total"]
    said = cli.store / "runs" / record["id"] / "commands" / "1"
    assert (said / "stdout").read_text().count("Object successfully written") == 4
    assert json.loads((said / "result.json").read_text())["solver"]["converged"]
    assert not list(cli.target.iterdir())
    assert "caches of its command unknown" in record["labels"]["solve"]
    assert record["warnings"] == ["what its commands read and write is not known before they run"]
    assert cli("results", "rm", record["id"]).returncode == 0
    assert not list((cli.store / "runs").iterdir())


def test_each_turn_of_a_loop_has_its_own_command(cli: Cli, tmp_path: Path) -> None:  # noqa: F811
    step = {
        "command": "echo value {10 * turn + iteration}; cp /dev/null part_{turn:03d}",
        "metrics": {"value": {"regex": "^value ([0-9]+)$"}},
        "files": {"part": "part_*"},
    }
    body = workload(step)["program"]["app"]
    path = tmp_path / "loop.json"
    loop = {"app": [{"for": "turn", "in": 3, "do": body}]}
    path.write_text(json.dumps({"workload": 1, "name": "loop", "program": loop}))
    record = cli.json("run", str(path), "-d", str(cli.target), "--repeat", "2", "-n", "2")
    assert [run["iteration"]["turn"] for run in record["commands"]] == [0, 1, 2] * 2
    assert [run["metrics"]["value"] for run in record["commands"]] == [0, 10, 20, 1, 11, 21]
    # Only what the command itself wrote counts, though they share a folder.
    assert all(run["files"]["part"]["files"] == 1 for run in record["commands"])
    assert record["metrics"]["value"]["values"] == [10, 11]


@pytest.mark.parametrize(
    ("step", "told"),
    [
        ({"command": "echo no licence >&2; exit 7"}, "ended with exit code 7: no licence"),
        ({"command": "kill -9 $$"}, "ended with signal 9: it said nothing"),
        (
            {"command": "echo done", "metrics": {"T": {"regex": "T=(.*)"}}},
            "metric T is missing: nothing in stdout fits 'T=(.*)'",
        ),
        (
            {"command": "echo done", "files": {"out": "out_*"}},
            "files.out: the command wrote nothing that fits 'out_*'",
        ),
        (
            {"command": "true", "metrics": {"T": {"json": "a", "file": "r.json"}}},
            "metric T: r.json: No such file or directory",
        ),
    ],
)
def test_what_goes_wrong_with_a_command_fails_the_run(
    cli: Cli,  # noqa: F811
    tmp_path: Path,
    step: dict[str, Any],
    told: str,
) -> None:
    path = written(tmp_path, step)
    record = cli.json("run", path, "-d", str(cli.target), "--repeat", "2", "-n", "2", code=3)
    assert told in record["failure"]
    assert "commands/0" in record["failure"]
    assert record["verdict"]["level"] == "INVALID"
    assert [run["failure"] for run in record["commands"]] == [
        record["failure"].removesuffix(" (solve)")
    ]
    assert not list(cli.target.iterdir())


def lives(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def gone(process: int, limit_s: float = 600) -> bool:
    until = time.monotonic() + limit_s
    while lives(process) and time.monotonic() < until:
        time.sleep(0.05)
    return not lives(process)


STUBBORN = "sleep 300 & echo $! > {place}/child; wait"


def test_a_command_that_takes_too_long_is_ended_with_all_its_processes(
    cli: Cli,  # noqa: F811
    tmp_path: Path,
) -> None:
    step = {"command": STUBBORN.format(place=tmp_path), "time": "3 s"}
    path = written(tmp_path, step)
    record = cli.json("run", path, "-d", str(cli.target), "--repeat", "1", code=3)
    assert "took longer than 3 s" in record["failure"]
    assert record["commands"][0].get("code") is None
    assert gone(int((tmp_path / "child").read_text()))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_who_ends_the_run_ends_the_command(
    cli: Cli,  # noqa: F811
    tmp_path: Path,
    number: signal.Signals,
) -> None:
    path = written(tmp_path, {"command": STUBBORN.format(place=tmp_path)})
    running = cli.start("run", path, "-d", str(cli.target), "--repeat", "1")
    child = tmp_path / "child"
    until = time.monotonic() + 600
    while not (child.exists() and child.read_text().strip()) and time.monotonic() < until:
        time.sleep(0.05)
    os.kill(running.pid, number)
    running.communicate(timeout=600)
    assert running.returncode != 0
    assert gone(int(child.read_text()))

    def removed() -> bool:
        cli("results", "ls")  # removes what a killed run left, once its engine is gone
        return not list(cli.target.iterdir())

    assert wait_for(removed)


METRIC = {"regex": "([0-9]+)"}


@pytest.mark.parametrize(
    ("step", "more", "told"),
    [
        ({"command": "run {np}"}, {}, "unknown name 'np'"),
        ({"command": "run {"}, {}, "a brace without its pair"),
        ({"command": "true", "time": 0}, {}, "longer than 0 s"),
        ({"command": "true", "files": {"f": "../*"}}, {}, "no path below the folder"),
        ({"command": "true", "metrics": {"m": {"regex": "x"}}}, {}, "has no bracket"),
        (
            {"command": "true", "metrics": {"m": METRIC}},
            {"parameters": {"m": 1}},
            "the name 'm' is taken by the workload",
        ),
        ({"command": "true", "metrics": {"m": METRIC}, "files": {"m": "*"}}, {}, "'m' is taken"),
    ],
)
def test_a_step_that_cannot_be_is_refused(
    step: dict[str, Any], more: dict[str, Any], told: str
) -> None:
    wrong = Workload.model_validate(workload(step, **more))
    with pytest.raises(UserError) as refused:
        check_metrics(wrong, make_plan(wrong, RunSettings()).totals.phases)
    assert told in refused.value.message


@pytest.mark.parametrize(
    ("around", "told"),
    [
        (lambda step: [step], "'exec' stands outside of every phase"),
        (
            lambda step: [{"phase": "p", "limit": "1 s", "do": [{"compute": 0}, step]}],
            "'exec' cannot stand in a phase with a limit",
        ),
        (
            lambda step: [{"phase": "p", "do": [{"when": "rank == 0", "do": [step]}]}],
            "'exec' under a condition on the rank",
        ),
    ],
)
def test_a_place_where_ranks_cannot_wait_is_refused(around: Any, told: str) -> None:
    text = {"workload": 1, "name": "own", "program": {"app": around({"exec": {"command": "a"}})}}
    with pytest.raises(UserError) as refused:
        make_plan(Workload.model_validate(text), RunSettings(ranks=2))
    assert told in refused.value.message


def test_a_plan_counts_commands_and_says_what_it_does_not_know(cli: Cli) -> None:  # noqa: F811
    plan = cli.json("plan", EXAMPLE)
    assert plan["totals"]["operations_by_kind"]["exec"] == 1
    assert any("not known before they run" in warning for warning in plan["warnings"])


def test_a_command_takes_whole_numbers_only() -> None:
    text = workload({"command": "solve --share {share}"}, parameters={"share": 0.7})
    with pytest.raises(UserError, match=r"'\{share\}' is 0\.7, and a command takes whole numbers"):
        make_plan(Workload.model_validate(text), RunSettings())
