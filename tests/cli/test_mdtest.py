"""`venturi compat mdtest -- ARGS`: what the engine really does, held against mdtest's formulas."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cli.conftest import Cli
from compat.tool_output import mdtest_tables
from venturi.compat.mdtest_shape import item_paths, node_path, shape_of, shifted

ROWS = {
    "directories": [
        "Directory creation",
        "Directory stat",
        "Directory rename",
        "Directory removal",
    ],
    "files": ["File creation", "File stat", "File read", "File removal"],
}


@pytest.fixture
def cli(tmp_path: Path) -> Iterator[Cli]:
    """`venturi` with a target in memory where there is one: these tests make many files."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else tmp_path) as target:
        yield Cli(tmp_path / "store", Path(target))


def kept(cli: Cli) -> set[str]:
    """Paths below the directory of the one run that kept its files; directories end in a slash."""
    (run,) = cli.target.glob("venturi-*")
    found = {f"{path.relative_to(run)}{'/' if path.is_dir() else ''}" for path in run.rglob("*")}
    return {path for path in found if not path.startswith((".venturi", ".manifest"))}


def created(
    ranks: int,
    *,
    branch: int = 1,
    depth: int = 0,
    items: int = 0,
    per: int = 0,
    leaves: bool = False,
    unique: bool = False,
    stride: int = 0,
    kind: str = "file",
) -> set[str]:
    """What mdtest has after -C, by the formulas of its names."""
    shape = shape_of(branch=branch, depth=depth, items=items, per_directory=per, leaves_only=leaves)
    paths = set()
    for tree in range(shape.trees):
        base = f"test-dir.0-{tree}"
        paths.add(f"{base}/")
        for rank in range(ranks):
            holder = shifted(rank, 1, stride, ranks)  # the directory is one stride further
            stem = f"mdtest_tree.{holder}" if unique else "mdtest_tree"
            nodes = [node_path(shape, n, f"{stem}.0", stem) for n in range(shape.directories)]
            paths |= {f"{base}/{path}/" for path in nodes}
            name = f"{'dir' if kind == 'directory' else 'file'}.mdtest.{rank}."
            end = "/" if kind == "directory" else ""
            paths |= {f"{base}/{path}{end}" for path in item_paths(shape, f"{stem}.0", stem, name)}
    return paths


SHAPES: list[tuple[str, dict[str, Any]]] = [
    ("-n 5", {"items": 5}),
    ("-n 17 -b 2 -z 2", {"items": 17, "branch": 2, "depth": 2}),
    ("-I 2 -b 3 -z 2", {"per": 2, "branch": 3, "depth": 2}),
    ("-I 2 -b 2 -z 2 -L", {"per": 2, "branch": 2, "depth": 2, "leaves": True}),
    ("-n 10 -b 3 -z 2 -L", {"items": 10, "branch": 3, "depth": 2, "leaves": True}),
    ("-I 3 -z 2", {"per": 3, "depth": 2}),
    ("-n 6 -I 2", {"items": 6, "per": 2}),
    ("-n 4 -u", {"items": 4, "unique": True}),
    ("-n 4 -u -N 1", {"items": 4, "unique": True, "stride": 1}),
    ("-I 2 -b 2 -z 1 -u -N 2", {"per": 2, "branch": 2, "depth": 1, "unique": True, "stride": 2}),
]


@pytest.mark.parametrize(("words", "shape"), SHAPES, ids=[words for words, _ in SHAPES])
def test_names_on_disk_are_mdtests(cli: Cli, words: str, shape: dict[str, Any]) -> None:
    done = cli("mdtest", "-n", "3", "--", *words.split(), "-F", "-C", "-d", str(cli.target))
    assert done.returncode == 0, done.stderr
    assert kept(cli) == created(3, **shape)


@pytest.mark.parametrize("words", ["-n 4", "-I 2 -b 2 -z 1", "-n 4 -c", "-n 4 -u -c"])
def test_names_of_directories_on_disk_are_mdtests(cli: Cli, words: str) -> None:
    done = cli("mdtest", "-n", "2", "--", *words.split(), "-D", "-C", "-d", str(cli.target))
    assert done.returncode == 0, done.stderr
    shape = {"items": 4} if "-n" in words else {"per": 2, "branch": 2, "depth": 1}
    assert kept(cli) == created(2, kind="directory", unique="-u" in words, **shape)


def test_each_iteration_has_directories_of_its_own(cli: Cli) -> None:
    words = ["-n", "1", "-F", "-C", "-i", "2", "-k", "-d", str(cli.target)]
    done = cli("mdtest", "--", *words)
    assert done.returncode == 0, done.stderr
    files = {path for path in kept(cli) if not path.endswith("/")}
    assert files == {f"test-dir.{i}-0/mdtest_tree.0/file.mdtest.0.0" for i in range(2)}
    assert operations(cli.records()[0], "File creation") == {"mknod": 1}


