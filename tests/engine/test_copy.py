"""Files and items of trees that are copied, by the ways that a file system has or lacks."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from engine.plans import Plan, Tree, fault, file, items, manage, nest, number, phase, plan, read
from engine.running import Engine, Outcome, is_gone, kinds, parse, size_of_group, traced
from venturi.model.plan import CopyWay, Items

BYTES = 600_000
CALLS = "ioctl,copy_file_range,sendfile,pread64,pwrite64"


def copied(place: Path, ranks: int = 1, per_rank: bool = False, way: str = "clone") -> Plan:
    files = [
        file("from/data", per_rank=per_rank, prestage=number(BYTES)),
        file("to/data", per_rank=per_rank),
    ]
    check = [manage("open", 1), read(BYTES, nest(0, (1, BYTES)), index=1), manage("close", 1)]
    program = [
        phase("copy", manage("copy", to=1, way=CopyWay(way))),
        phase("read", *([] if ranks > 1 and not per_rank else check)),
    ]
    return plan(place, files, program, ranks=ranks, repetitions=2)


def without(engine: Engine, made: Plan, *calls: str) -> Outcome:
    """A run on storage that refuses these calls as a file system does that cannot do them."""
    refused = [word for call in calls for word in ("-e", f"inject={call}:error=EOPNOTSUPP")]
    log = Path(made.journal) / "strace"
    done = subprocess.run(
        ["strace", "-f", "-o", str(log), *refused, *engine.command(made, "alone")],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    return Outcome(done.returncode, parse(done.stdout), done.stderr)


@pytest.mark.parametrize("per_rank", [False, True])
def test_a_file_is_copied_whole(engine: Engine, tmp_path: Path, comm: str, per_rank: bool) -> None:
    ranks = size_of_group(comm)
    made = copied(tmp_path, ranks, per_rank)
    outcome = engine.run(made, comm)
    assert outcome.code == 0, outcome.failed
    files = ranks if per_rank else 1
    found = {part["kind"]: part for part in outcome.phase("copy", 1)["by_operation"]}
    whole = found.get("clone") or found["copy"]
    size = BYTES if per_rank else BYTES * ranks
    assert (whole["operations"], whole["bytes"]) == (files, files * size)
    assert {k: p["operations"] for k, p in found.items() if p is not whole} == {
        "open": files,
        "create": files,
        "close": 2 * files,
    }
    assert is_gone(made)


@pytest.mark.needs("strace")
def test_what_was_done_stands_in_the_result(engine: Engine, tmp_path: Path) -> None:
    for place in ("a", "b"):
        (tmp_path / place).mkdir()
    outcome = without(engine, copied(tmp_path / "a"), "ioctl", "copy_file_range")
    assert outcome.code == 0, outcome.stderr
    parts = kinds(outcome.phase("copy"))
    assert parts == {"open": 1, "create": 1, "close": 2, "read": 3, "write": 3}
    assert kinds(outcome.phase("read"))["read"] == 1
    outcome = without(engine, copied(tmp_path / "b"), "ioctl")
    assert kinds(outcome.phase("copy")) == {"open": 1, "create": 1, "close": 2, "copy": 1}


@pytest.mark.parametrize("way", ["clone", "range", "send"])
def test_each_way_is_tried_first_by_its_own_call(engine: Engine, tmp_path: Path, way: str) -> None:
    calls = traced(engine, copied(tmp_path, way=way), CALLS)
    names = [
        line.split("(")[0].split()[-1] for line in calls if "FICLONE" in line or "ioctl" not in line
    ]
    tried = [name for name in names if name in ("ioctl", "copy_file_range", "sendfile")]
    assert tried[0] == {"clone": "ioctl", "range": "copy_file_range", "send": "sendfile"}[way]


def test_items_of_a_tree_are_copied(engine: Engine, tmp_path: Path) -> None:
    tree = Tree(items=number(5), size=number(5000), depth=1, branch=2, leaves=True)
    step = Items.model_validate(
        {**items("copy", "stat", index=1).model_dump(), "source": 0, "way": CopyWay.CLONE}
    )
    made = plan(
        tmp_path,
        [file("one", tree=tree, prestage=number(1)), file("two", tree=tree)],
        [
            phase("copy", step),
            phase("again", step),
            phase("read", items("open", "read", "close", index=1)),
        ],
    )
    outcome = engine.run(made)
    assert outcome.code == 0, outcome.failed
    for name in ("copy", "again"):
        found = kinds(outcome.phase(name))
        assert (found["open"], found["create"], found["close"], found["stat"]) == (10, 10, 20, 10)
        assert found.get("clone", 0) + found.get("copy", 0) == 10
    assert outcome.phase("read")["bytes"] == 50_000
    assert is_gone(made)


def test_a_failed_copy_ends_the_run(engine: Engine, tmp_path: Path) -> None:
    files = [file("from/data", prestage=number(BYTES))]
    files.append(file("to/data", faults=[fault("enospc", "copy")]))
    step = manage("copy", to=1, way=CopyWay.CLONE)
    made = plan(tmp_path, files, [phase("copy", step)])
    done = engine.run(made)
    assert done.code == 3
    assert "copy of to/data" in done.failed["message"]
    assert is_gone(made)
