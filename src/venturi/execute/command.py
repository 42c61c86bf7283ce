"""A command with a bound: its processes, its time, and how all of them are ended."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

GRACE_S = 10.0
"""Between asking processes to end and making them."""
_LOOK_S = 0.02
_WATCH = f"read -r line; kill -s TERM -- -$1; sleep {GRACE_S:g}; kill -s KILL -- -$1"
"""Of the shell: nobody ever writes a line, so it is over when whoever could has died."""
_HELD = 'read -r VENTURI_GO && exec /bin/sh -c "$1" </dev/null'
"""Of the shell: the command begins when it gets a line, and never if whoever could has died."""


@dataclass(frozen=True)
class Command:
    """A line of the shell, where it works, and where its `stdout` and `stderr` go."""

    line: str
    folder: Path
    output: Path
    variables: Mapping[str, str]
    """Of its environment, beside those of this process."""


@dataclass(frozen=True)
class CommandExit:
    """How a command came to its end."""

    seconds: float
    code: int | None = None
    """Negative for a signal; None where it was ended from here."""


def run_command(command: Command, limit_s: float, stop: threading.Event) -> CommandExit:
    """Run a command to its end, or end it and all processes of its group.

    That is done when its time is over or `stop` is set; also what it leaves behind in its group
    when it ends by itself is ended, and all of it when this process dies, even by `kill -9`.
    Raises OSError where it cannot start.
    """
    said = command.output
    with (said / "stdout").open("wb") as out, (said / "stderr").open("wb") as err:
        process = subprocess.Popen(
            ["/bin/sh", "-c", _HELD, "venturi-command", command.line],
            cwd=command.folder,
            env={**os.environ, **command.variables},
            stdin=subprocess.PIPE,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )
        with _watched(process):
            begin_s = time.monotonic()
            _let_go(process)
            while True:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    code = process.wait(_LOOK_S)
                    seconds = time.monotonic() - begin_s
                    kill_group(process)
                    return CommandExit(seconds, code)
                if stop.is_set() or time.monotonic() - begin_s > limit_s:
                    end_group(process)
                    return CommandExit(time.monotonic() - begin_s)


def _let_go(process: subprocess.Popen[bytes]) -> None:
    """Let a held command begin."""
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError), process.stdin:
        process.stdin.write(b"\n")


@contextlib.contextmanager
def _watched(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Meanwhile a process of its own session ends the group should this process die."""
    try:
        watch = subprocess.Popen(
            ["/bin/sh", "-c", _WATCH, "venturi-watch", str(process.pid)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:
        end_group(process)
        raise
    try:
        yield
    finally:
        watch.kill()
        watch.communicate()


def end_group(process: subprocess.Popen[bytes]) -> None:
    """Ask a process and all of its group to end, and make them after a while."""
    for number, patience_s in ((signal.SIGTERM, GRACE_S), (signal.SIGKILL, None)):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(patience_s)
            break
    kill_group(process)


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """End what is left of a process's group."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
