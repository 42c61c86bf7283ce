"""Items of trees: names that are taken, failing calls, windows under limits, what is removed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.plans import (
    INNER_LOOP,
    LOOP,
    RANK,
    RANKS,
    ClockKind,
    Content,
    Operator,
    PathPart,
    Tree,
    binary,
    fault,
    file,
    hold,
    items,
    loop,
    manage,
    number,
    phase,
    plan,
    slot,
)
from engine.running import Engine, is_gone, kinds, size_of_group
from engine.test_foreign_name import run_swapped
from venturi.model.plan import Expression, ItemKind, ItemOwner, Items, NameField, NamePart

NEXT = binary(Operator.MODULO, binary(Operator.ADD, RANK, number(1)), RANKS)
CALLS = {
    "rename": ["rename"],
    "link": ["link"],
    "symlink": ["symlink"],
    "mknod": ["mknod"],
    "read_dir": ["read_dir"],
    "set_xattr": ["open", "set_xattr", "close"],
    "get_xattr": ["open", "get_xattr", "close"],
    "set_attribute": ["stat", "set_mode"],
}
LATENCY = {"latency_s": "0.001", "bandwidth_bytes_per_s": "1e12"}


def tree(count: int = 4, size: int = 10, **rest: Any) -> Tree:
    """A tree of one directory, unless `rest` says otherwise."""
    return Tree(items=number(count), size=number(size), **rest)


def window(verbs: list[str], first: Expression, count: int, owner: Expression = RANK) -> Items:
    """Verbs on some items."""
    step = items(*verbs, owner=owner)
    return step.model_copy(update={"first": first, "count": number(count)})


@pytest.mark.parametrize("kind", CALLS)
def test_a_failing_call_is_counted_and_located(engine: Engine, tmp_path: Path, kind: str) -> None:
    shape = tree(kind=ItemKind.DIRECTORY) if kind == "read_dir" else tree()
    made = plan(
        tmp_path,
        [file("d", tree=shape, faults=[fault("eio", kind, nth=3, rank=1)])],
        [
            phase("p", *([] if kind == "mknod" else make(kind))),
            phase("q", items(*CALLS[kind])),
        ],
        ranks=2,
    )
    outcome = engine.run(made)
    assert outcome.code == 3, outcome.events
    assert outcome.failed["code"] == "io"
    assert f"{kind} of d/f.1.2 failed on rank 1" in outcome.failed["message"]
    assert outcome.phase("q")["errors"] == 1
    assert is_gone(made)


def make(kind: str) -> list[Items]:
    """The step that makes what a call needs."""
    if kind == "read_dir":
        return [items("mkdir")]
    return [items("create", *(["set_xattr"] if kind == "get_xattr" else []), "close")]


@pytest.mark.parametrize(
    ("verb", "name"),
    [
        ("rename", "f.0.0-XX"),
        ("link", "f.0.0.link"),
        ("symlink", "f.0.0.symlink"),
        ("mknod", "f.0.0"),
        ("mkdir", "f.0.0"),
    ],
)
def test_a_name_that_is_taken_is_left_alone(
    engine: Engine, tmp_path: Path, verb: str, name: str
) -> None:
    victim = tmp_path / "victim"
    victim.write_text("theirs")
    shape = tree(kind=ItemKind.DIRECTORY) if verb == "mkdir" else tree()
    first = [] if verb in ("mknod", "mkdir") else [items("create", "close")]
    made = plan(
        tmp_path,
        [file("d", tree=shape)],
        [phase("p", *first), hold(), phase("q", items(verb))],
    )
    place = Path(made.directory) / "d" / name
    code, failed = run_swapped(engine, made, lambda: place.hardlink_to(victim))
    assert code == 3
    assert "did not make it" in failed["hint"]
    assert victim.read_text() == "theirs"


def test_other_kinds_of_things_are_not_removed(engine: Engine, tmp_path: Path) -> None:
    """A name that an item could have is ours only if it is what the items are."""
    made = plan(
        tmp_path,
        [file("d", tree=tree())],
        [phase("p", items("create", "link", "symlink", "close")), hold(), phase("q")],
    )
    root = Path(made.directory) / "d"

    def put() -> None:
        (root / "f.0.9").symlink_to("elsewhere")
        (root / "f.0.8").mkdir()
        (root / "f.0.7.symlink").write_text("theirs")
        (root / "g.0.1").write_text("theirs")

    code, _ = run_swapped(engine, made, put)
    assert code == 0
    assert sorted(p.name for p in root.iterdir()) == ["f.0.7.symlink", "f.0.8", "f.0.9", "g.0.1"]


def test_renaming_leaves_every_name(engine: Engine, tmp_path: Path, comm: str) -> None:
    ranks = size_of_group(comm)
    shape = tree(5, depth=1, branch=2, kind=ItemKind.DIRECTORY)
    made = plan(
        tmp_path,
        [file("d", tree=shape, keep=True)],
        [
            phase("p", items("mkdir")),
            phase("r", items("rename")),
            phase("s", items("stat", owner=NEXT)),
        ],
        ranks=ranks,
    )
    outcome = engine.run(made, comm)
    assert outcome.code == 0, outcome.stderr
    assert kinds(outcome.phase("r")) == {"rename": 18 * ranks}
    assert kinds(outcome.phase("s")) == {"stat": 15 * ranks}
    found = sorted(p.name for p in (Path(made.directory) / "d" / "d.1").glob("f.*"))
    assert found == sorted(f"f.{rank}.{i}" for rank in range(ranks) for i in range(5))


def test_a_limit_in_the_middle_of_renaming_leaves_every_name(
    engine: Engine, tmp_path: Path
) -> None:
    slow = fault("delay", "rename", every=1, seconds=0.02)
    made = plan(
        tmp_path,
        [file("d", tree=tree(200), faults=[slow])],
        [
            phase("p", items("create", "close")),
            phase("r", items("rename"), limit_s=0.2, bound_s=5.0),
            phase("s", items("stat")),
        ],
        ranks=2,
    )
    outcome = engine.run(made)
    assert outcome.code == 0, outcome.events
    assert outcome.phase("r")["stopped_by"] == "limit"
    assert len(set(outcome.phase("r")["per_rank"]["operations"])) == 1
    assert kinds(outcome.phase("s")) == {"stat": 400}


@pytest.mark.parametrize("verbs", [("stat",), ("open", "close"), ("unlink",)])
def test_limits_hold_in_every_phase(
    engine: Engine, tmp_path: Path, comm: str, verbs: tuple[str, ...]
) -> None:
    ranks = size_of_group(comm)
    made = plan(
        tmp_path,
        [file("d", tree=tree(1000, 0), interface="simulated", options=LATENCY)],
        [
            phase("p", items("create", "close")),
            phase("q", items(*verbs), limit_s=0.1, bound_s=10.0),
            phase("rest", items("unlink")),
        ],
        ranks=ranks,
        clock=ClockKind.SIMULATED,
    )
    outcome = engine.run(made, comm)
    assert outcome.code == 0, outcome.stderr
    event = outcome.phase("q")
    assert event["stopped_by"] == "limit"
    assert event["per_rank"]["operations"] == [100] * ranks
    left = 900 if verbs == ("unlink",) else 1000
    assert kinds(outcome.phase("rest")) == {"unlink": left * ranks}


def test_windows_of_a_phase_that_was_cut_short(engine: Engine, tmp_path: Path, comm: str) -> None:
    """What is left is exactly what a limit left in each dataset of each rank."""
    ranks, ahead, sets = size_of_group(comm), 8, 2
    at, other = slot(LOOP), slot(INNER_LOOP)
    path = [PathPart(text="set."), PathPart(value=RANK), PathPart(text="."), PathPart(value=other)]
    taken = window(["stat", "unlink"], at, 1, NEXT)
    given = window(["create", "close"], binary(Operator.ADD, at, number(ahead)), 1)
    made = plan(
        tmp_path,
        [
            file(
                "d",
                path=path,
                per_rank=True,
                tree=tree(10_000_000, 0),
                interface="simulated",
                options=LATENCY,
            )
        ],
        [
            phase("p", loop(INNER_LOOP, sets, window(["create", "close"], number(0), ahead))),
            phase(
                "b",
                loop(LOOP, 9_000_000, loop(INNER_LOOP, sets, taken, given)),
                limit_s=0.2,
                bound_s=9.0,
            ),
            phase("s", loop(INNER_LOOP, sets, items("stat"))),
            phase("c", loop(INNER_LOOP, sets, items("unlink", owner=NEXT))),
        ],
        ranks=ranks,
        loops=["f", "d"],
        clock=ClockKind.SIMULATED,
    )
    outcome = engine.run(made, comm)
    assert outcome.code == 0, outcome.events
    assert outcome.phase("b")["stopped_by"] == "limit"
    done = kinds(outcome.phase("b"))
    left = sets * ahead * ranks + done["create"] - done["unlink"]
    assert kinds(outcome.phase("s")) == {"stat": left}
    assert kinds(outcome.phase("c")) == {"unlink": left}
    assert is_gone(made)


def test_a_window_beyond_the_tree_is_refused(engine: Engine, tmp_path: Path) -> None:
    made = plan(
        tmp_path,
        [file("d", tree=tree(4))],
        [phase("p", window(["create", "close"], number(3), 2))],
    )
    outcome = engine.run(made)
    assert outcome.code == 2 or outcome.failed["code"] == "plan"
    assert "beyond the items" in outcome.failed["message"]


@pytest.mark.parametrize("owner", [ItemOwner.RANK, ItemOwner.ALL, ItemOwner.SHARED])
def test_names_and_contents_of_each_owner(
    engine: Engine, tmp_path: Path, comm: str, owner: ItemOwner
) -> None:
    ranks = size_of_group(comm)
    names = [NamePart(text="file."), *([NamePart(value=RANK)] if owner == "rank" else [])]
    names += [NamePart(text="."), NamePart(field=NameField.ITEM, width=3)]
    shape = tree(
        3,
        5000,
        depth=1,
        branch=2,
        leaves=True,
        owner=owner,
        item_name=names,
        directory_name=[NamePart(text="mdtest_tree."), NamePart(field=NameField.NODE)],
    )
    by_one = loop(LOOP, binary(Operator.EQUAL, RANK, number(0)), items("create", "write", "close"))
    make_step = by_one if owner == "shared" else items("create", "write", "close")
    made = plan(
        tmp_path,
        [file("d", tree=shape, keep=True, content=Content(verify=owner != "shared"))],
        [
            phase("c", make_step),
            phase("r", items("open", "read", "close", owner=NEXT)),
        ],
        loops=["once"],
        ranks=ranks,
    )
    outcome = engine.run(made, comm)
    assert outcome.code == 0, outcome.events
    mine = 6 * ranks if owner == "rank" else 6
    read = 6 if owner == "all" else 6 * ranks
    assert (kinds(outcome.phase("c"))["create"], kinds(outcome.phase("r"))["read"]) == (mine, read)
    assert outcome.phase("r")["errors"] == 0
    found = sorted(p.name for p in (Path(made.directory) / "d" / "mdtest_tree.2").iterdir())
    owners = [str(rank) for rank in range(ranks)] if owner == "rank" else [""]
    assert found == sorted(f"file.{rank}.{item:03d}" for rank in owners for item in (6, 7, 8))


@pytest.mark.parametrize(
    ("shape", "verbs", "message"),
    [
        (tree(), ("mkdir",), "nothing that is done"),
        (tree(kind=ItemKind.DIRECTORY), ("create", "close"), "nothing that is done"),
        (tree(), ("rename", "stat"), "chain of its own"),
        (tree(), ("set_xattr",), "not open here"),
        (tree(), ("set_mode", "rename"), "chain of its own"),
        (tree(item_name=[NamePart(text="same")]), ("mknod",), "share one name"),
        (
            tree(item_name=[NamePart(text="a/b"), NamePart(field=NameField.ITEM)]),
            ("mknod",),
            "slash",
        ),
        (
            tree(directory_name=[NamePart(text="d"), NamePart(field=NameField.ITEM)]),
            ("mknod",),
            "share one name",
        ),
    ],
)
def test_what_cannot_be_done_to_items_is_refused(
    engine: Engine, tmp_path: Path, shape: Tree, verbs: tuple[str, ...], message: str
) -> None:
    made = plan(tmp_path, [file("d", tree=shape)], [phase("p", items(*verbs))])
    outcome = engine.run(made)
    assert outcome.code == 2
    assert message in outcome.failed["message"]


def test_verified_items_that_only_some_ranks_make_are_refused(
    engine: Engine, tmp_path: Path
) -> None:
    some = loop(LOOP, RANK, items("create", "close"))
    target = file("d", tree=tree(), content=Content(verify=True))
    outcome = engine.run(plan(tmp_path, [target], [phase("p", some)], loops=["k"], ranks=2))
    assert outcome.code == 2
    assert "would not know" in outcome.failed["message"]


@pytest.mark.parametrize("is_open", [False, True])
@pytest.mark.parametrize("interface", ["posix", "uring", "mmap", "stdio"])
def test_attributes_are_set_of_items_and_of_names(
    engine: Engine, tmp_path: Path, interface: str, is_open: bool
) -> None:
    """Of what is open, of what is closed, and of directories."""
    verbs = ("set_mode", "set_owner", "set_times")
    before, after = ((), ("close",)) if is_open else (("close",), ())
    folders = tree(2, 0, kind=ItemKind.DIRECTORY)
    made = plan(
        tmp_path,
        [
            file("d", tree=tree(3, 0), keep=True, interface=interface),
            file("f", keep=True, interface=interface),
            file("folders", tree=folders, keep=True),
        ],
        [
            phase("items", items("create", *before, *verbs, *after)),
            phase(
                "names",
                *(manage(verb, 1) for verb in ("create", *before, *verbs, *after)),
            ),
            phase("folders", items("mkdir", *verbs, index=2)),
        ],
    )
    outcome = engine.run(made)
    assert outcome.code == 0, outcome.events
    assert kinds(outcome.phase("items")) == {"create": 3, "close": 3, "set_attribute": 9}
    assert kinds(outcome.phase("names")) == {"create": 1, "close": 1, "set_attribute": 3}
    assert kinds(outcome.phase("folders")) == {"mkdir": 2, "set_attribute": 6}
    root = Path(made.directory)
    for path in (root / "d" / "f.0.2", root / "f", root / "folders" / "f.0.1"):
        status = path.stat()
        assert (status.st_mode & 0o777, status.st_mtime) == (0o755, 1_000_000_000)


def test_every_repetition_finds_staged_items_as_they_were(
    engine: Engine, tmp_path: Path, comm: str
) -> None:
    """Without the links that the one before made, and with the folders that it removed."""
    ranks = size_of_group(comm)
    folders = tree(4, 0, kind=ItemKind.DIRECTORY)
    made = plan(
        tmp_path,
        [file("d", tree=tree(3), prestage=number(0)), file("e", tree=folders, prestage=number(0))],
        [
            phase("links", items("link", "symlink")),
            phase("gone", items("rmdir", index=1).model_copy(update={"count": number(2)})),
        ],
        ranks=ranks,
        repetitions=3,
    )
    outcome = engine.run(made, comm)
    assert outcome.code == 0, outcome.events
    found = [e for e in outcome.events if e["event"] == "phase_finished"]
    assert [kinds(event) for event in found] == [
        {"link": 3 * ranks, "symlink": 3 * ranks},
        {"rmdir": 2 * ranks},
    ] * 3
    assert is_gone(made)


def simulated(engine: Engine, tmp_path: Path, step: Items) -> dict[str, Any]:
    """A phase of a step on ten items, whose operations take 1 ms each by a simulated clock."""
    made = plan(
        tmp_path,
        [file("d", tree=tree(10, 0), interface="simulated", options=LATENCY)],
        [phase("p", step)],
        clock=ClockKind.SIMULATED,
    )
    return engine.run(made).phase("p")


def test_waiting_is_in_proportion_to_the_work(engine: Engine, tmp_path: Path) -> None:
    step = items("create", "close").model_copy(update={"wait_factor": 2.5})
    event = simulated(engine, tmp_path, step)
    assert event["seconds"]["total"] == pytest.approx(10 * 0.002 * 3.5, abs=1e-9)
    assert event["seconds"]["compute"] == pytest.approx(10 * 0.002 * 2.5, abs=1e-9)


def test_each_operation_has_its_computing_before_it(engine: Engine, tmp_path: Path) -> None:
    step = items("create", "stat", "close").model_copy(update={"thinks_s": [0.3, 0.0, 0.05]})
    event = simulated(engine, tmp_path, step)
    assert event["seconds"]["compute"] == pytest.approx(10 * 0.35, abs=1e-9)
    assert event["seconds"]["total"] == pytest.approx(10 * (0.35 + 3 * 0.001), abs=1e-9)


def test_computing_of_items_is_no_latency(engine: Engine, tmp_path: Path) -> None:
    """Nor is it shorter than was asked for."""
    step = items("create", "close").model_copy(update={"thinks_s": [0.0005, 0.02]})
    made = plan(tmp_path, [file("d", tree=tree(20, 0))], [phase("p", step)])
    event = engine.run(made).phase("p")
    assert event["seconds"]["compute"] >= 20 * 0.0205
    assert event["seconds"]["total"] >= event["seconds"]["compute"]
    assert {part["kind"] for part in event["by_operation"]} == {"create", "close"}
    calls = event["seconds"]["total"] - event["seconds"]["compute"]
    assert sum(part["seconds"] for part in event["by_operation"]) <= calls + 1e-6


def test_directories_are_listed(engine: Engine, tmp_path: Path) -> None:
    made = plan(
        tmp_path,
        [file("d", tree=tree(3, 0, depth=2, branch=2))],
        [phase("p", items("create", "close")), phase("l", manage("read_dir"))],
        ranks=2,
    )
    outcome = engine.run(made)
    assert outcome.code == 0, outcome.events
    assert kinds(outcome.phase("l")) == {"read_dir": 14}
