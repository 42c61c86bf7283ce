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
STARTING = {"starter": "srun", "args_starter": ""}
"""What the set that submits says of how programs are started."""
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
USUAL = "usual"
"""The attribute of what JUBE says where a suite says nothing."""
THREADS = "OMP_NUM_THREADS"
_DEFAULTS = {
    "nodes": "1",
    "taskspernode": "1",
    "threadspertask": "1",
    "tasks": "$nodes * $taskspernode",
    THREADS: "$threadspertask",
    "timelimit": "00:30:00",
    "executable": "",
    "args_exec": "",
    "preprocess": "",
    "postprocess": "",
    "measurement": "",
    "env": "",
    "outlogfile": "job.out",
    "errlogfile": "job.err",
    "additional_job_config": "",
    **dict.fromkeys(SITE, ""),
    "queue": "batch",
    "gres": "NONE",
    "notification": "NONE",
}


def is_platform(file: str) -> bool:
    """Whether a reference to a file means JUBE's own description of a platform."""
    return Path(file).name == FILE


def platform_set(name: str, node: Node) -> Node | None:
    """A set of the platform; None for a name that it does not have."""
    if name in SUBMITTING:
        starting = STARTING if name == "executeset" else {}
        return Node("platform", node.file, node.line, {"name": name}, _parameters(node, starting))
    if name != SYSTEM:
        return None
    known = {key: text for key, text in _DEFAULTS.items() if key not in STARTING}
    return Node("parameterset", node.file, node.line, {"name": name}, _parameters(node, known))


def _parameters(node: Node, texts: dict[str, str]) -> tuple[Node, ...]:
    return tuple(
        Node(
            "parameter",
            node.file,
            node.line,
            {"name": key, "separator": ";", USUAL: "true"}
            | ({"mode": "python"} if "*" in text else {})
            | ({"export": "true"} if key == THREADS else {}),
            text=text,
        )
        for key, text in texts.items()
    )