def test_a_file_that_all_share_is_made_once(cli: Cli) -> None:
    words = ["-n", "3", "-S", "-C", "-T", "-E", "-w", "10", "-e", "10"]
    record = _record(cli, 3, words)
    tree = "test-dir.0-0/mdtest_tree.0"
    assert kept(cli) == {"test-dir.0-0/", f"{tree}/"} | {
        f"{tree}/file.mdtest.shared.{item}" for item in range(3)
    }
    assert operations(record, "File stat") == {"stat": 9}


def _record(cli: Cli, ranks: int, words: list[str], code: int = 0) -> dict[str, Any]:
    """The record of one command line of mdtest."""
    line = ["mdtest", "-n", str(ranks), "--json", "--", *words, "-d", str(cli.target)]
    done = cli(*line)
    assert done.returncode == code, done.stderr + done.stdout[-500:]
    record: dict[str, Any] = json.loads(done.stdout)
    return record


def operations(record: dict[str, Any], path: str) -> dict[str, int]:
    """Operations of a phase by kind, in the first iteration."""
    row = next(row for row in record["phases"] if row["path"] == path)
    return {kind: found["operations"] for kind, found in row["by_operation"].items()}


def test_phases_come_in_mdtests_order_and_count_its_items(cli: Cli) -> None:
    record = _record(cli, 2, ["-n", "7", "-b", "2", "-z", "1", "-w", "100", "-e", "100", "-i", "2"])
    order = [
        "test directory",
        "Tree creation",
        *ROWS["directories"],
        *ROWS["files"],
        "Tree removal",
    ]
    assert [row["path"] for row in record["phases"]] == 2 * order
    assert operations(record, "Tree creation") == {"mkdir": 3}
    assert operations(record, "Directory creation") == {"mkdir": 12}
    assert operations(record, "Directory stat") == {"stat": 12}
    assert operations(record, "Directory removal") == {"rmdir": 12}
    assert operations(record, "File creation") == {"create": 12, "write": 12, "close": 12}
    assert operations(record, "File stat") == {"stat": 12}
    assert operations(record, "File read") == {"open": 12, "read": 12, "close": 12}
    assert operations(record, "File removal") == {"unlink": 12}
    assert operations(record, "Tree removal") == {"rmdir": 3}
    assert not list(cli.target.iterdir())


def test_what_is_not_created_is_made_first(cli: Cli) -> None:
    record = _record(cli, 2, ["-n", "4", "-T", "-E", "-w", "10", "-e", "10"])
    paths = ["preparation", "Directory stat", "File stat", "File read"]
    assert [row["path"] for row in record["phases"]] == paths
    assert operations(record, "File read") == {"open": 8, "read": 8, "close": 8}
    assert any("nothing is created" in warning for warning in record["warnings"])
    assert not list(cli.target.iterdir())


def test_task_0_creates_and_removes_for_all(cli: Cli) -> None:
    record = _record(cli, 3, ["-n", "4", "-c", "-w", "10", "-F"])
    by_rank = {row["path"]: row["per_rank"]["operations"] for row in record["phases"]}
    assert by_rank["File creation"] == [24 + 12, 12, 12]
    assert by_rank["File removal"] == [12, 0, 0]


def test_one_record_for_each_number_of_tasks(cli: Cli) -> None:
    line = ["mdtest", "-n", "3", "--json", "--", "-n", "2", "-F", "-f", "1", "-l", "3", "-s", "2"]
    done = cli(*line, "-d", str(cli.target))
    assert done.returncode == 0, done.stderr
    assert [record["ranks"] for record in json.loads(done.stdout)] == [1, 2]


def test_several_directories_are_those_that_mdtest_would_make(cli: Cli) -> None:
    places = "@".join(str(cli.target / name) for name in ("a", "b"))
    done = cli("mdtest", "-n", "4", "--", "-n", "2", "-F", "-C", "-u", "-d", places)
    assert done.returncode == 0, done.stderr
    found = {path for path in kept(cli) if not path.endswith("/")}
    assert found == {
        f"{'ab'[rank % 2]}/test-dir.0-0/mdtest_tree.{rank}.0/file.mdtest.{rank}.{item}"
        for rank in range(4)
        for item in range(2)
    }


def test_a_target_that_is_missing_is_made_and_removed(cli: Cli) -> None:
    target = cli.target / "new"
    done = cli("mdtest", "--", "-n", "2", "-d", str(target))
    assert done.returncode == 0, done.stderr
    assert not target.exists()


