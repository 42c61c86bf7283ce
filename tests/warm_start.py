"""Commands of `venturi` in processes that need not load Python and the package each time.

`run(line, ...)` is `subprocess.run` for lines that begin with `VENTURI`. A process that has loaded
all of the package, and has done nothing else, makes a child for each command. The child has the
command's own folder, environment, standard streams and arguments, and runs the package as
`python -m venturi` would, without the third of a second that Python needs to load it.

Python itself starts a command where a difference could be seen: with an option of
`subprocess.run` that is unknown here, with another value of a variable that was read while the
package was loaded, and where coverage is measured.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import importlib
import io
import json
import os
import pkgutil
import runpy
import selectors
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

VENTURI = (sys.executable, "-m", "venturi")
Finished = subprocess.CompletedProcess[str]

_OPTIONS = {"capture_output", "text", "check", "cwd", "env", "timeout"}
_INTERPRETER = ("PYTHON", "LANG", "LC_", "LD_", "TZ", "MALLOC_", "OPENBLAS_", "OMP_", "COVERAGE_")
"""Beginnings of names that Python or a library in C reads at its start."""
_HEADER = struct.Struct("=q")
_UNBUFFERED = bool(os.environ.get("PYTHONUNBUFFERED"))


def run(line: Sequence[str], **options: Any) -> Finished:
    """Run a command to its end, as `subprocess.run` with the same options would."""
    environment = dict(options.get("env") or os.environ)
    is_plain = options.keys() <= _OPTIONS and options.get("text") and options.get("capture_output")
    if not is_plain or tuple(line[:3]) != VENTURI or not _server().holds_for(environment):
        return subprocess.run(line, **options)  # noqa: PLW1510
    folder = os.path.abspath(options.get("cwd") or os.getcwd())
    request = json.dumps([list(map(str, line[3:])), folder, environment]).encode()
    with _Command(_server().socket, request) as command:
        try:
            out, err = command.output(options.get("timeout"))
        except TimeoutError:
            command.kill()
            raise subprocess.TimeoutExpired(line, options["timeout"]) from None
        done = Finished(line, command.code(), out, err)
    if options.get("check"):
        done.check_returncode()
    return done


def venturi(
    *words: str,
    folder: str | os.PathLike[str] | None = None,
    environment: Mapping[str, str] | None = None,
    limit_s: float = 600.0,
) -> Finished:
    """Run a command of `venturi` to its end, which may be bad, and return what it said."""
    return run(
        [*VENTURI, *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=limit_s,
        check=False,
    )


class _Server:
    """The process that has the package loaded; it ends with the one that asks it."""

    def __init__(self) -> None:
        self.socket, theirs = socket.socketpair()
        with theirs:
            self.process = subprocess.Popen([sys.executable, __file__], stdin=theirs)
        self._environment = dict(os.environ)
        self._names = set(json.loads(_message(self.socket)))

    def holds_for(self, environment: Mapping[str, str]) -> bool:
        """Whether Python would load the same in this environment."""
        if any(name.startswith("COVERAGE_") for name in environment):
            return False
        names = self._names | _of_interpreter(environment) | _of_interpreter(self._environment)
        return all(environment.get(name) == self._environment.get(name) for name in names)


@functools.cache
def _server_of(_process: int) -> _Server:
    return _Server()


def _server() -> _Server:
    """The server of this process; one that was forked makes its own."""
    return _server_of(os.getpid())


def _of_interpreter(environment: Iterable[str]) -> set[str]:
    return {name for name in environment if name.startswith(_INTERPRETER)}


class _Command:
    """A command under way: our ends of its streams and of the answers about it."""

    def __init__(self, server: socket.socket, request: bytes) -> None:
        self._answers, answers = socket.socketpair()
        self._out, out = os.pipe()
        self._err, err = os.pipe()
        nothing = os.open(os.devnull, os.O_RDONLY)
        with answers:
            theirs = [answers.fileno(), nothing, out, err]
            socket.send_fds(server, [_HEADER.pack(len(request))], theirs)
            server.sendall(request)
        for descriptor in theirs[1:]:
            os.close(descriptor)
        [self._pid] = _HEADER.unpack(_exactly(self._answers, _HEADER.size))

    def __enter__(self) -> _Command:
        return self

    def __exit__(self, *_: object) -> None:
        self._answers.close()
        os.close(self._out)
        os.close(self._err)

    def output(self, limit_s: float | None) -> tuple[str, str]:
        """Return what comes out of both streams until nobody can write to them any more."""
        end_s = time.monotonic() + limit_s if limit_s is not None else float("inf")
        written: dict[int, bytes] = {self._out: b"", self._err: b""}
        with selectors.DefaultSelector() as open_streams:
            for stream in written:
                open_streams.register(stream, selectors.EVENT_READ)
            while open_streams.get_map():
                left_s = end_s - time.monotonic()
                if left_s <= 0:
                    raise TimeoutError
                for key, _ in open_streams.select(min(left_s, 60.0)):
                    part = os.read(key.fd, 1 << 16)
                    written[key.fd] += part
                    if not part:
                        open_streams.unregister(key.fd)
        out, err = (io.TextIOWrapper(io.BytesIO(text)).read() for text in written.values())
        return out, err

    def code(self) -> int:
        """Wait for the command's end and return its exit code, as `subprocess` gives it."""
        [code] = _HEADER.unpack(_exactly(self._answers, _HEADER.size))
        return int(code)

    def kill(self) -> None:
        os.kill(self._pid, signal.SIGKILL)
        self.code()


