"""MPI-IO under both MPIs: the same bytes as POSIX, calls together, hints, and no hang."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from engine.plans import (
    RANK,
    RANKS,
    Content,
    Operator,
    Plan,
    Sharing,
    Sync,
    SyncMode,
    Tree,
    When,
    binary,
    fault,
    file,
    items,
    manage,
    nest,
    number,
    phase,
    plan,
    read,
    times,
    write,
)
from engine.running import Engine, kinds
from venturi.model.plan import Fault, Nest, Option

KIB = 1024
NEXT = binary(Operator.MODULO, binary(Operator.ADD, RANK, number(1)), RANKS)


def segmented(ranks: int) -> Nest:
    """IOR's nest: 3 segments of 4 blocks of 1 KiB for each rank."""
    block = 4 * KIB
    return nest(times(RANK, block), (3, ranks * block), (4, KIB))


def place_of(tmp_path: Path, name: str) -> Path:
    made = tmp_path / name
    made.mkdir()
    return made


def shared_plan(
    place: Path, ranks: int, interface: str, *, faults: Sequence[Fault] = (), **step: object
) -> Plan:
    """Written and read back; kept, unless there are faults."""
    target = file(
        interface=interface, content=Content(verify=True), keep=not faults, faults=list(faults)
    )
    pattern = segmented(ranks)
    body = [manage("create"), write(KIB, pattern, **step), Sync(file=0, mode=SyncMode.FSYNC)]
    return plan(
        place,
        [target],
        [
            phase("write", *body, manage("close")),
            phase("read", manage("open"), read(KIB, pattern, owner=NEXT, **step), manage("close")),
        ],
        ranks=ranks,
    )


@pytest.mark.parametrize("step", [{}, {"collective": True}, {"depth": 5}], ids=str)
def test_the_same_bytes_as_posix(engine: Engine, tmp_path: Path, mpi: str, step: dict) -> None:
    ranks = 3
    found = {}
    for interface in ("posix", "mpiio"):
        used = step if interface == "mpiio" else {}
        made = shared_plan(place_of(tmp_path, interface), ranks, interface, **used)
        outcome = engine.run(made, mpi)
        assert outcome.code == 0, outcome.stderr
        writes = outcome.phase("write")
        assert kinds(writes) == {"create": 1, "open": 2, "write": 36, "sync": 3, "close": 3}
        assert writes["flushed"] == "fsync"
        assert kinds(outcome.phase("read")) == {"open": 3, "read": 36, "close": 3}
        assert outcome.phase("read")["errors"] == 0
        found[interface] = (Path(made.directory) / "data").read_bytes()
    assert len(found["posix"]) == 36 * KIB
    assert found["posix"] == found["mpiio"]


@pytest.mark.parametrize("sharing", [Sharing.RANK, Sharing.EVERY, Sharing.NODE])
@pytest.mark.parametrize("collective", [False, True])
def test_every_way_to_share(
    engine: Engine, tmp_path: Path, mpi: str, sharing: Sharing, collective: bool
) -> None:
    own = sharing is Sharing.RANK
    rest = {} if own else {"sharing": sharing, "every": 2}
    target = file(interface="mpiio", per_rank=own, content=Content(verify=True), **rest)
    if sharing is Sharing.EVERY:
        half = binary(Operator.FLOOR_DIVIDE, RANK, number(2))
        target = target.model_copy(
            update={"path": [target.path[0].model_copy(update={"value": half})]}
        )
    pattern = nest(times(RANK, 16 * KIB), (16, KIB))
    made = plan(
        tmp_path,
        [target],
        [
            phase("w", manage("create"), write(KIB, pattern, collective=collective)),
            phase("r", read(KIB, pattern, collective=collective), manage("close")),
        ],
        ranks=3,
        repetitions=2,
    )
    outcome = engine.run(made, mpi)
    assert outcome.code == 0, outcome.events
    creates = {Sharing.RANK: 3, Sharing.EVERY: 2, Sharing.NODE: 1}[sharing]
    opens = {"open": 3 - creates} if creates < 3 else {}
    assert kinds(outcome.phase("w", 1)) == {"create": creates, **opens, "write": 48}
    assert outcome.phase("r", 1)["errors"] == 0


def test_ranks_with_less_to_do_take_part(engine: Engine, tmp_path: Path, mpi: str) -> None:
    share = times(RANK, 100)
    pattern = nest(times(RANK, 1 << 20), (share, KIB))
    made = plan(
        tmp_path,
        [file(interface="mpiio")],
        [phase("w", manage("create"), write(KIB, pattern, collective=True), manage("close"))],
        ranks=3,
    )
    event = engine.run(made, mpi).phase("w")
    assert kinds(event)["write"] == 300
    assert event["per_rank"]["bytes"] == [0, 100 * KIB, 200 * KIB]


def test_a_limit_stops_calls_together(engine: Engine, tmp_path: Path, mpi: str) -> None:
    pattern = nest(times(RANK, KIB), (10**9, 0))
    body = [manage("create"), write(KIB, pattern, collective=True), manage("close")]
    made = plan(
        tmp_path,
        [file(interface="mpiio")],
        [phase("w", *body, limit_s=2.0, bound_s=20.0), phase("x", manage("open"))],
        ranks=3,
    )
    outcome = engine.run(made, mpi)
    assert outcome.code == 0, outcome.events
    event = outcome.phase("w")
    assert event["stopped_by"] == "limit"
    writes = kinds(event)["write"]
    assert writes > 3
    assert writes % 3 == 0


