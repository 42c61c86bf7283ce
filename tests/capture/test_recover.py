"""A capture that is killed itself leaves a folder behind, and a trace can be made of it."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from capture.conftest import Capture, Run
from venturi.model.trace_folder import read_trace

ENDLESS = "while true; do echo x >> out; sleep 0.01; done"


def wait_for(is_there: Callable[[], bool]) -> None:
    end = time.monotonic() + 600
    while not is_there():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)


def recover(capture: Capture, *words: str) -> subprocess.CompletedProcess[str]:
    line = [*capture.line(Path("unused"))[:4], "--recover", *words]
    return subprocess.run(
        line, cwd=capture.place, capture_output=True, text=True, timeout=600, check=False
    )


@contextmanager
def killed(capture: Capture, *options: str) -> Iterator[tuple[Path, subprocess.Popen[bytes]]]:
    """The folder of a capture that was killed, whose application runs on till the end of this."""
    capture.here.mkdir()
    out = capture.here / "out"
    process = subprocess.Popen(
        [*capture.line(capture.place / "0.trace"), *options, "--", "sh", "-c", ENDLESS],
        cwd=capture.here,
        start_new_session=True,
    )
    try:
        wait_for(lambda: out.exists() and out.stat().st_size > 20)
        process.kill()
        process.wait()
        [spool] = capture.place.glob(".*.spool.*")
        yield spool, process
    finally:
        end_all(process)


def end_all(process: subprocess.Popen[bytes]) -> None:
    """Ends what runs in the session of a process that was started for it."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    wait_for(lambda: not has_session(process.pid))


def has_session(number: int) -> bool:
    command = ["ps", "-s", str(number), "-o", "stat="]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return any(not state.startswith("Z") for state in done.stdout.split())


def test_a_killed_capture_is_recovered(capture: Capture) -> None:
    with killed(capture) as (spool, process):
        first = recover(capture, spool.name, "-o", "first.trace")
        assert first.returncode == 0, first.stderr
        assert "still write" in " ".join(first.stderr.split())
        assert spool.exists(), "the application still records"
        end_all(process)
        second = recover(capture, spool.name)
        assert second.returncode == 0, second.stderr
        assert not spool.exists()
    early, late = (read_trace(capture.place / name) for name in ("first.trace", "0.trace"))
    written = [r.counters["BYTES_WRITTEN"] for r in late.trace.records if r.file.endswith("/out")]
    assert written == [(capture.here / "out").stat().st_size]
    assert late.trace.operation_count > early.trace.operation_count > 0
    for trace in (early.trace, late.trace):
        assert any("cut off" in gap.what for gap in trace.gaps)
        assert trace.job.seconds > 0


@pytest.mark.needs("strace")
def test_a_killed_capture_by_strace_is_recovered(capture: Capture) -> None:
    with killed(capture, "--with", "strace") as (spool, process):
        end_all(process)
        done = recover(capture, spool.name)
        assert done.returncode == 0, done.stderr
        assert not spool.exists()
    count = Run(done, capture.place / "0.trace").count()
    assert count["write", "out"] == (capture.here / "out").stat().st_size // 2


def test_the_next_capture_tells_of_it(capture: Capture) -> None:
    with killed(capture) as (spool, process):
        end_all(process)
    line = [*capture.line(Path())[:3], "derive", spool.name]
    derived = subprocess.run(
        line, cwd=capture.place, capture_output=True, text=True, timeout=600, check=False
    )
    assert derived.returncode == 2
    assert f"venturi capture --recover {spool.name}" in derived.stderr
    done = capture_true(capture, "1.trace")
    assert f"venturi capture --recover {spool.name}" in done.stderr
    assert recover(capture, spool.name).returncode == 0
    assert "recover" not in capture_true(capture, "2.trace").stderr


def capture_true(capture: Capture, name: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*capture.line(capture.place / name), "--", "true"],
        cwd=capture.place,
        capture_output=True,
        text=True,
        timeout=600,
        check=True,
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("missing",), "is no folder that a capture left behind"),
        (("empty",), "is no folder that a capture left behind"),
        (("damaged",), "is no folder that a capture left behind"),
        (("empty", "--", "true"), "either a COMMAND or --recover"),
        (("empty", "--only", "*"), "--only: the capture that was killed"),
    ],
)
def test_what_cannot_be_recovered(capture: Capture, words: tuple[str, ...], message: str) -> None:
    (capture.place / "empty").mkdir()
    (capture.place / "damaged").mkdir()
    (capture.place / "damaged" / "job.json").write_text('{"schema": "venturi.capture-job/1"}')
    done = recover(capture, *words)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.split())
    assert not list(capture.place.glob("*.trace"))


def test_a_capture_that_runs_is_not_recovered(capture: Capture) -> None:
    capture.here.mkdir()
    process = subprocess.Popen(
        [*capture.line(capture.place / "0.trace"), "-q", "--", "sh", "-c", "echo > out; cat"],
        cwd=capture.here,
        stdin=subprocess.PIPE,
    )
    wait_for((capture.here / "out").exists)
    [spool] = capture.place.glob(".*.spool.*")
    done = recover(capture, spool.name)
    assert (done.returncode, "still runs" in done.stderr) == (2, True)
    process.communicate(timeout=600)
    assert process.returncode == 0
    assert read_trace(capture.place / "0.trace").trace.operation_count > 0
