"""The run's directory stays what it is: a mount that vanishes in the middle is seen and said."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.plans import Plan, file, hold, manage, nest, phase, plan, read, write
from engine.running import Engine, Outcome, meddled, size_of_group

BLOCK = 4096


@pytest.fixture
def mounted(tmp_path: Path) -> Iterator[Path]:
    """A directory with a tmpfs of its own on it."""
    point = tmp_path / "a mount"
    point.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64m", "venturi-test", str(point)]
    subprocess.run(mount, check=True)
    try:
        yield point
    finally:
        with contextlib.suppress(subprocess.CalledProcessError):
            subprocess.run(["umount", "-l", str(point)], check=True, capture_output=True)


def two_phases(place: Path, mount: Path, ranks: int, held: str = "") -> Plan:
    """A phase that writes, and one that reads; it is held in the first one or behind it."""
    pattern = nest(0, (4, BLOCK))
    first = [manage("create"), write(BLOCK, pattern), *([hold()] if held == "inside" else [])]
    between = [hold()] if held == "behind" else []
    made = plan(
        place,
        [file(per_rank=True)],
        [phase("w", *first), *between, phase("r", read(BLOCK, pattern), manage("close"))],
        ranks=ranks,
    ).model_copy(update={"directory": str(mount / "run")})
    (Path(made.journal) / "plan.json").write_text(made.to_json())
    return made


def unmounted_after(engine: Engine, made: Plan, comm: str, mark: str, point: Path) -> Outcome:
    """The run's outcome when the mount vanishes after an event."""
    return meddled(
        engine, made, mark, lambda: subprocess.run(["umount", "-l", str(point)], check=True), comm
    )


@pytest.mark.needs("root")
def test_every_phase_says_what_the_target_was(engine: Engine, mounted: Path, comm: str) -> None:
    made = two_phases(mounted.parent, mounted, size_of_group(comm))
    outcome = engine.run(made, comm)
    assert outcome.code == 0
    device = os.stat(mounted).st_dev
    expected = {
        "type": "tmpfs",
        "magic": 0x01021994,
        "device": f"{os.major(device)}:{os.minor(device)}",
        "source": "venturi-test",
        "mount": str(mounted),
    }
    for event in outcome.of("phase_finished"):
        assert event["target_before"] == expected
        assert event["target_after"] == expected
        assert event["target_change"] == ""


@pytest.mark.needs("root")
def test_a_mount_that_vanishes_in_a_phase(engine: Engine, mounted: Path, comm: str) -> None:
    made = two_phases(mounted.parent, mounted, size_of_group(comm), "inside")
    outcome = unmounted_after(engine, made, comm, '"phase_started","path":"w"', mounted)
    assert outcome.code == 3, outcome.stderr
    event = outcome.phase("w")
    assert event["target_before"]["source"] == "venturi-test"
    assert "it was tmpfs from venturi-test" in event["target_change"]
    assert "it is not there" in event["target_change"]
    assert outcome.failed["code"] == "target_changed"
    assert outcome.failed["where"] == "w"
    assert [e["path"] for e in outcome.of("phase_finished")] == ["w"], "nothing after that"
    assert not list(mounted.iterdir()), "nothing was written to what is below the mount"


@pytest.mark.needs("root")
def test_a_mount_that_vanishes_between_phases(engine: Engine, mounted: Path) -> None:
    made = two_phases(mounted.parent, mounted, 2, "behind")
    below = mounted.parent / "below"
    below.mkdir()
    outcome = unmounted_after(engine, made, "forked", '"phase_finished","path":"w"', mounted)
    assert outcome.code == 3
    assert outcome.phase("w")["target_change"] == ""
    assert outcome.failed["code"] == "target_changed"
    assert outcome.failed["where"] == "r"
    assert "before the phase" in outcome.failed["message"]


def test_another_directory_in_its_place(engine: Engine, tmp_path: Path) -> None:
    made = two_phases(tmp_path, tmp_path, 2, "inside")

    def swap() -> None:
        (tmp_path / "run").rename(tmp_path / "elsewhere")
        (tmp_path / "run").mkdir()

    outcome = meddled(engine, made, '"phase_started","path":"w"', swap)
    assert outcome.code == 3
    failed = outcome.failed
    assert failed["code"] == "target_changed"
    assert "another directory" in failed["message"]
    assert (tmp_path / "run").is_dir(), "what is not ours stays"


@pytest.mark.needs("root")
def test_the_expected_file_system(engine: Engine, mounted: Path) -> None:
    for wanted, code in (("tmpfs", 0), ("lustre", 5)):
        made = two_phases(mounted.parent, mounted, 2)
        made = made.model_copy(update={"expect_fstype": wanted})
        (Path(made.journal) / "plan.json").write_text(made.to_json())
        outcome = engine.run(made)
        assert outcome.code == code, outcome.stderr
    assert "'expect_fstype' is lustre" in outcome.failed["message"]
    assert "tmpfs from venturi-test" in outcome.failed["message"]
    assert not list(mounted.iterdir())