def _exactly(stream: socket.socket, size: int) -> bytes:
    """Return so many bytes; the other side must not end before."""
    data = b""
    while len(data) < size:
        part = stream.recv(size - len(data))
        if not part:
            raise EOFError
        data += part
    return data


def _message(stream: socket.socket) -> bytes:
    [size] = _HEADER.unpack(_exactly(stream, _HEADER.size))
    return _exactly(stream, size)


def _load() -> list[str]:
    """Load the package; return the names of the variables that were read meanwhile."""
    kind: Any = type(os.environ)
    names: set[str] = set()
    plain = kind.__getitem__

    def noted(self: Any, name: str) -> Any:
        names.add(name)
        return plain(self, name)

    kind.__getitem__ = noted
    try:
        package = importlib.import_module("venturi")
        for module in pkgutil.walk_packages(package.__path__, "venturi."):
            if not module.name.endswith(("__main__", "_child")):
                # A command that needs a module that cannot be loaded says so itself.
                with contextlib.suppress(Exception):
                    importlib.import_module(module.name)
    finally:
        kind.__getitem__ = plain
    return sorted(names)


def _next_command() -> None:
    """Make a process for each command that is asked for; return in such processes alone."""
    server = socket.socket(fileno=os.dup(0))
    names = json.dumps(_load()).encode()
    server.sendall(_HEADER.pack(len(names)) + names)
    gc.collect()
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # those that wait for commands need no answer
    while True:
        header, given, _, _ = socket.recv_fds(server, _HEADER.size, 4)
        if not header:
            sys.exit()
        request = json.loads(_exactly(server, *_HEADER.unpack(header)))
        if os.fork() == 0:
            server.close()
            _wait_for_command(*given)
            _become(*request)
            return
        for descriptor in given:
            os.close(descriptor)


def _wait_for_command(answers: int, *streams: int) -> None:
    """Make the process of a command, and tell who asked its number, then its exit code."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    command = os.fork()
    if command == 0:
        os.close(answers)
        for target, stream in enumerate(streams):
            os.dup2(stream, target)
            os.close(stream)
        return
    for stream in (0, *streams):
        os.close(stream)
    os.write(answers, _HEADER.pack(command))
    _, status = os.waitpid(command, 0)
    os.write(answers, _HEADER.pack(os.waitstatus_to_exitcode(status)))
    os._exit(0)


def _become(words: list[str], folder: str, environment: dict[str, str]) -> None:
    """Be the process in which Python has just begun with `-m venturi` and these words."""
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.path[0] = folder
    sys.argv = ["-m", *words]
    sys.orig_argv = [*VENTURI, *words]
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        old = getattr(sys, name)
        mode, size = ("wb", 0 if _UNBUFFERED else -1) if number else ("rb", -1)
        new = io.TextIOWrapper(
            open(number, mode, size),  # noqa: SIM115 - it is open as long as the process lives
            encoding=old.encoding,
            errors=old.errors,
            line_buffering=number == 2,
            write_through=_UNBUFFERED,
        )
        setattr(sys, name, new)
        setattr(sys, f"__{name}__", new)


if __name__ == "__main__":
    _next_command()
    runpy.run_module("venturi", run_name="__main__", alter_sys=True)
