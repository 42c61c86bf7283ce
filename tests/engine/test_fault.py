"""What the engine does when storage fails, lies, or hangs."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine.plans import (
    RANK,
    CachePolicy,
    ClockKind,
    Content,
    Plan,
    Tree,
    fault,
    file,
    hold,
    items,
    manage,
    nest,
    number,
    phase,
    plan,
    read,
    times,
    write,
    write_and_read,
)
from engine.running import (
    Engine,
    bears,
    children,
    end,
    file_system,
    is_gone,
    meddled,
    parse,
    rest_of,
    size_of_group,
)

BLOCK = 4096


def with_fault(place: Path, ranks: int, *, kind: str, operation: str, **rest: Any) -> Plan:
    """Every rank writes and reads 20 blocks of a shared file; the last rank has the fault."""
    fifth = fault(kind, operation, rank=ranks - 1, nth=5, **rest)
    return write_and_read(
        place, ranks, size=BLOCK, count=20, faults=[fifth], content=Content(verify=True)
    )


@pytest.mark.parametrize(("kind", "code"), [("eio", 5), ("enospc", 28)], ids=["eio", "enospc"])
def test_errors_end_the_run_after_their_phase(
    engine: Engine, tmp_path: Path, comm: str, kind: str, code: int
) -> None:
    ranks = size_of_group(comm)
    made = with_fault(tmp_path, ranks, kind=kind, operation="write")
    outcome = engine.run(made, comm)
    assert outcome.code == 3
    event = outcome.phase("write")
    assert event["stopped_by"] == "error"
    assert event["errors"] == 1
    detail = event["details"][0]
    assert (detail["rank"], detail["errno"], detail["operation"]) == (ranks - 1, code, "write")
    assert detail["path"] == "data"
    assert detail["offset"] == ((ranks - 1) * 20 + 4) * BLOCK
    assert 0 < detail["at_s"] <= event["seconds"]["total"]
    # The others stop when they see it, or have done all by then.
    written = [bytes_ // BLOCK for bytes_ in event["per_rank"]["bytes"]]
    assert written[-1] == 4
    assert all(count <= 20 for count in written[:-1])
    assert outcome.failed["code"] == "io"
    assert outcome.failed["where"] == "write"
    assert os.strerror(code) in outcome.failed["message"]
    assert f"rank {ranks - 1}" in outcome.failed["message"]
    assert is_gone(made)


@pytest.mark.parametrize("operation", ["create", "open", "close", "read"])
def test_every_operation_can_fail(engine: Engine, tmp_path: Path, operation: str) -> None:
    made = write_and_read(tmp_path, 3, size=BLOCK, count=2, faults=[fault("eio", operation)])
    outcome = engine.run(made)
    assert outcome.code == 3
    assert outcome.failed["message"].startswith(f"{operation} of data failed on rank")
    assert is_gone(made)


def test_every_operation_on_items_can_fail(engine: Engine, tmp_path: Path) -> None:
    for operation in ("mkdir", "create", "write", "sync", "close", "stat", "unlink", "rmdir"):
        place = tmp_path / operation
        place.mkdir()
        tree = Tree(items=number(3), size=number(10))
        made = plan(
            place,
            [file(tree=tree, faults=[fault("eio", operation)])],
            [
                phase(
                    "p",
                    manage("mkdir"),
                    items("create", "write", "sync", "close", "stat", "unlink"),
                    manage("rmdir"),
                )
            ],
            ranks=2,
        )
        outcome = engine.run(made)
        assert outcome.code == 3, operation
        assert outcome.failed["message"].startswith(f"{operation} of data")
        assert is_gone(made), operation


def test_short_transfers_are_continued_and_counted(
    engine: Engine, tmp_path: Path, comm: str
) -> None:
    ranks = size_of_group(comm)
    made = with_fault(tmp_path, ranks, kind="short", operation="write", every=5)
    outcome = engine.run(made, comm)
    assert outcome.code == 0, outcome.stderr
    assert outcome.phase("write")["short_transfers"] == 4
    assert outcome.phase("write")["bytes"] == ranks * 20 * BLOCK
    assert outcome.phase("read")["errors"] == 0


def test_delay_is_in_the_latency(engine: Engine, tmp_path: Path) -> None:
    late = fault("delay", "write", nth=5, seconds=0.2)
    options = {"latency_s": "0.001", "bandwidth_bytes_per_s": "1e18"}
    simulated = {"interface": "simulated", "options": options, "clock": ClockKind.SIMULATED}
    made = write_and_read(tmp_path, 2, size=BLOCK, count=20, faults=[late], **simulated)
    outcome = engine.run(made)
    assert outcome.code == 0, outcome.stderr
    found = {part["kind"]: part["latency"] for part in outcome.phase("write")["by_operation"]}
    assert found["write"]["min_ns"] == pytest.approx(1_000_000, abs=1)
    assert found["write"]["max_ns"] == pytest.approx(201_000_000, abs=1)


def test_a_delay_passes_in_real_time(engine: Engine, tmp_path: Path) -> None:
    made = with_fault(tmp_path, 2, kind="delay", operation="write", seconds=0.2)
    outcome = engine.run(made)
    assert outcome.code == 0, outcome.stderr
    slowest = {p["kind"]: p["latency"]["max_ns"] for p in outcome.phase("write")["by_operation"]}
    assert slowest["write"] >= 200_000_000


@pytest.mark.parametrize("operation", ["write", "read"])
def test_verification_finds_a_flipped_bit(
    engine: Engine, tmp_path: Path, comm: str, operation: str
) -> None:
    ranks = size_of_group(comm)
    made = with_fault(tmp_path, ranks, kind="flip", operation=operation)
    outcome = engine.run(made, comm)
    assert outcome.code == 3
    assert outcome.phase("write")["errors"] == 0
    event = outcome.phase("read")
    assert event["errors"] == 1
    assert event["stopped_by"] == "work"
    detail = event["details"][0]
    assert detail["what"].startswith("flipped bit: 1 bit(s) differ")
    assert (detail["rank"], detail["errno"]) == (ranks - 1, 0)
    assert detail["offset"] == ((ranks - 1) * 20 + 4) * BLOCK + BLOCK // 2
    assert outcome.of("finished")[0]["errors"] == 1
    assert outcome.of("failed") == []
    assert is_gone(made)


def corrupted(
    engine: Engine, place: Path, spoil: Callable[[Path, int], None], repetitions: int = 1
) -> list[dict[str, Any]]:
    """Spoils the file between its writing and its reading, and returns the events."""
    pattern = nest(times(RANK, 8 * BLOCK), (8, BLOCK))
    made = plan(
        place,
        [file(content=Content(verify=True))],
        [
            phase("write", manage("create"), write(BLOCK, pattern), manage("close")),
            hold(),
            phase("read", manage("open"), read(BLOCK, pattern), manage("close")),
        ],
        ranks=2,
        repetitions=repetitions,
    )
    repetition = iter(range(repetitions))
    outcome = meddled(
        engine,
        made,
        '"event":"phase_finished","path":"write"',
        lambda: spoil(Path(made.directory) / "data", next(repetition)),
    )
    assert outcome.code == 3
    assert is_gone(made)
    return outcome.events


def details(events: list[dict[str, Any]], repetition: int = 0) -> list[tuple[int, str]]:
    """Offset and class of each error of the read phase."""
    found = [
        event
        for event in events
        if event["event"] == "phase_finished"
        and event["path"] == "read"
        and event["repetition"] == repetition
    ]
    assert found[0]["errors"] == len(found[0]["details"])
    return sorted((d["offset"], d["what"].split(":")[0]) for d in found[0]["details"])


def test_verification_finds_a_swapped_block(engine: Engine, tmp_path: Path) -> None:
    def swap(target: Path, _: int) -> None:
        blob = bytearray(target.read_bytes())
        first, second = blob[BLOCK : 2 * BLOCK], blob[9 * BLOCK : 10 * BLOCK]
        blob[BLOCK : 2 * BLOCK], blob[9 * BLOCK : 10 * BLOCK] = second, first
        target.write_bytes(blob)

    events = corrupted(engine, tmp_path, swap)
    assert details(events) == [(BLOCK, "misplaced"), (9 * BLOCK, "misplaced")]
    whats = [d["what"] for e in events if e["event"] == "phase_finished" for d in e["details"]]
    assert any(f"belongs to offset {9 * BLOCK}" in what for what in whats)


def test_verification_finds_a_stale_block(engine: Engine, tmp_path: Path) -> None:
    saved: list[bytes] = []

    def keep_then_restore(target: Path, repetition: int) -> None:
        blob = bytearray(target.read_bytes())
        if repetition == 0:
            saved.append(bytes(blob[2 * BLOCK : 3 * BLOCK]))
        else:
            blob[2 * BLOCK : 3 * BLOCK] = saved[0]
            target.write_bytes(blob)

    events = corrupted(engine, tmp_path, keep_then_restore, repetitions=2)
    assert details(events, 0) == []
    assert details(events, 1) == [(2 * BLOCK, "stale")]


def test_verification_finds_a_hole_and_noise(engine: Engine, tmp_path: Path) -> None:
    def spoil(target: Path, _: int) -> None:
        blob = bytearray(target.read_bytes())
        blob[3 * BLOCK : 4 * BLOCK] = bytes(BLOCK)
        blob[5 * BLOCK + 100 : 5 * BLOCK + 200] = b"x" * 100
        blob[15 * BLOCK + 4095] ^= 0x80
        target.write_bytes(blob)

    expected = [
        (3 * BLOCK, "hole"),
        (5 * BLOCK + 100, "corrupt"),
        (15 * BLOCK + 4095, "flipped bit"),
    ]
    assert details(corrupted(engine, tmp_path, spoil)) == expected


def test_a_hang_ends_with_a_signal(engine: Engine, tmp_path: Path, comm: str) -> None:
    made = with_fault(tmp_path, size_of_group(comm), kind="hang", operation="write")
    process = engine.start(made, comm)
    try:
        wait_for(process, '"phase_started"')
        time.sleep(0.3)
        assert process.poll() is None
        os.kill(process.pid, signal.SIGTERM)
        out, err = rest_of(process)
        if comm in ("alone", "forked"):  # mpirun ends with codes of its own
            assert process.returncode == 130, err
            failed = parse(out)[-1]
            assert (failed["code"], failed["exit_code"]) == ("interrupted", 130)
            assert is_gone(made)
        else:
            assert process.returncode != 0
            settle(engine, made)
            assert is_gone(made)
    finally:
        end(process)


def wait_for(process: subprocess.Popen[str], text: str) -> None:
    """Reads events until one contains the text."""
    assert process.stdout is not None
    for line in process.stdout:
        if bears(line, text):
            return
    pytest.fail(f"no {text}")


def settle(engine: Engine, made: Plan) -> None:
    """Cleans as soon as no process of the run is alive."""
    until_s = time.monotonic() + 600
    while time.monotonic() < until_s:
        done = subprocess.run(
            [engine.path(), "clean", made.journal], check=False, capture_output=True
        )
        if done.returncode == 0:
            return
        time.sleep(0.1)
    pytest.fail("processes of the run are still alive")


def long_run(place: Path, ranks: int) -> Plan:
    """Writes own files and items, then works for a minute in a phase with a shared file."""
    tree = Tree(depth=1, branch=2, items=number(4), size=number(50))
    forever = nest(0, (10**9, 0), (256, BLOCK))
    return plan(
        place,
        [file("deep/er/own", per_rank=True), file("tree", tree=tree), file("shared")],
        [
            phase("first", manage("create"), items("create", "write", "close", index=1)),
            phase("long", manage("create", 2), write(BLOCK, forever, index=2)),
        ],
        ranks=ranks,
    )


@pytest.mark.parametrize("victim", [0, 1, 2])
def test_a_killed_rank_is_reported_and_nothing_stays(
    engine: Engine, tmp_path: Path, victim: int
) -> None:
    made = long_run(tmp_path, 3)
    process = engine.start(made)
    try:
        wait_for(process, '"event":"phase_started","path":"long"')
        time.sleep(0.2)
        os.kill(children(process.pid)[victim], signal.SIGKILL)
        out, err = rest_of(process)
        assert process.returncode == 3, err
        failed = parse(out)[-1]
        assert failed["code"] == "lost_rank"
        assert f"rank {victim} was ended by signal 9" in failed["message"]
        assert is_gone(made)
    finally:
        end(process)


@pytest.mark.parametrize("comm", ["alone", "forked"])
def test_after_kill_9_clean_removes_what_is_left(engine: Engine, tmp_path: Path, comm: str) -> None:
    made = long_run(tmp_path, size_of_group(comm))
    process = engine.start(made, comm)
    try:
        wait_for(process, '"event":"phase_started","path":"long"')
        time.sleep(0.2)
        refused = subprocess.run(
            [engine.path(), "clean", made.journal], check=False, capture_output=True
        )
        assert refused.returncode == 3, "clean must not touch a run that is alive"
        os.kill(process.pid, signal.SIGKILL)
        process.wait(timeout=600)
        settle(engine, made)
        assert is_gone(made)
        assert engine.clean(made) == {"removed": 0, "left": [], "left_count": 0}
    finally:
        end(process)


@pytest.mark.parametrize("comm", ["openmpi", "mpich"])
def test_a_killed_mpi_rank_ends_the_job(engine: Engine, tmp_path: Path, comm: str) -> None:
    made = long_run(tmp_path, 2)
    process = engine.start(made, comm)
    try:
        wait_for(process, '"event":"phase_started","path":"long"')
        time.sleep(0.2)
        name = f"venturi-engine-{comm}"
        ranks = [
            int(entry.name)
            for entry in Path("/proc").iterdir()
            if entry.name.isdigit() and is_engine_of(entry, name, made)
        ]
        # One of them forked the process that watches the ranks of this node.
        ranks = [pid for pid in ranks if parent_of(pid) not in ranks]
        assert len(ranks) == 2
        os.kill(max(ranks), signal.SIGKILL)
        process.communicate(timeout=600)
        assert process.returncode != 0
        settle(engine, made)
        assert is_gone(made)
    finally:
        end(process)


def parent_of(pid: int) -> int:
    """The process that forked another one; 0 if that is gone."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
    except OSError:
        return 0


