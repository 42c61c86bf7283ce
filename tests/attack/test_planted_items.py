"""Names that others put where items of a tree are, or could be: none is changed or removed."""

from __future__ import annotations

import random as draws
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine.plans import Plan, Tree, file, hold, items, number, phase, plan
from engine.running import Engine, Outcome, is_gone, meddled
from venturi.model.plan import ItemKind

ITEMS = 5
TEXT = "theirs"
AT_HOLD = '"event":"phase_finished","path":"before"'


def tree_plan(place: Path, *program: Any, ranks: int = 1, kind: str = "file", **rest: Any) -> Plan:
    """A tree of five items for each rank; `program` comes behind a hold."""
    tree = Tree(items=number(ITEMS), size=number(10), kind=ItemKind(kind))
    before = rest.pop("before", ["mkdir" if kind == "directory" else "mknod", "stat"])
    gone = ["rmdir" if kind == "directory" else "unlink"]
    return plan(
        place,
        [file("d", tree=tree, **rest)],
        [
            phase("before", items(*before), *([] if rest.get("keep") else [items(*gone)])),
            hold(),
            *program,
        ],
        ranks=ranks,
    )


def meet(engine: Engine, made: Plan, act: Callable[[], None], comm: str = "forked") -> Outcome:
    """Runs a plan and acts while it is held."""
    return meddled(engine, made, AT_HOLD, act, comm)


def plant(path: Path) -> Callable[[], None]:
    """Puts somebody's file at a path."""

    def act() -> None:
        path.write_text(TEXT)

    return act


@pytest.mark.parametrize("verbs", [("create", "close"), ("create", "write", "close"), ("mknod",)])
@pytest.mark.parametrize("seed", range(3))
def test_an_item_that_is_there_is_refused_and_stays(
    engine: Engine, tmp_path: Path, verbs: tuple[str, ...], seed: int
) -> None:
    made = tree_plan(tmp_path, phase("q", items(*verbs)))
    index = draws.Random(f"{seed} {verbs}").randrange(ITEMS)
    theirs = Path(made.directory) / "d" / f"f.0.{index}"
    outcome = meet(engine, made, plant(theirs))
    assert outcome.code == 3
    assert "it is left alone" in outcome.failed["hint"]
    assert theirs.read_text() == TEXT
    assert [p.name for p in theirs.parent.iterdir()] == [theirs.name]


@pytest.mark.parametrize("comm", ["alone", "forked", "openmpi", "mpich"])
@pytest.mark.parametrize("seed", range(2))
def test_a_name_like_an_item_that_no_rank_made_stays(
    engine: Engine, tmp_path: Path, comm: str, seed: int
) -> None:
    ranks = 1 if comm == "alone" else 3
    made = tree_plan(tmp_path, phase("q", items("create", "write", "close")), ranks=ranks)
    draw = draws.Random(f"{seed} {comm}")
    names = {
        f"f.{draw.choice([0, ranks, 10**6])}.{draw.randrange(ITEMS, 300)}",
        f"f.0.{ITEMS}",
        f"f.0.{draw.randrange(ITEMS)}.link",
        f"f.0.{draw.randrange(ITEMS)}-XX",
    }
    folder = Path(made.directory) / "d"

    def act() -> None:
        for name in names:
            (folder / name).write_text(TEXT)
        (folder / "f.0.1.symlink").symlink_to("anywhere")

    outcome = meet(engine, made, act, comm)
    assert outcome.code == 0, outcome.events
    assert {p.name for p in folder.iterdir()} == {*names, "f.0.1.symlink"}
    assert {(folder / name).read_text() for name in names} == {TEXT}
    assert any("did not make" in event["what"] for event in outcome.of("warning"))


def test_a_directory_that_has_the_name_of_an_item_stays(engine: Engine, tmp_path: Path) -> None:
    made = tree_plan(tmp_path, phase("q", items("mkdir")), kind="directory")
    theirs = Path(made.directory) / "d" / "f.0.2"
    outcome = meet(engine, made, theirs.mkdir)
    assert outcome.code == 3
    assert theirs.is_dir()


