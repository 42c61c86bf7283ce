"""Reads Darshan logs: asks the process that holds the C library and judges how that went."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import select
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from venturi.model.error import UserError
from venturi.model.trace import Layer, Trace
from venturi.sources.counter import BROKEN, LAYERS
from venturi.sources.darshan_child import EXIT_NO_LIBRARY, EXIT_UNREADABLE
from venturi.sources.darshan_container import LONGEST_HEADER_BYTES, Container, ContainerError

MAX_LOG_BYTES = 2**30
"""A log is compressed counters; the largest known ones are a few hundred MiB."""

TEXT_ROUTE = "give venturi the text that `darshan-parser LOG` prints instead"


Meanwhile = Callable[[], None]
"""What is done here while the worker reads."""


@dataclass(frozen=True)
class Answer:
    """How reading one log went."""

    code: int
    """Exit code; negative: the signal that ended it."""
    trace: bytes
    errors: str


class DarshanWorker:
    """The process that holds the C library; it serves one log after the other."""

    def __init__(self) -> None:
        command = [sys.executable, "-P", "-m", "venturi.sources.darshan_child"]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        )
        self._held = b""

    @property
    def number(self) -> int:
        """The process's number."""
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def ask(self, path: Path, timeout_s: float, meanwhile: Meanwhile | None = None) -> Answer:
        """The answer for a log; `meanwhile` is called while the worker reads it.

        Raises TimeoutError, or OSError where the worker died.
        """
        stdin = self._process.stdin
        assert stdin is not None
        deadline = time.monotonic() + timeout_s
        stdin.write(json.dumps(str(path.resolve())).encode() + b"\n")
        stdin.flush()
        if meanwhile is not None:
            meanwhile()
        while b"\n" not in self._held:
            self._take(deadline)
        line, _, self._held = self._held.partition(b"\n")
        head = json.loads(line)
        while len(self._held) < head["bytes"]:
            self._take(deadline)
        trace, self._held = self._held[: head["bytes"]], self._held[head["bytes"] :]
        return Answer(head["code"], trace, head["errors"])

    def _take(self, deadline: float) -> None:
        stdout = self._process.stdout
        assert stdout is not None
        ready, _, _ = select.select([stdout], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            raise TimeoutError
        more = os.read(stdout.fileno(), 2**20)
        if not more:
            raise BrokenPipeError("the process that reads Darshan logs died")
        self._held += more

    def stop(self) -> None:
        """Ends the worker and what it forked."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.communicate()


class _Pool:
    """The one worker of this process; made when first needed, replaced when it dies."""

    def __init__(self) -> None:
        self._worker: DarshanWorker | None = None
        self._owner = 0

    def start(self) -> None:
        """Start the worker, which takes a while to be ready."""
        self._usable()

    def ask(self, path: Path, timeout_s: float, meanwhile: Meanwhile | None = None) -> Answer:
        """See DarshanWorker.ask; a worker that died meanwhile is replaced once."""
        for attempt in (1, 2):
            worker = self._usable()
            try:
                return worker.ask(path, timeout_s, meanwhile if attempt == 1 else None)
            except TimeoutError:
                self.stop()
                raise
            except OSError:
                self.stop()
                if attempt == 2:
                    raise
            except BaseException:
                self.stop()  # an answer may still come, which the next one must not read
                raise
        raise AssertionError("unreachable")

    def _usable(self) -> DarshanWorker:
        if self._worker is None or self._owner != os.getpid() or not self._worker.is_alive:
            if self._owner == os.getpid():
                self.stop()
            self._worker, self._owner = DarshanWorker(), os.getpid()
        return self._worker

    @property
    def number(self) -> int:
        """The worker's process; 0 without one."""
        return 0 if self._worker is None else self._worker.number

    def stop(self) -> None:
        """Ends the worker, if this process has one."""
        if self._worker is not None and self._owner == os.getpid():
            self._worker.stop()
        self._worker = None


POOL = _Pool()
atexit.register(POOL.stop)


def read_log(path: Path, timeout_s: float = 60.0) -> Trace:
    """The trace of a binary Darshan log: its counters.

    Raises UserError as `read_counters`, and where no record of a module can be read.
    """
    trace = read_counters(path, timeout_s)
    refuse_unreadable(path, trace)
    return trace


def refuse_unreadable(path: Path, trace: Trace, traced: Iterable[Layer] = ()) -> None:
    """Raise UserError where the log has a module of which no record can be read.

    Without it, the application would seem to have made no call in that layer. Layers that are
    `traced` call by call are known all the same.
    """
    known = {record.layer for record in trace.records} | set(traced)
    for gap in trace.gaps:
        if gap.what == BROKEN and gap.layer in LAYERS and LAYERS[gap.layer][0] not in known:
            raise UserError(
                f"Darshan log '{path}' is damaged: no record of its module {gap.layer} can be read",
                "copy the log again from where Darshan wrote it",
            )


def read_counters(path: Path, timeout_s: float = 60.0, meanwhile: Meanwhile | None = None) -> Trace:
    """The counters of a binary Darshan log; modules that are damaged are named in its gaps.

    The C library runs in a process of its own, for at most `timeout_s` seconds. Raises
    UserError where the log is missing, too large, empty, malformed or takes too long. `meanwhile`
    is called once while the library reads.
    """
    where = f"Darshan log '{path}'"
    size = _size_bytes(path, where)
    if size > MAX_LOG_BYTES:
        raise UserError(f"{where} has {size} bytes; at most {MAX_LOG_BYTES} are read", TEXT_ROUTE)
    try:
        with _readable(path) as readable:
            answer = POOL.ask(readable, timeout_s, meanwhile)
    except TimeoutError:
        raise UserError(f"{where} could not be read in {timeout_s:g} s", TEXT_ROUTE) from None
    except OSError as error:
        raise UserError(f"{where} could not be read: {error}", TEXT_ROUTE) from None
    if answer.code != 0:
        raise _failure(where, answer.code, answer.errors)
    try:
        trace = Trace.model_validate_json(answer.trace)
    except ValidationError as error:
        raise UserError(f"{where} holds impossible values: {_brief(error)}", TEXT_ROUTE) from None
    source = trace.source.model_copy(update={"file": path.name})
    return trace.model_copy(update={"source": source})


@contextlib.contextmanager
def _readable(path: Path) -> Iterator[Path]:
    """The log, or a copy for the C library where the header is not what that library knows."""
    with path.open("rb") as file:
        head = file.read(LONGEST_HEADER_BYTES)
    try:
        is_private = Container(head).is_private
    except (ContainerError, struct.error):
        is_private = False  # the library says what is wrong with it
    if not is_private:
        yield path
        return
    with tempfile.NamedTemporaryFile(prefix="venturi-", suffix=".darshan") as copy:
        copy.write(Container(path.read_bytes()).standard())
        copy.flush()
        yield Path(copy.name)


def _size_bytes(path: Path, where: str) -> int:
    try:
        size = path.stat().st_size
    except OSError as error:
        raise UserError(f"{where} cannot be opened: {error.strerror}") from None
    if size == 0:
        raise UserError(f"{where} is an empty file", "the job may have died before Darshan wrote")
    return size


def _failure(where: str, code: int, stderr: str) -> UserError:
    lines = stderr.strip().splitlines()
    last = lines[-1] if lines else "no reason given"
    if code == EXIT_NO_LIBRARY and last.startswith(ModuleNotFoundError.__name__):
        return UserError(
            f"{where} cannot be read: PyDarshan (the extra 'darshan') is not installed",
            f"pip install 'darshan>=3.4,<4', or {TEXT_ROUTE}",
        )
    if code == EXIT_NO_LIBRARY:
        return UserError(
            f"{where} cannot be read here because the 'darshan' library does not load ({last})",
            f"pip install darshan, or {TEXT_ROUTE}",
        )
    if code == EXIT_UNREADABLE:
        return UserError(f"{where} cannot be read: {last}", TEXT_ROUTE)
    how = f"signal {-code}" if code < 0 else f"exit code {code}"
    return UserError(f"{where} is malformed: it crashes the Darshan library ({how})", TEXT_ROUTE)


def _brief(error: ValidationError) -> str:
    detail = error.errors(include_url=False, include_context=False)[0]
    return f"{'.'.join(str(part) for part in detail['loc'])}: {detail['msg']}"
