"""Manifests, markers and journals that somebody planted: they lead to nobody's files."""

from __future__ import annotations

import json
import os
import random as draws
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.plans import Plan, Tree, file, hold, items, manage, number, phase, plan
from engine.running import Engine, end, held

TEXT = "theirs"
NAMES = ("file", "directory", "tree", "kept", "kept_tree", "staged_file", "marker", "root")


def identity(path: Path, birth: str) -> str:
    """What a manifest says of a file: device, inode, time of birth and mark."""
    facts = os.lstat(path)
    return f"{facts.st_dev} {facts.st_ino} {birth}"


def birth_of(path: Path) -> int:
    """In nanoseconds; 0 where the file system does not know it."""
    said = subprocess.run(
        ["stat", "-c", "%.9W", str(path)], capture_output=True, text=True, check=True
    )
    whole, _, part = said.stdout.strip().partition(".")
    return int(whole) * 10**9 + int((part + "000000000")[:9]) if int(whole) else 0


def lines(victim: Path, relative: str, draw: draws.Random) -> Iterator[str]:
    """Lines in both forms that there were, for names of every form that lead to the victim."""
    forms = [
        str(victim),
        relative,
        f"./{relative}",
        f"d/../{relative}",
        f"{relative}/../f",
        f"//{victim}",
        "d/link/f",
        "link/f",
    ]
    births = ["0", "0 0", f"{birth_of(victim)}", f"{birth_of(victim)} 0"]
    for _ in range(20):
        form, birth, kind = draw.choice(forms), draw.choice(births), draw.choice(NAMES)
        yield f"{kind} {identity(victim, birth)} {form}\n"
    yield f"items {identity(victim.parent, births[3])} 0 5 0 f 1 {'A' * 256} f {victim.parent}\n"
    yield f"intent 0 0 1 0 {relative}\n"


def killed(engine: Engine, made: Plan) -> None:
    """Ends a run by SIGKILL while it is held."""
    process = engine.start(made)
    try:
        held(made)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(timeout=600)
    finally:
        end(process)


def cleaned(engine: Engine, made: Plan) -> dict[str, Any]:
    """Clean up after a run as soon as its last process is gone; what the engine says of it."""
    until_s = time.monotonic() + 120
    while True:
        done = subprocess.run(
            [engine.path(), "clean", made.journal], capture_output=True, text=True, check=False
        )
        if done.returncode == 0:
            answer: dict[str, Any] = json.loads(done.stdout)
            return answer
        assert "still alive" in done.stdout, done.stdout
        assert time.monotonic() < until_s
        time.sleep(0.01)


def work(place: Path) -> Plan:
    """A file and a tree, and then a wait."""
    tree = Tree(items=number(3), size=number(10))
    return plan(
        place,
        [file("d/own"), file("t", tree=tree)],
        [phase("p", manage("create"), manage("close"), items("create", "close", index=1)), hold()],
        ranks=2,
    )


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("place", ["run", "journal"])
@pytest.mark.parametrize("form", ["plain", "key of another run", "guessed header"])
def test_a_planted_manifest_leads_nowhere(
    engine: Engine, tmp_path: Path, seed: int, place: str, form: str
) -> None:
    victim = tmp_path / "victim" / "f"
    victim.parent.mkdir()
    victim.write_text(TEXT)
    made = work(tmp_path)
    killed(engine, made)
    root = Path(made.directory)
    (root / "d" / "link").symlink_to(victim.parent)
    (root / "link").symlink_to(victim.parent)
    text = "".join(lines(victim, "../victim/f", draws.Random(f"{seed} {place} {form}")))
    root_line = f"root {identity(root, str(birth_of(root)))} 0 .\n"
    header = {
        "plain": "",
        "guessed header": f"venturi manifest 2 {'0' * 32}\n\n\n\n\n" + 24 * "\1",
        "key of another run": f"venturi manifest 2 {seed:032x}\n\n\n\n\n" + 24 * "\1",
    }[form]
    planted = (root / ".manifest.7") if place == "run" else Path(made.journal) / "manifest.7"
    planted.write_text(header + root_line + text)
    cleaned(engine, made)
    assert victim.read_text() == TEXT
    assert planted.exists()
    assert not (root / "d" / "own").exists()
    assert not (root / "t").exists()


