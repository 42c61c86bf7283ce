"""Files that are there before the run under every name that loops give them."""

from __future__ import annotations

from pathlib import Path

from engine.plans import (
    INNER_LOOP,
    LOOP,
    RANK,
    Content,
    Operator,
    PathPart,
    StagedLoop,
    binary,
    file,
    loop,
    manage,
    nest,
    number,
    phase,
    plan,
    read,
    slot,
    times,
)
from engine.running import Engine, is_gone, size_of_group


def test_prestaged_data_is_there_under_every_name(
    engine: Engine, tmp_path: Path, comm: str, interface: str
) -> None:
    ranks = size_of_group(comm)
    names = [
        PathPart(text="f."),
        PathPart(value=binary(Operator.ADD, slot(LOOP), slot(INNER_LOOP))),
    ]
    reading = read(100, nest(times(RANK, 100), (1, 0)))
    staged = file(
        interface=interface,
        path=names,
        prestage=number(100),
        staged_loops=[StagedLoop(variable=LOOP, count=2), StagedLoop(variable=INNER_LOOP, count=3)],
        content=Content(verify=True),
    )
    body = loop(LOOP, 2, loop(INNER_LOOP, 3, manage("open"), reading, manage("close")))
    made = plan(tmp_path, [staged], [phase("r", body)], ranks=ranks, loops=["i", "j"])
    outcome = engine.run(made, comm)
    assert outcome.code == 0, outcome.stderr
    assert outcome.phase("r")["errors"] == 0
    assert outcome.phase("r")["bytes"] == ranks * 6 * 100
    assert is_gone(made)
