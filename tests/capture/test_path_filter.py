"""What is no data of applications is left out, alike by the tracer and after the fact."""

from __future__ import annotations

import sys

from capture.conftest import Capture
from venturi.capture.path_filter import leave_out
from venturi.capture.tracer import TracerSettings

KEPT = (
    "/dev/shm/data",
    "/dev/shm/my_vader_segment.1",
    "/var/tmp/x",
    "/tmp/ompi.txt",
    "/tmp/ompi.0x",
    "/home/ompi.h.0x/data",
    "/devices/x",
    "/home/u/sem.1",
    "/home/u/prte./x",
    "/data/pmix.c",
)
LEFT_OUT = (
    "/dev/shm/vader_segment.host.0",
    "/dev/shm/mpich_shar_tmpAbCdEf",
    "/dev/shm/sem.x",
    "/dev/shm/osc_sm.host.1",
    "/tmp/ompi.host.0/pid.1/x",
    "/scratch/j/ompi.a.b.1000",
    "/tmp/prte.0",
    "/home/u/openmpi-sessions-0@h_0/x",
    "/tmp/mpich_shar_tmpAbCdEf",
    "/usr/share/x",
    "/var/log/x",
)


def test_stores_are_missed_in_files_only(capture: Capture) -> None:
    run = capture(capture.program("shared"))
    [gap] = [gap.what for gap in run.trace.gaps]
    assert gap.startswith(f"1 writable shared mappings of files ('{capture.here}/stored')")
    names = {file.path.removeprefix(f"{capture.here}/") for file in run.trace.files}
    assert names == {"stored", "private", "only_read"}


def test_memory_is_kept_where_it_is_wanted(capture: Capture) -> None:
    run = capture(capture.program("shared"), options=("--all-paths",))
    [gap] = [gap.what for gap in run.trace.gaps]
    assert gap.startswith("5 writable")


def test_the_rules_are_the_same_after_the_fact(capture: Capture) -> None:
    paths = [*KEPT, *LEFT_OUT]
    script = "import os, sys\nfor path in sys.argv[1:]: os.path.exists(path)"
    command = (sys.executable, "-c", script, *paths)
    everything = capture(*command, options=("--all-paths",)).captured
    assert {file.path for file in everything.trace.files} >= set(paths)
    at_once = capture(*command).captured
    afterwards, _ = leave_out(everything, TracerSettings())
    for captured in (at_once, afterwards):
        seen = {file.path for file in captured.trace.files}
        assert [path for path in paths if path in seen] == list(KEPT)
