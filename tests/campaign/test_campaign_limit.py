"""Campaigns that would write more than a target allows or has."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import warm_start
from venturi.campaign.limit import check_limits
from venturi.model.campaign import CampaignEstimate, PlannedPoint
from venturi.model.error import TargetProblem, UserError
from venturi.model.machine import Machine, Scheduler, Target


def _estimate(written: int | None, files: int | None, runs: int = 3) -> CampaignEstimate:
    row = PlannedPoint(
        step="run",
        point="run-0001",
        parameters={},
        runs=runs,
        ranks=1,
        nodes=1,
        bytes_written=written,
        files=files,
    )
    return CampaignEstimate(
        name="x", points=1, runs=runs, bytes_written=0, bytes_read=0, most_hours=0.0, rows=[row]
    )


def test_what_a_target_allows_counts_all_runs(tmp_path: Path) -> None:
    target = Target(name="scratch", path=str(tmp_path), most_bytes=300, most_files=30)
    machine = Machine(name="m", targets=[target])
    below = tmp_path / "below"
    below.mkdir()
    check_limits(_estimate(100, 10), machine, below)
    check_limits(_estimate(None, None), machine, below)
    with pytest.raises(UserError, match="make 303 bytes; target scratch allows 300"):
        check_limits(_estimate(101, 10), machine, below)
    with pytest.raises(UserError, match="make 33 files; target scratch allows 30"):
        check_limits(_estimate(100, 11), machine, below)
    check_limits(_estimate(101, 11), machine, tmp_path.parent)


def test_room_is_needed_for_what_is_there_at_once(tmp_path: Path) -> None:
    room = os.statvfs(tmp_path)
    half = room.f_bavail * room.f_frsize // 2
    one, three = (Machine(name="m", scheduler=Scheduler(most_jobs=n)) for n in (1, 3))
    check_limits(_estimate(half, 1), one, tmp_path)
    check_limits(_estimate(half, 1, runs=1), three, tmp_path)
    with pytest.raises(TargetProblem, match="bytes are free; runs at the same time take"):
        check_limits(_estimate(half, 1), three, tmp_path)
    if room.f_files:
        with pytest.raises(TargetProblem, match="inodes are free"):
            check_limits(_estimate(1, room.f_favail), one, tmp_path)


def test_commands_say_what_they_write(tmp_path: Path) -> None:
    """Nothing of a refused campaign is left."""
    (tmp_path / "data").mkdir()
    (tmp_path / "c.yaml").write_text(
        "{campaign: 1, name: big, space: {product: {n: [1, 2]}},"
        " steps: {run: {command: 'true', writes: n * 1 EiB, files: n}}}"
    )
    words = ["run", "c.yaml", "-d", "data", "-q"]
    done = warm_start.venturi("campaign", *words, folder=tmp_path)
    assert done.returncode == 5
    assert f"take {2 * 2**60:,}" in done.stderr
    assert not list(tmp_path.glob("big*"))
