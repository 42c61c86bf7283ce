"""A step's command under what writes a log of its I/O: Venturi's tracer, or Darshan's library."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence

from venturi.campaign.template import names_of
from venturi.model.campaign import CampaignStep
from venturi.model.machine import Machine
from venturi.model.traced_run import LogMaker, StepCapture

TRACE = "capture.trace"
"""In a run's folder: what the tracer wrote."""
DARSHAN_LOGS = "darshan"
"""In a run's folder: below it are Darshan's logs, in folders by date."""
SOFTWARE = "darshan"
"""What machines' files call it."""
_DAYS = 7
"""A log goes into a folder of the day on which its program began; Darshan does not make it."""


LOG_UNITS = {"io_time": "s", "written": "B", "read": "B"}
"""The metrics that a log gives a run, behind the name of what wrote it."""


def log_maker(step: CampaignStep) -> LogMaker | None:
    """What logs the I/O of a step's runs; None: nothing."""
    if step.capture:
        return LogMaker.CAPTURE
    return LogMaker.DARSHAN if step.darshan else None


def log_units(step: CampaignStep) -> dict[str, tuple[str, ...]]:
    """The metrics that a step's log gives, with their units."""
    maker = log_maker(step)
    return {f"{maker.value}.{name}": (unit,) for name, unit in LOG_UNITS.items()} if maker else {}


def software_of(step: CampaignStep, site: Machine) -> list[str]:
    """What a step needs of a machine's software, with Darshan where the machine says how."""
    return [*step.needs, *([SOFTWARE] if step.darshan and SOFTWARE in site.software else [])]


def logged_lines(step: CampaignStep, command: str) -> Sequence[str]:
    """The lines of shell that run a step's command so that its log is written, if one is wanted.

    They end as the command does.
    """
    if step.capture:
        chosen = step.capture if isinstance(step.capture, StepCapture) else StepCapture()
        line = [sys.executable, "-m", "venturi", "capture", "-q", "-o", TRACE]
        line += ["--counters"] if chosen.counters else []
        line += [word for glob in chosen.only for word in ("--only", glob)]
        line += [word for glob in chosen.skip for word in ("--skip", glob)]
        own = '--skip "$PWD/stdout" --skip "$PWD/stderr"'  # what the job keeps of the command
        return [f"{shlex.join(line)} {own} -- /bin/sh -c {shlex.quote(command)}"]
    return [*_darshan_lines(step), command] if step.darshan else [command]


def _darshan_lines(step: CampaignStep) -> Sequence[str]:
    """Variables for Darshan: serial programs are logged where no launcher starts ranks."""
    is_serial = not step.ranks and "launch" not in names_of(step.command)
    days = " ".join(map(str, range(_DAYS)))
    folder = f'"$PWD/{DARSHAN_LOGS}/$(date -d "+$day day" +%Y/%-m/%-d)"'
    return [
        f"for day in {days}; do mkdir -p {folder}; done",
        f'export DARSHAN_LOGPATH="$PWD/{DARSHAN_LOGS}"',
        "export DARSHAN_JOBID=VENTURI_DARSHAN_JOB VENTURI_DARSHAN_JOB=$$",
        *(['export DARSHAN_ENABLE_NONMPI="${DARSHAN_ENABLE_NONMPI-1}"'] if is_serial else []),
        'export LD_PRELOAD="${DARSHAN_LIBRARY:-libdarshan.so}${LD_PRELOAD:+:$LD_PRELOAD}"',
    ]
