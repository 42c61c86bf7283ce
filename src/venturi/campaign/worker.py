"""What a job runs: its tasks one after the other, each in its folder, with its own budget.

`python -m venturi.campaign.worker FOLDER JOB`. Nobody has to watch it: what it writes is the
truth about its tasks. A task that somebody has begun is not begun again. SIGTERM (the time of
the allocation, or a cancelled job) ends the running task and writes so; SIGUSR1 makes it look
whether the running task is to be cancelled.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import BinaryIO

from venturi.campaign.folder import BEGUN, CANCEL, ENDED, blocked_by, claim, read_ended
from venturi.campaign.job import read_list
from venturi.campaign.run_session import read_session
from venturi.campaign.task import CampaignTask
from venturi.execute.command import end_group
from venturi.model.campaign import EndReason, TaskEnd, TaskStart
from venturi.model.command import STARTED_IN
from venturi.model.result import RUN_OF
from venturi.store.whole_file import write_whole

_LOOK_S = float(os.environ.get("VENTURI_LOOK_S", "inf"))
"""How often to look for cancelled tasks where no signal of the batch system reaches a job."""
_SLOW_S = 1.0
"""How much later than its task a job may hear of the same end."""
_SLOW_WAIT_S = 60.0
"""How much longer than it says a wait may last: it has to start, and to read."""
_BY_SIGNAL = {
    code for n in (signal.SIGTERM, signal.SIGKILL) for code in (-n, 128 + n)
}  # also as a shell tells it


class _Outcome(Exception):
    """A signal came while a task was running."""


class Worker:
    """Runs the tasks of one job."""

    def __init__(self, folder: Path, job: str) -> None:
        self._folder = folder
        self._job = job
        self._ending = False
        self._waiting = False
        self._session = read_session(folder)

    def run(self) -> int:
        """All tasks; 0, or 143 if the job was told to end."""
        signal.signal(signal.SIGTERM, self._end)
        signal.signal(signal.SIGUSR1, self._look)
        for task in read_list(self._folder, self._job):
            if self._ending:
                return 128 + signal.SIGTERM
            self._task(task)
        return 128 + signal.SIGTERM if self._ending else 0

    def _end(self, number: int, frame: FrameType | None) -> None:
        self._ending = True
        if self._waiting:
            raise _Outcome

    def _look(self, number: int, frame: FrameType | None) -> None:
        if self._waiting:
            raise _Outcome

    def _task(self, task: CampaignTask) -> None:
        """One task, unless it was begun before or is not wanted any more."""
        home = self._folder / "tasks" / task.name
        home.mkdir(parents=True, exist_ok=True)
        begun = TaskStart(job=self._job, host=socket.gethostname(), begin_utc=_now())
        if not claim(home / BEGUN, begun.to_json()):
            return
        if (home / CANCEL).exists():
            self._write(home, begun, EndReason.CANCEL, 0.0, reason="cancelled before it began")
            return
        for before in task.after:
            ended = read_ended(self._folder / "tasks" / before)
            if ended is None or ended.ending is not EndReason.EXIT or ended.code != 0:
                self._write(home, begun, EndReason.BLOCKED, 0.0, reason=blocked_by(before))
                return
        if task.waits and not self._is_quiet(task, home, begun):
            return
        self._start(task, home, begun)

    def _is_quiet(self, task: CampaignTask, home: Path, begun: TaskStart) -> bool:
        """Waits till the storage is quiet; where it does not become so, that is the task's end."""
        begin_s = time.monotonic()
        with (home / "wait").open("wb") as out:
            process = _started(task.waits, home, out, out, {})
            ending = self._wait(process, home, task.waits_s + _SLOW_WAIT_S)
        if ending is EndReason.EXIT and process.returncode == 0:
            return True
        lines = (home / "wait").read_text("utf-8", "replace").splitlines()
        said = [line.removeprefix("venturi: ") for line in lines if line.startswith("venturi: ")]
        reason = said[-1] if said else f"the wait ended with {process.returncode}"
        ending = EndReason.BLOCKED if ending in (EndReason.EXIT, EndReason.BUDGET) else ending
        self._write(home, begun, ending, time.monotonic() - begin_s, reason=reason)
        return False

    def _start(self, task: CampaignTask, home: Path, begun: TaskStart) -> None:
        killed_before = _out_of_memory_kills()
        begin_s = time.monotonic()
        variables = {RUN_OF: self._session.run_of(task).to_json()}
        if task.workload:
            variables[STARTED_IN] = self._session.started_in
        variables |= task.environment
        with (home / "stdout").open("wb") as out, (home / "stderr").open("wb") as err:
            try:
                process = _started(task.argv, home, out, err, variables)
            except OSError as error:
                reason = f"{task.argv[0]}: {error.strerror}"
                self._write(home, begun, EndReason.NOT_STARTED, 0.0, reason=reason)
                return
            ending = self._wait(process, home, task.budget_s)
        seconds = time.monotonic() - begin_s
        killed = max(_out_of_memory_kills() - killed_before, 0)
        self._write(home, begun, ending, seconds, process.returncode, killed)

    def _wait(self, process: subprocess.Popen[bytes], home: Path, budget_s: float) -> EndReason:
        """Waits for a task's end, or brings it about."""
        until_s = time.monotonic() + budget_s
        while True:
            try:
                self._waiting = True
                if self._ending:
                    raise _Outcome
                code = process.wait(min(max(until_s - time.monotonic(), 0.0), _LOOK_S))
                self._waiting = False
                return self._exit(code)
            except _Outcome:
                self._waiting = False
                if self._ending:
                    return _stop(process, EndReason.SIGNAL)
                if (home / CANCEL).exists():
                    return _stop(process, EndReason.CANCEL)
            except subprocess.TimeoutExpired:
                self._waiting = False
                if time.monotonic() >= until_s:
                    return _stop(process, EndReason.BUDGET)
                if (home / CANCEL).exists():
                    return _stop(process, EndReason.CANCEL)

    def _exit(self, code: int) -> EndReason:
        """Whether a task ended by itself: a batch system signals it and the job at once."""
        if code in _BY_SIGNAL:
            until_s = time.monotonic() + _SLOW_S
            while not self._ending and time.monotonic() < until_s:
                time.sleep(_SLOW_S / 20)
        return EndReason.SIGNAL if self._ending else EndReason.EXIT

    def _write(
        self,
        home: Path,
        begun: TaskStart,
        ending: EndReason,
        seconds: float,
        code: int | None = None,
        out_of_memory_kills: int = 0,
        reason: str = "",
    ) -> None:
        ended = TaskEnd(
            ending=ending,
            code=code,
            begin_utc=begun.begin_utc,
            end_utc=_now(),
            seconds=seconds,
            host=begun.host,
            job=self._job,
            out_of_memory_kills=out_of_memory_kills,
            reason=reason,
        )
        write_whole(home / ENDED, ended.to_json(indent=1) + "\n")


def _started(
    words: list[str], home: Path, out: BinaryIO, err: BinaryIO, variables: dict[str, str]
) -> subprocess.Popen[bytes]:
    """A process of a task in its folder. Raises OSError where it cannot be started."""
    return subprocess.Popen(
        words,
        cwd=home,
        env={**os.environ, **variables},
        stdin=subprocess.DEVNULL,
        stdout=out,
        stderr=err,
        start_new_session=True,
    )


def _stop(process: subprocess.Popen[bytes], ending: EndReason) -> EndReason:
    end_group(process)
    return ending


def _out_of_memory_kills() -> int:
    """How many processes the kernel of this host has killed for want of memory since its start."""
    with contextlib.suppress(OSError, ValueError):
        for line in Path("/proc/vmstat").read_text().splitlines():
            name, _, value = line.partition(" ")
            if name == "oom_kill":
                return int(value)
    return 0


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


if __name__ == "__main__":
    sys.exit(Worker(Path(sys.argv[1]), sys.argv[2]).run())
