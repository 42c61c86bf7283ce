"""Runs an engine and reads what it says."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from venturi.model.event import EventLine
from venturi.model.plan import Plan

ROOT = Path(__file__).parents[2]
LAUNCHERS = {
    "openmpi": ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "-n"],
    "mpich": ["mpirun.mpich", "-n"],
}

RANK_VARIABLE = {"openmpi": "OMPI_COMM_WORLD_RANK", "mpich": "PMI_RANK"}
"""In which a launcher tells a process its rank."""


def built(preset: str, program: str) -> Path:
    """A program of one build; a missing one is a failure, not a skip."""
    path = ROOT / "build" / preset / program
    if not path.exists():
        pytest.fail(f"build it: cmake --preset {preset} && cmake --build --preset {preset}")
    return path


@dataclass(frozen=True)
class Outcome:
    """What a run of the engine left: exit code, events and stderr."""

    code: int
    events: list[dict[str, Any]]
    stderr: str

    def of(self, kind: str) -> list[dict[str, Any]]:
        """The events of one kind."""
        return [event for event in self.events if event["event"] == kind]

    def phase(self, path: str, repetition: int = 0) -> dict[str, Any]:
        """The one `phase_finished` of a phase and repetition."""
        found = [
            event
            for event in self.of("phase_finished")
            if event["path"] == path and event["repetition"] == repetition
        ]
        assert len(found) == 1, (path, repetition, self.events, self.stderr)
        return found[0]

    @property
    def failed(self) -> dict[str, Any]:
        """The only `failed` event; it is the last event."""
        found = self.of("failed")
        assert len(found) == 1, (self.events, self.stderr)
        assert self.events[-1] == found[0]
        return found[0]


def parse(text: str) -> list[dict[str, Any]]:
    """Events of the engine, each valid by the schema. A launcher may put empty lines among them."""
    lines = [line for line in text.splitlines() if line]
    for line in lines:
        EventLine.model_validate_json(line)
    return [json.loads(line) for line in lines]


class Engine:
    """The executables of one build."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def path(self, name: str = "venturi-engine") -> str:
        """An executable; a missing one is a failure, not a skip."""
        found = self.place / name
        if not found.exists():
            pytest.fail(
                f"{found} is missing: cmake --preset release && cmake --build build/release"
            )
        return str(found)

    def command(self, plan: Plan, comm: str = "forked") -> list[str]:
        """The command line that runs a plan under a kind of group."""
        name = str(Path(plan.journal) / "plan.json")
        if comm in LAUNCHERS:
            if shutil.which(LAUNCHERS[comm][0]) is None:
                pytest.fail(f"{LAUNCHERS[comm][0]} is missing")
            engine = self.path(f"venturi-engine-{comm}")
            return [*LAUNCHERS[comm], str(plan.ranks), engine, "run", name]
        return [self.path(), "run", *(["--forked"] if comm == "forked" else []), name]

    def run(self, plan: Plan, comm: str = "forked") -> Outcome:
        """Runs a plan to its end."""
        done = subprocess.run(
            self.command(plan, comm), capture_output=True, text=True, timeout=600, check=False
        )
        return Outcome(done.returncode, parse(done.stdout), done.stderr)

    def start(self, plan: Plan, comm: str = "forked") -> subprocess.Popen[str]:
        """Starts a plan; the caller reads its events."""
        return subprocess.Popen(
            self.command(plan, comm),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def clean(self, plan: Plan) -> dict[str, Any]:
        """What `clean` says about a journal."""
        done = subprocess.run(
            [self.path(), "clean", plan.journal], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer


def on_nodes(engine: Engine, comm: str, made: Plan, node: str) -> Outcome:
    """Runs a plan on hosts of several names; `node` is the shell's arithmetic for a rank's."""
    run = f"exec {engine.path(f'venturi-engine-{comm}')} run {made.journal}/plan.json"
    number = f"$(({node.replace('rank', RANK_VARIABLE[comm])}))"
    script = f'exec unshare -u sh -c "hostname node{number}; {run}"'
    done = subprocess.run(
        [*LAUNCHERS[comm], str(made.ranks), "sh", "-c", script],
        check=False,
        capture_output=True,
        text=True,
        timeout=600,
    )
    return Outcome(done.returncode, parse(done.stdout), done.stderr)


def end(process: subprocess.Popen[str]) -> None:
    """Makes sure that a started run and all its processes are gone."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=600)


def rest_of(process: subprocess.Popen[str], timeout_s: float = 600) -> tuple[str, str]:
    """What a started run says until it ends; `communicate` would lose what was read ahead."""
    streams = [process.stdout, process.stderr]
    with ThreadPoolExecutor(len(streams)) as pool:
        reading = [pool.submit(stream.read) for stream in streams if stream is not None]
        try:
            out, err = (each.result(timeout_s) for each in reading)
        except TimeoutError:
            end(process)
            raise
    process.wait(timeout_s)
    return out, err


def all_said(made: Plan, read: str) -> str:
    """The lines of rank 0: what was read, and in the journal what came too fast for its reader."""
    kept = Path(made.journal) / "events.0.jsonl"
    if not kept.exists():
        return read
    return read[: read.rfind("\n") + 1] + kept.read_text("utf-8")


def held(made: Plan) -> Path:
    """Waits until a run has come to its next `hold`; the file that then lets it go on."""
    until_s = time.monotonic() + 600
    while True:
        for wanted in Path(made.journal).glob("command.*.wanted"):
            answer = wanted.with_suffix(".answer")
            if not answer.exists():
                return answer
        assert time.monotonic() < until_s, "the run came to no hold"
        time.sleep(0.002)


def meddled(
    engine: Engine, made: Plan, mark: str, act: Callable[[], object], comm: str = "forked"
) -> Outcome:
    """Runs a plan with a `hold` behind each event that has all parts of the mark; acts then."""
    process = engine.start(made, comm)
    lines = []
    try:
        assert process.stdout is not None
        for line in process.stdout:
            lines.append(line)
            if bears(line, mark):
                answer = held(made)
                act()
                answer.touch()
        code = process.wait(timeout=600)
        assert process.stderr is not None
        return Outcome(code, parse("".join(lines)), process.stderr.read())
    finally:
        end(process)


def bears(line: str, mark: str) -> bool:
    """Whether an event's line has all keys and values of a mark, in any order."""
    return all(part in line for part in mark.split(","))


def children(pid: int) -> list[int]:
    """Processes that one has started, in the order of their start (numbers may wrap around)."""
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(word) for word in text.split()]


def size_of_group(comm: str) -> int:
    return 1 if comm == "alone" else 3


def is_gone(made: Plan) -> bool:
    """Nothing of the run is left but its journal."""
    return not Path(made.directory).exists()


def kinds(event: dict[str, Any]) -> dict[str, int]:
    """Operations by kind."""
    return {part["kind"]: part["operations"] for part in event["by_operation"]}


def file_system(place: Path) -> str:
    """The type of the file system that holds a directory."""
    best = ("", "")
    for line in Path("/proc/mounts").read_text().splitlines():
        _, point, kind = line.split()[:3]
        inside = str(place).startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(best[0]):
            best = (point, kind)
    return best[1]


def traced(engine: Engine, made: Plan, calls: str) -> list[str]:
    """The system calls of a run of one rank."""
    log = Path(made.journal) / "strace"
    command = ["strace", "-f", "-o", str(log), "-e", f"trace={calls}"]
    done = subprocess.run(
        [*command, *engine.command(made, "alone")], capture_output=True, check=False, timeout=600
    )
    assert done.returncode == 0, done.stdout
    return log.read_text().splitlines()