@pytest.mark.parametrize("operation", ["create", "open", "write", "read", "sync", "close"])
def test_one_rank_fails(engine: Engine, tmp_path: Path, mpi: str, operation: str) -> None:
    rank = 0 if operation == "create" else 1
    nth = 5 if operation in ("write", "read") else 1
    faults = [fault("eio", operation, rank=rank, nth=nth)]
    made = shared_plan(tmp_path, 3, "mpiio", faults=faults, collective=True)
    outcome = engine.run(made, mpi)
    assert outcome.code == 3, outcome.events
    failed = outcome.failed
    assert failed["code"] == "io"
    assert f"{operation} of data failed on rank {rank}" in failed["message"]
    assert not Path(made.directory).exists()


def test_hints_are_given_and_told(engine: Engine, tmp_path: Path, mpi: str) -> None:
    hints = [Option(name="cb_buffer_size", value="1048576"), Option(name="no_such", value="1")]
    made = plan(
        tmp_path,
        [file(interface="mpiio", hints=hints)],
        [phase("w", manage("create"), write(KIB, nest(0, (1, 0))), manage("close"))],
        ranks=2,
        repetitions=2,
    )
    outcome = engine.run(made, mpi)
    assert outcome.code == 0, outcome.events
    (event,) = outcome.of("file_facts")
    assert event["file"] == "data"
    known = {fact["name"]: fact["value"] for fact in event["facts"]}
    assert known["cb_buffer_size"] == "1048576"


def test_space_is_reserved(engine: Engine, tmp_path: Path, mpi: str) -> None:
    made = plan(
        tmp_path,
        [file(interface="mpiio", options={"preallocate": "1 MiB"}, keep=True)],
        [phase("w", manage("create"), write(KIB, nest(0, (1, 0))), manage("close"))],
        ranks=2,
    )
    assert engine.run(made, mpi).code == 0
    assert (Path(made.directory) / "data").stat().st_size == 1 << 20


def test_files_of_a_tree_are_each_rank_s_own(engine: Engine, tmp_path: Path, mpi: str) -> None:
    tree = Tree(depth=1, branch=2, items=number(4), size=number(3901))
    made = plan(
        tmp_path,
        [file("tree", interface="mpiio", tree=tree, content=Content(verify=True))],
        [
            phase("create", items("create", "write", "close")),
            phase("read", items("open", "read", "close", owner=NEXT)),
            phase("remove", items("unlink")),
        ],
        ranks=2,
    )
    outcome = engine.run(made, mpi)
    assert outcome.code == 0, outcome.events
    assert kinds(outcome.phase("read")) == {"open": 24, "read": 24, "close": 24}
    assert outcome.phase("read")["errors"] == 0


def test_prestaged_data_is_found(engine: Engine, tmp_path: Path, mpi: str) -> None:
    target = file(interface="mpiio", content=Content(verify=True), prestage=number(3 << 20))
    pattern = nest(times(RANK, 3 << 20), (48, 64 * KIB))
    body = [manage("open"), read(64 * KIB, pattern, collective=True), manage("close")]
    made = plan(tmp_path, [target], [phase("r", *body)], ranks=3, repetitions=2)
    outcome = engine.run(made, mpi)
    assert outcome.code == 0, outcome.events
    assert outcome.phase("r", 1)["errors"] == 0
    assert outcome.phase("r", 1)["bytes"] == 9 << 20


@pytest.mark.parametrize("comm", ["alone", "forked"])
def test_without_mpi_it_is_refused(engine: Engine, tmp_path: Path, comm: str) -> None:
    made = shared_plan(tmp_path, 1, "mpiio")
    outcome = engine.run(made, comm)
    assert outcome.code == 2
    assert "--on openmpi" in outcome.failed["message"]
    assert not Path(made.directory).exists()


def test_an_engine_of_an_mpi_without_its_mpirun(engine: Engine, tmp_path: Path, mpi: str) -> None:
    made = shared_plan(tmp_path, 1, "mpiio")
    name = str(Path(made.journal) / "plan.json")
    done = subprocess.run(
        [engine.path(f"venturi-engine-{mpi}"), "run", name],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 2
    assert "works through MPI" in done.stdout
    assert not Path(made.directory).exists()


@pytest.mark.needs("openmpi")
def test_calls_together_are_refused_where_ranks_differ(engine: Engine, tmp_path: Path) -> None:
    step = write(KIB, nest(0, (1, 0)), collective=True)
    only_first = When(condition=binary(Operator.EQUAL, RANK, number(0)), body=[step])
    made = plan(
        tmp_path, [file(interface="mpiio")], [phase("w", manage("create"), only_first)], ranks=2
    )
    outcome = engine.run(made, "openmpi")
    assert outcome.code == 2
    assert "do not come here as often" in outcome.failed["message"]


def test_posix_has_no_calls_together(engine: Engine, tmp_path: Path) -> None:
    outcome = engine.run(shared_plan(tmp_path, 2, "posix", collective=True), "forked")
    assert outcome.code == 2
    assert "collective calls" in outcome.failed["message"]
