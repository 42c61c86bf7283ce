"""A rank that is stopped in any kind of wait is noticed, named, and ended by the deadline."""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.plans import (
    Barrier,
    Plan,
    compute,
    fault,
    file,
    hold,
    manage,
    nest,
    phase,
    plan,
    write,
)
from engine.running import (
    LAUNCHERS,
    Engine,
    Outcome,
    all_said,
    bears,
    end,
    held,
    is_gone,
    parse,
    rest_of,
)

BLOCK = 4096
DEADLINE_S = 6.0
STALL_S = 1.0
PATIENT_S = 3.0
"""Of ranks that must not be taken for silent: a busy machine leaves them standing for a while."""
FOREVER = nest(0, (10**9, 0), (256, BLOCK))
COMM = ["alone", "forked", "openmpi", "mpich"]


def ranks_of(comm: str) -> int:
    return 1 if comm == "alone" else 3


def engines(comm: str, made: Plan) -> list[int]:
    """The processes of the run's engine, watchers among them, in the order of their start."""
    name = "venturi-engine" + (f"-{comm}" if comm in ("openmpi", "mpich") else "")
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if words[0].endswith(name.encode()) and made.journal.encode() in b" ".join(words):
            found.append(int(entry.name))
    return sorted(found)


def holders(comm: str, made: Plan) -> dict[int, int]:
    """Rank to process: a rank holds its manifest open."""
    result = {}
    for pid in engines(comm, made):
        try:
            links = [os.readlink(link) for link in Path(f"/proc/{pid}/fd").iterdir()]
        except OSError:
            continue
        for link in links:
            if link.startswith(f"{made.journal}/manifest."):
                result[int(link.rpartition(".")[2])] = pid
    return result


def holder(comm: str, made: Plan, rank: int) -> int:
    """The process of a rank, as soon as it has opened its manifest."""
    until_s = time.monotonic() + 600
    while rank not in (found := holders(comm, made)):
        assert time.monotonic() < until_s, f"rank {rank} did not start"
        time.sleep(0.02)
    return found[rank]


def ranks_in(comm: str, made: Plan, doing: str) -> int:
    """How many ranks are there by their own word, in the memory that who watches looks at."""
    found = {}
    for pid in engines(comm, made):
        with contextlib.suppress(OSError), Path(f"/proc/{pid}/mem").open("rb") as memory:
            for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
                span, modes, _, _, inode, *name = line.split()
                if modes == "rw-s" and "".join(name).startswith(("/dev/zero", "/dev/shm/venturi.")):
                    begin, behind = (int(word, 16) for word in span.split("-"))
                    memory.seek(begin)
                    found[inode] = memory.read(behind - begin).count(doing.encode() + b"\0")
    return sum(found.values())


def stopped_run(
    engine: Engine, made: Plan, comm: str, mark: str, victim: int, where: str = ""
) -> Outcome:
    """Stops a rank soon after an event, as a rule when it has come to where it waits.

    The event is one rank's; `where` is what all must be at before one of them is stopped.
    """
    process = engine.start(made, comm)
    lines = []
    try:
        assert process.stdout is not None
        for line in process.stdout:
            lines.append(line)
            if bears(line, mark):
                break
        until_s = time.monotonic() + 600
        while where and ranks_in(comm, made, where) < made.ranks and process.poll() is None:
            assert time.monotonic() < until_s, f"not all ranks are in {where}"
            time.sleep(0.01)
        time.sleep(0.3)
        assert process.poll() is None, "the run ended before a rank could be stopped"
        os.kill(holder(comm, made, victim), signal.SIGSTOP)
        rest, errors = rest_of(process)
        said = "".join(lines) + rest
        if comm in LAUNCHERS:  # mpich's tells of killed ranks on stdout, too
            said = "".join(line for line in said.splitlines(True) if line.startswith("{"))
        return Outcome(process.returncode, parse(all_said(made, said)), errors)
    finally:
        end(process)


def with_deadline(made: Plan, **more: float | str) -> Plan:
    """The plan with a heartbeat and a deadline."""
    made = made.model_copy(update={"stall_s": STALL_S} | more)
    (Path(made.journal) / "plan.json").write_text(made.to_json())
    return made


def in_transfer(place: Path, ranks: int, victim: int) -> Plan:
    body = [manage("create"), write(BLOCK, FOREVER)]
    return plan(
        place, [file(per_rank=True)], [phase("p", *body, deadline_s=DEADLINE_S)], ranks=ranks
    )


def in_barrier(place: Path, ranks: int, victim: int) -> Plan:
    # The others are at work, the victim waits for them.
    late = [fault("delay", "create", rank=rank, seconds=60.0) for rank in range(ranks)]
    late = [one for one in late if one.rank != victim]
    body = [manage("create"), Barrier(), write(BLOCK, nest(0, (1, 0)))]
    made = file(per_rank=True, faults=late)
    return plan(place, [made], [phase("p", *body, deadline_s=DEADLINE_S)], ranks=ranks)


