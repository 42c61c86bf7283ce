"""One conformance suite: every plan, under every kind of group."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.plans import (
    LOOP,
    RANK,
    RANKS,
    Barrier,
    CachePolicy,
    ClockKind,
    Content,
    Operator,
    PathPart,
    Plan,
    Sharing,
    Sync,
    SyncMode,
    Tree,
    When,
    binary,
    compute,
    fault,
    file,
    items,
    loop,
    manage,
    nest,
    number,
    phase,
    plan,
    random,
    read,
    slot,
    times,
    write,
    write_and_read,
)
from engine.running import (
    Engine,
    Outcome,
    file_system,
    is_gone,
    kinds,
    size_of_group,
)

KIB = 1024
NEXT = binary(Operator.MODULO, binary(Operator.ADD, RANK, number(1)), RANKS)


def check_sums(event: dict) -> None:
    """The parts of an event agree with its totals."""
    assert sum(event["per_rank"]["bytes"]) == event["bytes"]
    assert sum(event["per_rank"]["operations"]) == event["operations"]
    assert sum(part["operations"] for part in event["by_operation"]) == event["operations"]
    for part in event["by_operation"]:
        assert sum(part["latency"]["count"]) == part["operations"]
        assert part["latency"]["bucket"] == sorted(part["latency"]["bucket"])
    line = event["time_line"]
    assert sum(line["operations"]) == event["operations"]
    assert sum(line["bytes_written"]) + sum(line["bytes_read"]) == event["bytes"]
    assert min(event["per_rank"]["start_s"]) == 0.0


@pytest.mark.parametrize("per_rank", [False, True])
def test_totals(engine: Engine, tmp_path: Path, comm: str, interface: str, per_rank: bool) -> None:
    ranks = size_of_group(comm)
    made = write_and_read(
        tmp_path,
        ranks,
        size=4 * KIB,
        count=100,
        per_rank=per_rank,
        interface=interface,
        repetitions=2,
        content=Content(verify=True),
    )
    outcome = engine.run(made, comm)
    assert outcome.code == 0, outcome.stderr
    assert [event["event"] for event in outcome.events if event["event"] != "progress"] == [
        "hello",
        *["phase_started", "phase_finished"] * 4,
        "finished",
    ]
    for repetition in (0, 1):
        for name in ("write", "read"):
            event = outcome.phase(name, repetition)
            check_sums(event)
            assert event["bytes"] == ranks * 100 * 4 * KIB
            assert event["ranks"] == len(event["per_rank"]["bytes"]) == ranks
            assert event["errors"] == 0
            assert event["stopped_by"] == "work"
            assert event["request_sizes"] == [
                {"kind": name, "bytes": 4 * KIB, "count": ranks * 100}
            ]
        creates = ranks if per_rank else 1
        opens = {"open": ranks - creates} if ranks > creates else {}
        expected = {"write": ranks * 100, "create": creates, "close": ranks, **opens}
        assert kinds(outcome.phase("write", repetition)) == expected
        assert outcome.phase("read", repetition)["cache"] == "warm"
    assert outcome.of("finished")[0]["left"] == []
    assert is_gone(made)


@pytest.mark.parametrize("ranks", [2, 5])
def test_simulated_times_are_exact(engine: Engine, tmp_path: Path, comm: str, ranks: int) -> None:
    if comm == "alone":
        ranks = 1
    count = 10
    made = write_and_read(
        tmp_path,
        ranks,
        size=4000,
        count=count,
        interface="simulated",
        options={"latency_s": "0.001", "bandwidth_bytes_per_s": "1e6"},
        clock=ClockKind.SIMULATED,
        repetitions=2,
        content=Content(verify=True),
    )
    outcome = engine.run(made, comm)
    assert outcome.code == 0, outcome.stderr
    for repetition in (0, 1):
        writes = outcome.phase("write", repetition)
        # Create, or create and then open for all but the first; transfers; close.
        opens = 0.001 if ranks == 1 else 0.002
        assert writes["seconds"]["total"] == pytest.approx(opens + count * 0.005 + 0.001, abs=1e-12)
        assert writes["seconds"]["transfer"] == pytest.approx(count * 0.005, abs=1e-12)
        reads = outcome.phase("read", repetition)
        assert reads["seconds"]["total"] == pytest.approx(0.001 + count * 0.005 + 0.001, abs=1e-12)
        latency = next(p for p in reads["by_operation"] if p["kind"] == "read")["latency"]
        assert (latency["min_ns"], latency["max_ns"]) == (5_000_000, 5_000_000)
    spent = 2 * (
        outcome.phase("write")["seconds"]["total"] + outcome.phase("read")["seconds"]["total"]
    )
    assert outcome.of("finished")[0]["at_s"] == pytest.approx(spent, abs=1e-12)


def test_barrier_takes_simulated_clocks_to_the_latest(engine: Engine, tmp_path: Path) -> None:
    simulated = file(
        interface="simulated", options={"latency_s": "0", "bandwidth_bytes_per_s": "1000"}
    )
    sizes = binary(Operator.MULTIPLY, binary(Operator.ADD, RANK, number(1)), number(1000))
    uneven = write(1, nest(0, (1, 0))).model_copy(update={"size": sizes})
    body = [manage("create"), uneven, Barrier(), uneven]
    made = plan(tmp_path, [simulated], [phase("p", *body)], ranks=4, clock=ClockKind.SIMULATED)
    event = engine.run(made).phase("p")
    # One barrier, so each half takes what the slowest rank takes: rank 3 moves 4000 bytes.
    assert event["per_rank"]["total_s"] == pytest.approx([5.0, 6.0, 7.0, 8.0], abs=1e-9)
    assert event["per_rank"]["transfer_s"] == pytest.approx([2.0, 4.0, 6.0, 8.0], abs=1e-9)


def limited(
    place: Path, *, limit_s: float, bound_s: float, ranks: int = 3, count: int = 10_000
) -> Plan:
    """Rank r writes requests of (r + 1) kB at 1 MB/s on simulated storage, under a limit."""
    target = file(
        interface="simulated",
        per_rank=True,
        options={"latency_s": "0", "bandwidth_bytes_per_s": "1e6"},
    )
    sizes = times(binary(Operator.ADD, RANK, number(1)), 1000)
    body = write(1, nest(0, (count, 0))).model_copy(update={"size": sizes})
    return plan(
        place,
        [target],
        [manage("create"), phase("p", body, limit_s=limit_s, bound_s=bound_s), manage("close")],
        ranks=ranks,
        clock=ClockKind.SIMULATED,
    )


def test_limit_ends_at_the_largest_count(engine: Engine, tmp_path: Path, comm: str) -> None:
    ranks = size_of_group(comm)
    event = engine.run(limited(tmp_path, limit_s=0.1, bound_s=10, ranks=ranks), comm).phase("p")
    assert event["stopped_by"] == "limit"
    # Rank 0 needs 1 ms for a request, so it did 100 of them in 0.1 s.
    assert event["per_rank"]["operations"] == [100] * ranks
    # Rank 2 passes the limit at 102 ms, all go on from there, and it has 66 * 3 ms to go.
    assert event["seconds"]["total"] == pytest.approx({1: 0.1, 3: 0.3}[ranks], abs=1e-9)


def test_bound_ends_a_limited_phase(engine: Engine, tmp_path: Path) -> None:
    event = engine.run(limited(tmp_path, limit_s=0.1, bound_s=0.05)).phase("p")
    assert event["stopped_by"] == "deadline"
    assert event["per_rank"]["operations"][0] == 100
    assert event["per_rank"]["operations"][2] < 60


def test_limit_that_is_not_reached(engine: Engine, tmp_path: Path) -> None:
    event = engine.run(limited(tmp_path, limit_s=5, bound_s=1, count=10)).phase("p")
    assert event["stopped_by"] == "work"
    assert event["per_rank"]["operations"] == [10, 10, 10]


def test_limit_on_the_real_clock(engine: Engine, tmp_path: Path, comm: str, interface: str) -> None:
    ranks = size_of_group(comm)
    wrapped = write(4 * KIB, nest(times(RANK, 1 << 20), (10**9, 0), (256, 4 * KIB)))
    made = plan(
        tmp_path,
        [file(interface=interface)],
        [manage("create"), phase("p", wrapped, limit_s=0.3, bound_s=20.0), manage("close")],
        ranks=ranks,
    )
    event = engine.run(made, comm).phase("p")
    assert event["stopped_by"] == "limit"
    assert len(set(event["per_rank"]["operations"])) == 1
    assert event["seconds"]["total"] > 0.3


def test_items(engine: Engine, tmp_path: Path, comm: str, interface: str) -> None:
    ranks = size_of_group(comm)
    tree = Tree(depth=2, branch=2, items=number(5), size=number(3901))
    target = file("tree", tree=tree, interface=interface, content=Content(verify=True))
    made = plan(
        tmp_path,
        [target],
        [
            phase("mkdir", manage("mkdir")),
            phase("create", items("create", "write", "sync", "close")),
            phase("stat", items("stat", owner=NEXT, shuffled=True)),
            phase("read", items("open", "read", "close", owner=NEXT, shuffled=True)),
            phase("remove", items("unlink")),
            phase("rmdir", manage("rmdir")),
        ],
        ranks=ranks,
        repetitions=2,
    )
    outcome = engine.run(made, comm)
    assert outcome.code == 0, outcome.stderr
    count = 7 * 5 * ranks
    for repetition in (0, 1):
        assert kinds(outcome.phase("mkdir", repetition)) == {"mkdir": 7}
        created = outcome.phase("create", repetition)
        check_sums(created)
        assert kinds(created) == {"create": count, "write": count, "sync": count, "close": count}
        assert created["bytes"] == count * 3901
        assert created["flushed"] == "fsync"
        assert kinds(outcome.phase("stat", repetition)) == {"stat": count}
        assert outcome.phase("read", repetition)["bytes"] == count * 3901
        assert kinds(outcome.phase("remove", repetition)) == {"unlink": count}
        assert kinds(outcome.phase("rmdir", repetition)) == {"rmdir": 7}
    assert is_gone(made)


def test_trees_are_made_and_removed_by_themselves(engine: Engine, tmp_path: Path) -> None:
    tree = Tree(depth=1, branch=3, items=number(4), size=number(100))
    made = plan(
        tmp_path,
        [file("a/tree", tree=tree), file("b/own", tree=tree, per_rank=True)],
        [phase("p", items("create", "close"), items("create", "write", "close", index=1))],
        ranks=3,
        repetitions=2,
    )
    outcome = engine.run(made)
    assert outcome.code == 0, outcome.stderr
    assert kinds(outcome.phase("p", 1)) == {"create": 96, "write": 48, "close": 96}
    assert is_gone(made)


@pytest.mark.parametrize("replacement", [False, True])
def test_random_touches_the_same_slots_on_every_rank_count(
    engine: Engine, tmp_path: Path, replacement: bool
) -> None:
    sizes = []
    for ranks in (1, 2, 3):
        place = tmp_path / str(ranks)
        place.mkdir()
        share = binary(
            Operator.FLOOR_DIVIDE,
            binary(Operator.SUBTRACT, binary(Operator.ADD, number(999), RANKS), RANK),
            RANKS,
        )
        pattern = random(1000, share, first=RANK, step=RANKS, replacement=replacement)
        made = plan(
            place,
            [file(keep=True)],
            [manage("create"), phase("w", write(512, pattern)), manage("close")],
            ranks=ranks,
        )
        outcome = engine.run(made)
        assert outcome.code == 0, outcome.stderr
        assert outcome.phase("w")["operations"] == 1000
        blob = (Path(made.directory) / "data").read_bytes()
        written = [i for i in range(len(blob) // 512) if any(blob[i * 512 : i * 512 + 512])]
        sizes.append(written)
    assert sizes[0] == sizes[1] == sizes[2]
    if replacement:
        assert 550 < len(sizes[0]) < 720  # 1 - 1/e of the slots
    else:
        assert sizes[0] == list(range(1000))


def test_random_reads_find_what_was_written(engine: Engine, tmp_path: Path, interface: str) -> None:
    made = plan(
        tmp_path,
        [file(interface=interface, content=Content(verify=True))],
        [
            phase("w", manage("create"), write(1000, random(300, 300))),
            phase("r", read(1000, random(300, 1000, replacement=True))),
        ],
        ranks=1,
    )
    outcome = engine.run(made)
    assert outcome.code == 0
    assert outcome.phase("r")["errors"] == 0


def test_nested_phases_and_loops(engine: Engine, tmp_path: Path) -> None:
    inner = phase("outer/inner", write(100, nest(0, (5, 100))))
    first = When(
        condition=binary(Operator.EQUAL, slot(LOOP), number(0)), body=[write(7, nest(0, (1, 0)))]
    )
    made = plan(
        tmp_path,
        [file(per_rank=True)],
        [loop(LOOP, 2, phase("outer", manage("create"), first, inner, inner, manage("close")))],
        loops=["dump"],
        ranks=2,
    )
    outcome = engine.run(made)
    assert outcome.code == 0, outcome.stderr
    finished = outcome.of("phase_finished")
    assert [event["path"] for event in finished] == ["outer/inner", "outer/inner", "outer"] * 2
    outers = [event for event in finished if event["path"] == "outer"]
    assert [event["bytes"] for event in outers] == [2014, 2000]
    assert [event["iteration"] for event in outers] == [
        [{"name": "dump", "value": 0}],
        [{"name": "dump", "value": 1}],
    ]
    for event in finished:
        check_sums(event)


def test_persistence_is_the_weakest(engine: Engine, tmp_path: Path, interface: str) -> None:
    pattern = nest(0, (3, 100))
    made = plan(
        tmp_path,
        [file(per_rank=True, interface=interface), file("other", per_rank=True)],
        [
            phase("none", manage("create"), write(100, pattern)),
            phase("fsync", write(100, pattern), Sync(file=0, mode=SyncMode.FSYNC)),
            phase("each", write(100, pattern, sync=SyncMode.FDATASYNC)),
            phase("late", write(100, pattern), manage("close"), manage("open")),
            phase(
                "mixed",
                manage("create", 1),
                write(100, pattern, sync=SyncMode.FSYNC),
                write(100, pattern, index=1, sync=SyncMode.FDATASYNC),
            ),
            phase("nothing", read(100, pattern)),
        ],
        ranks=2,
    )
    outcome = engine.run(made)
    assert outcome.code == 0, outcome.stderr
    found = {event["path"]: event["flushed"] for event in outcome.of("phase_finished")}
    assert found == {
        "none": "none",
        "fsync": "fsync",
        "each": "fdatasync",
        "late": "none",
        "mixed": "fdatasync",
        "nothing": "none",
    }
    assert kinds(outcome.phase("each")) == {"write": 6, "sync": 6}


def test_dropped_caches_are_cold_only_if_they_are(
    engine: Engine, tmp_path: Path, interface: str
) -> None:
    pattern = nest(times(RANK, 1 << 20), (16, 65_536))
    made = plan(
        tmp_path,
        [file(interface=interface)],
        [
            phase("write", manage("create"), write(65_536, pattern), manage("close")),
            phase("warm", manage("open"), read(65_536, pattern), manage("close")),
            phase("dropped", manage("open"), read(65_536, pattern), cache=CachePolicy.DROP),
            phase("again", read(65_536, pattern)),
        ],
        ranks=2,
    )
    outcome = engine.run(made)
    states = {event["path"]: event["cache"] for event in outcome.of("phase_finished")}
    expected = "warm" if file_system(tmp_path) == "tmpfs" else "cold"
    assert states == {"write": "none", "warm": "warm", "dropped": expected, "again": "warm"}


def test_prestaged_data_is_there_and_stays(
    engine: Engine, tmp_path: Path, comm: str, interface: str
) -> None:
    ranks = size_of_group(comm)
    part = 2 * 1024 * KIB + 5
    made = plan(
        tmp_path,
        [file(interface=interface, prestage=number(part), content=Content(verify=True))],
        [phase("r", manage("open"), read(part, nest(times(RANK, part), (1, 0))), manage("close"))],
        ranks=ranks,
        repetitions=3,
    )
    outcome = engine.run(made, comm)
    assert outcome.code == 0, outcome.stderr
    assert [event["errors"] for event in outcome.of("phase_finished")] == [0, 0, 0]
    assert outcome.phase("r")["bytes"] == ranks * part
    assert is_gone(made)


def test_keep_leaves_and_says_so(engine: Engine, tmp_path: Path, interface: str) -> None:
    made = write_and_read(
        tmp_path, 2, size=100, count=3, keep=True, repetitions=2, interface=interface
    )
    outcome = engine.run(made)
    assert outcome.code == 0, outcome.stderr
    assert outcome.of("finished")[0]["left"] == ["data"]
    assert (Path(made.directory) / "data").stat().st_size == 600
    assert outcome.of("warning") == []


def test_foreign_files_are_read_and_nothing_else(
    engine: Engine, tmp_path: Path, interface: str
) -> None:
    mine = tmp_path / "mine"
    mine.write_bytes(b"x" * 1000)
    before = mine.stat()
    foreign = file(path=[PathPart(text=str(mine))], foreign=True, interface=interface)
    made = plan(
        tmp_path,
        [foreign],
        [phase("r", manage("open"), read(100, nest(0, (10, 100))), manage("close"))],
    )
    outcome = engine.run(made, "alone")
    assert outcome.code == 0, outcome.stderr
    assert outcome.of("warning")[0]["what"] == f"foreign file read: {mine}"
    assert outcome.phase("r")["cache"] == "warm"
    after = mine.stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)
    assert mine.read_bytes() == b"x" * 1000


def test_reading_past_the_end_is_an_error(engine: Engine, tmp_path: Path, interface: str) -> None:
    made = plan(
        tmp_path,
        [file(interface=interface)],
        [
            phase("w", manage("create"), write(100, nest(0, (1, 0)))),
            phase("r", read(100, nest(50, (1, 0)))),
        ],
    )
    outcome = engine.run(made, "alone")
    assert outcome.code == 3
    assert outcome.phase("r")["short_transfers"] == 1
    assert outcome.phase("r")["details"][0]["what"] == "the file ends here"
    assert outcome.failed["code"] == "io"


def test_direct_io_explains_itself(engine: Engine, tmp_path: Path) -> None:
    made = write_and_read(tmp_path, 1, size=1000, count=2, options={"direct": "true"})
    outcome = engine.run(made, "alone")
    if file_system(tmp_path) == "tmpfs":
        assert outcome.code in (0, 3)  # tmpfs accepts or refuses O_DIRECT, by kernel
    else:
        assert outcome.code == 3
        assert "multiples" in outcome.failed["hint"]


def test_think_time_is_not_transfer_time(engine: Engine, tmp_path: Path) -> None:
    body = write(10, nest(0, (5, 10)), think_s=0.02)
    made = plan(tmp_path, [file()], [phase("p", manage("create"), body, compute(0.05))])
    event = engine.run(made, "alone").phase("p")
    assert event["seconds"]["total"] > 0.15
    spent = event["seconds"]
    assert 0.15 <= spent["compute"] <= spent["total"] - spent["transfer"]


@pytest.mark.parametrize(("mode", "flushed"), [("flush", "none"), ("fsync", "fsync")])
def test_a_flush_makes_nothing_persistent(
    engine: Engine, tmp_path: Path, interface: str, mode: str, flushed: str
) -> None:
    sync = Sync(file=0, mode=SyncMode(mode))
    body = [manage("create"), write(10, nest(0, (2, 10))), sync, manage("close")]
    made = plan(tmp_path, [file(interface=interface)], [phase("p", *body)])
    assert engine.run(made, "alone").phase("p")["flushed"] == flushed


@pytest.mark.parametrize("interface", ["null", "simulated"])
def test_storage_that_cannot_know_is_not_accused(
    engine: Engine, tmp_path: Path, interface: str
) -> None:
    """Each rank reads what its neighbour wrote; simulated storage is each rank's own."""
    pattern = nest(times(RANK, 1000), (10, 100))
    made = plan(
        tmp_path,
        [file(interface=interface, content=Content(verify=True))],
        [phase("p", manage("create"), write(100, pattern), read(100, pattern, owner=NEXT))],
        ranks=3,
        clock=ClockKind.SIMULATED if interface == "simulated" else ClockKind.REAL,
    )
    outcome = engine.run(made)
    assert (outcome.code, outcome.phase("p")["errors"]) == (0, 0)