@pytest.mark.parametrize("verb", ["link", "symlink"])
def test_a_name_beside_an_item_is_refused_and_stays(
    engine: Engine, tmp_path: Path, verb: str
) -> None:
    made = tree_plan(tmp_path, phase("q", items("create", verb, "close")))
    theirs = Path(made.directory) / "d" / f"f.0.2.{verb}"
    outcome = meet(engine, made, plant(theirs))
    assert outcome.code == 3
    assert theirs.read_text() == TEXT


@pytest.mark.parametrize("verbs", [("create", "write", "close", "rename"), ("rename",)])
def test_renaming_items_takes_no_name_of_others(
    engine: Engine, tmp_path: Path, verbs: tuple[str, ...]
) -> None:
    """Items that are made aside find their name taken, and a chain its place aside."""
    aside = verbs == ("rename",)
    made = tree_plan(
        tmp_path,
        phase("q", *([items("create", "close")] if aside else []), items(*verbs)),
    )
    theirs = Path(made.directory) / "d" / ("f.0.0-XX" if aside else "f.0.3")
    outcome = meet(engine, made, plant(theirs))
    assert outcome.code == 3
    assert theirs.read_text() == TEXT


def test_what_took_the_place_of_an_item_that_was_removed_stays(
    engine: Engine, tmp_path: Path
) -> None:
    """Rank 1 removes what rank 0 made; then somebody else uses the name."""
    from engine.plans import RANK, RANKS, Operator, binary

    other = binary(Operator.MODULO, binary(Operator.ADD, RANK, number(1)), RANKS)
    tree = Tree(items=number(ITEMS), size=number(10))
    made = plan(
        tmp_path,
        [file("d", tree=tree)],
        [
            phase("make", items("create", "close")),
            phase("before", items("unlink", owner=other)),
            hold(),
            phase("q", items("create", "close", owner=RANK, shuffled=False)),
        ],
        ranks=2,
    )
    theirs = Path(made.directory) / "d" / "f.1.4"
    outcome = meet(engine, made, plant(theirs))
    assert outcome.code == 3
    assert theirs.read_text() == TEXT
    assert [p.name for p in theirs.parent.iterdir()] == [theirs.name]


@pytest.mark.parametrize("comm", ["alone", "forked", "openmpi", "mpich"])
def test_own_items_may_be_made_again_and_all_of_them_go(
    engine: Engine, tmp_path: Path, comm: str
) -> None:
    ranks = 1 if comm == "alone" else 3
    again = phase("q", items("create", "write", "close"), items("create", "write", "close"))
    made = tree_plan(tmp_path, again, ranks=ranks)
    assert meet(engine, made, lambda: None, comm).code == 0
    assert is_gone(made)


def test_an_item_of_another_rank_may_be_made_again(engine: Engine, tmp_path: Path) -> None:
    from engine.plans import RANK, RANKS, Operator, binary

    other = binary(Operator.MODULO, binary(Operator.ADD, RANK, number(1)), RANKS)
    tree = Tree(items=number(ITEMS), size=number(10))
    made = plan(
        tmp_path,
        [file("d", tree=tree)],
        [
            phase("p", items("create", "close")),
            phase("q", items("create", "close", owner=other)),
            phase("r", items("unlink", owner=other)),
            phase("s", items("create", "close")),
        ],
        ranks=3,
        repetitions=2,
    )
    outcome = engine.run(made)
    assert outcome.code == 0, outcome.events
    assert is_gone(made)


def test_many_items_are_known_one_by_one(engine: Engine, tmp_path: Path) -> None:
    """More than one block of them, in several directories, some removed by the program."""
    tree = Tree(items=number(700), size=number(0), depth=1, branch=2)
    made = plan(
        tmp_path,
        [file("d", tree=tree)],
        [phase("before", items("create", "close")), hold()],
        ranks=2,
    )
    theirs = Path(made.directory) / "d" / "d.1" / "f.0.5"
    more = Path(made.directory) / "d" / "f.1.700"

    def act() -> None:
        theirs.unlink()
        more.write_text(TEXT)

    outcome = meet(engine, made, act)
    assert outcome.code == 0
    assert [p for p in Path(made.directory).rglob("f.*")] == [more]
