"""Asking the commands of a batch system."""

from __future__ import annotations

import subprocess

from venturi.campaign.scheduler import SubmitError

_PATIENCE_S = 60.0


def asked(*words: str, text: str = "") -> subprocess.CompletedProcess[str]:
    """What a command answered to `text`; that it does not answer is an answer, too.

    Raises SubmitError where there is no such command.
    """
    try:
        return subprocess.run(
            words, input=text, capture_output=True, text=True, timeout=_PATIENCE_S, check=False
        )
    except FileNotFoundError:
        raise SubmitError(f"{words[0]} is not installed here", "is this a login node?") from None
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(words, 1, "", f"{words[0]} did not answer in a minute")


def refused(answer: subprocess.CompletedProcess[str], script: str) -> SubmitError:
    """A job that was not taken, with the batch system's own words."""
    said = answer.stderr.strip() or answer.stdout.strip()
    return SubmitError(
        f"{answer.args[0]} did not take {script}: {said}",
        "check queue, account and options in the machine's file",
    )
