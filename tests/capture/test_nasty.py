"""Programs that upset whoever watches them: they end as they would, and what they did is there."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from capture.conftest import Capture
from venturi.model.trace_folder import read_trace


def test_a_killed_program_loses_nothing(capture: Capture) -> None:
    run = capture(capture.program("nasty"), "kill", code=137)
    assert run.count()["write", "out"] == 1000
    assert run.trace.processes[0].ended_s is None
    assert "signal 9" in run.done.stderr


def test_all_descriptors_closed(capture: Capture) -> None:
    run = capture(capture.program("nasty"), "close")
    count = run.count()
    assert (count["write", "again"], count["write", "last"]) == (5000, 5001)


def test_a_cleared_environment_is_traced(capture: Capture) -> None:
    run = capture(capture.program("nasty"), "environment")
    assert run.count()["write", "child"] == 2
    assert run.count()["write", "out"] == 11
    assert run.trace.gaps == []


@pytest.mark.parametrize("way", ["vfork", "spawn"])
def test_programs_started_in_other_ways(capture: Capture, way: str) -> None:
    run = capture(capture.program("nasty"), way)
    assert run.count()["write", "child"] == 1
    assert run.count()["write", "out"] == (21 if way == "vfork" else 11)
    assert run.trace.gaps == []


def test_signals_that_do_io(capture: Capture) -> None:
    run = capture(capture.program("nasty"), "signals")
    count = run.count()
    assert count["write", "out"] == 10_011
    assert count["write", "signalled"] == (capture.here / "signalled").stat().st_size > 0


def test_a_signal_on_a_small_stack_does_io(capture: Capture) -> None:
    run = capture(capture.program("nasty"), "small stack")
    assert (run.count()["open", "signalled"], run.count()["write", "signalled"]) == (10, 10)
    assert (capture.here / "signalled").stat().st_size == 10


def test_a_program_that_locks_itself_in_goes_on(capture: Capture) -> None:
    run = capture(capture.program("nasty"), "locked in")
    assert (capture.here / "out").stat().st_size == 150
    assert run.count()["write", "out"] == 10
    [gap] = run.trace.gaps
    assert gap.what.startswith("recording stopped where 'nasty' entered the strict mode of seccomp")


def test_rules_that_are_set_by_number_kill_nobody(capture: Capture) -> None:
    run = capture(capture.program("nasty"), "own rules")
    assert (capture.here / "out").stat().st_size == 50_110
    assert run.count()["write", "out"] == 10
    [gap] = run.trace.gaps
    assert gap.what.startswith("recording stopped where 'nasty' installed a seccomp filter")


def test_who_only_asks_for_rules_is_traced_on(capture: Capture) -> None:
    run = capture(capture.program("nasty"), "asks whether it could")
    assert run.count()["write", "out"] == 5011
    assert run.trace.gaps == []


def test_who_fails_to_lock_itself_in_is_traced_on(capture: Capture) -> None:
    run = capture(capture.program("nasty"), "rules that fail")
    assert run.count()["write", "out"] == 5011
    assert run.trace.gaps == []


@pytest.mark.parametrize(("way", "what"), [("own ring", "io_uring"), ("own context", "io_setup")])
def test_what_was_set_up_without_a_call_is_named(capture: Capture, way: str, what: str) -> None:
    run = capture(capture.program("nasty"), way)
    [gap] = run.trace.gaps
    assert gap.what.startswith("'nasty' set up")
    assert what in gap.what


def test_what_was_not_set_up_is_not_named(capture: Capture) -> None:
    assert capture(capture.program("nasty"), "no ring").trace.gaps == []


@pytest.mark.needs("root")
def test_a_mapped_device_is_named(capture: Capture) -> None:
    program = capture.compiled(DEVICE)
    image = capture.place / "image"
    image.write_bytes(bytes(1 << 20))
    line = ["losetup", "--find", "--show", str(image)]
    device = subprocess.run(line, check=True, capture_output=True, text=True).stdout.strip()
    try:
        mapped = capture(program, device, options=("--all-paths",))
        plain = capture(program, str(image))
    finally:
        subprocess.run(["losetup", "--detach", device], check=True)
    said = [[gap.what for gap in run.trace.gaps] for run in (mapped, plain)]
    assert any("maps a device that holds data" in what for what in said[0])
    assert not any("maps a device" in what for what in said[1])


@pytest.mark.parametrize("options", [(), ("--counters",), ("--skip", "*")])
def test_system_calls_of_its_own_are_noticed(capture: Capture, options: tuple[str, ...]) -> None:
    run = capture(capture.program("nasty"), "own calls", options=options)
    [gap] = run.trace.gaps
    assert gap.what.startswith("'nasty' wrote 8 MiB by calls that are not seen")


def test_a_process_that_ends_by_its_own_call_is_noticed(capture: Capture) -> None:
    run = capture("sh", "-c", f"{capture.program('nasty')} 'own end'; true")
    [gap] = run.trace.gaps
    assert gap.what.startswith("processes (likely 'nasty') wrote 8 MiB by calls that are not seen")


def test_a_child_that_cannot_record_is_noticed(capture: Capture) -> None:
    if os.geteuid() != 0:
        pytest.fail("becoming another user needs root")
    run = capture(capture.program("nasty"), "child without a file")
    assert (capture.here / "out").stat().st_size == 210
    assert ["'nasty' started could not record" in gap.what for gap in run.trace.gaps] == [True]


DEVICE = """
#include <fcntl.h>
#include <sys/mman.h>
int main(int count, char** words) {
  int fd = count > 1 ? open(words[1], O_RDWR) : -1;
  char* data = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (fd < 0 || data == MAP_FAILED) return 9;
  data[0] = 'x';
  return msync(data, 4096, MS_SYNC);
}
"""

STREAMS = """
head -c 9000000 /dev/zero | tr '\\0' x > data
cat data data | wc -c; cp data copy; sort -o sorted data; gzip -k data; dd if=data of=d bs=9M
python3 -c "open('text', 'w').write('line' * 3000000); sum(map(len, open('text')))"
awk '{print}' text > again; cat < text | python3 -c "import sys; sys.stdin.read()"
"""


def test_what_is_seen_is_not_called_unseen(capture: Capture) -> None:
    run = capture("bash", "-c", STREAMS)
    assert [gap.what for gap in run.trace.gaps if "not seen" in gap.what] == []


def test_a_fork_that_the_library_does_not_know(capture: Capture) -> None:
    run = capture(capture.program("nasty"), "raw fork")
    assert run.count()["write", "out"] == 31
    assert len(run.trace.processes) == 2


def test_a_limit_is_said_and_the_counters_are_whole(capture: Capture) -> None:
    run = capture(capture.program("nasty"), "limit", options=("--limit", "5000", "--json"))
    told = json.loads(run.done.stdout)
    [row] = [row for row in told["layers"] if row["layer"] == "posix"]
    assert row["writes"] >= 100_011
    assert run.trace.operation_count == 5000
    [record] = [record for record in run.trace.records if record.file.endswith("/out")]
    assert record.counters["WRITES"] == 100_011
    assert ["truncated" in gap.what for gap in run.trace.gaps] == [True]


def test_a_sanitized_program_runs(capture: Capture) -> None:
    run = capture(capture.program("threads_asan"))
    assert run.count()["read", "shared"] == 4 * 8 * 1000


def test_threads_and_forks(capture: Capture) -> None:
    run = capture(capture.program("threads"))
    count = run.count()
    assert len(run.trace.processes) == 4
    assert count["read", "shared"] == 4 * 8 * 1000
    outs = {name: times for (kind, name), times in count.items() if name.startswith("out")}
    writes = [times for (kind, name), times in count.items() if kind == "write" and name in outs]
    assert sorted(writes) == [1000] * 32
    operations = run.captured.operations
    assert operations is not None
    assert (
        len({(p, t) for p, t in zip(operations.process, operations.thread, strict=True)})
        == 4 * 8 + 1
    )
    [shared] = [record for record in run.trace.records if record.file.endswith("/shared")]
    assert shared.counters["READS"] == 4 * 8 * 1000


@pytest.mark.needs("root")
def test_a_full_disk_ends_the_recording_and_not_the_program(
    capture: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if os.geteuid() != 0:
        pytest.fail("mounting a small file system needs root")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    small = tmp_path / "small"
    small.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(small)], check=True)
    try:
        run = replace(capture, place=small)(capture.program("nasty"), "limit")
        assert (capture.here / "out").stat().st_size == 1_000_110
        [elsewhere] = tmp_path.glob("venturi-*/0.trace")
        assert f"venturi derive {elsewhere}\n" in run.done.stderr
        trace = read_trace(elsewhere).trace
        assert 0 < trace.operation_count < 100_000
        words = " ".join(gap.what for gap in trace.gaps)
        assert "No space left" in words
        assert "operations are in the counters only" in words
    finally:
        subprocess.run(["umount", "-l", str(small)], check=True)


DEEP = """
import os
os.close(os.open("top", os.O_CREAT | os.O_WRONLY))
for _ in range(20):
    os.mkdir("n" * 250)
    os.chdir("n" * 250)
