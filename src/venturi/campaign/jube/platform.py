"""The sets of JUBE's `platform.xml`: how a job is submitted, which the machine's file says here."""

from __future__ import annotations

from pathlib import Path

from venturi.campaign.jube.node import Node

FILE = "platform.xml"
SYSTEM = "systemParameter"
SUBMITTING = {"executeset", "executesub", "jobfiles", "chainfiles"}
"""Sets that make and submit a job script."""
SUBMISSION = {"submit", "submit_script", "chainjob_script"}
"""What a command names that hands over the job's script."""
SHARED = "shared_folder"
"""Where chained jobs wait for each other."""
SITE = (
    "queue",
    "account",
    "account_slurm",
    "gres",
    "mail",
    "notification",
    "args_starter",
    "hint",
    "starter",
    "jobname",
)
"""Parameters that say something about a site or a user."""
_DEFAULTS = {
    "nodes": "1",
    "taskspernode": "1",
    "threadspertask": "1",
    "tasks": "$nodes * $taskspernode",
    "timelimit": "00:30:00",
    "executable": "",
    "args_exec": "",
    "preprocess": "",
    "postprocess": "",
    "measurement": "",
    "env": "",
    "outlogfile": "job.out",
    "errlogfile": "job.err",
    **dict.fromkeys(SITE, ""),
}


def is_platform(file: str) -> bool:
    """Whether a reference to a file means JUBE's own description of a platform."""
    return Path(file).name == FILE


def platform_set(name: str, node: Node) -> Node | None:
    """A set of the platform; None for a name that it does not have."""
    if name in SUBMITTING:
        return Node("platform", node.file, node.line, {"name": name})
    if name != SYSTEM:
        return None
    parameters = tuple(
        Node(
            "parameter",
            node.file,
            node.line,
            {"name": key, "separator": ";"} | ({"mode": "python"} if "*" in text else {}),
            text=text,
        )
        for key, text in _DEFAULTS.items()
    )
    return Node("parameterset", node.file, node.line, {"name": name}, parameters)
