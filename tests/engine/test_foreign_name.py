"""Names that become something else while a run is at work: what is not the run's stays as it is."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine.plans import (
    PathPart,
    Plan,
    Tree,
    file,
    hold,
    items,
    manage,
    nest,
    number,
    phase,
    plan,
    read,
    write,
)
from engine.running import Engine, meddled

WRITE = write(4096, nest(0, (4, 4096)))
SET_TIME = 1_000_000_000
WORK: dict[str, list[Any]] = {
    "write": [manage("open"), WRITE, manage("close")],
    "unlink": [manage("unlink")],
    "rename": [manage("rename", to=1)],
    "attributes": [manage("set_times"), manage("set_mode")],
    "replace": [
        manage("create", 1),
        write(4096, nest(0, (4, 4096)), index=1),
        manage("close", 1),
        manage("rename", 1, to=0),
    ],
}
Swap = Callable[[Path, Path], None]


def swap_link(root: Path, victim: Path) -> None:
    """The file becomes a symbolic link to the victim's file."""
    (root / "d" / "f").unlink()
    (root / "d" / "f").symlink_to(victim / "f")


def swap_hard_link(root: Path, victim: Path) -> None:
    """The file becomes another name of the victim's file."""
    (root / "d" / "f").unlink()
    (root / "d" / "f").hardlink_to(victim / "f")


def swap_moved(root: Path, victim: Path) -> None:
    """The victim's file is moved to the name."""
    os.replace(victim / "f", root / "d" / "f")


def swap_directory(root: Path, victim: Path) -> None:
    """The directory becomes a symbolic link to the victim's directory."""
    (root / "d").rename(root.parent / "moved")
    (root / "d").symlink_to(victim)


def swap_real_directory(root: Path, victim: Path) -> None:
    """The victim's directory is moved to the name."""
    (root / "d").rename(root.parent / "moved")
    victim.rename(root / "d")


SWAPS = [swap_link, swap_hard_link, swap_moved, swap_directory, swap_real_directory]


def run_swapped(engine: Engine, made: Plan, swap: Callable[[], None]) -> tuple[int, Any]:
    """Runs a plan and swaps after phase `p`; returns the exit code and the last event."""
    outcome = meddled(engine, made, '"event":"phase_finished","path":"p"', swap)
    return outcome.code, outcome.events[-1]


def make_victim(place: Path, name: str = "f") -> Path:
    """A directory with a file that is not the run's."""
    victim = place / "victim"
    victim.mkdir()
    (victim / name).write_text("theirs")
    return victim


def texts(place: Path) -> list[str]:
    """The contents of all files that are victims."""
    found = [p for p in place.rglob("*") if p.is_file() and not p.is_symlink()]
    return [p.read_text() for p in found if p.stat().st_size == len("theirs")]


def any_was_set(place: Path) -> bool:
    """Whether a victim has the mode or the time that the engine sets."""
    found = [p.stat() for p in place.rglob("f*") if p.is_file() and not p.is_symlink()]
    found = [one for one in found if one.st_size == len("theirs")]
    return any(one.st_mode & 0o111 or one.st_mtime == SET_TIME for one in found)


@pytest.mark.parametrize("work", WORK)
@pytest.mark.parametrize("swap", SWAPS)
def test_what_took_a_name_is_not_touched(
    engine: Engine, tmp_path: Path, swap: Swap, work: str
) -> None:
    victim = make_victim(tmp_path)
    made = plan(
        tmp_path,
        [file("d/f"), file("other")],
        [
            phase("p", manage("create"), WRITE, manage("close")),
            hold(),
            phase("q", *WORK[work]),
        ],
    )
    code, failed = run_swapped(engine, made, lambda: swap(Path(made.directory), victim))
    assert code == 3
    assert failed["event"] == "failed"
    assert failed["hint"]
    assert texts(tmp_path)
    assert set(texts(tmp_path)) == {"theirs"}
    assert not any_was_set(tmp_path)


@pytest.mark.parametrize("swap", [swap_directory, swap_real_directory])
@pytest.mark.parametrize("verbs", [("create", "write", "close"), ("open", "write"), ("unlink",)])
def test_items_stay_in_their_own_directory(
    engine: Engine, tmp_path: Path, swap: Swap, verbs: tuple[str, ...]
) -> None:
    victim = make_victim(tmp_path, "f.0.0")
    made = plan(
        tmp_path,
        [file("d", tree=Tree(items=number(1), size=number(10)))],
        [phase("p", items("create", "close")), hold(), phase("q", items(*verbs))],
    )
    code, failed = run_swapped(engine, made, lambda: swap(Path(made.directory), victim))
    assert (code, failed["event"]) == (3, "failed")
    assert "theirs" in texts(tmp_path)