file = os.open("file", os.O_CREAT | os.O_WRONLY)
for _ in range(10):
    os.write(file, bytes(100))
"""


def test_names_that_are_too_long_are_said(capture: Capture) -> None:
    run = capture(sys.executable, "-ISc", DEEP)
    assert run.count()["open", "top"] == 1
    assert [gap.what[:13] for gap in run.trace.gaps] == ["11 operations"]


def test_a_limit_of_file_sizes_is_no_signal(capture: Capture) -> None:
    run = capture("sh", "-c", f"ulimit -f 600; exec {capture.program('nasty')} kill", code=137)
    assert (capture.here / "out").stat().st_size == 10_000
    [record] = [record for record in run.trace.records if record.file.endswith("/out")]
    assert record.counters["WRITES"] == 1000
    assert any("File too large" in gap.what for gap in run.trace.gaps)


def test_a_static_program_is_named(capture: Capture) -> None:
    run = capture("sh", "-c", f"{capture.program('calls_static')} && true")
    assert ["calls_static" in gap.what and "statically" in gap.what for gap in run.trace.gaps] == [
        True
    ]


@pytest.mark.needs("strace")
def test_strace_sees_a_static_program(capture: Capture) -> None:
    run = capture(capture.program("calls_static"), options=("--with", "strace"))
    assert run.count()["write", "data"] == 7


def test_errors_and_output_are_the_programs_own(capture: Capture) -> None:
    run = capture("sh", "-c", "echo out; echo err >&2; exit 7", options=("-q",), code=7)
    assert run.done.stdout == "out\n"
    assert run.done.stderr.splitlines()[0] == "err"
    assert "exit code 7" in run.done.stderr


def test_descriptors_that_are_handed_on_keep_their_positions(capture: Capture) -> None:
    command = "printf aaa > in; { head -c 3 in; head -c 2 in; echo c; } > out"
    run = capture("sh", "-c", command)
    writes = [row[3:5] for row in run.rows() if row[1:3] == ("write", "out")]
    assert writes == [(0, 3), (3, 2), (5, 2)]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_stopped_capture_keeps_what_there_is(
    capture: Capture, number: signal.Signals, code: int
) -> None:
    capture.here.mkdir()
    endless = "while true; do echo x >> out; sleep 0.01; done"
    process = subprocess.Popen(
        [*capture.line(capture.place / "0.trace"), "--", "sh", "-c", endless],
        cwd=capture.here,
        start_new_session=True,
        stderr=subprocess.PIPE,
    )
    out = capture.here / "out"
    end = time.monotonic() + 600
    while not (out.exists() and out.stat().st_size > 20) and time.monotonic() < end:
        time.sleep(0.05)
    # Ctrl-C goes to all of the terminal's processes; a scheduler stops the command alone.
    os.kill(process.pid if number == signal.SIGTERM else -process.pid, number)
    process.communicate(timeout=600)
    assert process.returncode == code
    trace = read_trace(capture.place / "0.trace").trace
    [record] = [record for record in trace.records if record.file.endswith("/out")]
    assert record.counters["WRITES"] == record.counters["BYTES_WRITTEN"] // 2 > 0


def test_a_missing_program_leaves_nothing(capture: Capture) -> None:
    folder = capture.place / "0.trace"
    with pytest.raises(AssertionError, match="No such file"):
        capture("./missing")
    assert not folder.exists()
    assert not list(capture.place.glob(".*"))
