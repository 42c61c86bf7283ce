"""The three ways in which a command fails, each with its exit code."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """What the shell sees; scripts rely on these numbers."""

    FINE = 0
    FAULT = 1
    USAGE = 2
    MEASUREMENT = 3
    GATE = 4
    TARGET = 5
    INTERRUPTED = 130


class VenturiError(Exception):
    """An error meant for the person at the terminal.

    Parameters: `message` says what is wrong and where, `hint` what to do about it.
    """

    exit_code = ExitCode.FAULT

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        if hint:
            self.add_note(hint)


class UserError(VenturiError):
    """Wrong use or an invalid document; nothing was started."""

    exit_code = ExitCode.USAGE


class TargetProblem(VenturiError):
    """The storage target was refused before the first measured operation."""

    exit_code = ExitCode.TARGET


class RunFailed(VenturiError):
    """The measurement failed after its first measured operation."""

    exit_code = ExitCode.MEASUREMENT