def test_simulated_storage_verifies_what_it_knows(engine: Engine, tmp_path: Path) -> None:
    pattern = nest(times(RANK, 1000), (10, 100))
    flip = fault("flip", "write", nth=3, rank=1)
    made = plan(
        tmp_path,
        [file(interface="simulated", content=Content(verify=True), faults=[flip])],
        [phase("w", manage("create"), write(100, pattern)), phase("r", read(100, pattern))],
        ranks=3,
        clock=ClockKind.SIMULATED,
    )
    outcome = engine.run(made)
    assert (outcome.code, outcome.phase("r")["errors"]) == (3, 1)
    assert outcome.phase("r")["details"][0]["offset"] == 1250


def test_files_shared_by_some_ranks(engine: Engine, tmp_path: Path) -> None:
    pair = binary(Operator.FLOOR_DIVIDE, RANK, number(2))
    within = binary(Operator.MODULO, RANK, number(2))
    some = file(
        "pair",
        path=[PathPart(text="pair."), PathPart(value=pair)],
        sharing=Sharing.EVERY,
        every=2,
        content=Content(verify=True),
        prestage=number(777),
    )
    node = file(
        "node", path=[PathPart(text="node."), PathPart(value=slot(4))], sharing=Sharing.NODE
    )
    made = plan(
        tmp_path,
        [some, node],
        [
            phase("read", manage("open"), read(777, nest(times(within, 777), (1, 0)))),
            phase("node", manage("create", 1), write(10, nest(times(RANK, 10), (2, 0)), index=1)),
            phase("taken over", manage("close"), manage("create")),
        ],
        ranks=5,
    )
    outcome = engine.run(made)
    assert outcome.code == 0, outcome.events
    assert outcome.phase("read")["errors"] == 0
    assert kinds(outcome.phase("node")) == {"create": 1, "open": 4, "write": 10}
    # A name that is taken by a file of ours is emptied, not refused.
    assert kinds(outcome.phase("taken over")) == {"close": 5, "create": 3, "open": 2}
    assert outcome.phase("read")["bytes"] == 5 * 777
    assert is_gone(made)


def test_stop_file_ends_between_repetitions(engine: Engine, tmp_path: Path) -> None:
    made = write_and_read(tmp_path, 2, size=100, count=1, repetitions=5)
    (Path(made.journal) / "stop").touch()
    outcome = engine.run(made)
    assert outcome.code == 0
    assert outcome.of("finished")[0]["repetitions"] == 0
    assert outcome.of("phase_finished") == []
    assert is_gone(made)


def test_plan_does_not_grow_with_its_numbers(engine: Engine, tmp_path: Path) -> None:
    small = write_and_read(tmp_path, 2, size=100, count=10).to_json()
    huge = write_and_read(tmp_path, 10**6, size=100, count=10**9).to_json()
    assert len(huge) - len(small) < 100


def test_many_ranks_start(engine: Engine, tmp_path: Path) -> None:
    outcome: Outcome = engine.run(write_and_read(tmp_path, 64, size=100, count=1))
    assert outcome.code == 0, outcome.stderr
    assert len(outcome.of("hello")[0]["node_of_rank"]) == 64
