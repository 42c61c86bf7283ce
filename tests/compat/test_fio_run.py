"""Runs of fio's jobs by our engine: what they did, in which order, and what is printed of it."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from compat.conftest import Tool
from compat.fio_calls import calls_of, trace
from venturi.compat.fio_command import read_command
from venturi.compat.fio_place import can_reserve
from venturi.compat.fio_workload import fio_run
from venturi.importers.json_output import readings

KIB = 1024


def record_of(tool: Tool, *words: str) -> dict[str, Any]:
    done = tool("fio", "-q", "--json", "--", *words)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def phases_of(record: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {row["path"]: row for row in record["phases"]}


def operations(row: dict[str, Any]) -> dict[str, int]:
    return {kind: found["operations"] for kind, found in row["by_operation"].items()}


def job_file(tool: Tool, *lines: str) -> str:
    path = tool.target / "job.fio"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path.name


ASYNCHRONOUS = (
    "--rw=read --size=70k --bs=4k --ioengine=io_uring --iodepth=8",
    "--rw=randread --size=64k --bs=4k --ioengine=libaio --iodepth=4 --direct=1",
    "--rw=randwrite --size=64k --bs=4k --ioengine=io_uring --iodepth=8 --loops=2",
    "--rw=write --size=64k --bs=16k --ioengine=mmap --numjobs=2",
    "--rw=randread --size=64k --bs=4k --ioengine=mmap --io_size=100k",
    "--rw=write --size=64k --bs=1k --ioengine=io_uring --offset=8k --number_ios=30",
    "--rw=randread --size=66k --bs=4k --random_distribution=zipf:1.1 --ioengine=io_uring",
)
"""Jobs whose transfers are no calls that can be traced."""


@pytest.mark.needs("fio")
@pytest.mark.parametrize("words", ASYNCHRONOUS)
def test_requests_and_bytes_are_as_many_as_fios(tool: Tool, words: str) -> None:
    line = ["--name=a", *words.split(), "--group_reporting"]
    place = tool.target / "fio"
    place.mkdir()
    command = ["fio", *line, "--output-format=json"]
    text = subprocess.run(command, capture_output=True, cwd=place, check=True).stdout
    (job,) = json.loads(text)["jobs"]
    done = tool("fio", "-q", "--", *line, "--output-format=json")
    assert done.returncode == 0, done.stderr
    (ours,) = json.loads(done.stdout)["jobs"]
    for way in ("read", "write"):
        for key in ("io_bytes", "total_ios"):
            assert ours[way][key] == job[way][key], (way, key)


@pytest.mark.needs("fio")
@pytest.mark.parametrize(
    "words",
    ["--rw=write --fsync=4", "--rw=randread --loops=2", "--rw=randrw", "--rw=write --bs=3k"],
)
@pytest.mark.parametrize("grouped", [False, True])
def test_clones_have_the_entries_that_fio_gives_them(tool: Tool, words: str, grouped: bool) -> None:
    """Bytes and requests of each; a job that reads and writes has one entry here."""
    line = ["--name=a", "--size=64k", "--bs=4k", "--numjobs=3", *words.split()]
    line += ["--group_reporting"] * grouped
    place = tool.target / "fio"
    place.mkdir()
    command = ["fio", *line, "--output-format=json"]
    text = subprocess.run(command, capture_output=True, cwd=place, check=True).stdout
    theirs = json.loads(text)["jobs"]
    done = tool("fio", "-q", "--", *line, "--output-format=json")
    assert done.returncode == 0, done.stderr
    ours = json.loads(done.stdout)["jobs"]
    if "randrw" in words:
        assert len(ours) == 1
        return
    assert [job["jobname"] for job in ours] == [job["jobname"] for job in theirs]
    for one, other in zip(ours, theirs, strict=True):
        for way in ("read", "write"):
            for key in ("io_bytes", "total_ios"):
                assert one[way][key] == other[way][key], (way, key)
        way = "read" if "read" in words else "write"
        assert one[way]["lat_ns"]["N"] == one[way]["total_ios"]
        assert one[way]["lat_ns"]["max"] > 0
        assert one[way]["iops"] > 0


@pytest.mark.parametrize(
    ("way", "more"),
    [("randread", ""), ("randread", "--norandommap"), ("randread", "--nrfiles=2"), ("write", "")],
)
def test_a_ramp_is_no_part_of_what_is_measured(tool: Tool, way: str, more: str) -> None:
    """It is a phase before it, of its own time; random places come in another order."""
    line = ["--name=a", "--size=1m", "--bs=4k", "--direct=1", f"--rw={way}", "--time_based"]
    line += more.split()
    line += ["--runtime=300ms", "--ramp_time=200ms"]
    done = tool("fio", "-q", "--", *line, "--output-format=json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    path = tool.store / "runs" / document["venturi"]["record"] / "record.json"
    record = json.loads(path.read_text("utf-8"))
    rows = [row for row in record["phases"] if row["path"] in ("a", "a ramp")]
    assert [row["path"] for row in rows] == ["a ramp", "a"]
    ramp, own = rows
    assert ramp["seconds"]["total"] >= 0.2
    assert own["seconds"]["total"] >= 0.3
    assert own["at_s"] >= ramp["at_s"] + ramp["seconds"]["total"]
    (job,) = document["jobs"]
    measured = job["read" if way == "randread" else "write"]
    assert measured["io_bytes"] == own["bytes"]
    assert measured["runtime"] == round(own["seconds"]["total"] * 1000)
    bodies = {step["phase"]: step["do"] for step in record["workload"]["program"]["a"]}
    assert (bodies["a"] == bodies["a ramp"]) == (way == "write")


OPENED = (
    "--rw=write --size=32k",
    "--rw=read --size=32k --loops=3",
    "--rw=randread --size=32k --nrfiles=3",
    "--rw=write --size=32k --io_size=50k --create_on_open=1",
    "--rw=write --size=32k --filename=f:g --end_fsync=1",
)


@pytest.mark.needs("fio", "strace")
@pytest.mark.parametrize("words", OPENED)
def test_files_are_opened_synced_and_closed_as_often(tool: Tool, words: str) -> None:
    line = ["--name=a", "--bs=4k", *words.split()]
    text = trace(["fio", *line], tool.target, tool.target / "fio.txt", {})
    parent = text.split(None, 1)[0]
    found = calls_of(text, re.compile(r"^((?:a|f|g)(?:\.\d+){0,2})$"))
    (theirs,) = (calls for pid, calls in found.items() if pid != parent)
    rows = [row for row in record_of(tool, *line)["phases"] if row["path"] == "a"]
    ours = {"open": 0, "close": 0, "fsync": 0}
    for row in rows:
        for kind, count in operations(row).items():
            name = {"create": "open", "sync": "fsync"}.get(kind, kind)
            ours[name] = ours.get(name, 0) + count
    for kind in ("open", "close", "fsync"):
        assert ours[kind] == sum(call.kind == kind for call in theirs), kind


def test_jobs_begin_when_those_before_them_have_ended(tool: Tool) -> None:
    file = job_file(
        tool,
        "[global]\nsize=256k\nrw=write",
        "[a]\nthinktime=2000\nbs=64k",
        "[b]\nnumjobs=2",
        "[c]\nstonewall\nrw=randread",
        "[d]\nwait_for=a\nwait_for=c",
    )
    rows = phases_of(record_of(tool, file))

    def end(name: str) -> float:
        return float(rows[name]["at_s"] + rows[name]["seconds"]["total"])

    assert rows["c"]["at_s"] >= max(end("a"), end("b"))
    assert rows["d"]["at_s"] >= end("c")
    assert rows["a"]["at_s"] < end("b")
    assert [rows[name]["bytes"] for name in "abcd"] == [KIB << 8, KIB << 9, KIB << 8, KIB << 8]


def test_a_file_is_written_by_one_job_and_read_by_the_next(tool: Tool) -> None:
    file = job_file(
        tool,
        "[global]\nfilename=data\nsize=512k\nfadvise_hint=0",
        "[w]\nrw=write\nbs=64k\nend_fsync=1",
        "[r]\nstonewall\nrw=read\nbs=4k",
    )
    record = record_of(tool, file)
    rows = phases_of(record)
    assert list(rows) == ["w layout", "w", "r opening", "r"]
    assert operations(rows["r"])["read"] == 128
    assert record["verdict"]["level"] != "INVALID"


def test_a_reader_in_another_way_opens_what_the_writer_made(tool: Tool) -> None:
    file = job_file(
        tool, "[global]\nfilename=data\nsize=512k", "[w]\nrw=write", "[r]\nstonewall\nrw=randread"
    )
    rows = phases_of(record_of(tool, file))
    assert list(rows) == ["w layout", "w", "r opening", "r cache", "r"]
    assert operations(rows["r cache"]) == {}
    assert operations(rows["r"])["read"] == 128


def test_what_is_written_is_read_back_and_checked(tool: Tool) -> None:
    words = ["--name=a", "--rw=randwrite", "--size=256k", "--verify=sha256"]
    rows = phases_of(record_of(tool, *words))
    assert operations(rows["a verify"])["read"] == 64


def test_a_file_of_somebody_else_is_read_and_never_written(tool: Tool) -> None:
    foreign = tool.target / "data"
    content = bytes(range(256)) * 256
    foreign.write_bytes(content)
    line = ["--name=a", "--filename=data", "--bs=4k", "--invalidate=0"]
    record = record_of(tool, *line, "--rw=read")
    assert phases_of(record)["a"]["bytes"] == len(content)
    assert any("foreign file read" in warning for warning in record["warnings"])
    record_of(tool, *line, "--rw=write", "--size=64k")
    assert foreign.read_bytes() == content
    assert [path.name for path in tool.target.iterdir()] == ["data"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--filename=data --size=8k --invalidate=0", "is somebody else's and has 4096 B"),
        ("--filename=data --size=4k", "the pages of somebody else's file stay where they are"),
        ("--filename=data --invalidate=0 --verify=md5", "bears no stamps"),
        ("--filename=/dev/zero --size=4k", "is no regular file"),
        ("--filename=. --size=4k", "is no regular file"),
        ("--filename=/tmp/x:/var/x --size=4k", "a run has one directory"),
    ],
)
def test_what_a_run_never_touches(tool: Tool, words: str, message: str) -> None:
    (tool.target / "data").write_bytes(bytes(4096))
    done = tool("fio", "-q", "--", "--name=a", *words.split())
    assert done.returncode == 2
    assert message in done.stderr


def test_commands_in_a_job_file_are_not_executed(tool: Tool) -> None:
    file = job_file(tool, "[a]", "size=4k", "exec_prerun=touch here", "exec_postrun=touch here")
    done = tool("fio", "-q", "--", file)
    assert done.returncode == 2
    assert done.stderr.count("commands are never executed on behalf of a job file") == 2
    assert not (tool.target / "here").exists()


def test_native_reserves_only_where_it_can(tmp_path: Path) -> None:
    for word, reserved in (("native", False), ("posix", True)):
        words = ["--name=a", "--rw=write", "--size=4k", f"--fallocate={word}"]
        run = fio_run(read_command([*words, f"--directory={tmp_path}"]), reserves=lambda _: False)
        (spec,) = run.trial.workload.files.values()
        assert ("preallocate" in spec.options) == reserved
        assert bool(run.trial.warnings) != reserved
    assert can_reserve(tmp_path)
    assert can_reserve(tmp_path / "missing" / "too")
    assert not list(tmp_path.iterdir())


def test_a_time_limit_and_a_rate_hold(tool: Tool) -> None:
    words = ["--name=a", "--rw=randwrite", "--size=64k", "--time_based", "--runtime=300ms"]
    row = phases_of(record_of(tool, *words))["a"]
    assert row["seconds"]["total"] >= 0.3
    assert operations(row)["write"] >= 16
    words = ["--name=a", "--rw=write", "--size=64k", "--rate_iops=100"]
    assert phases_of(record_of(tool, *words))["a"]["seconds"]["total"] >= 0.15


def test_sizes_in_a_split_have_their_exact_shares(tool: Tool) -> None:
    words = ["--name=a", "--rw=write", "--size=300k", "--bssplit=4k/75:16k/25"]
    record = record_of(tool, *words)
    row = phases_of(record)["a"]
    assert row["bytes"] == 300 * KIB
    sizes = {each["bytes"]: each["count"] for each in row["request_sizes"]}
    assert sizes == {4 * KIB: 3 * 10 + 5, 16 * KIB: 10}


def test_the_json_is_read_like_fios(tool: Tool) -> None:
    words = ["--name=a", "--rw=randrw", "--rwmixread=75", "--size=256k", "--numjobs=2"]
    out = tool.target / "out.json"
    done = tool("fio", "-q", "--", *words, "--output-format=json", f"--output={out}")
    assert done.returncode == 0, done.stderr
    assert not done.stdout
    assert "INDICATIVE" in done.stderr
    data = json.loads(out.read_text("utf-8"))
    (job,) = data["jobs"]
    assert (job["read"]["total_ios"], job["write"]["total_ios"]) == (96, 32)
    for way in ("read", "write"):
        found = job[way]
        assert found["clat_ns"]["N"] == found["total_ios"]
        marks = list(found["clat_ns"]["percentile"].values())
        assert marks == sorted(marks)
        assert found["clat_ns"]["min"] <= found["clat_ns"]["mean"] <= found["clat_ns"]["max"]
    runs = readings(data)
    assert runs is not None
    assert runs[0].metrics["read"].values == [float(job["read"]["bw_bytes"])]
    assert runs[0].ranks == 2


def test_the_json_counts_all_syncs(tool: Tool) -> None:
    words = ["--name=a", "--rw=write", "--size=64k", "--fsync=4", "--end_fsync=1"]
    done = tool("fio", "-q", "--", *words, "--output-format=json")
    (job,) = json.loads(done.stdout)["jobs"]
    assert job["sync"]["total_ios"] == job["sync"]["lat_ns"]["N"] == 3 + 1


def test_a_json_that_cannot_be_written_is_one_sentence(tool: Tool) -> None:
    words = ["--name=a", "--size=4k", "--output-format=json", "--output=nowhere/x"]
    done = tool("fio", "-q", "--", *words)
    assert done.returncode == 2
    assert "--output=nowhere/x: it cannot be written" in done.stderr


@pytest.mark.parametrize(
    "words", ["--numjobs=3 --bs=1k", "--direct=1 --bs=4k", "--direct=1 --numjobs=3 --bs=4k"]
)
def test_a_shared_file_of_any_size_is_full_before_it_is_read(tool: Tool, words: str) -> None:
    line = ["--name=a", "--rw=read", "--filename=f", "--size=70001", *words.split()]
    row = phases_of(record_of(tool, *line))["a"]
    block = 1024 if "1k" in words else 4096
    assert row["bytes"] == (3 if "numjobs" in words else 1) * (70001 // block) * block


def test_jobs_of_one_name_have_equally_many_files(tool: Tool) -> None:
    file = job_file(tool, "[a]\nsize=64k", "[a]\nsize=64k\nnrfiles=2\nstonewall")
    done = tool("fio", "--dry-run", "--", file)
    assert done.returncode == 2
    assert "nrfiles=2 is refused: another job of this name has 1" in done.stderr


def test_a_plan_makes_nothing(tool: Tool) -> None:
    for line in (("--dry-run", "--"), ("--",)):
        words = ["--name=a", "--size=1m", *([] if "--dry-run" in line else ["--parse-only"])]
        done = tool("fio", *line, *words)
        assert done.returncode == 0, done.stderr
        assert "1,048,576 B" in done.stdout
    assert not list(Path(tool.target).iterdir())


def test_what_is_wrong_in_a_file_is_said_once(tool: Tool) -> None:
    file = job_file(tool, "[a]\nsize=64k\ninclude job.fio\nunheard=1")
    done = tool("fio", "--dry-run", "--", file)
    assert done.returncode == 2
    lines = done.stderr.splitlines()
    assert sum("no sections" in line for line in lines) == 1
    assert len(lines) == len(set(lines))