def is_engine_of(entry: Path, name: str, made: Plan) -> bool:
    """Whether a process is a rank of this run."""
    try:
        words = (entry / "cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
    return words[0].endswith(name.encode()) and made.journal.encode() in b" ".join(words)


def test_names_of_others_are_never_removed(engine: Engine, tmp_path: Path) -> None:
    tree = Tree(items=number(2), size=number(10))
    made = plan(
        tmp_path,
        [file("data"), file("tree", tree=tree)],
        [
            phase("p", manage("create"), items("create", "close", index=1)),
            hold(),
            phase("q", write(1, nest(0, (1, 0)))),
        ],
        ranks=2,
    )
    root = Path(made.directory)

    def meddle() -> None:
        (root / "tree" / "theirs").write_text("theirs")
        (root / "data").rename(root / "was-data")
        (root / "data").write_text("theirs too")

    outcome = meddled(engine, made, '"event":"phase_finished","path":"p"', meddle)
    assert outcome.code == 0
    assert sorted(str(p.relative_to(root)) for p in root.rglob("*") if p.is_file()) == [
        ".venturi",
        "data",
        "tree/theirs",
        "was-data",
    ]
    assert (root / "data").read_text() == "theirs too"
    warnings = [event["what"] for event in outcome.of("warning")]
    assert len(warnings) == 1
    assert "left alone" in warnings[0]
    answer = engine.clean(made)
    assert sorted(answer["left"]) == ["data", "tree/theirs", "was-data"]
    assert answer["left_count"] == 3
    assert (root / "tree" / "theirs").read_text() == "theirs"


def test_a_taken_name_is_refused(engine: Engine, tmp_path: Path) -> None:
    made = plan(
        tmp_path,
        [file("first"), file("second")],
        [
            phase("p", manage("create")),
            hold(),
            phase("q", manage("create", 1), write(1, nest(0, (1, 0)), index=1)),
        ],
        ranks=2,
    )
    theirs = Path(made.directory) / "second"
    mark = '"event":"phase_finished","path":"p"'
    outcome = meddled(engine, made, mark, lambda: theirs.write_text("theirs"))
    assert outcome.code == 3
    assert theirs.read_text() == "theirs"
    assert "left alone" in outcome.failed["hint"]


def test_nobody_listens(engine: Engine, tmp_path: Path) -> None:
    made = long_run(tmp_path, 2)
    process = engine.start(made)
    try:
        wait_for(process, '"event":"phase_started","path":"long"')
        assert process.stdout is not None
        process.stdout.close()
        assert process.wait(timeout=600) == 3
        assert is_gone(made)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)


