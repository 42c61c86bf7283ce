"""Stands in for the commands of PBS, LSF and Flux: runs jobs here and answers as those do.

`python batch_stand_in.py qsub SCRIPT` and so on; jobs are folders in `$STAND_IN`. `end NUMBER WHY`
ends a job as the site would: owner, time, memory, node.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

HOME = Path(os.environ.get("STAND_IN", "."))
ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
WHY = {
    "owner": ("TERM_OWNER: job killed by owner.", "271", "CANCELED", "cancel"),
    "time": (
        "TERM_RUNLIMIT: job killed after reaching LSF run time limit.",
        "-29",
        "TIMEOUT",
        "timeout",
    ),
    "memory": (
        "TERM_MEMLIMIT: job killed after reaching LSF memory usage limit.",
        "-27",
        "FAILED",
        "exec",
    ),
    "node": (
        "TERM_ZOMBIE: zombie job killed because its host was unreachable.",
        "1",
        "FAILED",
        "node-failure",
    ),
}
"""For each end: LSF's reason, PBS's exit status, Flux's status and exception."""
RUNNER = 'cd "$1" && sh ./script </dev/null >output 2>&1; echo $? >code.new; mv code.new code'


class Job:
    """A job in its folder."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.home = HOME / str(number)

    def read(self, name: str) -> str:
        path = self.home / name
        return path.read_text().strip() if path.exists() else ""

    @property
    def exists(self) -> bool:
        return self.home.is_dir()

    @property
    def code(self) -> str:
        return self.read("code")

    def signal(self, number: int) -> None:
        if not self.code:
            os.killpg(int(self.read("pid")), number)

    def end(self, why: str) -> None:
        (self.home / "why").write_text(why)
        self.signal(signal.SIGKILL if why == "node" else signal.SIGTERM)
        if why == "node":
            (self.home / "code").write_text("137")


def jobs() -> list[Job]:
    """All, in the order of their numbers."""
    numbers = sorted(int(path.name) for path in HOME.iterdir() if path.name.isdecimal())
    return [Job(number) for number in numbers]


def submit(text: str, name: re.Match[str] | None) -> Job:
    """Begins a job; its worker is not ended by a signal to this command's group."""
    assert name is not None, text
    job = Job(len(jobs()) + 1)
    job.home.mkdir()
    (job.home / "script").write_text(text)
    (job.home / "name").write_text(name[1])
    # The group gets signals as a batch system sends them; the shell around must outlive them.
    trap = "trap '' USR1; trap : TERM; " + RUNNER.replace("sh ./script", "trapless ./script")
    script = trap.replace("trapless", f"{sys.executable} {__file__} plain")
    process = subprocess.Popen(
        ["sh", "-c", script, "sh", str(job.home)],
        start_new_session=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    (job.home / "pid").write_text(str(process.pid))
    return job


def plain(script: str) -> None:
    """Becomes the script's shell, with signals as they are at the beginning."""
    for number in (signal.SIGUSR1, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    os.execvp("sh", ["sh", script])


def refuse(said: str) -> None:
    print(said, file=sys.stderr)
    sys.exit(255)


def pbs(command: str, words: list[str]) -> None:
    """qsub, qstat -x -f, qsig, qdel, qselect."""
    if command == "qsub":
        text = Path(words[0]).read_text()
        if "#PBS -q nowhere" in text:
            refuse("qsub: Unknown queue")
        print(f"{submit(text, re.search(r'#PBS -N (.*)', text)).number}.pbs-server")
    elif command == "qselect":
        for job in jobs():
            if job.read("name") == words[-1]:
                print(f"{job.number}.pbs-server")
    elif command == "qstat":
        for number in words[2:]:
            job = Job(int(number.split(".")[0]))
            if not job.exists:
                print(f"qstat: Unknown Job Id {number}", file=sys.stderr)
                continue
            print(f"Job Id: {number}\n    Job_Name = {job.read('name')}\n    queue = workq")
            print(f"    job_state = {'F' if job.code else 'R'}\n    Priority = 0")
            if job.code:
                status = WHY[job.read("why")][1] if job.read("why") else job.code
                print(f"    Exit_status = {status}")
            print("    Variable_List = PBS_O_HOME=/home/u,\n\tPBS_O_LANG=C\n")
    else:
        job = Job(int(words[-1].split(".")[0]))
        job.signal(signal.SIGUSR1) if command == "qsig" else job.end("owner")


def lsf(command: str, words: list[str]) -> None:
    """bsub, bjobs, bkill."""
    if command == "bsub":
        text = sys.stdin.read()
        if "#BSUB -q nowhere" in text:
            refuse("nowhere: No such queue. Job not submitted.")
        job = submit(text, re.search(r"#BSUB -J (.*)", text))
        print(f"Job <{job.number}> is submitted to queue <normal>.")
    elif command == "bjobs" and "-J" in words:
        for job in jobs():
            if job.read("name") == words[words.index("-J") + 1]:
                print(job.number)
    elif command == "bjobs":
        for number in words[4:]:
            job = Job(int(number))
            state = "RUN" if not job.code else "DONE" if job.code == "0" else "EXIT"
            why = WHY[job.read("why")][0] if job.read("why") else "-"
            if job.exists:
                print(f"{number}|{state}|{why}")
            else:
                print(f"Job <{number}> is not found", file=sys.stderr)
    else:
        job = Job(int(words[-1]))
        job.signal(signal.SIGUSR1) if "-s" in words else job.end("owner")


def flux(words: list[str]) -> None:
    """flux batch, jobs, cancel."""
    if words[0] == "batch":
        text = Path(words[1]).read_text()
        if "#flux: --queue=nowhere" in text:
            refuse("flux-batch: ERROR: [Errno 22] Invalid queue 'nowhere' specified")
        print("ƒ2" + ALPHABET[submit(text, re.search(r"#flux: --job-name=(.*)", text)).number])
    elif words[0] == "cancel":
        Job(ALPHABET.index(words[1][-1])).end("owner")
    elif words[-1].startswith("--name="):
        for job in reversed(jobs()):
            if job.read("name") == words[-1].removeprefix("--name="):
                print("f2" + ALPHABET[job.number])
    else:
        for number in words[4:]:
            job = Job(ALPHABET.index(number[-1]))
            if not job.exists:
                print(f"flux-jobs: ERROR: JobID {number} unknown", file=sys.stderr)
                continue
            status, exception = "RUN", ""
            if job.code:
                status = "COMPLETED" if job.code == "0" else "FAILED"
                if job.read("why"):
                    status, exception = WHY[job.read("why")][2:]
            print(f"{number} {status} {exception}")


def install(folder: Path) -> Path:
    """Commands of all three, for a PATH."""
    folder.mkdir()
    names = ("qsub", "qstat", "qsig", "qdel", "qselect", "bsub", "bjobs", "bkill", "flux")
    for name in names:
        path = folder / name
        path.write_text(f'#!/bin/sh\nexec {sys.executable} -S {__file__} {name} "$@"\n')
        path.chmod(0o755)
    return folder


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    asked, rest = sys.argv[1], sys.argv[2:]
    if asked == "plain":
        plain(rest[0])
    elif asked == "end":
        Job(int(rest[0])).end(rest[1])
    elif asked == "flux":
        flux(rest)
    elif asked.startswith("q"):
        pbs(asked, rest)
    else:
        lsf(asked, rest)
