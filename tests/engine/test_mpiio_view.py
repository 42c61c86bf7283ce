"""File views of MPI-IO: each rank sees its own places alone, and the bytes are the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.plans import (
    RANK,
    RANKS,
    Content,
    Operator,
    Plan,
    Sharing,
    When,
    binary,
    fault,
    file,
    manage,
    nest,
    number,
    phase,
    plan,
    random,
    read,
    times,
    write,
)
from engine.running import Engine, Outcome, kinds
from venturi.model.expression import evaluate
from venturi.model.plan import Fault, Nest, Repeat

KIB = 1024
NEXT = binary(Operator.MODULO, binary(Operator.ADD, RANK, number(1)), RANKS)
RANKS_HERE = 3
MANNERS = [{}, {"collective": True}, {"depth": 5}]
NESTS = {
    "segmented": nest(times(RANK, 4 * KIB), (3, 12 * KIB), (4, KIB)),
    "strided": nest(times(RANK, KIB), (8, 3 * KIB)),
    "contiguous": nest(times(RANK, 8 * KIB), (8, KIB)),
    "tiled": nest(times(RANK, 2 * KIB), (2, 48 * KIB), (4, 12 * KIB), (2, KIB)),
    "holes": nest(binary(Operator.ADD, times(RANK, 5 * KIB), number(7)), (3, 40 * KIB), (2, 3000)),
    "one": nest(times(RANK, KIB), (1, 0)),
    "nothing": nest(0, (times(RANK, 2), 9 * KIB), (1, 0)),
}
"""Places of 1 KiB of three ranks."""


def both_ways(place: Path, pattern: Nest, view: str, step: dict, **keys: object) -> Plan:
    """Written, and read back by the next rank."""
    place.mkdir()
    keys.setdefault("content", Content(verify=True))
    target = file(interface="mpiio", options={"view": view}, keep=True, **keys)
    body = [manage("create"), write(KIB, pattern, **step), manage("close")]
    back = [manage("open"), read(KIB, pattern, owner=NEXT, **step), manage("close")]
    return plan(place, [target], [phase("write", *body), phase("read", *back)], ranks=RANKS_HERE)


def data_of(made: Plan, pattern: Nest) -> bytes:
    """What stands at the places of all ranks.

    Open MPI's collective writes leave anything in the holes between them, with views or without.
    """
    found = (Path(made.directory) / "data").read_bytes()
    starts: set[int] = set()
    for rank in range(RANKS_HERE):
        slots = [rank, RANKS_HERE, RANKS_HERE, 0, 0, 0]
        here = [evaluate(pattern.base, slots)]
        for loop in pattern.loops:
            count, stride = evaluate(loop.count, slots), evaluate(loop.stride, slots)
            here = [at + turn * stride for at in here for turn in range(int(count))]
        starts.update(int(at) for at in here)
    assert len(found) == max(starts) + KIB
    return b"".join(found[at : at + KIB] for at in sorted(starts))


def fine(outcome: Outcome) -> Outcome:
    assert outcome.code == 0, (outcome.events, outcome.stderr)
    return outcome


@pytest.mark.parametrize("step", MANNERS, ids=str)
@pytest.mark.parametrize("name", list(NESTS))
def test_the_same_bytes_as_without(
    engine: Engine, tmp_path: Path, mpi: str, name: str, step: dict
) -> None:
    found = {}
    for view in ("none", "strided"):
        made = both_ways(tmp_path / view, NESTS[name], view, step)
        outcome = fine(engine.run(made, mpi))
        assert outcome.phase("read")["errors"] == 0
        found[view] = (
            data_of(made, NESTS[name]),
            kinds(outcome.phase("write")),
            kinds(outcome.phase("read")),
        )
    assert found["none"] == found["strided"]
    assert found["none"][0].strip(b"\0")


@pytest.mark.parametrize("step", MANNERS, ids=str)
def test_each_rank_sees_its_own_places_alone(
    engine: Engine,
    tmp_path: Path,
    mpi: str,
    step: dict,
    mpi_spies: dict[str, Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = both_ways(tmp_path / "made", NESTS["segmented"], "strided", step)
    monkeypatch.setenv("SPY_LOG", str(tmp_path / "calls"))
    monkeypatch.setenv("LD_PRELOAD", str(mpi_spies[mpi]))
    fine(engine.run(made, mpi))
    logs = [path.read_text().split("\n") for path in tmp_path.glob("calls.*")]
    assert len(logs) == RANKS_HERE
    call = {"collective": "write_all", "depth": "iwrite"}.get(next(iter(step), ""), "write")
    firsts = []
    for lines in logs:
        # Blocks of 4 KiB in segments of three; 12 requests, one behind the other.
        first, *writes = (line.split() for line in lines if line.startswith(("view", call)))
        writes = [words for words in writes if words[0] == call]
        assert first[0] == "view"
        assert first[2:] == [str(4 * KIB), str(12 * KIB)]
        assert [int(words[1]) for words in writes] == [i * KIB for i in range(12)]
        firsts.append(int(first[1]))
    assert sorted(firsts) == [0, 4 * KIB, 8 * KIB]


def test_a_view_that_is_in_force_is_not_set_again(
    engine: Engine,
    tmp_path: Path,
    mpi: str,
    mpi_spies: dict[str, Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    step = write(KIB, NESTS["strided"])
    body = [manage("create"), step, step, write(KIB, NESTS["contiguous"]), manage("close")]
    target = file(interface="mpiio", options={"view": "strided"})
    made = plan(tmp_path, [target], [phase("w", *body)], ranks=RANKS_HERE)
    monkeypatch.setenv("SPY_LOG", str(tmp_path / "calls"))
    monkeypatch.setenv("LD_PRELOAD", str(mpi_spies[mpi]))
    fine(engine.run(made, mpi))
    for path in tmp_path.glob("calls.*"):
        words = [line.split()[0] for line in path.read_text().splitlines()]
        assert [word for word in words if word in ("view", "write")] == [
            "view",
            *["write"] * 16,
            "view",
            *["write"] * 8,
        ]


def test_a_file_for_each_rank_has_a_view_of_its_own(
    engine: Engine, tmp_path: Path, mpi: str
) -> None:
    count = binary(Operator.ADD, RANK, number(2))
    pattern = nest(number(100), (count, 4 * KIB), (2, KIB))
    target = file(
        interface="mpiio",
        options={"view": "strided"},
        per_rank=True,
        keep=True,
        content=Content(verify=True),
    )
    phases = [
        phase("w", manage("create"), write(KIB, pattern), manage("close")),
        phase("r", manage("open"), read(KIB, pattern), manage("close")),
    ]
    made = plan(tmp_path, [target], phases, ranks=RANKS_HERE)
    outcome = fine(engine.run(made, mpi))
    assert outcome.phase("r")["errors"] == 0
    sizes = [(Path(made.directory) / f"data.{rank:04}").stat().st_size for rank in range(3)]
    assert sizes == [100 + (rank + 1) * 4 * KIB + 2 * KIB for rank in range(3)]


@pytest.mark.parametrize("step", MANNERS[:2], ids=str)
def test_the_rest_of_a_short_request_goes_where_it_belongs(
    engine: Engine, tmp_path: Path, mpi: str, step: dict
) -> None:
    short = [fault("short", "write", rank=1, nth=3), fault("short", "read", rank=2, nth=2)]
    made = both_ways(tmp_path / "short", NESTS["segmented"], "strided", step, faults=short)
    whole = both_ways(tmp_path / "whole", NESTS["segmented"], "none", step)
    outcome = fine(engine.run(made, mpi))
    fine(engine.run(whole, mpi))
    assert outcome.phase("read")["errors"] == 0
    pattern = NESTS["segmented"]
    assert data_of(made, pattern) == data_of(whole, pattern)


@pytest.mark.parametrize("step", MANNERS[:2], ids=str)
@pytest.mark.parametrize("operation", ["open", "write", "read"])
def test_one_rank_fails(
    engine: Engine, tmp_path: Path, mpi: str, operation: str, step: dict
) -> None:
    faults: list[Fault] = [fault("eio", operation, rank=1, nth=1)]
    made = both_ways(tmp_path / "made", NESTS["strided"], "strided", step, faults=faults)
    outcome = engine.run(made, mpi)
    assert outcome.code == 3, outcome.events
    assert f"{operation} of data failed on rank 1" in outcome.failed["message"]


def test_one_rank_has_places_that_no_view_shows(engine: Engine, tmp_path: Path, mpi: str) -> None:
    back = binary(Operator.SUBTRACT, number(KIB), times(RANK, KIB))
    made = both_ways(tmp_path / "made", nest(64 * KIB, (4, back)), "strided", {})
    outcome = engine.run(made, mpi)
    assert outcome.code == 3
    assert "ascend and do not overlap" in outcome.failed["message"]


def test_a_limit_may_follow_the_first_view(engine: Engine, tmp_path: Path, mpi: str) -> None:
    pattern = nest(times(RANK, KIB), (10**7, RANKS_HERE * KIB))
    target = file(interface="mpiio", options={"view": "strided"})
    body = [manage("create"), write(KIB, pattern), manage("close")]
    limited = phase("w", *body, limit_s=0.2, bound_s=20.0)
    outcome = fine(engine.run(plan(tmp_path, [target], [limited], ranks=RANKS_HERE), mpi))
    event = outcome.phase("w")
    assert event["stopped_by"] == "limit"
    assert kinds(event)["write"] % RANKS_HERE == 0


ONLY_FIRST = binary(Operator.EQUAL, RANK, number(0))
STEP = write(KIB, NESTS["strided"])
REFUSED = {
    "inside a phase with a time limit": phase(
        "w", manage("create"), STEP, write(KIB, NESTS["one"]), limit_s=1.0
    ),
    "do not come here as often": phase(
        "w", manage("create"), When(condition=ONLY_FIRST, body=[STEP])
    ),
    "around it differs": phase("w", manage("create"), Repeat(at_least_s=0.1, body=[STEP])),
    "shows regular places": phase("w", manage("create"), write(KIB, random(64, 8))),
}


@pytest.mark.needs("openmpi")
@pytest.mark.parametrize("words", list(REFUSED))
def test_what_cannot_be_shown_is_refused_before_any_io(
    engine: Engine, tmp_path: Path, words: str
) -> None:
    target = file(interface="mpiio", options={"view": "strided"}, sharing=Sharing.ALL)
    made = plan(tmp_path, [target], [REFUSED[words]], ranks=RANKS_HERE)
    outcome = engine.run(made, "openmpi")
    assert outcome.code == 2
    assert words in outcome.failed["message"] + outcome.failed["hint"]
    assert not Path(made.directory).exists()
