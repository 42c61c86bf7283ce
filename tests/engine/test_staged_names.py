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
    Tree,
    binary,
    file,
    items,
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


def test_what_is_removed_is_there_again_in_each_repetition(
    engine: Engine, tmp_path: Path, comm: str, interface: str
) -> None:
    ranks = size_of_group(comm)
    staged = file(
        interface=interface,
        path=[PathPart(text="f."), PathPart(value=slot(LOOP))],
        prestage=number(100),
        staged_loops=[StagedLoop(variable=LOOP, count=2)],
        content=Content(verify=True),
    )
    reading = read(100, nest(times(RANK, 100), (1, 0)))
    body = loop(LOOP, 2, manage("open"), reading, manage("close"), manage("unlink"))
    made = plan(tmp_path, [staged], [phase("r", body)], ranks=ranks, loops=["i"], repetitions=3)
    outcome = engine.run(made, comm)
    assert outcome.code == 0, outcome.stderr
    rows = [outcome.phase("r", repetition) for repetition in range(3)]
    assert [row["errors"] for row in rows] == [0, 0, 0]
    assert [row["bytes"] for row in rows] == [ranks * 2 * 100] * 3
    assert is_gone(made)


def test_so_are_items_of_a_tree(engine: Engine, tmp_path: Path, comm: str) -> None:
    ranks = size_of_group(comm)
    tree = Tree(depth=1, branch=2, items=number(3), size=number(100))
    staged = file(path=[PathPart(text="t")], prestage=number(0), tree=tree)
    step = phase("r", items("open", "read", "close", "unlink"))
    made = plan(tmp_path, [staged], [step], ranks=ranks, repetitions=3)
    outcome = engine.run(made, comm)
    assert outcome.code == 0, outcome.stderr
    rows = [outcome.phase("r", repetition) for repetition in range(3)]
    assert [row["errors"] for row in rows] == [0, 0, 0]
    assert [row["bytes"] for row in rows] == [ranks * 9 * 100] * 3
    assert is_gone(made)
