"""Runs that decide how often to repeat, and products of runs, as their user types them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.conftest import Cli
from venturi.cli.main import venturi
from venturi.model.error import UserError

SMALL = ("--set", "block=1 MiB", "--set", "interface=simulated", "-n", "1")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_auto_ends_with_as_many_repetitions_as_are_narrow(cli: Cli) -> None:
    record = cli.json("run", "ior", "-d", str(cli.target), *SMALL, "--repeat", "auto")
    # The engine goes on until it is told: in simulated time that may be all that it may make.
    assert 6 <= record["repetitions"] <= 100
    assert record["repetitions_asked"] == record["repetitions"]
    assert not record["partial"]
    assert not record["interrupted"]
    assert "reaches" in record["enough"]
    assert not list(cli.target.iterdir())


def test_detect_says_what_would_be_seen(cli: Cli) -> None:
    done = cli("run", "ior", "-d", str(cli.target), *SMALL, "--detect", "50%", "-q")
    assert done.returncode == 0, done.stderr
    assert "two such runs detect a change of" in done.stdout


def test_a_budget_ends_what_cannot_be_reached(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "w.yaml"
    path.write_text(
        "workload: 1\nname: uneven\ngroups: {g: {ranks: 1}}\n"
        "files: {f: {path: f, shared: rank}}\n"
        "program:\n  g:\n    - phase: w\n      do:\n        - create: f\n"
        "        - write: {to: f, transfer: 4 KiB, count: 1 + 40 * (iteration % 2)}\n"
        "        - compute: 300 ms\n"
    )
    record = cli.json("run", str(path), "-d", str(cli.target), "--detect", "1%", "--budget", "1s")
    assert record["repetitions"] < 100
    assert record["enough"].startswith("the 1 s for repetitions were over")
    assert record["repetitions_asked"] == record["repetitions"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--repeat", "3", "--detect", "10%"), "--detect leaves it open"),
        (("--budget", "9s"), "--budget is for --repeat auto"),
        (("--detect", "0"), "a share between 0 and 100%"),
        (("--detect", "much"), "a share between 0 and 100%"),
        (("-o", "there"), "-o belongs to --vary"),
        (("--vary", "block"), "this is not name=a,b,c"),
        (("--vary", "block=1,,2"), "this is not name=a,b,c"),
        (("--vary", "block=1,1"), "a value stands twice"),
        (("--vary", "block=1", "--vary", "block=2"), "block stands twice"),
        (("--vary", "blok=1,2"), "(blok=1): --vary blok: ior has no such parameter did you mean"),
        (("--vary", "transfer=1 MiB,0"), "(transfer=0): "),
        (("--vary", "block=1,2", "--time", "soon"), "--time soon: a time from 1s"),
        (("--time", "2m"), "--time belongs to --vary"),
        (("--vary", "block=1,2", "--set", "block=3"), "both set and varied"),
        (("--vary", "ranks=1,2", "-n", "2"), "the ranks are given twice"),
        (("--vary", "block=1 MiB,nonsense"), "nonsense"),
    ],
)
def test_wrong_words_are_named_and_leave_nothing(
    cli: Cli, tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    before = set(tmp_path.iterdir())
    line = ["run", "ior", "-d", str(cli.target), "--store", str(cli.store), *words]
    with pytest.raises(UserError) as caught:
        venturi.main(line, standalone_mode=False)
    assert message in f"{caught.value.message} {caught.value.hint}"
    assert set(tmp_path.iterdir()) == before


def test_a_product_of_runs_is_one_table_and_a_record_each(cli: Cli) -> None:
    words = ("--vary", "transfer=64 KiB,1 MiB", "--vary", "ranks=2", "--repeat", "2")
    found = cli.json("run", "ior", "-d", str(cli.target), *SMALL[:4], *words, "--seed", "7")
    points = [(row["parameters"]["transfer"], row["parameters"]["ranks"]) for row in found["rows"]]
    assert points == [("64 KiB", 2), ("1 MiB", 2)]
    assert found["states"] == {"done": 4}
    records = cli.records()
    assert {record["seed"] for record in records} == {7}
    did = sorted((record["parameters"]["transfer"], record["ranks"]) for record in records)
    assert did == [(1 << 16, 2)] * 2 + [(1 << 20, 2)] * 2
    # Names of runs of one second do not tell their order.
    written = sorted(cli.store.glob("runs/*/record.json"), key=lambda path: path.stat().st_mtime_ns)
    order = [json.loads(path.read_text())["run_of"]["repetition"] for path in written]
    assert order == [1, 1, 2, 2]


def test_what_a_product_would_do_is_said_without_doing_it(cli: Cli, tmp_path: Path) -> None:
    before = set(tmp_path.iterdir())
    words = ("--vary", "np=1,2,4", "--vary", "transfer=64 KiB,1 MiB", "--dry-run")
    found = cli.json("run", "ior", "-d", str(cli.target), *SMALL[:4], *words)
    assert [row["ranks"] for row in found["rows"]] == [1, 1, 2, 2, 4, 4]
    assert found["runs"] == 36
    assert set(tmp_path.iterdir()) == before


def test_open_repetitions_go_on_point_by_point(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text(
        "campaign: 1\nname: open\nspace: {product: {step: [0, 1]}}\nuntil: {detect: 0.5}\n"
        "steps:\n  run:\n"
        "    command: 'echo x >> {dir}/n{step}; n=$(wc -l < {dir}/n{step});"
        " echo v=$((10 + {step} * 8 * (n % 2)))'\n"
        "    metrics: {v: {regex: 'v=(.*)', unit: s, better: lower}}\n"
    )
    found = cli.json("campaign", "run", "c.yaml", "-d", str(cli.target), "-q")
    steady, uneven = found["rows"]
    assert len(steady["metrics"][0]["values"]) == 6
    assert 6 < len(uneven["metrics"][0]["values"]) < 100
    assert "detect a change of" in uneven["enough"]
    again = cli.json("campaign", "resume", "open.campaign", "-q")
    assert again["rows"] == found["rows"]
    assert len((cli.target / "n1").read_text().split()) == len(uneven["metrics"][0]["values"])
    plan = json.loads((tmp_path / "open.campaign" / "plan.json").read_text())
    assert len(plan["tasks"]) == 12  # what came later stands in the journal


def test_texts_that_differ_from_run_to_run_have_no_open_end(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text(
        "campaign: 1\nname: open\nsteps:\n  run:\n    command: 'echo v={repetition}'\n"
        "    metrics: {v: {regex: 'v=(.*)'}}\n"
    )
    done = cli("campaign", "run", "c.yaml", "-d", str(cli.target), "--repeat", "auto")
    assert done.returncode == 2
    assert "names {repetition}" in done.stderr


def test_a_workload_may_say_how_long_it_means_to_take(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "w.yaml"
    path.write_text(
        "workload: 1\nname: patient\nrepeat_within: 1 ms\ngroups: {g: {ranks: 1}}\n"
        "files: {f: {path: f, shared: rank}}\n"
        "program:\n  g:\n    - {phase: w, do: [{create: f}, {compute: 100 ms}]}\n"
        "    - {phase: x, do: [{compute: 100 ms}]}\n"
    )
    record = cli.json("run", str(path), "-d", str(cli.target))
    assert record["repetitions"] == record["repetitions_asked"] < 6
    assert record["enough"].startswith("0.001 s time budget reached")
    said = cli.json("run", str(path), "-d", str(cli.target), "--repeat", "3")
    assert said["repetitions"] == 3


def test_a_product_is_planned_without_a_place(cli: Cli, tmp_path: Path) -> None:
    """`plan --vary` says what each run writes, and makes nothing."""
    found = cli.json("plan", "ior", *SMALL, "--vary", "segments=1,3", "--repeat", "4")
    assert [row["parameters"] for row in found["rows"]] == [{"segments": 1}, {"segments": 3}]
    assert [row["bytes_written"] for row in found["rows"]] == [2**20, 3 * 2**20]
    assert (found["points"], found["runs"], found["bytes_written"]) == (2, 8, 16 * 2**20)
    assert not list(tmp_path.glob("*.campaign"))


def test_a_run_of_a_product_may_be_given_its_time(cli: Cli) -> None:
    words = ("run", "ior", "-d", str(cli.target), *SMALL, "--vary", "segments=1,3", "--dry-run")
    hour, short = (cli.json(*words, "--repeat", "6", *time) for time in ((), ("--time", "90s")))
    assert (hour["most_hours"], short["most_hours"]) == (12.0, 0.3)


@pytest.mark.parametrize("is_file", [False, True])
def test_commands_find_where_venturi_was_started(cli: Cli, tmp_path: Path, is_file: bool) -> None:
    """Also where the campaign's file is elsewhere."""
    (tmp_path / "input").write_text("value 7\n")
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "own.yaml").write_text(
        "workload: 1\nname: own\nparameters: {k: 1}\nprogram:\n  app:\n    - phase: solve\n"
        "      do:\n        - exec:\n            command: cat $VENTURI_FROM/input; true {k}\n"
        "            metrics: {value: {regex: 'value ([0-9]+)'}}\n"
    )
    (tmp_path / "files" / "c.yaml").write_text(
        "campaign: 1\nname: own\nrepeat: 1\nspace: {product: {k: [1, 2]}}\n"
        "steps: {run: {workload: own.yaml, set: {k: '{k}'}}}\n"
    )
    line = ("run", "files/own.yaml", "--vary", "k=1,2", "--repeat", "1")
    if is_file:
        line = ("campaign", "run", "files/c.yaml")
    done = cli(*line, "-d", str(cli.target), "--store", str(cli.store), "-q")
    assert done.returncode == 0, done.stderr + done.stdout
    assert [record["metrics"]["value"]["values"] for record in cli.records()] == [[7], [7]]
