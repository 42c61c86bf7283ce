"""The application under capture: started, waited for, and told apart from us."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType

from venturi.capture.clock import Beginning
from venturi.capture.merge import JobFacts
from venturi.model.error import UserError

_PASSED_ON = (signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True)
class Finished:
    """How the application ended."""

    code: int
    """Its exit code; negative: the signal that ended it."""
    facts: JobFacts
    interrupted: bool
    """By Ctrl-C."""

    @property
    def how(self) -> str:
        """Its end in words; empty where it was fine."""
        if self.code == 0:
            return ""
        if self.code > 0:
            return f"the application ended with exit code {self.code}"
        return f"the application was ended by signal {-self.code} ({signal.strsignal(-self.code)})"


def run_application(
    command: tuple[str, ...], environment: dict[str, str], here: Path | None = None
) -> Finished:
    """Runs `command` on our own standard streams and waits for its end.

    Its working directory is `here`, else ours. Ctrl-C reaches it as it would without us; SIGTERM
    and SIGHUP are passed on. Raises UserError where it cannot be started.
    """
    beginning = Beginning(socket.gethostname(), time.monotonic_ns(), time.time_ns())
    started = datetime.now(UTC).isoformat(timespec="seconds")
    with _signals() as seen:
        try:
            process = subprocess.Popen(command, env=environment, cwd=here)
        except OSError as error:
            raise UserError(f"{command[0]}: {os.strerror(error.errno or 0)}") from None
        seen.process = process
        code = process.wait()
    seconds = (time.monotonic_ns() - beginning.monotonic_ns) / 1e9
    facts = JobFacts(beginning, started, seconds, command)
    return Finished(code, facts, seen.interrupted)


class _Seen:
    """What signals came while the application ran."""

    process: subprocess.Popen[bytes] | None = None
    interrupted = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if number == signal.SIGINT:  # the terminal sends it to the application, too
            self.interrupted = True
        elif self.process is not None:
            self.process.send_signal(number)


@contextlib.contextmanager
def _signals() -> Iterator[_Seen]:
    seen = _Seen()
    before = {number: signal.signal(number, seen) for number in (signal.SIGINT, *_PASSED_ON)}
    try:
        yield seen
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
