"""Jobs as processes of this host; they go on when the command that started them is gone."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from pathlib import Path

from venturi.campaign.job import JobPlan
from venturi.campaign.scheduler import JobState, Script, SubmitError
from venturi.campaign.scheduler.script import body_of
from venturi.model.machine import Scheduler


class Local:
    """This host. A job's number is its process and when that began, so none is taken for it."""

    def __init__(self, settings: Scheduler) -> None:
        self._settings = settings

    def render(self, job: JobPlan, name: str, folder: Path, output: Path) -> str:
        """A script that runs the job; its name is in the environment, where it is found again."""
        return "\n".join(["#!/bin/sh", *body_of(self._settings, folder, job.name, name)]) + "\n"

    def submit(self, script: Script) -> str:
        """Starts the script in a session of its own."""
        try:
            with script.output.open("ab") as output:
                process = subprocess.Popen(
                    ["/bin/sh", str(script.path)],
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                    start_new_session=True,
                )
        except OSError as error:
            raise SubmitError(f"{script.path}: {error.strerror}") from None
        return _number(process.pid)

    def poll(self, numbers: list[str]) -> dict[str, JobState]:
        """Running, or ended."""
        return {
            number: JobState.RUNNING if _is_running(number) else JobState.ENDED
            for number in numbers
        }

    def cancel(self, number: str, look_only: bool = False) -> None:
        """Tells the job's own process, which ends what it has started."""
        if _is_running(number):
            with contextlib.suppress(ProcessLookupError):
                os.kill(_pid(number), signal.SIGUSR1 if look_only else signal.SIGTERM)

    def find(self, name: str) -> str | None:
        """The process that bears the name in its environment."""
        wanted = f"VENTURI_JOB={name}".encode()
        for home in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                is_worker = b"venturi.campaign.worker" in (home / "cmdline").read_bytes()
                if is_worker and wanted in (home / "environ").read_bytes().split(b"\0"):
                    return _number(int(home.name))
        return None


def _number(pid: int) -> str:
    begin = _begin_of(pid)
    return f"{pid}.{0 if begin is None else begin}"


def _pid(number: str) -> int:
    return int(number.partition(".")[0])


def _is_running(number: str) -> bool:
    pid = _pid(number)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)
    begin = _begin_of(pid)
    return begin is not None and number == f"{pid}.{begin}"


def _begin_of(pid: int) -> int | None:
    """When a process began, in ticks since the host's start; None if it is gone or a zombie."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()
    return None if fields[0] == "Z" else int(fields[19])