def in_compute(place: Path, ranks: int, victim: int) -> Plan:
    body = [manage("create"), compute(60.0), write(BLOCK, nest(0, (1, 0)))]
    return plan(
        place, [file(per_rank=True)], [phase("p", *body, deadline_s=DEADLINE_S)], ranks=ranks
    )


def in_create(place: Path, ranks: int, victim: int) -> Plan:
    # Everybody waits for rank 0, which creates the shared file.
    made = file(faults=[fault("delay", "create", rank=0, seconds=60.0)])
    body = [manage("create"), write(BLOCK, nest(0, (1, 0)))]
    return plan(place, [made], [phase("p", *body, deadline_s=DEADLINE_S)], ranks=ranks)


def in_agreement(place: Path, ranks: int, victim: int) -> Plan:
    # Rank 0 is still at work, the others have come to the end of the phase.
    late = fault("delay", "write", rank=0 if victim != 0 else 1, seconds=60.0)
    body = [manage("create"), write(BLOCK, nest(0, (1, 0)))]
    made = file(per_rank=True, faults=[late])
    return plan(place, [made], [phase("p", *body, deadline_s=DEADLINE_S)], ranks=ranks)


WAITS: dict[str, Callable[[Path, int, int], Plan]] = {
    "transfer": in_transfer,
    "barrier": in_barrier,
    "compute": in_compute,
    "create": in_create,
    "agreement": in_agreement,
}
LONELY = ("transfer", "compute", "create")


def check(outcome: Outcome, comm: str, victim: int, where: str, exact: bool = True) -> None:
    """Noticed, named, ended by the deadline.

    Not `exact`: ranks that are killed within their library may give mpirun a code of its own.
    """
    assert outcome.code != 0
    if exact and (comm in ("alone", "forked") or victim != 0):
        assert outcome.code == 3, outcome.stderr
    said = [e["what"] for e in outcome.of("warning")]
    host = os.uname().nodename
    assert any(f"rank {victim} on {host}: no completion for" in what for what in said), said
    # A rank 0 that is woken by the end of its job may still finish what it was just saying.
    failed = outcome.of("failed")[0]
    assert len(outcome.of("failed")) == 1
    assert failed["code"] == "deadline"
    assert f"rank {victim} on {host}" in failed["message"]
    assert failed["exit_code"] == 3
    assert where in failed["message"]


# A rank alone never waits for others.
CASES = [(comm, wait) for comm in COMM for wait in WAITS if comm != "alone" or wait in LONELY]


@pytest.mark.parametrize(("comm", "wait"), CASES)
def test_a_stopped_rank_is_named_and_ended(
    engine: Engine, tmp_path: Path, comm: str, wait: str
) -> None:
    victim = ranks_of(comm) - 1
    made = with_deadline(WAITS[wait](tmp_path, ranks_of(comm), victim))
    outcome = stopped_run(engine, made, comm, '"phase_started","path":"p"', victim, "phase p")
    check(outcome, comm, victim, "phase p")
    assert outcome.failed["where"] == "p"
    if comm in ("alone", "forked"):
        assert is_gone(made)


@pytest.mark.parametrize("comm", ["forked", "openmpi", "mpich"])
def test_rank_0_is_stopped(engine: Engine, tmp_path: Path, comm: str) -> None:
    made = with_deadline(in_transfer(tmp_path, 3, 0))
    outcome = stopped_run(engine, made, comm, '"phase_started","path":"p"', 0, "phase p")
    check(outcome, comm, 0, "phase p")


@pytest.mark.parametrize("comm", COMM)
def test_a_rank_that_stops_before_the_first_phase(
    engine: Engine, tmp_path: Path, comm: str
) -> None:
    ranks = ranks_of(comm)
    made = plan(
        tmp_path,
        [file(per_rank=True)],
        [compute(60.0), phase("p", manage("create"), write(BLOCK, nest(0, (1, 0))))],
        ranks=ranks,
    )
    made = with_deadline(made, deadline_s=DEADLINE_S)
    outcome = stopped_run(engine, made, comm, '"hello"', ranks - 1)
    check(outcome, comm, ranks - 1, "before the first phase")
    assert outcome.of("phase_started") == []


@pytest.mark.needs("mpich", "openmpi")
def test_finished_phases_stay(engine: Engine, tmp_path: Path) -> None:
    pattern = nest(0, (4, BLOCK))
    made = plan(
        tmp_path,
        [file(per_rank=True)],
        [
            phase("first", manage("create"), write(BLOCK, pattern)),
            phase("second", write(BLOCK, FOREVER), deadline_s=DEADLINE_S),
        ],
        ranks=2,
    )
    mark = '"phase_started","path":"second"'
    outcome = stopped_run(engine, with_deadline(made), "forked", mark, 1, "phase second")
    assert outcome.code == 3
    assert outcome.phase("first")["operations"] > 0
    assert outcome.failed["where"] == "second"


