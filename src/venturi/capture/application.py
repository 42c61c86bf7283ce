"""The application under capture: started, waited for, and told apart from us."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType

from venturi.capture.clock import Beginning
from venturi.capture.hidden import after, moved_by_children
from venturi.capture.merge import LaunchFacts
from venturi.execute.signals import heard_by
from venturi.model.error import UserError


@dataclass(frozen=True)
class ApplicationExit:
    """How the application ended."""

    code: int | None
    """Its exit code; negative: the signal that ended it; None: nobody was there to see."""
    facts: LaunchFacts
    interrupted: bool
    """By Ctrl-C."""

    @property
    def shell_code(self) -> int:
        """Its exit code as a shell tells it: 128 and the number of the signal that ended it; 0
        where nobody knows."""
        code = self.code or 0
        return 128 - code if code < 0 else code

    @property
    def how(self) -> str:
        """Its end in words; empty where it was fine."""
        if self.code is None:
            return "it is not known how the application ended"
        if self.code == 0:
            return ""
        if self.code > 0:
            return f"the application ended with exit code {self.code}"
        return f"the application was ended by signal {-self.code} ({signal.strsignal(-self.code)})"


def begin_job(command: tuple[str, ...]) -> LaunchFacts:
    """The job that begins now; how long it takes is to be filled in."""
    beginning = Beginning(socket.gethostname(), time.monotonic_ns(), time.time_ns())
    return LaunchFacts(beginning, datetime.now(UTC).isoformat(timespec="seconds"), 0.0, command)


def run_application(
    job: LaunchFacts,
    environment: dict[str, str],
    output: int | None = None,
    here: Path | None = None,
) -> ApplicationExit:
    """Runs the job's command on our own standard streams and waits for its end.

    Its output goes to the descriptor `output` instead, where one is given; its working directory
    is `here`, else ours. Ctrl-C reaches it as it would without us; SIGTERM and SIGHUP are passed
    on. Raises UserError where it cannot be started.
    """
    before = moved_by_children()
    seen = _SignalWatch()
    with heard_by(seen):
        try:
            process = subprocess.Popen(job.command, env=environment, stdout=output, cwd=here)
        except OSError as error:
            raise UserError(f"{job.command[0]}: {os.strerror(error.errno or 0)}") from None
        seen.watch(process)
        code = process.wait()
    seconds = (time.monotonic_ns() - job.beginning.monotonic_ns) / 1e9
    moved = after(before, moved_by_children())
    return ApplicationExit(code, replace(job, seconds=seconds, moved=moved), seen.interrupted)


class _SignalWatch:
    """What signals came while the application ran."""

    def __init__(self) -> None:
        self.interrupted = False
        self._process: subprocess.Popen[bytes] | None = None
        self._early: list[int] = []

    def watch(self, process: subprocess.Popen[bytes]) -> None:
        """Signals are passed on to it, also those that came while it was being started."""
        self._process = process
        for number in self._early:
            process.send_signal(number)

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if number == signal.SIGINT:  # the terminal sends it to the application, too
            self.interrupted = True
        elif self._process is None:
            self._early.append(number)
        else:
            self._process.send_signal(number)