@pytest.mark.parametrize("comm", ["openmpi", "mpich"])
def test_the_wrong_number_of_ranks_is_refused(engine: Engine, tmp_path: Path, comm: str) -> None:
    made = write_and_read(tmp_path, 3, size=100, count=1)
    command = engine.command(made, comm)
    command[command.index("3")] = "2"
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=600)
    assert done.returncode == 3
    events = parse(done.stdout)
    assert [event["code"] for event in events] == ["ranks"]
    assert "3 ranks" in events[0]["message"]
    assert not Path(made.directory).exists()


@pytest.mark.parametrize("launcher", ["openmpi", "mpich"])
def test_an_engine_of_another_kind_is_refused(
    engine: Engine, tmp_path: Path, launcher: str
) -> None:
    made = write_and_read(tmp_path, 2, size=100, count=1)
    other = {"openmpi": "mpich", "mpich": "openmpi"}[launcher]
    for name in ("venturi-engine", f"venturi-engine-{other}"):
        command = engine.command(made, launcher)
        command[-3] = engine.path(name)
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=600)
        assert done.returncode == 3, (name, done.stderr)
        assert [event["code"] for event in parse(done.stdout)] == ["ranks"]
        assert not Path(made.directory).exists()


def test_targets_that_refuse(engine: Engine, tmp_path: Path) -> None:
    made = write_and_read(tmp_path, 2, size=100, count=1)
    taken = Path(made.directory)
    taken.mkdir()
    (taken / "theirs").write_text("theirs")
    outcome = engine.run(made)
    assert (outcome.code, outcome.failed["code"]) == (5, "target")
    assert (taken / "theirs").read_text() == "theirs"
    for directory in ("/proc/venturi-test", str(tmp_path / "no" / "run")):
        changed = made.model_copy(update={"directory": directory})
        (Path(made.journal) / "plan.json").write_text(changed.to_json())
        outcome = engine.run(changed)
        assert (outcome.code, outcome.failed["code"]) == (5, "target")
        assert outcome.failed["where"] == directory


