"""A file system that is really full: every interface says so, ends, and leaves nothing."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.plans import file, manage, nest, phase, plan, write
from engine.running import Engine

FULL = "No space left on device"
ROOM = 4 << 20
BLOCK = 65_536
CELLS = [
    *((comm, kind, FULL) for comm in ("alone", "forked") for kind in ("posix", "uring", "stdio")),
    ("alone", "mmap", FULL),
    ("alone", "bundle", FULL),
    ("alone", "fieldstore", FULL),
    ("openmpi", "posix", FULL),
    ("openmpi", "mpiio", "nothing more was written"),  # its library does not say why
    ("mpich", "mpiio", FULL),
]


@pytest.fixture
def little(tmp_path: Path) -> Iterator[Path]:
    """A file system of 4 MiB."""
    mount = tmp_path / "little"
    mount.mkdir()
    options = f"size={ROOM}"
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", str(mount)], check=True)
    yield mount
    subprocess.run(["umount", str(mount)], check=True)


@pytest.mark.parametrize(("comm", "kind", "said"), CELLS)
def test_every_interface_says_that_it_is_full(
    engine: Engine, tmp_path: Path, little: Path, comm: str, kind: str, said: str
) -> None:
    one_file = file(interface=kind, per_rank=kind == "bundle")
    twice_the_room = nest(0, (2 * ROOM // BLOCK, BLOCK))
    made = plan(
        tmp_path,
        [one_file],
        [phase("p", manage("create"), write(BLOCK, twice_the_room), manage("close"))],
        ranks=1 if comm == "alone" else 2,
    )
    made = made.model_copy(update={"directory": str(little / "run")})
    (Path(made.journal) / "plan.json").write_text(made.to_json())
    outcome = engine.run(made, comm)
    assert outcome.code == 3
    assert said in outcome.failed["message"]
    assert list(little.iterdir()) == []