def test_the_tables_are_those_that_mdtests_readers_expect(cli: Cli) -> None:
    words = ["-n", "4", "-i", "2", "-P", "--print-all-procs", "-d", str(cli.target)]
    done = cli("mdtest", "-n", "2", "--output-format", "mdtest-text", "--", *words)
    assert done.returncode == 0, done.stderr
    tables = mdtest_tables(done.stdout)
    rows = [*ROWS["directories"], *ROWS["files"], "Tree creation", "Tree removal"]
    assert list(tables["rate"]) == list(tables["time"]) == rows
    record = cli.records()[0]
    for row in ("File stat", "Directory creation"):
        kind = "stat" if "stat" in row else "mkdir"
        rates = [
            phase["by_operation"][kind]["operations"] / phase["seconds"]["total"]
            for phase in record["phases"]
            if phase["path"] == row
        ]
        assert tables["rate"][row][:2] == pytest.approx((max(rates), min(rates)), abs=1e-3)
        assert tables["time"][row][0] == pytest.approx(2e3 / min(rates), abs=1e-3)
    assert "2 tasks, 8 files/directories" in done.stdout
    assert "WARNING: Read bytes is 0" in done.stdout
    assert re.search(r"^Test File stat \d\.\d{6}e\+\d\d,\d\.\d{6}e\+\d\d$", done.stdout, re.M)


