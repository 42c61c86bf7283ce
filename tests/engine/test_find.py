"""The walk of all ranks: the answer of GNU find, whatever the tree looks like."""

from __future__ import annotations

import os
import subprocess
import threading
from pathlib import Path

import pytest

from engine.plans import Tree, compute, file, items, manage, number, phase, plan
from engine.running import Engine, is_gone, size_of_group
from venturi.model.plan import Find, PathPart

ODD = ["a b", "new\nline", "*01*", "[01]", "\\01", "-01", "ümläut01", "x" * 255, ".01", "01\x01"]


def text(path: object) -> list[PathPart]:
    return [PathPart(text=str(path))]


def answer(top: Path, *words: str) -> int:
    """How many names GNU find finds below a directory."""
    line = ["find", str(top), "-mindepth", "1", *words, "-printf", "x"]
    return len(subprocess.run(line, check=True, capture_output=True).stdout)


@pytest.fixture
def strange_tree(tmp_path: Path) -> Path:
    """Links, odd names, empty directories, a deep path, and directories of very different sizes."""
    top = tmp_path / "strange"
    top.mkdir()
    deep = top
    for level in range(30):
        deep = deep / f"deep{level:02d}"
        deep.mkdir()
        (deep / f"f01.{level}").write_bytes(b"x" * level * 100)
    for number_of_files, name in ((0, "none"), (1, "one"), (3000, "many"), (700, "some")):
        (top / name).mkdir()
        for index in range(number_of_files):
            (top / name / f"file.{index}").write_bytes(b"y" * (index % 3))
    for name in ODD:
        (top / name).write_bytes(b"z" * 2)
    (top / "link01").symlink_to("one")
    (top / "dangling01").symlink_to("nothing")
    (top / "loop01").symlink_to(".")
    os.link(top / "one" / "file.0", top / "second01")
    os.mkfifo(top / "pipe01")
    return top


def test_it_is_the_answer_of_gnu_find(
    engine: Engine, tmp_path: Path, strange_tree: Path, comm: str
) -> None:
    wanted = {
        "all": (Find(), []),
        "named": (Find(name="*01*"), ["-name", "*01*"]),
        "empty": (Find(name="[!.]*", bytes=number(0)), ["-name", "[!.]*", "-size", "0c"]),
        "two": (Find(name="*9", bytes=number(2)), ["-name", "*9", "-size", "2c"]),
    }
    steps = [
        phase(name, find.model_copy(update={"top": text(strange_tree), "foreign": True}))
        for name, (find, _) in wanted.items()
    ]
    outcome = engine.run(plan(tmp_path, [file("f")], steps, ranks=size_of_group(comm)), comm)
    assert outcome.code == 0, outcome.events
    every = answer(strange_tree)
    assert every > 3700
    for name, (_, words) in wanted.items():
        done = outcome.phase(name)
        assert done["found"] == answer(strange_tree, *words) > 0, name
        assert done["operations"] == every, name


def test_times_are_compared_with_a_file_of_the_run(
    engine: Engine, tmp_path: Path, comm: str
) -> None:
    ranks = size_of_group(comm)
    old = file("old", tree=Tree(items=number(40), size=number(7)))
    new = file("new", tree=Tree(items=number(50), size=number(7)))
    stamp = file("stamp")
    steps = [
        phase("old", items("create", "write", "close", index=0)),
        phase("stamp", compute(0.02), manage("create", 1), manage("close", 1), compute(0.02)),
        phase("new", items("create", "write", "close", index=2)),
        phase("newer", Find(name="f*", bytes=number(7), newer=1)),
        phase("below", Find(top=text("new"))),
        phase("everything", Find()),
    ]
    # The pauses are there because times of files are as coarse as the kernel's tick.
    made = plan(tmp_path, [old, stamp, new], steps, ranks=ranks)
    outcome = engine.run(made, comm)
    assert outcome.code == 0, outcome.events
    assert outcome.phase("newer")["found"] == 50 * ranks
    assert outcome.phase("below")["found"] == 50 * ranks
    assert outcome.phase("everything")["found"] == 90 * ranks + 3
    assert outcome.phase("old").get("found") is None
    assert is_gone(made)


def test_ranks_share_one_huge_directory(engine: Engine, tmp_path: Path) -> None:
    huge = tmp_path / "huge"
    huge.mkdir()
    for index in range(30_000):
        (huge / f"n{index}").touch()
    step = Find(top=text(huge), foreign=True, name="n*", bytes=number(0))
    made = plan(tmp_path, [file("f")], [phase("find", step)], ranks=3)
    made = made.model_copy(update={"repetitions": 10})
    (Path(made.journal) / "plan.json").write_text(made.to_json())
    finds = engine.run(made, "forked").of("phase_finished")
    assert [(done["found"], done["operations"]) for done in finds] == [(30_000, 30_000)] * 10
    # A rank that others keep from its processor may come too late to one of them.
    assert any(min(done["per_rank"]["operations"]) > 0 for done in finds)


@pytest.mark.parametrize("kind", ["forked", "openmpi"])
def test_a_directory_that_changes_meanwhile(engine: Engine, tmp_path: Path, kind: str) -> None:
    """What was there all the time is found once; what comes and goes may be found or not."""
    top = tmp_path / "busy"
    for directory in range(40):
        (top / f"d{directory}").mkdir(parents=True)
        for index in range(200):
            (top / f"d{directory}" / f"stays{index}").touch()
    over = threading.Event()

    def disturb() -> None:
        turn = 0
        while not over.is_set():
            turn += 1
            place = top / f"d{turn % 40}" / f"goes{turn}"
            place.mkdir()
            (place / "inside").touch()
            (place / "inside").unlink()
            place.rmdir()

    worker = threading.Thread(target=disturb)
    worker.start()
    try:
        find = Find(top=text(top), foreign=True, name="stays*", bytes=number(0))
        steps = [phase(f"find{n}", find) for n in range(5)]
        outcome = engine.run(plan(tmp_path, [file("f")], steps, ranks=2), kind)
    finally:
        over.set()
        worker.join()
    assert outcome.code == 0, outcome.events
    for n in range(5):
        assert outcome.phase(f"find{n}")["found"] == 8000


def test_a_path_longer_than_the_kernel_takes(engine: Engine, tmp_path: Path) -> None:
    top = tmp_path / "long"
    top.mkdir()
    levels, name = 30, "d" * 200
    at = os.open(top, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir(name, dir_fd=at)
        below = os.open(name, os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = below
        os.close(os.open("f01", os.O_WRONLY | os.O_CREAT, dir_fd=at))
    os.close(at)
    find = Find(top=text(top), foreign=True, name="*01")
    outcome = engine.run(plan(tmp_path, [file("f")], [phase("find", find)], ranks=2), "forked")
    assert outcome.phase("find")["found"] == levels
    subprocess.run(["rm", "-rf", str(top)], check=True)


def test_where_nothing_can_be_read_the_run_ends(engine: Engine, tmp_path: Path, comm: str) -> None:
    find = Find(top=text(tmp_path / "nothing"), foreign=True)
    made = plan(tmp_path, [file("f")], [phase("find", find)], ranks=size_of_group(comm))
    outcome = engine.run(made, comm)
    assert outcome.code == 3
    assert "nothing" in outcome.failed["message"]
    assert is_gone(made)


def test_it_cannot_be_limited(engine: Engine, tmp_path: Path) -> None:
    made = plan(tmp_path, [file("f")], [phase("find", Find(), limit_s=1.0)], ranks=2)
    outcome = engine.run(made, "forked")
    assert outcome.code == 2
    assert "limit" in outcome.failed["message"]
