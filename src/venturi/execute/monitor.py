"""The host while a run goes on: counters at the ends of phases, and what nobody else sees.

A thread looks a few times a second whether processes of the run are stopped, whether it gets to
run itself, and whether the wall clock is stepped. Counters are read where phases end, at most
every tenth of a second, and in long ones once a second at first, by the command's own process,
so the ranks do nothing for it.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from venturi.execute import proc
from venturi.execute.moment import FreeSpace, clock_state, load_average
from venturi.model.host_sample import HostLimits, HostSample

_LOOK_S = 0.2
_GAP_S = 1.0
"""A look that comes so much later than it was due is a gap."""
_STEP_S = 0.05
_LEAST_APART_S = 0.1
_OFTEN_S = 1.0
_MOST_EVEN = 120
"""So many samples a second apart; from there on they are further and further apart."""
_MOST_LOOKED_AT = 128
"""Processes whose state is looked at; of more, the first ones."""


@dataclass(frozen=True)
class Clocks:
    """The clocks of a host, in seconds."""

    wall: Callable[[], float] = time.time
    monotonic: Callable[[], float] = time.monotonic


class Monitor:
    """Reads a host's counters; `write` takes each sample as a line of text."""

    def __init__(
        self,
        directory: Path,
        write: Callable[[str], None],
        clocks: Clocks | None = None,
        root: Path = proc.ROOT,
    ) -> None:
        self._clocks = clocks or Clocks()
        self._root = root
        self._write = write
        self._trees = [proc.ProcessTree(os.getpid(), root)]
        self._groups = proc.group_folders(os.getpid(), "cpu", root)
        self._device = _device_of(directory)
        self._space = FreeSpace(directory)
        self._hello_s = self._last_s = self._clocks.monotonic()
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._looker = threading.Thread(target=self._look, name="monitor", daemon=True)
        self._stopped_s = self._gap_s = self._step_s = 0.0
        self._own = (0.0, 0.0)
        self._waits = proc.Waits(root)
        self._own_bytes = (0, 0)

    def __enter__(self) -> Monitor:
        self._looker.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        self._looker.join()

    def begin(self, pid: int, plan: Path) -> None:
        """The engine said hello: from now on times count, and its processes are watched.

        `pid` is what started it. Ranks that a daemon started (srun) are found by the plan that
        they were given.
        """
        found = dict.fromkeys((pid, *proc.pids_with(str(plan), self._root)))
        self._trees += [proc.ProcessTree(one, self._root) for one in found]
        folders = [own for one in found for own in proc.group_folders(one, "cpu", self._root)]
        self._groups = list(dict.fromkeys((*self._groups, *folders)))
        self._hello_s = self._clocks.monotonic()
        self.sample()

    def sample_if_due(self) -> None:
        """Take a sample unless there was one just now."""
        if self._clocks.monotonic() - self._last_s >= _LEAST_APART_S:
            self.sample()

    def sample(self) -> None:
        """Read all counters and write them down."""
        with self._lock:
            self._write(self._sample().model_dump_json(exclude_none=True))

    def _sample(self) -> HostSample:
        now_s = self._last_s = self._clocks.monotonic()
        all_cpus = proc.cpus(self._root)
        members = list(dict.fromkeys(pid for tree in self._trees for pid in tree.members()))
        self._count_own(members)
        engine = list(dict.fromkeys(pid for tree in self._trees[1:] for pid in tree.members()))
        waits_s = self._waits.total_s(engine)
        held = proc.throttled(self._groups)
        device = proc.device_bytes(self._device, self._root) if self._device else None
        space, clock = self._space.now(), clock_state()
        return HostSample(
            at_s=max(0.0, now_s - self._hello_s),
            wall_s=self._clocks.wall(),
            cpus=all_cpus.count,
            user_s=all_cpus.user_s,
            system_s=all_cpus.system_s,
            io_wait_s=all_cpus.io_wait_s,
            steal_s=all_cpus.steal_s,
            running=all_cpus.running,
            own_processes=len(members),
            own_user_s=self._own[0],
            own_system_s=self._own[1],
            own_wait_s=waits_s,
            own_read_bytes=self._own_bytes[0],
            own_written_bytes=self._own_bytes[1],
            device_read_bytes=device[0] if device else None,
            device_written_bytes=device[1] if device else None,
            pressure_cpu_s=proc.pressure_s("cpu", "some", self._root),
            pressure_io_s=proc.pressure_s("io", "some", self._root),
            pressure_memory_s=proc.pressure_s("memory", "full", self._root),
            throttled=held.periods if held else None,
            throttled_s=held.seconds if held else None,
            thermal_throttles=proc.thermal_throttles(self._root),
            load_average=load_average(self._root),
            free_bytes=space[0] if space else None,
            free_inodes=space[1] if space else None,
            clock_synchronized=clock.synchronized if clock else None,
            clock_error_s=clock.error_s if clock else None,
            stopped_s=self._stopped_s,
            gap_s=self._gap_s,
            clock_step_s=self._step_s,
        )

    def _count_own(self, members: list[int]) -> None:
        """Take in what the run's processes used; a sum that fell lost a process, and stays."""
        used = [found for pid in members if (found := proc.used_by(pid, self._root))]
        moved = [pair for pid in members if (pair := proc.storage_bytes(pid, self._root))]
        user, system = sum(one.user_s for one in used), sum(one.system_s for one in used)
        self._own = max(self._own[0], user), max(self._own[1], system)
        read, written = sum(pair[0] for pair in moved), sum(pair[1] for pair in moved)
        self._own_bytes = max(self._own_bytes[0], read), max(self._own_bytes[1], written)

    def _look(self) -> None:
        """Watch for stops, gaps and steps until the run is over."""
        before_s, drift_s = self._clocks.monotonic(), self._drift_s()
        while not self._over.wait(_LOOK_S):
            now_s, now_drift_s = self._clocks.monotonic(), self._drift_s()
            late_s = now_s - before_s - _LOOK_S
            with self._lock:
                if late_s > _GAP_S:
                    self._gap_s += late_s
                if abs(now_drift_s - drift_s) > _STEP_S:
                    self._step_s += abs(now_drift_s - drift_s)
                if self._is_stopped():
                    self._stopped_s += now_s - before_s
                began = len(self._trees) > 1
            before_s, drift_s = now_s, now_drift_s
            if began and now_s - self._last_s >= self._apart_s(now_s):
                self.sample()

    def _apart_s(self, now_s: float) -> float:
        """How long no sample may be missing: a second in the first minutes, later a share of all.

        So a run of an hour has some hundreds of them, and not thousands.
        """
        return max(_OFTEN_S, (now_s - self._hello_s) / _MOST_EVEN)

    def _drift_s(self) -> float:
        """The wall clock less the monotonic one, read with as little as can be in between."""
        found = []
        for _ in range(3):
            begin_s = self._clocks.monotonic()
            wall_s = self._clocks.wall()
            end_s = self._clocks.monotonic()
            found.append((end_s - begin_s, wall_s - (begin_s + end_s) / 2))
        return min(found)[1]

    def _is_stopped(self) -> bool:
        """Whether a process of the engine is stopped at this moment."""
        members = [pid for tree in self._trees[1:] for pid in tree.members()][:_MOST_LOOKED_AT]
        used = [proc.used_by(pid, self._root) for pid in members]
        return any(one is not None and one.state in ("T", "t") for one in used)


def _device_of(directory: Path) -> int:
    """The number of the device that a directory lies on; 0 where it does not answer."""
    try:
        return directory.stat().st_dev
    except OSError:
        return 0


def limits(memory_bytes: int, root: Path = proc.ROOT) -> HostLimits:
    """What processes of this command may use of the host."""
    pid = os.getpid()
    cpu_count = float(len(os.sched_getaffinity(0)))
    quota = proc.cpu_quota(proc.group_folders(pid, "cpu", root))
    memory = proc.memory_limit(proc.group_folders(pid, "memory", root), memory_bytes)
    return HostLimits(cpus=min(cpu_count, quota or cpu_count), memory_bytes=memory)
