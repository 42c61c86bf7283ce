"""A worker: one engine process for one target and kind, started again when it ends."""

from __future__ import annotations

import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

from venturi.execute.engine import find_engine
from venturi.model.error import VenturiError

_FIRST_PAUSE_S = 1.0
_LONGEST_PAUSE_S = 60.0
_WELL_AFTER_S = 60.0


@dataclass
class ProbeWorker:
    """Keeps one process at work. Touches the ring's file and nothing on the probed storage."""

    ring: Path
    log: Path
    process: subprocess.Popen[bytes] | None = None
    restarts: int = 0
    _pause_s: float = _FIRST_PAUSE_S
    _start_at_s: float = 0.0
    _started_s: float = field(default=0.0)

    def start(self) -> None:
        """Start the process; its errors go into the log."""
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [str(find_engine()), "probe", str(self.ring)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=log,
                start_new_session=True,  # a Ctrl-C is for the parent, which asks its workers to end
            )
        self._started_s = time.monotonic()

    def watch(self) -> str:
        """Start the process again if it ended and its pause is over; what happened, or empty."""
        if self.process is None:
            if time.monotonic() >= self._start_at_s:
                self.start()
            return ""
        code = self.process.poll()
        if code is None:
            return ""
        lived_s = time.monotonic() - self._started_s
        if lived_s > _WELL_AFTER_S:
            self._pause_s = _FIRST_PAUSE_S
        self.process = None
        self.restarts += 1
        self._start_at_s = time.monotonic() + self._pause_s
        said = f"{self.ring.parent.name}/{self.ring.stem}: the worker ended ({code}); it starts "
        said += f"again in {self._pause_s:.0f} s"
        self._pause_s = min(_LONGEST_PAUSE_S, 2 * self._pause_s)
        return said

    def check_start(self) -> None:
        """Raise VenturiError where the process ended at once, with what it said."""
        code = self.process.poll() if self.process is not None else None
        if code is None:
            return
        lines = self.log.read_text("utf-8", "replace").strip().splitlines()
        raise VenturiError(f"{self.ring}: the worker does not start: {(lines or [str(code)])[-1]}")

    def ask_to_end(self) -> None:
        """Ask for the end, if there is a process."""
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()

    def wait(self, until_s: float) -> bool:
        """Wait for the end till that moment, then kill; False where even that does not end it."""
        if self.process is None:
            return True
        try:
            self.process.wait(max(0.0, until_s - time.monotonic()))
        except subprocess.TimeoutExpired:
            self.process.kill()
            try:
                self.process.wait(1.0)
            except subprocess.TimeoutExpired:
                return False
        return True