def test_a_full_target_is_said(engine: Engine, tmp_path: Path) -> None:
    full = file(faults=[fault("enospc", "create")])
    made = plan(tmp_path, [full], [manage("create"), phase("p")], ranks=2)
    outcome = engine.run(made)
    assert outcome.code == 5, "nothing was measured yet"
    assert "No space left" in outcome.failed["message"]
    assert is_gone(made)


def test_a_limit_of_file_sizes_is_an_error_and_no_death(engine: Engine, tmp_path: Path) -> None:
    made = write_and_read(tmp_path, 1, size=65_536, count=64)
    done = subprocess.run(
        engine.command(made, "alone"),
        check=False,
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20)),
    )
    assert done.returncode == 3
    assert "File too large" in parse(done.stdout)[-1]["message"]
    assert is_gone(made)


def test_cold_reads_are_not_claimed_on_tmpfs(engine: Engine) -> None:
    shm = Path("/dev/shm")
    if file_system(shm / "x") != "tmpfs":
        pytest.fail("/dev/shm is not a tmpfs here")
    place = Path(tempfile.mkdtemp(prefix="venturi-test-", dir=shm))
    try:
        pattern = nest(0, (4, BLOCK))
        body = [manage("create"), write(BLOCK, pattern)]
        made = plan(
            place,
            [file()],
            [phase("w", *body), phase("r", read(BLOCK, pattern), cache=CachePolicy.DROP)],
        )
        outcome = engine.run(made, "alone")
        assert outcome.phase("r")["cache"] == "warm"
        assert "stayed in memory" in outcome.phase("r")["cache_reason"]
    finally:
        for name in sorted(place.rglob("*"), reverse=True):
            name.rmdir() if name.is_dir() else name.unlink()
        place.rmdir()