@pytest.mark.parametrize("hard", [False, True])
def test_creating_items_again_does_not_empty_a_link(
    engine: Engine, tmp_path: Path, hard: bool
) -> None:
    victim = make_victim(tmp_path) / "f"
    made = plan(
        tmp_path,
        [file("d", tree=Tree(items=number(1), size=number(10)))],
        [phase("p", items("create", "close")), hold(), phase("q", items("create", "close"))],
    )

    def swap() -> None:
        item = Path(made.directory) / "d" / "f.0.0"
        item.unlink()
        if hard:
            item.hardlink_to(victim)
        else:
            item.symlink_to(victim)

    assert run_swapped(engine, made, swap)[0] == 3
    assert victim.read_text() == "theirs"


@pytest.mark.parametrize("verb", ["set_times", "set_owner", "set_mode"])
def test_attributes_of_items_are_not_set_through_links(
    engine: Engine, tmp_path: Path, verb: str
) -> None:
    victim = make_victim(tmp_path) / "f"
    before = victim.stat()
    made = plan(
        tmp_path,
        [file("d", tree=Tree(items=number(1), size=number(10)))],
        [phase("p", items("create", "close")), hold(), phase("q", items(verb))],
    )

    def swap() -> None:
        item = Path(made.directory) / "d" / "f.0.0"
        item.unlink()
        item.symlink_to(victim)

    run_swapped(engine, made, swap)
    after = victim.stat()
    assert (after.st_mode, after.st_mtime_ns, after.st_ctime_ns) == (
        before.st_mode,
        before.st_mtime_ns,
        before.st_ctime_ns,
    )


def test_a_directory_that_took_a_name_is_not_removed(engine: Engine, tmp_path: Path) -> None:
    made = plan(
        tmp_path,
        [file("d", tree=Tree(items=number(0), size=number(0)))],
        [phase("p", manage("mkdir")), hold(), phase("q", manage("rmdir"))],
    )
    root = Path(made.directory)

    def swap() -> None:
        (root / "d").rename(tmp_path / "moved")
        (root / "d").mkdir()

    assert run_swapped(engine, made, swap)[0] == 3
    assert (root / "d").is_dir()


def test_a_new_file_with_the_inode_of_ours_is_not_removed(engine: Engine, tmp_path: Path) -> None:
    made = plan(
        tmp_path,
        [file("d/f")],
        [phase("p", manage("create"), manage("close")), hold(), phase("q")],
    )
    name = Path(made.directory) / "d" / "f"

    def swap() -> None:
        name.unlink()
        name.write_text("theirs")

    code, _ = run_swapped(engine, made, swap)
    assert code == 0
    assert name.read_text() == "theirs"


def test_a_name_may_be_made_again(engine: Engine, tmp_path: Path) -> None:
    """The manifest then lists the name twice, and the last listing counts."""
    made = plan(
        tmp_path,
        [file("d/f")],
        [
            phase("p", manage("create"), WRITE, manage("close"), manage("unlink")),
            phase("q", manage("create"), WRITE, manage("close")),
            phase("r", manage("open"), read(4096, nest(0, (4, 4096))), manage("close")),
        ],
        ranks=2,
        repetitions=2,
    )
    outcome = engine.run(made)
    assert outcome.code == 0, outcome.events
    assert not Path(made.directory).exists()


@pytest.mark.parametrize("kind", ["pipe", "directory"])
def test_foreign_names_that_are_no_files_are_refused(
    engine: Engine, tmp_path: Path, kind: str
) -> None:
    name = tmp_path / "foreign"
    if kind == "pipe":
        os.mkfifo(name)
    else:
        name.mkdir()
    made = plan(
        tmp_path,
        [file(path=[PathPart(text=str(name))], foreign=True)],
        [phase("p", manage("open"), read(1, nest(0, (1, 0))), manage("close"))],
    )
    outcome = engine.run(made)
    assert outcome.code == 3
    assert outcome.failed["code"] == "plan"
    assert "not a regular file" in outcome.failed["message"]
    assert name.exists()


def test_a_foreign_file_may_be_a_link_with_many_names(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "real").write_text("theirs")
    (tmp_path / "second").hardlink_to(tmp_path / "real")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    made = plan(
        tmp_path,
        [file(path=[PathPart(text=str(tmp_path / "link"))], foreign=True)],
        [phase("p", manage("open"), read(6, nest(0, (1, 0))), manage("close"))],
    )
    assert engine.run(made).code == 0
    assert (tmp_path / "real").read_text() == "theirs"
