"""`venturi compat ior`: exit codes, files that stay, files of others that are read, bad data."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from compat.conftest import Finished, Tool

KIB = 1024


def ior(tool: Tool, words: str, *own: str) -> Finished:
    return tool("ior", "-q", *own, "--", *shlex.split(words), "-o", "./f")


def record_of(done: Finished) -> Any:
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


def kept(tool: Tool) -> list[Path]:
    """Files of runs that are still there."""
    found = tool.target.glob("venturi-*/**/*")
    return sorted(path for path in found if path.is_file() and path.name != ".venturi")


def test_the_default_is_our_result_and_nothing_stays(tool: Tool) -> None:
    done = ior(tool, "-w -r -b 1m -i 2", "-n", "2")
    assert done.returncode == 0, done.stderr
    assert "INDICATIVE" in done.stdout
    assert list(tool.target.iterdir()) == []


def test_kept_files_are_read_by_a_later_command(tool: Tool) -> None:
    assert ior(tool, "-w -k -F -b 256k -t 64k", "-n", "2").returncode == 0
    assert [path.name for path in kept(tool)] == ["f.00000000", "f.00000001"]
    record = record_of(ior(tool, "-r -F -b 256k -t 64k", "-n", "2", "--json"))
    assert record["phases"][0]["by_operation"]["read"]["operations"] == 8
    assert [path.name for path in kept(tool)] == ["f.00000000", "f.00000001"]


def test_a_file_of_somebody_is_read_where_it_is_and_stays(tool: Tool) -> None:
    path = tool.target / "f"
    path.write_bytes(b"theirs" * 64 * KIB)
    before = path.stat()
    record = record_of(ior(tool, "-r -b 128k -t 64k -zz", "-n", "2", "--json"))
    assert record["phases"][0]["bytes"] == 256 * KIB
    after = path.stat()
    assert (after.st_ino, after.st_mtime_ns, after.st_size) == (
        before.st_ino,
        before.st_mtime_ns,
        before.st_size,
    )


def test_kept_repetitions(tool: Tool) -> None:
    assert ior(tool, "-w -k -m -i 3 -b 64k -t 64k").returncode == 0
    assert [path.name for path in kept(tool)] == ["f.0", "f.1", "f.2"]
    assert ior(tool, "-w -k -i 2 -b 64k -t 64k -o ./g").returncode == 0


def test_files_stay_for_errors_only_with_capital_k(tool: Tool) -> None:
    record = record_of(ior(tool, "-w -R -K -b 64k -t 64k", "--json"))
    assert record["left"] == []
    assert kept(tool) == []


def test_the_status_file_tells_a_reader_how_much_there_is(tool: Tool) -> None:
    words = "-w -k -D 1 -b 4g -t 4k -O stoneWallingWearOut=1,stoneWallingStatusFile=./count"
    record = record_of(ior(tool, words, "-n", "2", "--json"))
    count = int((tool.target / "count").read_text("ascii"))
    assert record["phases"][0]["by_operation"]["write"]["operations"] == 2 * count
    words = "-r -k -b 4g -t 4k -O stoneWallingStatusFile=./count"
    record = record_of(ior(tool, words, "-n", "2", "--json"))
    assert record["phases"][0]["by_operation"]["read"]["operations"] == 2 * count


def test_tests_of_a_script_are_runs_with_records(tool: Tool) -> None:
    script = "IOR START\ntestFile=./g,blockSize=64k,transferSize=64k\nRUN\nsegmentCount=3\nRUN\n"
    (tool.target / "two.ior").write_text(script + "IOR STOP\n", "utf-8")
    records = record_of(tool("ior", "-q", "--json", "--", "-w", "-f", "two.ior"))
    assert [record["phases"][0]["bytes"] for record in records] == [64 * KIB, 192 * KIB]
    assert len({record["id"] for record in records}) == 2


def test_what_one_test_measured_is_printed_when_the_next_is_refused(tool: Tool) -> None:
    script = "IOR START\ntestFile=./g,blockSize=64k,transferSize=64k\nRUN\nsegmentCount=9t\nRUN\n"
    (tool.target / "two.ior").write_text(script + "IOR STOP\n", "utf-8")
    done = tool("ior", "-q", "--output-format", "ior-json", "--", "-w", "-f", "two.ior")
    assert done.returncode in (2, 5)
    document = json.loads(done.stdout)
    assert len(document["tests"]) == 1
    assert document["error"]


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ("-w -q", 2, "there is no option -q"),
        ("-w -O blocksiz=1m", 2, "did you mean 'blockSize'?"),
        ("-w -b 10k -t 4k", 2, "does not divide"),
        ("-w -a HDFS", 2, "is refused"),
        ("-r", 5, "no such file"),
        ("-w -C -r --warningAsErrors -b 64k -t 64k", 3, "cannot defeat the cache"),
        ("-w --dryRun -b 1t", 0, ""),
    ],
)
def test_exit_codes(tool: Tool, words: str, code: int, message: str) -> None:
    done = ior(tool, words)
    assert done.returncode == code, done.stderr
    assert message in done.stderr + " ".join(done.stdout.split())
    assert list(tool.target.iterdir()) == []


def test_iors_options_stand_behind_two_dashes(tool: Tool) -> None:
    done = tool("ior", "-w", "-t", "64k")
    assert done.returncode == 2
    assert "-w" in done.stderr


def test_even_a_refusal_is_valid_json(tool: Tool) -> None:
    done = ior(tool, "-r", "--output-format", "ior-json")
    assert done.returncode == 5
    assert "no such file" in json.loads(done.stdout)["error"]


def test_mpirun_in_front_is_told(tool: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "4")
    done = ior(tool, "-w")
    assert done.returncode == 2
    assert "without mpirun" in done.stderr


def test_128_bad_transfers_are_found_and_do_not_exit_0(tool: Tool) -> None:
    """IOR counts them twice and takes the rest of 256: 0. Each is found here, and located."""
    words = "-w -r -R -d 5 -t 4k -b 1m"
    line = [sys.executable, "-m", "venturi", "ior", "-q", "--json", "--", *shlex.split(words)]
    environment = {**os.environ, **tool.variables()}
    child = subprocess.Popen(
        [*line, "-o", "./f"],
        cwd=tool.target,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    _spoil(tool, transfers=128)
    output, _ = child.communicate(timeout=600)
    record = json.loads(output)
    assert child.returncode == 3
    assert record["verdict"]["level"] == "INVALID"
    read = next(row for row in record["phases"] if row["path"] == "read")
    assert read["errors"] == 128


def _spoil(tool: Tool, transfers: int) -> None:
    """Swap and flip, while the test sleeps between its write and its read (-d)."""
    end = time.monotonic() + 600
    while time.monotonic() < end:
        events = list(tool.store.glob("running/*/events.jsonl"))
        if events and '"phase_finished"' in events[0].read_text():
            break
        time.sleep(0.02)
    path = next(tool.target.glob("venturi-*/f"))
    with path.open("r+b") as file:
        for number in range(0, transfers, 2):
            one, other = number * 4 * KIB, (number + 1) * 4 * KIB
            first, second = os.pread(file.fileno(), 4 * KIB, one), b""
            second = os.pread(file.fileno(), 4 * KIB, other)
            os.pwrite(file.fileno(), second, one)
            os.pwrite(file.fileno(), first, other)


def test_a_timed_read_is_checked_only_where_it_is_asked_for(tool: Tool) -> None:
    record = record_of(ior(tool, "-w -r -W -b 64k -t 4k", "--json"))
    steps = {s["phase"]: s["do"] for s in record["workload"]["program"]["tasks"]}
    assert [name for name in steps] == ["write", "check", "read"]
    assert steps["read"][1]["read"]["verify"] is False
    assert "verify" not in steps["check"][1]["read"]


def test_transfers_that_o_direct_refuses_are_a_clear_error(tool: Tool) -> None:
    done = ior(tool, "-w --posix.odirect -t 47008 -b 47008", "--output-format", "ior-csv")
    if "Invalid argument" not in done.stderr:  # tmpfs takes it
        assert done.returncode == 0
        return
    assert done.returncode == 3
