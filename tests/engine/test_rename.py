"""Files that get the name of another entry, or are cut, on a real file system."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.plans import (
    Manage,
    Plan,
    Tree,
    file,
    items,
    manage,
    nest,
    number,
    phase,
    plan,
    read,
    write,
)
from engine.running import Engine, is_gone, kinds, size_of_group

BLOCK = 4096


def cut(index: int, size: int) -> Manage:
    return manage("truncate", index, bytes=number(size))


def replaced(place: Path, ranks: int, per_rank: bool) -> Plan:
    """A file is written twice, each time under another name, and read under its own."""
    whole = nest(0, (2, BLOCK))
    make = [manage("create"), write(BLOCK, whole), manage("close"), manage("rename", to=1)]
    use = [manage("open", 1), read(BLOCK, whole, index=1), manage("close", 1)]
    files = [file(name, per_rank=per_rank) for name in ("new/part", "old/state")]
    program = [phase("a", *make, *use), phase("b", *make, *use)]
    return plan(place, files, program, ranks=ranks, repetitions=2)


@pytest.mark.parametrize("per_rank", [False, True])
def test_a_file_replaces_the_one_that_has_its_name(
    engine: Engine, tmp_path: Path, comm: str, per_rank: bool
) -> None:
    ranks = size_of_group(comm)
    made = replaced(tmp_path, ranks, per_rank)
    outcome = engine.run(made, comm)
    assert outcome.code == 0, outcome.failed
    calls = ranks if per_rank else 1
    for path in ("a", "b"):
        assert kinds(outcome.phase(path, 1))["rename"] == calls
    assert is_gone(made)


def test_a_file_is_as_long_as_it_was_cut_to(engine: Engine, tmp_path: Path) -> None:
    body = [
        manage("create"),
        write(BLOCK, nest(0, (3, BLOCK))),
        cut(0, 100),
        cut(0, 2 * BLOCK),
        read(BLOCK, nest(0, (2, BLOCK))),
        manage("close"),
    ]
    outcome = engine.run(plan(tmp_path, [file()], [phase("p", *body)]))
    assert outcome.code == 0, outcome.failed
    assert kinds(outcome.phase("p"))["truncate"] == 2
    short = [*body[:3], read(BLOCK, nest(0, (1, BLOCK))), manage("close")]
    outcome = engine.run(plan(tmp_path, [file()], [phase("p", *short)], run="r2"))
    assert outcome.code == 3
    assert "ends" in outcome.failed["message"]


def test_items_are_made_aside_and_get_their_names(engine: Engine, tmp_path: Path) -> None:
    verbs = ("create", "write", "close", "rename", "stat")
    made = plan(
        tmp_path,
        [file("d", tree=Tree(items=number(5), size=number(100)))],
        [
            phase("p", items(*verbs)),
            phase("again", items(*verbs)),
            phase("read", items("open", "read", "close")),
        ],
    )
    outcome = engine.run(made)
    assert outcome.code == 0, outcome.failed
    assert kinds(outcome.phase("again"))["rename"] == 5
    assert kinds(outcome.phase("read"))["read"] == 5
    assert is_gone(made)
