"""`venturi run` as its user would: results, bad targets, kills, and nothing left behind."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from cli.conftest import Cli, descendants, engines_of, wait_for

SIMULATED = ["--set", "interface=simulated", "--set", "interface.latency_s=0.001"]


def test_a_run_makes_a_record_and_leaves_no_file(cli: Cli) -> None:
    record = cli.json("run", "ior", "-d", str(cli.target), "--repeat", "2", "-n", "2")
    assert record["schema"] == "venturi.record/2"
    assert {row["path"] for row in record["phases"]} == {"write", "read"}
    assert all(row["bytes"] == 2 * 16 * 2**20 for row in record["phases"])
    assert record["metrics"]["write"]["n"] == 2
    assert record["verdict"]["level"] == "INDICATIVE"
    assert not list(cli.target.iterdir())
    assert not list(cli.store.glob("running/*"))
    assert cli.json("results", "ls")[0]["id"] == record["id"]
    assert cli.json("results", "show", "@last")["id"] == record["id"]


@pytest.mark.parametrize(("keep", "told"), [(0, "left no files"), (1, "removed the files of")])
def test_removing_files_says_whether_there_were_any(cli: Cli, keep: int, told: str) -> None:
    workload = cli.target / "kept.yaml"
    workload.write_text(
        f"workload: 1\nname: kept\nfiles: {{f: {{path: f, keep: {['false', 'true'][keep]}}}}}\n"
        "program: {all: [{phase: write, do: [{write: {to: f, size: 4 KiB}}]}]}\n"
    )
    cli.json("run", str(workload), "-d", str(cli.target), "--repeat", "1")
    assert len(list(cli.target.glob("*/f"))) == keep
    done = cli("results", "rm", "@last", "--files", "--yes")
    assert done.returncode == 0
    assert told in done.stderr
    assert list(cli.target.iterdir()) == [workload]
    assert "left no files" in cli("results", "rm", "@last", "--files", "--yes").stderr


def test_files_that_others_removed_were_not_removed_here(cli: Cli) -> None:
    """And what stands in the place of the run's directory is not the run's."""
    workload = cli.target / "kept.yaml"
    workload.write_text(
        "workload: 1\nname: kept\nfiles: {f: {path: f, keep: true}}\n"
        "program: {all: [{phase: write, do: [{write: {to: f, size: 4 KiB}}]}]}\n"
    )
    cli.json("run", str(workload), "-d", str(cli.target), "--repeat", "1")
    (place,) = cli.target.glob("venturi-*")
    place.rename(cli.target / "elsewhere")
    place.mkdir()
    (place / "f").write_text("theirs")
    done = cli("results", "rm", "@last", "--files", "--yes")
    assert done.returncode == 0
    assert "is there any more, so none was removed" in done.stderr
    assert (place / "f").read_text() == "theirs"
    assert (cli.target / "elsewhere" / "f").stat().st_size == 4096


def test_simulated_time_is_exact(cli: Cli) -> None:
    words = [*SIMULATED, "--set", "interface.bandwidth_bytes_per_s=1e9", "--repeat", "1"]
    record = cli.json("run", "ior", "-d", str(cli.target), "-n", "3", *words)
    for row in record["phases"]:
        requests, part = 64, 16 * 2**20
        expected = requests * 0.001 + part / 1e9
        assert row["seconds"]["transfer"] == pytest.approx(expected, rel=1e-6)
        # One rank creates, then the others open; or all open at once; then all close.
        calls = 3 if row["path"] == "write" else 2
        assert row["seconds"]["total"] == pytest.approx(expected + calls * 0.001, rel=1e-6)
    assert record["verdict"]["level"] == "INDICATIVE"
    assert record["labels"] == {"write": ["simulated"], "read": ["simulated"]}
    assert record["metrics"]["read"]["labels"][0] == "simulated"


@pytest.mark.parametrize("machine", ["openmpi", "mpich"])
def test_both_mpis_do_the_same_work(cli: Cli, machine: str) -> None:
    record = cli.json("run", "ior", "-d", str(cli.target), "--repeat", "1", "--on", machine)
    assert machine.replace("openmpi", "open mpi") in record["environment"]["comm"].lower()
    assert [row["bytes"] for row in record["phases"]] == [2 * 16 * 2**20] * 2


def test_someone_s_files_are_not_touched(cli: Cli) -> None:
    (cli.target / "testfile").write_text("precious")
    (cli.target / "venturi-old").mkdir()
    before = sorted(os.listdir(cli.target))
    cli.json("run", "ior", "-d", str(cli.target), "--repeat", "1")
    assert sorted(os.listdir(cli.target)) == before
    assert (cli.target / "testfile").read_text() == "precious"


def assert_refused(done: subprocess.CompletedProcess[str], code: int, message: str) -> None:
    assert done.returncode == code, done.stderr
    lines = done.stderr.strip().splitlines()
    assert lines[0].startswith("venturi: ")
    assert message in done.stderr
    assert len(lines) <= 2
    assert not done.stdout


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["run", "ior", "-d", "{dir}/none"], 5, "no such directory"),
        (["run", "ior", "-d", "{file}"], 5, "not a directory"),
        (["run", "ior", "-d", "/proc"], 5, "not storage"),
        (["run", "ior", "-d", "{dir}", "--set", "block=1 PiB"], 5, "are free"),
        (["run", "ior", "-d", "{dir}", "-n", "0"], 2, "at least one"),
        (["run", "ior", "-d", "{dir}", "-n", "1000000000"], 2, "most_ranks"),
        (["run", "ior", "-d", "{dir}", "--set", "block=9223372036854775808"], 2, "overflow"),
        (["run", "ior", "-d", "{dir}", "--set", "blok=1"], 2, "did you mean 'block'"),
        (["run", "ior", "-d", "{dir}", "--set", "interface=mpiio"], 2, "start it under mpirun"),
        (["run", "ior", "-d", "{dir}", "--set", "interface.x=1"], 2, "posix has no such option"),
        (["run", "ior", "-d", "{dir}", "--on", "nowhere"], 2, "no such machine"),
        (["run", "iorr", "-d", "{dir}"], 2, "no workload"),
        (["run", "ior"], 2, "--dir"),
        (["runn"], 2, "did you mean 'run'"),
        (["report", "@last"], 2, "there are 0"),
    ],
)
def test_bad_input_is_one_clear_error(
    cli: Cli, tmp_path: Path, words: list[str], code: int, message: str
) -> None:
    file = tmp_path / "file"
    file.touch()
    words = [word.format(dir=cli.target, file=file) for word in words]
    assert_refused(cli(*words), code, message)
    assert not list(cli.target.iterdir())
    assert not cli.records()
    assert not list(cli.store.glob("running/*"))


@pytest.mark.needs("root")
def test_a_disk_that_is_full_before_and_one_that_fills_up(cli: Cli, tmp_path: Path) -> None:
    mount = tmp_path / "small"
    mount.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "none", str(mount)], check=True)
    try:
        refused = cli("run", "ior", "-d", str(mount), "--set", "block=6 MiB")
        assert_refused(refused, 5, "are free")
        workload = tmp_path / "w.yaml"
        workload.write_text(
            "workload: 1\nname: fills\nfiles: {f: {path: f}}\nprogram:\n  g:\n"
            "    - {phase: first, do: [{create: f}, {write: {to: f, size: 1 KiB}}]}\n"
            "    - phase: second\n      do:\n"
            "        - write: {to: f, transfer: 64 KiB, count: 100, think: 300 ms}\n"
        )
        process = cli.start("run", str(workload), "-d", str(mount))
        cli.journal()
        with contextlib.suppress(OSError), (mount / "ballast").open("wb", buffering=0) as file:
            while file.write(b"x" * 4096):
                pass
        _, errors = process.communicate(timeout=600)
        assert process.returncode == 3, errors
        (record,) = cli.records()
        assert "No space left" in record["failure"]
        assert [p.name for p in mount.iterdir()] == ["ballast"]
    finally:
        subprocess.run(["umount", str(mount)], check=True)


def test_an_error_of_the_storage_is_exit_3_with_its_place(cli: Cli, tmp_path: Path) -> None:
    workload = tmp_path / "w.yaml"
    workload.write_text(
        "workload: 1\nname: broken\nparameters: {np: {default: 2, role: ranks}}\n"
        "groups: {g: {ranks: np}}\nfiles:\n  f:\n    path: f\n    shared: rank\n"
        "    faults: [{kind: enospc, operation: write, nth: 3, rank: 1}]\n"
        "program:\n  g:\n    - phase: w\n"
        "      do: [{create: f}, {write: {to: f, transfer: 1 KiB, count: 8}}]\n"
    )
    record = cli.json("run", str(workload), "-d", str(cli.target), code=3)
    assert record["verdict"]["level"] == "INVALID"
    detail = record["phases"][0]["details"][0]
    assert (detail["rank"], detail["operation"], detail["errno"]) == (1, "write", 28)
    assert record["partial"]
    assert not list(cli.target.iterdir())


def test_a_flipped_bit_is_found(cli: Cli, tmp_path: Path) -> None:
    workload = tmp_path / "w.yaml"
    workload.write_text(
        "workload: 1\nname: flip\nfiles:\n  f:\n    path: f\n    content: {verify: true}\n"
        "    faults: [{kind: flip, operation: read, nth: 5}]\n"
        "program:\n  g:\n"
        "    - phase: w\n      do: [{write: {to: f, transfer: 64 KiB, count: 8}}]\n"
        "    - phase: r\n      do: [{read: {from: f, transfer: 64 KiB, count: 8}}]\n"
    )
    record = cli.json("run", str(workload), "-d", str(cli.target), "--repeat", "1", code=3)
    row = next(row for row in record["phases"] if row["path"] == "r")
    assert row["errors"] == 1
    assert "bit" in row["details"][0]["what"]
    assert not record["partial"]


@pytest.mark.parametrize("victim", ["engine", "rank"])
def test_kill_9_keeps_finished_phases(cli: Cli, slow_workload: Path, victim: str) -> None:
    process = cli.start("run", str(slow_workload), "-d", str(cli.target), "--json")
    cli.journal()
    engines = engines_of(process.pid)
    assert len(engines) == 3
    os.kill(engines[0 if victim == "engine" else -1], signal.SIGKILL)
    process.communicate(timeout=600)
    assert process.returncode == 3
    (record,) = cli.records()
    assert record["partial"]
    assert record["verdict"]["level"] == "INVALID"
    assert "first" in {row["path"] for row in record["phases"]}
    assert not list(cli.target.iterdir())
    wait_for(lambda: not any(Path(f"/proc/{pid}").exists() for pid in engines))


def test_kill_9_of_the_command_is_concluded_later(cli: Cli, slow_workload: Path) -> None:
    process = cli.start("run", str(slow_workload), "-d", str(cli.target))
    cli.journal()
    engines = engines_of(process.pid)
    process.kill()
    process.wait()
    wait_for(lambda: not any(Path(f"/proc/{pid}").exists() for pid in engines))
    listed = cli.json("results", "ls")
    assert [entry["level"] for entry in listed] == ["INVALID"]
    (record,) = cli.records()
    assert record["partial"]
    assert "first" in {row["path"] for row in record["phases"]}
    assert not list(cli.target.iterdir())


def test_ctrl_c_once_finishes_the_repetition(cli: Cli, tmp_path: Path) -> None:
    workload = tmp_path / "w.yaml"
    workload.write_text(
        "workload: 1\nname: w\nfiles: {f: {path: f}}\nprogram:\n  g:\n    - phase: p\n"
        "      do: [{create: f}, {write: {to: f, transfer: 1 KiB, count: 20, think: 20 ms}}]\n"
    )
    words = ["run", str(workload), "-d", str(cli.target), "--repeat", "50"]
    process = cli.start(*words)
    cli.journal()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=600)
    assert process.returncode == 130
    (record,) = cli.records()
    assert record["partial"]
    assert 1 <= record["repetitions"] < 50
    assert record["verdict"]["level"] != "INVALID"
    assert not list(cli.target.iterdir())


def test_ctrl_c_twice_stops_now(cli: Cli, slow_workload: Path) -> None:
    process = cli.start("run", str(slow_workload), "-d", str(cli.target))
    cli.journal()
    process.send_signal(signal.SIGINT)
    wait_for(lambda: list(cli.store.glob("running/*/stop")))
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=600)
    assert process.returncode == 130
    (record,) = cli.records()
    assert "first" in {row["path"] for row in record["phases"]}
    assert not list(cli.target.iterdir())


def test_kept_files_are_listed_with_what_removes_them(cli: Cli, tmp_path: Path) -> None:
    workload = tmp_path / "w.yaml"
    workload.write_text(
        "workload: 1\nname: keep\nfiles: {f: {path: data/f, keep: true}}\nprogram:\n  g:\n"
        "    - phase: p\n      do: [{create: f}, {write: {to: f, size: 1 KiB}}]\n"
    )
    record = cli.json("run", str(workload), "-d", str(cli.target), "--repeat", "1")
    assert len(record["left"]) == 1
    assert Path(record["left"][0]).stat().st_size == 1024
    words = record["left_command"].split()[1:]
    assert cli(*words).returncode == 0
    assert not list(cli.target.iterdir())
    assert cli.json("results", "show")["left"] == []


def test_rm_takes_runs_of_the_store_and_nothing_else(cli: Cli, tmp_path: Path) -> None:
    record = cli.json("run", "ior", "-d", str(cli.target), "--repeat", "1")
    copy = tmp_path / "project"
    shutil.copytree(cli.store / "runs" / record["id"], copy)
    (copy / "thesis.tex").write_text("precious")
    done = cli("results", "rm", str(copy))
    assert done.returncode == 2
    assert (copy / "thesis.tex").read_text() == "precious"
    mine = cli.store / "runs" / record["id"] / "notes.txt"
    mine.write_text("precious")
    assert cli("results", "rm", record["id"]).returncode == 2
    assert mine.read_text() == "precious"
    mine.unlink()
    mine.parent.joinpath("record.json").write_text("{")
    assert [entry["level"] for entry in cli.json("results", "ls")] == ["UNREADABLE"]


def test_one_damaged_record_or_journal_does_not_hide_the_others(cli: Cli) -> None:
    record = cli.json("run", "ior", "-d", str(cli.target), "--repeat", "1")
    (cli.store / "runs" / "20000101-000000-x-aaaa").mkdir()
    damaged = cli.store / "running" / "damaged"
    damaged.mkdir()
    (damaged / "plan.json").write_text("{")
    listed = cli.json("results", "ls")
    assert [entry["level"] for entry in listed] == ["UNREADABLE", record["verdict"]["level"]]


def test_a_fifo_is_not_read_as_somebody_s_file(cli: Cli, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    workload = tmp_path / "w.yaml"
    workload.write_text(
        f"workload: 1\nname: w\nfiles: {{f: {{path: {tmp_path}/fifo, foreign: true}}}}\n"
        "program:\n  g:\n    - phase: r\n      do: [{read: {from: f, size: 1 KiB}}]\n"
    )
    assert_refused(cli("run", str(workload), "-d", str(cli.target)), 5, "not a regular file")


@pytest.mark.parametrize("machine", ["openmpi", "mpich"])
def test_kill_9_of_mpirun_is_a_partial_record(cli: Cli, slow_workload: Path, machine: str) -> None:
    process = cli.start("run", str(slow_workload), "-d", str(cli.target), "--on", machine)
    cli.journal()
    launcher = descendants(process.pid)[0]
    os.kill(launcher, signal.SIGKILL)
    _, errors = process.communicate(timeout=600)
    assert process.returncode == 3, errors
    (record,) = cli.records()
    assert record["partial"]
    assert "first" in {row["path"] for row in record["phases"]}
    wait_for(lambda: not list(cli.target.iterdir()))
