"""Where a capture takes place: its output as JSON, its records elsewhere, several hosts."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from capture.conftest import Capture
from venturi.analyse.characterization_data import characterization_data_of


def test_json_is_all_there_is_on_standard_output(capture: Capture) -> None:
    command = "echo hello; echo there >&2; printf 12345 > out; exit 3"
    run = capture("sh", "-c", command, options=("--json",), code=3)
    summary = json.loads(run.done.stdout)
    assert summary["schema"] == "venturi.capture-summary/1"
    assert summary["exit_code"] == 3
    assert summary["folder"] == str(run.folder)
    [posix] = [layer for layer in summary["layers"] if layer["layer"] == "posix"]
    assert (posix["writes"], posix["bytes_writes"]) == (1, 5)
    said = run.done.stderr.splitlines()
    assert said[:2] == ["hello", "there"]
    assert len(said) == 3, "nothing but the exit code's meaning"


def test_what_the_kernel_copies_is_told(capture: Capture) -> None:
    code = (
        "import os; open('from', 'wb').write(bytes(5000)); "
        "a = os.open('from', os.O_RDONLY); b = os.open('to', os.O_WRONLY | os.O_CREAT);"
        "assert os.copy_file_range(a, b, 5000) == 5000"
    )
    run = capture(sys.executable, "-c", code, options=("--json",))
    [posix] = [row for row in json.loads(run.done.stdout)["layers"] if row["layer"] == "posix"]
    assert (posix["copies"], posix["bytes_copies"], posix["bytes_writes"]) == (1, 5000, 5000)
    run = capture(sys.executable, "-c", code)
    assert "COPIED" in run.done.stderr
    assert "4.88 KiB" in run.done.stderr


@pytest.mark.parametrize(
    ("variables", "rank"),
    [
        ("SLURM_PROCID=0", -1),  # a batch script
        ("SLURM_PROCID=1 SLURM_STEP_ID=0", 1),
        ("SLURM_PROCID=0 OMPI_COMM_WORLD_RANK=1", 1),
        ("PMIX_RANK=3", 3),
    ],
)
def test_ranks_of_launchers(capture: Capture, variables: str, rank: int) -> None:
    run = capture("sh", "-c", f"env {variables} touch file")
    ranks = {process.program: process.rank for process in run.trace.processes}
    assert ranks["touch"] == rank
    assert run.trace.job.ranks == max(rank, 0) + 1


def test_records_lie_elsewhere_while_it_runs(capture: Capture) -> None:
    elsewhere = capture.place / "elsewhere"
    elsewhere.mkdir()
    listing = f"ls -a {elsewhere} > seen; ls -a {capture.place} > beside"
    run = capture("sh", "-c", listing, options=("--spool", str(elsewhere)))
    assert ".0.trace.spool." in (capture.here / "seen").read_text()
    assert ".spool." not in (capture.here / "beside").read_text()
    assert list(elsewhere.iterdir()) == []
    assert run.trace.operation_count > 0


def test_a_place_for_records_that_is_not_there(capture: Capture) -> None:
    run = capture("true", options=("--spool", "/missing"), code=2)
    assert "'/missing' cannot be written: No such file" in " ".join(run.done.stderr.split())


HOSTS = """
import subprocess, sys
write = "import os; os.close(os.open('out.{0}', os.O_CREAT | os.O_WRONLY))"
line = 'hostname {0}; exec env PMI_RANK={1} {2} -c "{3}"'
for rank, host in enumerate(["first", "second"]):
    text = line.format(host, rank, sys.executable, write.format(rank))
    subprocess.run(["unshare", "--uts", "sh", "-c", text], check=True)
"""


@pytest.mark.needs("root")
def test_processes_of_several_hosts_make_one_trace(capture: Capture) -> None:
    if os.geteuid() != 0:
        pytest.fail("giving processes another host's name needs root")
    run = capture(sys.executable, "-c", HOSTS, options=("--spool", str(capture.place)))
    ranks = {p.rank: p.host for p in run.trace.processes if p.rank >= 0}
    assert ranks == {0: "first", 1: "second"}
    opened = [row[2] for row in run.rows() if row[1] == "open" and row[2].startswith("out.")]
    assert opened == ["out.0", "out.1"]
    operations = run.captured.operations
    assert operations is not None
    assert operations.start_ns.min() >= 0
    assert operations.end_ns.max() / 1e9 <= run.trace.job.seconds + 1
    assert subprocess.run(["hostname"], capture_output=True, check=True).stdout != b"second\n"


def test_copies_in_the_kernel_are_counted_whichever_call_made_them(capture: Capture) -> None:
    """In the table at the end of a capture, and on the page: read here and written there."""
    code = """import os
with open("from", "wb") as file:
    file.write(bytes(300_000))
source = os.open("from", os.O_RDONLY)
for name, copy in (
    ("sent", lambda to: os.sendfile(to, source, 0, 200_000)),
    ("ranged", lambda to: os.copy_file_range(source, to, 100_000, 0)),
):
    target = os.open(name, os.O_CREAT | os.O_WRONLY)
    assert copy(target) == os.fstat(target).st_size
    os.close(target)
"""
    run = capture(sys.executable, "-S", "-c", code, options=("--json",))
    [posix] = [row for row in json.loads(run.done.stdout)["layers"] if row["layer"] == "posix"]
    assert (posix["copies"], posix["bytes_copies"]) == (2, 300_000)
    assert (posix["writes"], posix["bytes_writes"]) == (1, 300_000)
    told = characterization_data_of(run.captured, "copies")
    assert told.bytes_written == 600_000
    written = {s.name.rsplit("/", 1)[-1]: s.bytes_written for s in told.streams if s.bytes_written}
    assert written == {"from": 300_000, "sent": 200_000, "ranged": 100_000}
