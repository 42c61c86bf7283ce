"""Nobody reads, the launcher is gone, all stood still: a run ends, and says what happened."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from engine.plans import LOOP, Plan, compute, file, hold, loop, manage, nest, phase, plan, write
from engine.running import Engine, all_said, end, held, parse, rest_of
from engine.test_silence import holder

LIMIT_S = 120
SMALLEST_PIPE = 4096


def talkative(place: Path, ranks: int = 2) -> Plan:
    """A run whose events fill a pipe several times."""
    work = [manage("create"), write(64, nest(0, (1, 0))), manage("close")]
    phases = [phase(f"p{number}", *(work if number == 0 else [])) for number in range(60)]
    return plan(place, [file("f", per_rank=True)], phases, ranks=ranks)


@pytest.mark.parametrize("comm", ["alone", "forked"])
def test_a_reader_that_does_not_read_stops_nobody(
    engine: Engine, tmp_path: Path, comm: str
) -> None:
    """What did not go out is in the journal; both together are all events."""
    made = talkative(tmp_path, 1 if comm == "alone" else 2)
    whole = engine.run(made, comm)
    ours, theirs = os.pipe()
    fcntl.fcntl(theirs, fcntl.F_SETPIPE_SZ, SMALLEST_PIPE)
    process = subprocess.Popen(engine.command(made, comm), stdout=theirs, start_new_session=True)
    os.close(theirs)
    try:
        assert process.wait(timeout=LIMIT_S) == 0
        with open(ours, encoding="utf-8") as pipe:
            read = pipe.read()
    finally:
        end(process)
    assert (Path(made.journal) / "events.0.jsonl").exists()
    events = parse(all_said(made, read))
    assert [event["event"] for event in events if event["event"] != "progress"] == [
        event["event"] for event in whole.events if event["event"] != "progress"
    ]


def ancestors(pid: int, last: int) -> list[int]:
    """The processes between a process and one above it, without these two."""
    found = []
    while True:
        pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        if pid in (last, 0, 1):
            return found
        found.append(pid)


@pytest.mark.parametrize("mpi", ["openmpi", "mpich"])
def test_ranks_whose_launcher_was_killed_end(engine: Engine, tmp_path: Path, mpi: str) -> None:
    made = plan(
        tmp_path,
        [file("f", per_rank=True)],
        [phase("p", manage("create"), manage("close")), hold()],
        ranks=3,
    )
    process = engine.start(made, mpi)
    ranks: list[int] = []
    try:
        held(made)
        ranks = [holder(mpi, made, rank) for rank in range(3)]
        for pid in ancestors(ranks[0], os.getpid()):
            os.kill(pid, signal.SIGKILL)
        until_s = time.monotonic() + LIMIT_S
        while any(Path(f"/proc/{pid}/exe").exists() for pid in ranks):
            assert time.monotonic() < until_s, "ranks live on"
            time.sleep(0.05)
    finally:
        for pid in ranks:
            if Path(f"/proc/{pid}/exe").exists():
                os.kill(pid, signal.SIGKILL)
        end(process)
    engine.clean(made)
    assert not Path(made.directory).exists()


@pytest.mark.parametrize("comm", ["forked"])
def test_that_all_stood_still_is_said(engine: Engine, tmp_path: Path, comm: str) -> None:
    """Ranks and who watches them are stopped, as a suspended machine or job does."""
    made = plan(
        tmp_path,
        [file("f", per_rank=True)],
        [
            phase("p", manage("create"), manage("close")),
            hold(),
            phase("q", loop(LOOP, 3, compute(0.2))),
        ],
        ranks=2,
        loops=["i"],
    )
    process = engine.start(made, comm)
    try:
        go_on = held(made)
        os.killpg(process.pid, signal.SIGSTOP)
        begin_s = time.monotonic()
        time.sleep(1.5)
        slept_s = time.monotonic() - begin_s
        os.killpg(process.pid, signal.SIGCONT)
        go_on.touch()
        out, _ = rest_of(process)
    finally:
        end(process)
    told = [e for e in parse(out) if e["event"] == "warning" and e["stopped_s"]]
    assert len(told) >= 1
    assert told[0]["stopped_s"] >= slept_s - 0.2
    assert "nobody ran on" in told[0]["what"]