@pytest.mark.needs("mpich", "openmpi")
def test_a_rank_that_goes_on_is_told_too(engine: Engine, tmp_path: Path) -> None:
    body = [manage("create"), hold(), compute(60.0)]
    made = with_deadline(plan(tmp_path, [file(per_rank=True)], [phase("p", *body)], ranks=2))
    process = engine.start(made)
    try:
        held(made).touch()
        victim = holder("forked", made, 1)
        os.kill(victim, signal.SIGSTOP)
        assert said(process, "rank 1 on", "no completion for")
        os.kill(victim, signal.SIGCONT)
        assert said(process, "rank 1 on", "goes on after a silence")
    finally:
        end(process)


def said(process: subprocess.Popen[str], *words: str) -> bool:
    """Whether a warning with all of the words comes."""
    assert process.stdout is not None
    return any(
        event["event"] == "warning" and all(word in event["what"] for word in words)
        for line in process.stdout
        for event in parse(line)
    )


def test_a_slow_run_is_no_silent_one(engine: Engine, tmp_path: Path, comm: str) -> None:
    """Ranks that wait for one that computes are alive; so is the one that computes.

    They use no disk: one that others fill can be silent for so long.
    """
    body = [manage("create"), compute(PATIENT_S + 1.0), Barrier(), write(BLOCK, nest(0, (1, 0)))]
    ranks = ranks_of(comm)
    made = plan(tmp_path, [file(interface="null", per_rank=True)], [phase("p", *body)], ranks=ranks)
    made = with_deadline(made, stall_s=PATIENT_S)
    outcome = engine.run(made, comm)
    assert outcome.code == 0
    assert outcome.of("warning") == []


def test_a_hang_of_the_storage_is_silence(engine: Engine, tmp_path: Path, comm: str) -> None:
    ranks = ranks_of(comm)
    hang = fault("hang", "write", rank=ranks - 1, nth=3)
    body = [manage("create"), write(BLOCK, nest(0, (20, BLOCK)))]
    made = plan(
        tmp_path,
        [file(per_rank=True, faults=[hang])],
        [phase("p", *body, deadline_s=DEADLINE_S)],
        ranks=ranks,
    )
    outcome = engine.run(with_deadline(made), comm)
    check(outcome, comm, ranks - 1, "phase p")
    assert outcome.code == 3


def test_a_run_of_busy_ranks_ends_at_its_deadline(engine: Engine, tmp_path: Path) -> None:
    body = [manage("create"), write(BLOCK, FOREVER)]
    endless = phase("p", *body, deadline_s=DEADLINE_S)
    made = plan(tmp_path, [file(interface="null")], [endless], ranks=2)
    outcome = engine.run(with_deadline(made, stall_s=PATIENT_S))
    assert outcome.code == 3
    assert outcome.failed["code"] == "deadline"
    assert "still at work" in outcome.failed["message"]
    assert outcome.of("warning") == []
    assert is_gone(made)


def set_frozen(place: Path, wanted: bool) -> None:
    """Freezes a mounted file system, or lets it go."""
    freeze, thaw = 0xC0045877, 0xC0045878  # FIFREEZE, FITHAW
    descriptor = os.open(place, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.ioctl(descriptor, freeze if wanted else thaw, 0)
    finally:
        os.close(descriptor)


@pytest.mark.needs("root")
@pytest.mark.parametrize("comm", ["alone", "forked"])
def test_a_slow_removal_is_a_remark_and_no_warning(
    engine: Engine, tmp_path: Path, comm: str
) -> None:
    """A file system that keeps unlink waiting, as one does that has much to write out."""
    image, mounted = tmp_path / "image", tmp_path / "mounted"
    with image.open("wb") as whole:
        whole.truncate(32 << 20)
    subprocess.run(["mkfs.ext4", "-q", str(image)], check=True)
    mounted.mkdir()
    body = [manage("create"), write(BLOCK, nest(0, (4, BLOCK))), manage("close")]
    made = plan(
        tmp_path,
        [file(per_rank=True)],
        [phase("w", *body), hold()],
        ranks=ranks_of(comm),
    )
    made = with_deadline(made, directory=str(mounted / "run"))
    mount = f'mount -o loop "{image}" "{mounted}" && exec "$@"'
    command = ["unshare", "-m", "sh", "-c", mount, "sh", *engine.command(made, comm)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    seen = Path(f"/proc/{process.pid}/root{mounted}")
    lines = []
    assert process.stdout is not None
    try:
        for line in process.stdout:
            lines.append(line)
            if bears(line, '"phase_finished","path":"w"'):
                go_on = held(made)
                set_frozen(seen, True)
                go_on.touch()
            if '"remark"' in line:
                set_frozen(seen, False)
                break
        lines += process.stdout.readlines()
        assert process.wait(timeout=600) == 0
    finally:
        with contextlib.suppress(OSError):
            set_frozen(seen, False)
        process.kill()
        process.communicate(timeout=600)
    outcome = Outcome(0, parse("".join(lines)), "")
    assert outcome.of("warning") == []
    assert outcome.of("remark")[0]["what"].startswith("still removing files on ")
    assert outcome.of("finished")[0]["left"] == []
