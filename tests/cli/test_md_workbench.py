"""`venturi compat md-workbench -- ARGS`: what the engine does, by md-workbench's formulas."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from cli.conftest import Cli
from cli.test_mdtest import cli, kept, traced  # noqa: F401
from compat.tool_output import workbench_phases
from venturi.compat.md_workbench_option import ADAPTIVE_FACTORS


def record_of(cli: Cli, ranks: int, words: list[str]) -> dict[str, Any]:  # noqa: F811
    line = ["md-workbench", "-n", str(ranks), "--json", "--", *words, "-o", str(cli.target)]
    done = cli(*line)
    assert done.returncode == 0, done.stderr + done.stdout[-500:]
    record: dict[str, Any] = json.loads(done.stdout)
    return record


def operations(row: dict[str, Any]) -> dict[str, int]:
    return {kind: found["operations"] for kind, found in row["by_operation"].items()}


def test_phases_and_their_counts(cli: Cli) -> None:  # noqa: F811
    record = record_of(cli, 2, ["-D", "3", "-P", "5", "-I", "4", "-R", "2", "-S", "100"])
    rows = record["phases"]
    assert [row["path"] for row in rows] == ["precreate", "benchmark", "benchmark", "cleanup"]
    assert operations(rows[0]) == {"mkdir": 6, "create": 30, "write": 30, "close": 30}
    for row in rows[1:3]:
        assert operations(row) == {
            "stat": 24,
            "open": 24,
            "read": 24,
            "close": 48,
            "unlink": 24,
            "create": 24,
            "write": 24,
        }
    assert operations(rows[3]) == {"unlink": 30, "rmdir": 6}
    assert [row["iteration"] for row in rows] == [{}, {"round": 0}, {"round": 1}, {}]
    assert not list(cli.target.iterdir())


@pytest.mark.parametrize("offset", ["0", "1", "2"])
def test_the_working_set_moves_on(cli: Cli, offset: str) -> None:  # noqa: F811
    words = ["-D", "2", "-P", "5", "-I", "3", "-R", "2", "-S", "10", "-O", offset, "-1", "-2"]
    record_of(cli, 3, words)
    files = {path for path in kept(cli) if not path.endswith("/")}
    assert files == {
        f"{rank}_{number}/file-{item}"
        for rank in range(3)
        for number in range(2)
        for item in range(6, 11)
    }


def test_reading_only_changes_nothing(cli: Cli) -> None:  # noqa: F811
    record = record_of(cli, 2, ["-D", "2", "-P", "5", "-I", "3", "-R", "2", "--read-only"])
    assert operations(record["phases"][2]) == {"stat": 12, "open": 12, "read": 12, "close": 12}
    assert operations(record["phases"][-1]) == {"unlink": 20, "rmdir": 4}


def test_data_are_verified(cli: Cli) -> None:  # noqa: F811
    record = record_of(cli, 2, ["-D", "2", "-P", "5", "-I", "5", "-R", "2", "-X"])
    assert record["workload"]["files"]["objects"]["content"]["verify"] is True
    assert sum(row["errors"] for row in record["phases"]) == 0


def test_waiting_makes_a_pass_longer(cli: Cli) -> None:  # noqa: F811
    record = record_of(cli, 1, ["-D", "1", "-P", "300", "-I", "300", "-R", "1", "-T"])
    names = [f"benchmark {number}" for number in range(8)]
    assert [row["path"] for row in record["phases"]] == ["precreate", *names, "cleanup"]
    for row, factor in zip(record["phases"][1:-1], ADAPTIVE_FACTORS, strict=True):
        worked_s = sum(kind["seconds"] for kind in row["by_operation"].values())
        assert row["seconds"]["compute"] >= factor * worked_s
        assert (row["seconds"]["compute"] > 0) == (factor > 0)


def test_the_lines_are_those_that_its_readers_expect(cli: Cli) -> None:  # noqa: F811
    words = ["-D", "2", "-P", "10", "-I", "10", "-R", "2", "--process-reports", "-o"]
    line = ["md-workbench", "-n", "2", "--output-format", "md-workbench-text", "--", *words]
    done = cli(*line, str(cli.target))
    assert done.returncode == 0, done.stderr
    phases = workbench_phases(done.stdout)
    assert [p["name"] for p in phases] == ["precreate", "benchmark", "benchmark", "cleanup"]
    assert [p["objects"] for p in phases] == [40, 40, 40, 40]
    assert {"read_call", "stat", "create_call", "delete"} <= set(phases[1]["quantiles"])
    for values in phases[1]["quantiles"].values():
        assert values == sorted(values)
    assert "MD-Workbench total objects: 120 workingset size: 0.149 MiB" in done.stdout
    assert "\n1: benchmark process max:" in done.stdout
    row = cli.records()[0]["phases"][1]
    slowest = max(row["per_rank"]["total_s"])
    assert phases[1]["rate"] == pytest.approx(4 * 40 / slowest, abs=0.1)


@pytest.mark.parametrize(("phases", "rows"), [("-2", ["benchmark"]), ("-3", ["cleanup"])])
def test_a_phase_alone_makes_its_objects_first(
    cli: Cli,  # noqa: F811
    phases: str,
    rows: list[str],
) -> None:
    words = ["-D", "2", "-P", "6", "-I", "4", "-R", "1", phases]
    line = ["md-workbench", "-n", "2", "--output-format", "md-workbench-text", "--", *words, "-o"]
    done = cli(*line, str(cli.target))
    assert done.returncode == 0, done.stderr
    assert [phase["name"] for phase in workbench_phases(done.stdout)] == rows
    (record,) = cli.records()
    assert [row["path"] for row in record["phases"]] == ["preparation", *rows]
    assert operations(record["phases"][0])["create"] == 24


def test_the_cleanup_removes_what_a_cut_pass_left(cli: Cli) -> None:  # noqa: F811
    """Each rank may have come to another place in the working sets of its neighbours."""
    words = ["-D2", "-P1000", "-I100000", "-R1", "-w1", "-S10", "-t60"]
    record = record_of(cli, 3, words)
    cut, cleanup = record["phases"][1:]
    assert cut["stopped_by"] in ("limit", "deadline")
    assert sum(row["errors"] for row in record["phases"]) == 0
    # A rank may have been stopped behind a removal, before it made the next object.
    assert 5997 <= operations(cleanup)["unlink"] <= 6000
    assert operations(cleanup)["rmdir"] == 6
    assert not list(cli.target.iterdir())


@pytest.mark.needs("strace")
def test_a_pass_goes_on_where_the_one_before_was_cut(cli: Cli) -> None:  # noqa: F811
    """No object is passed over, looked for twice or left, wherever the limits came."""
    words = ["-D1", "-P7", "-I100000", "-R3", "-w1", "-S10", "-t3", "-o", str(cli.target)]
    calls = traced(cli, "md-workbench", "--", *words)
    items: dict[str, list[int]] = {"create": [], "unlink": [], "stat": []}
    for call in calls:
        verb, _, name = call.partition(" ")
        if verb in items:
            items[verb].append(int(name.removeprefix("file-")))
    assert len(items["create"]) > 7 + 3
    assert items["create"] == list(range(len(items["create"])))
    assert items["unlink"] == items["create"]
    # A pass that was cut behind a look looks again.
    assert sorted(set(items["stat"])) == list(range(max(items["stat"]) + 1))
    assert len(items["stat"]) - len(set(items["stat"])) <= 2
    left = [row for row in cli.records()[0]["phases"] if row["path"] == "cleanup"]
    # A cut behind a removal leaves one object less.
    assert 4 <= operations(left[0])["unlink"] <= 7


def test_passes_of_several_ranks_that_were_cut(cli: Cli) -> None:  # noqa: F811
    words = ["-D2", "-P1000", "-I100000", "-R2", "-w1", "-W", "-S10", "-t60", "-X"]
    record = record_of(cli, 3, words)
    _, *passes, cleanup = record["phases"]
    assert all(row["stopped_by"] in ("limit", "deadline") for row in passes)
    assert sum(row["errors"] for row in record["phases"]) == 0
    assert all(operations(row)["create"] > 0 for row in passes)
    assert 5994 <= operations(cleanup)["unlink"] <= 6000
    assert not list(cli.target.iterdir())


@pytest.mark.needs("strace")
def test_the_system_calls_are_md_workbenchs(cli: Cli) -> None:  # noqa: F811
    words = ["-D", "2", "-P", "3", "-I", "2", "-R", "2", "-S", "10", "-o", str(cli.target)]
    calls = traced(cli, "md-workbench", "--", *words)
    assert calls == list(expected_calls(sets=2, precreated=3, objects=2, rounds=2))


def expected_calls(sets: int, precreated: int, objects: int, rounds: int) -> Iterator[str]:
    """One task's calls on objects, by the formulas of the tool."""

    def made(item: int) -> list[str]:
        return [f"create file-{item}", "pwrite64 10", "close"]

    for item in range(precreated):
        for _ in range(sets):
            yield from made(item)
    for item in range(rounds * objects):
        for _ in range(sets):
            yield f"stat file-{item}"
            yield from (f"open file-{item}", "pread64 10", "close")
            yield f"unlink file-{item}"
            yield from made(precreated + item)
    for _ in range(sets):
        for item in range(precreated):
            yield f"unlink file-{rounds * objects + item}"
