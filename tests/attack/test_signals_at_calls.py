"""A signal at a system call, injected by strace: what is left is known, and can be removed.

The moments are all system calls that make, list or remove names, in the order of a run that was
only counted; `VENTURI_INJECTIONS` says how many of them are taken for each kind of group (2000 in
the nightly tests).
"""

from __future__ import annotations

import os
import random as draws
import re
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest

from engine.plans import Plan, Tree, file, items, manage, nest, number, phase, plan, write
from engine.running import LAUNCHERS, Engine
from venturi.model.plan import ItemKind

INJECTIONS = int(os.environ.get("VENTURI_INJECTIONS", "24"))
SHARE = {"alone": 1.0, "forked": 1.0, "openmpi": 0.1, "mpich": 0.1}
"""Of the injections; a start of MPI takes a second."""
CALLS = (
    "openat",
    "openat2",
    "mkdir",
    "mkdirat",
    "mknodat",
    "linkat",
    "symlinkat",
    "renameat",
    "renameat2",
    "unlink",
    "unlinkat",
    "rmdir",
    "write",
    "ftruncate",
    "fallocate",
    "flock",
    "statx",
    "newfstatat",
    "access",
    "mmap",
    "munmap",
    "close",
    "pwrite64",
    "getdents64",
)
LIMIT_S = 120


def work(place: Path, ranks: int) -> Plan:
    """A file with parents, one that is renamed, and a tree whose items get every kind of name."""
    place.mkdir()
    tree = Tree(items=number(3), size=number(10), depth=1, branch=1)
    return plan(
        place,
        [
            file("a/b/f"),
            file("g", per_rank=True),
            file("h", per_rank=True),
            file("t", tree=tree),
            file("s", prestage=number(4096)),
            file("u", tree=Tree(items=number(2), size=number(0), kind=ItemKind.DIRECTORY)),
        ],
        [
            phase(
                "p",
                manage("create"),
                write(64, nest(0, (1, 0))),
                manage("close"),
                manage("create", 1),
                manage("close", 1),
                manage("rename", 1, to=2),
                items("create", "write", "link", "symlink", "close", index=3),
                items("unlink_link", "unlink_symlink", index=3),
                items("rename", index=3),
                items("mkdir", index=5),
            )
        ],
        ranks=ranks,
    )


def command(engine: Engine, made: Plan, comm: str, words: list[str]) -> list[str]:
    """The run under strace: of the ranks, not of their launcher."""
    line = engine.command(made, comm)
    before = len(LAUNCHERS[comm]) + 1 if comm in LAUNCHERS else 0
    follow = ["-f"] if comm == "forked" else []
    return [*line[:before], "strace", *follow, *words, *line[before:]]


def moments(engine: Engine, place: Path, comm: str, ranks: int) -> list[tuple[str, int]]:
    """Every call that some process of a run makes, with its number among its kind there."""
    log = place.with_name("calls")
    words = ["-o", str(log), "-e", f"trace={','.join(CALLS)}", *(["-ff"] if ranks > 1 else [])]
    done = subprocess.run(
        command(engine, work(place, ranks), comm, words),
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT_S,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    most: Counter[str] = Counter()
    for path in place.parent.glob("calls*"):
        found = Counter(re.findall(r"^(\w+)\(", path.read_text(), re.MULTILINE))
        most |= found
    assert sum(most.values()) > 50
    return [(call, number) for call in sorted(most) for number in range(1, most[call] + 1)]


def leftover(engine: Engine, made: Plan) -> list[str]:
    """What is still there once the run was cleaned up after."""
    until_s = time.monotonic() + LIMIT_S
    while True:
        done = subprocess.run(
            [engine.path(), "clean", made.journal], capture_output=True, text=True, check=False
        )
        if "still alive" not in done.stdout:
            break
        assert time.monotonic() < until_s, "ranks do not end"
        time.sleep(0.02)
    root = Path(made.directory)
    return [str(path) for path in (root, *root.rglob("*"))] if root.exists() else []


@pytest.mark.parametrize("signal", ["SIGTERM", "SIGKILL"])
@pytest.mark.parametrize("comm", list(SHARE))
def test_a_signal_at_any_call_leaves_nothing(
    engine: Engine, tmp_path: Path, comm: str, signal: str
) -> None:
    ranks = 1 if comm == "alone" else 2
    every = moments(engine, tmp_path / "count", comm, ranks)
    wanted = max(2, round(INJECTIONS * SHARE[comm]))
    draw = draws.Random(f"{comm} {signal}")
    taken = draw.sample(every, wanted) if wanted <= len(every) else draw.choices(every, k=wanted)
    left = []
    for turn, (call, when) in enumerate(taken):
        made = work(tmp_path / str(turn), ranks)
        theirs = tmp_path / str(turn) / "theirs"
        theirs.write_text("theirs")
        rule = ["-o", "/dev/null", "-e", f"inject={call}:signal={signal}:when={when}"]
        subprocess.run(
            command(engine, made, comm, rule), capture_output=True, check=False, timeout=LIMIT_S
        )
        found = leftover(engine, made)
        left += [f"{call} {when}: {found}"] if found else []
        assert theirs.read_text() == "theirs"
    print(f"{comm}, {signal}: {len(left)} of {len(taken)} signals left something")
    assert not left
