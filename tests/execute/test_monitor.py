"""The monitor: what the kernel counts, from files that a test writes, and from this host."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from venturi.execute import moment, proc
from venturi.execute.monitor import Clocks, Monitor, limits
from venturi.model.host_sample import HostSample

STAT = """cpu  100 20 30 400 50 6 7 80 0 0
cpu0 50 10 15 200 25 3 3 40 0 0
cpu1 50 10 15 200 25 3 4 40 0 0
intr 5
procs_running 3
"""
TICKS = os.sysconf("SC_CLK_TCK")


def write(root: Path, name: str, text: str) -> None:
    """A file of a made-up kernel."""
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_cpus_are_summed_in_seconds(tmp_path: Path) -> None:
    write(tmp_path, "proc/stat", STAT)
    found = proc.cpus(tmp_path)
    assert (found.count, found.running) == (2, 3)
    assert found.user_s == 120 / TICKS
    assert found.system_s == 43 / TICKS
    assert found.steal_s == 80 / TICKS


def test_pressure_has_some_and_full(tmp_path: Path) -> None:
    text = "some avg10=0.00 avg60=0.00 avg300=0.00 total=2500000\nfull avg10=0.00 total=1000000\n"
    write(tmp_path, "proc/pressure/memory", text)
    assert proc.pressure_s("memory", "some", tmp_path) == 2.5
    assert proc.pressure_s("memory", "full", tmp_path) == 1.0
    assert proc.pressure_s("io", "some", tmp_path) is None


@pytest.mark.parametrize("version", [1, 2])
def test_a_limit_of_any_group_above_counts(tmp_path: Path, version: int) -> None:
    if version == 2:
        write(tmp_path, "proc/7/cgroup", "0::/job/step\n")
        top = "sys/fs/cgroup"
        write(tmp_path, f"{top}/job/cpu.max", "150000 100000\n")
        write(tmp_path, f"{top}/job/step/cpu.max", "max 100000\n")
        write(tmp_path, f"{top}/job/memory.max", "1000\n")
        write(
            tmp_path, f"{top}/job/cpu.stat", "usage_usec 9\nnr_throttled 4\nthrottled_usec 500000\n"
        )
    else:
        write(tmp_path, "proc/7/cgroup", "3:memory:/job/step\n2:cpu,cpuacct:/job/step\n")
        write(tmp_path, "sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "150000\n")
        write(tmp_path, "sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n")
        write(tmp_path, "sys/fs/cgroup/cpu,cpuacct/job/step/cpu.cfs_quota_us", "-1\n")
        write(tmp_path, "sys/fs/cgroup/cpu,cpuacct/job/step/cpu.cfs_period_us", "100000\n")
        write(tmp_path, "sys/fs/cgroup/memory/job/memory.limit_in_bytes", "1000\n")
        stat = "nr_periods 9\nnr_throttled 4\nthrottled_time 500000000\n"
        write(tmp_path, "sys/fs/cgroup/cpu,cpuacct/job/cpu.stat", stat)
    folders = proc.group_folders(7, "cpu", tmp_path)
    assert proc.cpu_quota(folders) == 1.5
    assert proc.throttled(folders) == proc.Held(4, 0.5)
    assert proc.memory_limit(proc.group_folders(7, "memory", tmp_path), 1 << 40) == 1000
    assert proc.memory_limit(proc.group_folders(7, "memory", tmp_path), 1000) is None


def test_what_is_not_there_is_not_known(tmp_path: Path) -> None:
    assert proc.throttled(proc.group_folders(7, "cpu", tmp_path)) is None
    assert proc.thermal_throttles(tmp_path) is None
    assert proc.device_bytes(0x801, tmp_path) is None
    assert proc.used_by(7, tmp_path) is None
    assert proc.Waits(tmp_path).total_s([7]) is None


@pytest.fixture
def busy() -> Iterator[subprocess.Popen[bytes]]:
    """A process that burns a CPU below this one, with a word among its arguments."""
    process = subprocess.Popen([sys.executable, "-c", "while True: pass", "a-word-of-the-test"])
    yield process
    process.send_signal(signal.SIGCONT)
    process.kill()
    process.wait()


def wait_for(condition: Callable[[], bool]) -> None:
    """Return once a condition holds."""
    while not condition():
        time.sleep(0.01)


def test_a_process_below_is_the_runs_own(busy: subprocess.Popen[bytes]) -> None:
    assert busy.pid in proc.ProcessTree(os.getpid()).members()
    wait_for(lambda: busy.pid in proc.pids_with("a-word-of-the-test"))  # not before its exec
    wait_for(lambda: (proc.used_by(busy.pid) or proc.Used("R", 0, 0)).user_s > 0.05)
    samples: list[HostSample] = []
    with Monitor(Path("/"), lambda line: samples.append(HostSample.model_validate_json(line))) as m:
        m.begin(busy.pid, Path("no plan"))
        wait_for(lambda: (used := proc.used_by(busy.pid)) is not None and used.user_s > 0.3)
        m.sample()
    assert samples[-1].own_user_s - samples[0].own_user_s > 0.1
    assert samples[-1].own_processes >= 2


def test_a_stopped_process_is_seen(busy: subprocess.Popen[bytes], tmp_path: Path) -> None:
    samples: list[HostSample] = []
    with Monitor(tmp_path, lambda line: samples.append(HostSample.model_validate_json(line))) as m:
        m.begin(busy.pid, Path("no plan"))
        busy.send_signal(signal.SIGSTOP)

        def is_seen() -> bool:
            m.sample()
            return samples[-1].stopped_s > 0

        wait_for(is_seen)
    assert samples[0].stopped_s == 0


def test_a_step_of_the_wall_clock_is_seen_and_its_slow_drift_is_not(tmp_path: Path) -> None:
    offset_s = [0.0]
    looks = [0]

    def wall() -> float:
        looks[0] += 1
        return time.time() * (1 + 1e-4) + offset_s[0]

    clocks = Clocks(wall=wall)
    samples: list[HostSample] = []
    with Monitor(
        tmp_path, lambda line: samples.append(HostSample.model_validate_json(line)), clocks
    ) as m:
        m.begin(os.getpid(), Path("no plan"))
        wait_for(lambda: looks[0] > 10)  # three for each look of the thread
        m.sample()
        offset_s[0] = -3.0

        def is_seen() -> bool:
            m.sample()
            return samples[-1].clock_step_s > 0

        wait_for(is_seen)
    assert samples[1].clock_step_s == 0
    assert samples[-1].clock_step_s == pytest.approx(3.0, abs=0.1)


def test_a_long_phase_is_looked_at_meanwhile(tmp_path: Path) -> None:
    """Nobody asks for samples, and they come: with load, free space and the clock's state."""
    samples: list[HostSample] = []
    with Monitor(tmp_path, lambda line: samples.append(HostSample.model_validate_json(line))) as m:
        m.begin(os.getpid(), Path("no plan"))
        wait_for(lambda: len(samples) >= 3)
    space = os.statvfs(tmp_path)
    for one in samples:
        assert one.load_average is not None
        assert 0 < (one.free_bytes or 0) <= space.f_blocks * space.f_frsize
        assert one.clock_synchronized is not None
    assert samples[1].at_s - samples[0].at_s >= 1.0


def test_a_file_system_that_hangs_is_asked_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    goes_on = threading.Event()
    asked: list[Path] = []

    def hanging(path: Path) -> None:
        asked.append(path)
        goes_on.wait()

    monkeypatch.setattr(moment, "_PATIENCE_S", 0.05)
    monkeypatch.setattr(os, "statvfs", hanging)
    space = moment.FreeSpace(tmp_path)
    assert space.now() is None
    assert space.now() is None
    goes_on.set()
    assert asked == [tmp_path]


def test_limits_of_this_host_are_no_more_than_its_cpus() -> None:
    assert 0 < limits(1 << 60).cpus <= (os.cpu_count() or 1)
