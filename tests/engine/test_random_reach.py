"""What random writes made before a limit is what later phases find, and nothing else."""

from __future__ import annotations

from pathlib import Path

from engine.conftest import Engine
from engine.plans import (
    RANK,
    RANKS,
    binary,
    file,
    manage,
    nest,
    number,
    phase,
    plan,
    random,
    read,
    write,
)
from venturi.model.plan import CachePolicy, Content, Expression, Operator, Phase, Plan, Random, Step

SLOTS, RANK_COUNT, KIB = 1 << 18, 2, 1024
PLACES: Random = random(SLOTS, SLOTS // RANK_COUNT, first=RANK, step=RANKS)
NEXT: Expression = binary(
    Operator.MODULO, binary(Operator.ADD, RANK, number(1)), number(RANK_COUNT)
)


def cut_short(*before: Step) -> Phase:
    """Random writes that a limit ends, each rank at another count."""
    body = (*before, write(4 * KIB, PLACES))
    return phase("w", *body, limit_s=0.05, bound_s=0.001)


def made(place: Path, *program: Step) -> Plan:
    return plan(
        place,
        [file(content=Content(verify=True))],
        [*program, manage("close")],
        ranks=RANK_COUNT,
    )


def test_reads_in_the_same_order_find_what_each_rank_wrote(engine: Engine, tmp_path: Path) -> None:
    again = phase("r", read(4 * KIB, PLACES), cache=CachePolicy.DROP)
    others = phase("o", read(4 * KIB, PLACES, owner=NEXT))
    outcome = engine.run(made(tmp_path, manage("create"), cut_short(), again, others))
    assert outcome.code == 0, outcome.stderr
    written = outcome.phase("w")
    assert written["stopped_by"] in ("limit", "deadline")
    counts = written["per_rank"]["operations"]
    assert 0 < sum(counts) < SLOTS
    for path, wanted in (("r", counts), ("o", counts[::-1])):
        found = outcome.phase(path)
        assert found["per_rank"]["operations"] == wanted
        assert found["errors"] == found["corrupt_operations"] == found["short_transfers"] == 0


def test_reads_in_another_order_are_refused(engine: Engine, tmp_path: Path) -> None:
    for name, other in (
        ("turn", nest(0, (SLOTS, 4 * KIB))),
        ("half", random(SLOTS // 2, SLOTS // 4, first=RANK, step=RANKS)),
    ):
        place = tmp_path / name
        place.mkdir()
        program = (manage("create"), cut_short(), phase("r", read(4 * KIB, other)))
        outcome = engine.run(made(place, *program))
        assert outcome.code == 3, outcome.stderr
        assert "random writes short" in outcome.failed["message"]


def test_a_file_that_was_whole_before_stays_so(engine: Engine, tmp_path: Path) -> None:
    slots = 512
    share = random(slots, slots // RANK_COUNT, first=RANK, step=RANKS)
    every = nest(0, (slots, 4 * KIB))
    program = (
        manage("create"),
        phase("fill", write(4 * KIB, share)),
        phase("w", write(4 * KIB, share), limit_s=1e-6, bound_s=1e-6),
        phase("r", read(4 * KIB, every)),
    )
    outcome = engine.run(made(tmp_path, *program))
    assert outcome.code == 0, outcome.stderr
    assert outcome.phase("w")["operations"] < slots
    assert outcome.phase("r")["operations"] == slots * RANK_COUNT
    assert outcome.phase("r")["corrupt_operations"] == 0