def test_the_table_of_ranks_has_mdtests_columns(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "ranks.csv"
    words = ["-n", "4", "-F", "--saveRankPerformanceDetails", str(path), "--showRankStatistics"]
    done = cli(
        "mdtest", "-n", "2", "--output-format", "mdtest-text", "--", *words, "-d", str(cli.target)
    )
    assert done.returncode == 0, done.stderr
    assert len(mdtest_tables(done.stdout)["rate"]["File stat"]) == 7
    rows = list(csv.DictReader(io.StringIO(path.read_text())))
    assert [row["rank"] for row in rows] == ["all", "0", "1"]
    assert [row["items"] for row in rows] == ["4", "4", "4"]
    assert rows[0]["rate-Directory read"] == ""
    for row in rows[1:]:
        rate, seconds = float(row["rate-File stat"]), float(row["time-File stat"])
        assert rate * seconds == pytest.approx(4)


def test_a_limit_ends_the_creation_and_later_phases_take_what_was_made(
    cli: Cli, tmp_path: Path
) -> None:
    status = tmp_path / "status"
    words = ["-n", "50000000", "-W", "1", "-x", str(status), "-F", "-b", "2", "-z", "1"]
    record = _record(cli, 2, words)
    assert next(r for r in record["phases"] if r["path"] == "File creation")["stopped_by"] != "work"
    made = operations(record, "File creation")["create"]
    assert operations(record, "File stat") == {"stat": made}
    assert operations(record, "File removal") == {"unlink": made}
    assert made / 2 <= int(status.read_text()) <= made
    again = _record(cli, 2, ["-n", "1", "-T", "-F", "-x", str(status)])
    assert operations(again, "File stat") == {"stat": 2 * int(status.read_text())}


def test_our_limit_ends_every_phase(cli: Cli) -> None:
    line = ["mdtest", "-n", "2", "--json", "--limit", "1 s", "--", "-n", "20000000", "-F"]
    done = cli(*line, "-d", str(cli.target))
    assert done.returncode == 0, done.stderr
    rows = {row["path"]: row for row in json.loads(done.stdout)["phases"]}
    assert rows["File creation"]["stopped_by"] in ("limit", "deadline")
    assert "Tree removal" not in rows


def test_wrong_data_are_never_exit_0(cli: Cli, tmp_path: Path) -> None:
    done = cli(
        "mdtest",
        "--dry-run",
        "--json",
        "--",
        "-n",
        "4",
        "-w",
        "100",
        "-e",
        "100",
        "-X",
        "-F",
        "-d",
        str(cli.target),
    )
    assert done.returncode == 0, done.stderr
    record = _record(cli, 1, ["-n", "4", "-w", "100", "-e", "100", "-X", "-F"])
    workload = record["workload"]
    workload["files"]["files_0"]["faults"] = [{"kind": "flip", "operation": "read", "nth": 2}]
    path = tmp_path / "flipped.yaml"
    path.write_text(json.dumps(workload))
    spoilt = cli.json("run", str(path), "-n", "1", "-d", str(cli.target), code=3)
    assert spoilt["verdict"]["level"] == "INVALID"
    from venturi.compat.mdtest_result import has_verification_error
    from venturi.model.record import Record

    assert has_verification_error(Record.model_validate_json(json.dumps(spoilt)))
    assert not has_verification_error(Record.model_validate_json(json.dumps(record)))


@pytest.mark.needs("strace")
def test_the_system_calls_on_names_are_mdtests(cli: Cli) -> None:
    """One task, two items: create-write-fsync-close, stat, open-read-close, unlink of each."""
    words = ["-n", "2", "-F", "-w", "10", "-e", "10", "-y", "-d", str(cli.target)]
    calls = traced(cli, "mdtest", "--", *words)
    names = ["file.mdtest.0.0", "file.mdtest.0.1"]
    wanted = [
        *[call for n in names for call in (f"create {n}", "pwrite64 10", "fsync", "close")],
        *[f"stat {n}" for n in names],
        *[call for n in names for call in (f"open {n}", "pread64 10", "close")],
        *[f"unlink {n}" for n in names],
    ]
    assert calls == wanted


def traced(cli: Cli, *words: str) -> list[str]:
    """Return the system calls of the engine on items, in order, in short words.

    Each process has a trace of its own, because calls of others would cut its lines in two.
    """
    calls = "openat,openat2,pwrite64,pread64,fsync,close,statx,newfstatat,unlinkat"
    with tempfile.TemporaryDirectory() as folder:
        trace = ["strace", "-ff", "-q", "-s", "0", "-o", f"{folder}/trace", "-e", f"trace={calls}"]
        done = subprocess.run(
            [*trace, *cli.line(*words)],
            capture_output=True,
            text=True,
            env=cli.environment(),
            timeout=600,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-2000:]
        return max((item_calls(path.read_text()) for path in Path(folder).iterdir()), key=len)


def item_calls(trace: str) -> list[str]:
    """Calls on names of items, and on the descriptors that they were opened as."""
    calls: list[str] = []
    descriptor = ""
    for line in trace.splitlines():
        text = re.sub(r"^\[pid +\d+\] ", "", line)
        name = re.search(r'"(?:[^"]*/)?((?:file|dir)(?:\.mdtest\.|-)[^"]*)"', text)
        result = text.rpartition("= ")[2].split(" ")[0]
        call = text.partition("(")[0]
        if name and call in ("openat", "openat2") and result.isdigit():
            calls.append(f"{'create' if 'O_CREAT' in text else 'open'} {name[1]}")
            descriptor = result
        elif name and call in ("statx", "newfstatat"):
            calls.append(f"stat {name[1]}")
        elif name and call == "unlinkat":
            calls.append(f"unlink {name[1]}")
        elif descriptor and re.match(rf"(pwrite64|pread64|fsync|close)\({descriptor}[,)]", text):
            bytes_moved = f" {result}" if call.startswith("p") else ""
            calls.append(f"{call}{bytes_moved}")
            descriptor = "" if call == "close" else descriptor
    return calls


def test_less_may_be_read_than_was_written(cli: Cli) -> None:
    record = _record(cli, 2, ["-n", "3", "-F", "-w", "100", "-e", "10", "-X"])
    bytes_moved = {row["path"]: row["bytes"] for row in record["phases"]}
    assert (bytes_moved["File creation"], bytes_moved["File read"]) == (600, 60)


def test_each_task_writes_the_file_system_out_at_each_phases_end(cli: Cli) -> None:
    record = _record(cli, 2, ["-n", "3", "-F", "-w", "100", "-Y"])
    for row in record["phases"]:
        if row["path"] != "test directory":
            assert operations(record, row["path"])["sync"] == 2, row["path"]
    # The target is in memory, where nothing is flushed, whatever was called.
    assert [row["flushed"] for row in record["phases"] if row["bytes"]] == ["none"]


def test_tables_of_items(cli: Cli, tmp_path: Path) -> None:
    """A row for each item: the time from its first call's beginning to its last one's end."""
    words = ["-n", "6", "-F", "-w", "100", "-e", "100", "-i", "2", "-Y"]
    prefix = tmp_path / "op"
    line = ["mdtest", "-n", "2", "--json", "--", *words, "--savePerOpDataCSV", str(prefix)]
    done = cli(*line, "-d", str(cli.target))
    assert done.returncode == 0, done.stderr
    names = {
        f"{prefix.name}-File {what}-{i}-{rank:05d}.csv"
        for what in ("creation", "stat", "read", "removal")
        for i in range(2)
        for rank in range(2)
    }
    assert {path.name for path in tmp_path.glob("op-*")} == names
    rows = {row["path"]: row for row in json.loads(done.stdout)["phases"] if row["repetition"] == 1}
    for what, size in (("creation", 100), ("stat", 1), ("read", 100), ("removal", 1)):
        for rank in range(2):
            with Path(f"{prefix}-File {what}-1-{rank:05d}.csv").open(encoding="utf-8") as file:
                table = [{k: float(v) for k, v in row.items()} for row in csv.DictReader(file)]
            assert len(table) == 6
            assert [row["time"] for row in table] == sorted(row["time"] for row in table)
            assert all(row["tp"] == pytest.approx(size / row["runtime"]) for row in table)
            total = rows[f"File {what}"]["per_rank"]["total_s"][rank]
            assert 0 < sum(row["runtime"] for row in table) <= total
