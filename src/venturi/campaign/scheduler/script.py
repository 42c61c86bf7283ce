"""The part of a job's script that all schedulers share."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

from venturi.model.machine import Scheduler


def body_of(settings: Scheduler, folder: Path, job: str, name: str) -> list[str]:
    """The site's modules and set-up, then the worker in the place of the shell.

    The worker takes the shell's place so that a signal to the job reaches it.
    """
    words = [sys.executable, "-m", "venturi.campaign.worker", str(folder), job]
    return [
        *(f"module load {shlex.quote(module)}" for module in settings.modules),
        *settings.setup,
        f"export VENTURI_JOB={shlex.quote(name)}",
        f"exec {shlex.join(words)}",
    ]


def batch_script(
    directive: str,
    options: list[str],
    flags: tuple[str, str],
    settings: Scheduler,
    body: list[str],
) -> str:
    """A batch script: its options as lines that begin with `directive`, then `body`.

    `flags` name the queue and the account, where the site has them; its own options come last.
    """
    named = zip(flags, (settings.queue, settings.account), strict=True)
    chosen = [f"{flag}{value}" for flag, value in named if value]
    lines = [f"{directive} {option}" for option in [*options, *chosen, *settings.options]]
    return "\n".join(["#!/bin/sh", *lines, *body]) + "\n"
