"""`venturi compare DIR1 DIR2 --with WORKLOAD`: runs in turn, records that stay, what is refused."""

from __future__ import annotations

import os
import signal
import tempfile
from pathlib import Path

import pytest

from cli.conftest import Cli, told, wait_for
from venturi.store.public import public
from venturi.store.result import load_result

SMALL = ("--set", "block=1 MiB", "-n", "1")


@pytest.fixture
def places(cli: Cli) -> tuple[str, str]:
    other = cli.target.with_name("other")
    other.mkdir()
    return str(cli.target), str(other)


def left(places: tuple[str, str]) -> list[str]:
    """What is in the two directories."""
    return [name for place in places for name in os.listdir(place)]


def test_runs_alternate_and_each_is_a_record_of_its_place(
    cli: Cli, places: tuple[str, str]
) -> None:
    found = cli.json("compare", *places, "--with", "ior", *SMALL, "--repeat", "4")
    assert found["schema"] == "venturi.comparison-set/2"
    assert (found["first"], found["second"]) == places
    in_turn = found["in_turn"]
    assert in_turn["order"] == "ABBA BAAB"
    records = {record["id"]: record for record in cli.records()}
    assert sorted(in_turn["runs"]) == sorted(records)
    targets = [records[run]["environment"]["directory"] for run in in_turn["runs"]]
    assert targets == [places["AB".index(side)] for side in "ABBABAAB"]
    assert {record["run_of"]["session"] for record in records.values()} == {in_turn["session"]}
    assert all(row["first"]["n"] == row["second"]["n"] == 4 for row in found["parts"][0]["rows"])
    assert in_turn["one_file_system"]
    assert not left(places)
    shared = [public(load_result(folder)) for folder in cli.store.glob("runs/*")]
    assert sorted(result.point for result in shared) == ["A"] * 4 + ["B"] * 4
    assert not any(place in result.to_json() for result in shared for place in places)


def test_runs_of_a_session_are_listed_and_compared_again(
    cli: Cli, places: tuple[str, str], tmp_path: Path
) -> None:
    page = tmp_path / "p.html"
    line = ("compare", *places, "--with", "ior", *SMALL, "--repeat", "1", "-o", str(page))
    done = cli(*line, "--check")
    assert done.returncode == 0, told(done)
    assert "Not decided: 1 and 1 runs are too few" in " ".join(done.stdout.split())
    assert "run 2 of 2" in done.stderr
    assert all(place in page.read_text("utf-8") for place in places)
    (session,) = {record["run_of"]["session"] for record in cli.records()}
    assert len(cli.json("results", "ls", f"session:{session}")) == 2
    assert cli("compare", "@last~1", "@last").returncode == 0


def test_one_directory_twice_is_told(cli: Cli, places: tuple[str, str]) -> None:
    line = ("compare", places[0], places[0], "--with", "ior", *SMALL, "--repeat", "1")
    assert "both names are of one directory" in cli.json(*line)["in_turn"]["remarks"]


def test_a_place_in_memory_is_compared_with_how_the_other_s_numbers_were_made(
    cli: Cli, places: tuple[str, str]
) -> None:
    kind = cli.json("doctor", places[0])["directory"]["file_system"]["type"]
    with tempfile.TemporaryDirectory(dir="/dev/shm") as memory:
        line = ("compare", places[0], memory, "--with", "ior", *SMALL, "--repeat", "1")
        found = cli.json(*line)
    in_turn = found["in_turn"]
    assert [row["name"] for row in found["parts"][0]["rows"]] == ["write", "read"]
    assert "not compared" not in {row["change"] for row in found["parts"][0]["rows"]}
    assert f"{memory} keeps files in memory only: nothing there is on storage" in in_turn["remarks"]
    if kind == "tmpfs":
        assert in_turn["labels"] == {}
    else:
        assert in_turn["labels"]["write"] == f"not flushed in {places[0]}"
        assert in_turn["labels"]["read"].endswith(f" in {places[0]}")


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("{0}", "{1}"), 2, "compare {0} {1} --with quick"),
        (("{0}", "{1}", "--with", "quik"), 2, "quik"),
        (("{0}", "{1}", "--with", "ior", "--repeat", "auto"), 2, "--repeat auto"),
        (("{0}", "{1}", "--with", "ior", "--repeat", "0"), 2, "--repeat 0"),
        (("{0}", "{1}", "--with", "ior", "--io500"), 2, "leave out --with"),
        (("{0}", "{1}", "{0}", "--with", "ior"), 2, "two directories"),
        (("{0}", "{1}", "-n", "2"), 2, "--ranks is for runs of --with"),
        (("{0}", "{1}/none", "--with", "ior"), 5, "{1}/none: there is no such directory"),
        (("{0}", "/proc", "--with", "ior"), 5, "/proc: a kernel pseudo file system"),
        (("/proc", "{1}", "--with", "ior"), 5, "/proc: a kernel pseudo file system"),
        (("{0}", "{1}", "--with", "ior", "--set", "block=900 TiB"), 5, "are free"),
    ],
)
def test_what_cannot_be_measured_is_one_error_before_any_run(
    cli: Cli, places: tuple[str, str], words: tuple[str, ...], code: int, message: str
) -> None:
    done = cli("compare", *(word.format(*places) for word in words))
    assert done.returncode == code, told(done)
    assert message.format(*places) in done.stderr
    assert "-d DIR" not in done.stderr
    assert not cli.records()
    assert not list(cli.store.glob("running/*"))
    assert not left(places)


def test_an_interrupt_keeps_what_was_measured(
    cli: Cli, places: tuple[str, str], tmp_path: Path
) -> None:
    workload = tmp_path / "w.yaml"
    workload.write_text(
        "workload: 1\nname: steady\ngroups: {g: {ranks: 1}}\nfiles: {f: {path: f, shared: rank}}\n"
        "program:\n  g:\n    - phase: w\n      do:\n        - create: f\n"
        "        - write: {to: f, transfer: 4 KiB, count: 100, think: 10 ms}\n"
    )
    process = cli.start("compare", *places, "--with", str(workload), "--json", "--check")
    wait_for(lambda: len(list(cli.store.glob("runs/*/record.json"))) >= 3)
    process.send_signal(signal.SIGINT)
    out, errors = process.communicate(timeout=600)
    assert process.returncode == 130, errors
    assert "interrupted after" in errors
    assert "runs, so --check does not judge the comparison" in errors
    assert '"interrupted": true' in out
    assert 3 <= len(cli.records()) < 12
    assert not list(cli.store.glob("running/*"))
    assert not left(places)


def test_a_run_that_fails_ends_it_and_the_others_are_kept(
    cli: Cli, places: tuple[str, str], tmp_path: Path
) -> None:
    """The third run fails, because its command counts."""
    workload, count = tmp_path / "w.yaml", tmp_path / "count"
    command = f"echo x >> {count}; test $(wc -l < {count}) -lt 3"
    workload.write_text(
        "workload: 1\nname: counting\ngroups: {g: {ranks: 1}}\n"
        "files: {f: {path: f, shared: rank}}\nprogram:\n  g:\n    - phase: w\n      do:\n"
        f"        - create: f\n        - exec: {{command: '{command}'}}\n"
    )
    done = cli("compare", *places, "--with", str(workload), "-q", "--check")
    assert done.returncode == 3, told(done)
    assert "so --check does not judge the comparison" in done.stderr
    assert f"run 3 in {places[1]} failed" in done.stderr
    assert "kept" in done.stderr
    assert len(cli.records()) == 3
    assert not left(places)
