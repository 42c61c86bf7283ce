"""A running engine: its events as they happen, and how it is stopped."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

from pydantic import ValidationError

from venturi.execute.signals import heard_by
from venturi.model.error import VenturiError
from venturi.model.event import Event as AnyEvent
from venturi.model.event import EventLine, Remark, Warning
from venturi.model.limit import is_exhausted

_GRACE_S = 10.0
_REPETITION_S = 10.0
"""How long the running repetition may still take after the first Ctrl-C; batch systems kill about
30 s after they have asked."""
_LOOK_S = 0.5
_STUCK_S = 30.0
"""How long an engine may live after it said that it failed."""
_SILENT_S = 2.0
"""A start that takes longer is told of, if the launcher says why: it waits for nodes."""


class EngineJob:
    """One start of the engine.

    The first Ctrl-C asks it to end after the running repetition, which may take 10 s more; the
    second ends it at once, and so does the first while a launcher says that it waits.
    `lock` is a descriptor that the engine inherits, so that others see that it lives.
    """

    def __init__(self, command: list[str], journal: Path, lock: int) -> None:
        self._journal = journal
        self.interrupts = 0
        self._failed_s: float | None = None
        self._has_begun = False
        self._waits = False
        self._start_s = time.monotonic()
        self._timers: list[threading.Timer] = []
        self._is_ending = False
        self._stderr_path = journal / "stderr.txt"
        with self._stderr_path.open("wb") as stderr:
            try:
                self._process = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=stderr,
                    start_new_session=True,
                    pass_fds=(lock,),
                )
            except OSError as error:
                if is_exhausted(error):
                    raise
                raise VenturiError(f"{command[0]}: {error.strerror}") from None

    def events(self) -> Iterator[tuple[str, AnyEvent]]:
        """Every event with its line of text, until the engine ends."""
        with self._interruptible():
            for line in self._lines():
                if isinstance(line, Remark):
                    self._waits = True
                    yield line.model_dump_json(by_alias=True), line
                    continue
                self._has_begun, self._waits = True, False
                try:
                    yield line, EventLine.model_validate_json(line).root
                except ValidationError:
                    warning = Warning(what=f"a line of the engine is no event: {line[:200]}")
                    yield warning.model_dump_json(by_alias=True), warning
            self._wait_for_end()

    def _lines(self) -> Iterator[str | Remark]:
        """Lines of the engine, until nobody can write any more or whoever can hangs; before the
        first, what its launcher says of waiting.

        A rank that hangs inside the system keeps the pipe open after the engine's end.
        """
        assert self._process.stdout is not None
        pipe = self._process.stdout.fileno()
        text, waits = b"", ""
        while True:
            ready, _, _ = select.select([pipe], [], [], _LOOK_S)
            if not ready:
                if self._process.poll() is not None or self._is_stuck():
                    return
                said = self._waiting()
                if said and said != waits:
                    waits = said
                    yield Remark(what=said)
                continue
            chunk = os.read(pipe, 1 << 16)
            if not chunk:
                text += b"\n"
            *lines, text = (text + chunk).split(b"\n")
            for raw in lines:
                line = raw.decode("utf-8", "replace").strip()
                if line:
                    yield line
            if not chunk:
                return

    def _waiting(self) -> str:
        """What the launcher said last while it does not get to start the engine."""
        if self._has_begun or time.monotonic() - self._start_s < _SILENT_S:
            return ""
        return "".join(self.stderr().strip().splitlines()[-1:])

    def ask_to_end(self) -> None:
        """The user wants the engine to end after the repetition that is under way."""
        self.interrupts += 1
        self.end_after_repetition()

    def end_after_repetition(self) -> None:
        """Let the engine end after the repetition that is under way."""
        (self._journal / "stop").touch()

    def failed(self) -> None:
        """The engine said that it failed: from now on its end has a bound."""
        self._failed_s = self._failed_s or time.monotonic()

    def _is_stuck(self) -> bool:
        return self._failed_s is not None and time.monotonic() - self._failed_s > _STUCK_S

    def _wait_for_end(self) -> None:
        """Wait for the engine; kill what does not end after it failed."""
        while self._process.poll() is None and not self._is_stuck():
            time.sleep(0.01)
        if self._process.poll() is None:
            self._signal(signal.SIGKILL)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_GRACE_S)

    @property
    def pid(self) -> int:
        """The process that was started: the engine, or its launcher."""
        return self._process.pid

    @property
    def returncode(self) -> int:
        """The engine's exit code; negative for a signal. Waits for its end, if it can end."""
        if self._process.poll() is None and self._is_stuck():
            return -signal.SIGKILL
        return self._process.wait()

    def stderr(self) -> str:
        """What the engine and its launcher wrote to standard error."""
        return self._stderr_path.read_text("utf-8", "replace")

    def stop(self) -> None:
        """End the engine now: politely, then by force."""
        if self._process.poll() is None:
            self._signal(signal.SIGTERM)
            try:
                self._process.wait(_GRACE_S)
            except subprocess.TimeoutExpired:
                self._signal(signal.SIGKILL)
                self._process.wait()

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)

    def _on_interrupt(self, number: int, frame: FrameType | None) -> None:
        if self.interrupts == 0 and number == signal.SIGINT and not self._waits:
            self.ask_to_end()
            self._later(_REPETITION_S, self._end_now)
            return
        self.interrupts += 1
        self._end_now()

    def _end_now(self) -> None:
        """End the engine; a rank inside a system call may not hear the polite signal."""
        if self._is_ending:
            return
        self._is_ending = True
        self._signal(signal.SIGTERM)
        self._later(_GRACE_S, lambda: self._signal(signal.SIGKILL))

    def _later(self, seconds: float, act: Callable[[], None]) -> None:
        timer = threading.Timer(seconds, act)
        timer.daemon = True
        timer.start()
        self._timers.append(timer)

    @contextlib.contextmanager
    def _interruptible(self) -> Iterator[None]:
        """Take over Ctrl-C and SIGTERM while the engine works."""
        try:
            with heard_by(self._on_interrupt):
                try:
                    yield
                except BaseException:
                    self.stop()
                    raise
        finally:
            for timer in self._timers:
                timer.cancel()