@pytest.mark.parametrize("form", ["absolute", "above", "through"])
def test_a_manifest_with_the_key_leads_nowhere_else(
    engine: Engine, tmp_path: Path, form: str
) -> None:
    """Even who knows the key names nothing outside of the run's directory."""
    victim = tmp_path / "victim" / "f"
    victim.parent.mkdir()
    victim.write_text(TEXT)
    made = work(tmp_path)
    killed(engine, made)
    (Path(made.directory) / "link").symlink_to(victim.parent)
    name = {"absolute": str(victim), "above": "../victim/f", "through": "link/f"}[form]
    manifest = Path(made.journal) / "manifest.0"
    content = manifest.read_bytes().rstrip(b"\0")
    extra = f"file {identity(victim, str(birth_of(victim)))} 0 {name}\n"
    manifest.write_bytes(content + extra.encode())
    cleaned(engine, made)
    assert victim.read_text() == TEXT


def test_a_marker_of_another_run_protects_a_directory(engine: Engine, tmp_path: Path) -> None:
    """A journal that names somebody's directory, with true identities, removes nothing there."""
    made = work(tmp_path)
    killed(engine, made)
    root = Path(made.directory)
    (root / ".venturi").unlink()
    answer = cleaned(engine, made)
    assert answer["doubt"] == "its marker, .venturi, cannot be read: No such file or directory"
    assert (root / "d" / "own").exists()
    (root / ".venturi").write_text(f"venturi run {made.run}\n")
    answer = cleaned(engine, made)
    assert answer["doubt"] == "its marker, .venturi, is not the one that the run made"
    assert (root / "d" / "own").exists()


@pytest.mark.parametrize("name", ["manifest.0", "manifest.1", "key"])
@pytest.mark.parametrize("kind", ["symbolic", "hard"])
def test_a_link_in_the_journal_does_not_lead_the_engine_to_a_file(
    engine: Engine, tmp_path: Path, name: str, kind: str
) -> None:
    victim = tmp_path / "victim"
    victim.write_text(TEXT)
    made = work(tmp_path)
    link = Path(made.journal) / name
    if kind == "symbolic":
        link.symlink_to(victim)
    else:
        link.hardlink_to(victim)
    process = engine.start(made)
    try:
        until_held_or_over(made, process.poll)
    finally:
        end(process)
    assert victim.read_text() == TEXT


def until_held_or_over(made: Plan, over: object) -> None:
    """Waits until a run is held, or has ended."""
    assert callable(over)
    while over() is None and not list(Path(made.journal).glob("command.*.wanted")):
        time.sleep(0.01)


def test_nothing_is_made_once_the_journal_says_that_the_run_is_over(
    engine: Engine, tmp_path: Path
) -> None:
    made = work(tmp_path)
    (Path(made.journal) / "ended").touch()
    outcome = engine.run(made)
    assert outcome.code == 5
    assert not Path(made.directory).exists()


@pytest.mark.parametrize("comm", ["forked", "openmpi", "mpich"])
def test_a_directory_that_took_the_name_of_the_runs_is_left(
    engine: Engine, tmp_path: Path, comm: str
) -> None:
    made = work(tmp_path)
    killed(engine, made)
    root = Path(made.directory)
    root.rename(tmp_path / "moved")
    (root / "d").mkdir(parents=True)
    (root / "d" / "own").write_text(TEXT)
    cleaned(engine, made)
    assert (root / "d" / "own").read_text() == TEXT
    assert (tmp_path / "moved" / "d" / "own").exists()
