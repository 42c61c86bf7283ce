"""Targets are refused before the first operation, with what to do."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from venturi.execute.target import (
    check_directory,
    check_room,
    check_type,
    file_system_of,
    identity_of,
    inodes_of,
)
from venturi.model.error import TargetProblem


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A file system of 1 MiB and 32 inodes, with a blank in its path."""
    mount = tmp_path / "a b"
    mount.mkdir()
    options = "size=1m,nr_inodes=32"
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", str(mount)], check=True)
    yield mount
    subprocess.run(["umount", str(mount)], check=True)


@pytest.mark.needs("root")
def test_a_good_directory(small: Path) -> None:
    check_directory(small)
    check_room(small, 2**20, 10)
    found = file_system_of(small)
    assert (found.type, found.mount) == ("tmpfs", str(small))
    assert found.total_bytes == 2**20


@pytest.mark.parametrize("directory", ["/proc", "/proc/sys", "/sys"])
def test_what_the_kernel_shows_is_no_storage(directory: str) -> None:
    with pytest.raises(TargetProblem, match="not storage") as refused:
        check_directory(Path(directory))
    assert refused.value.hint == "choose another directory with -d DIR"


@pytest.mark.needs("root")
def test_the_expected_type(small: Path) -> None:
    check_type(small, "tmpfs")
    check_type(small, "")
    with pytest.raises(TargetProblem, match="'expect_fstype' is lustre"):
        check_type(small, "lustre")


@pytest.mark.needs("root")
def test_too_little_room(small: Path) -> None:
    with pytest.raises(TargetProblem, match=r"writes 1 MiB, but only \d+ KiB are free|only 1 MiB"):
        check_room(small, 2**20 + 1, 1)
    with pytest.raises(TargetProblem, match=r"writes 19\.8 TiB, but only"):
        check_room(small, 21_751_709_840_000, 1)
    with pytest.raises(TargetProblem, match="inodes"):
        check_room(small, 1, 33)


def test_inodes_that_nobody_counts(tmp_path: Path) -> None:
    """btrfs answers 0 of 0, CephFS -1 of what is there."""
    here = os.statvfs(tmp_path)
    for total, free in ((0, 0), (1, -1)):
        answer = os.statvfs_result((*here[:5], total, free, free, *here[8:]))
        assert inodes_of(answer) == (None, 0)
    assert inodes_of(here) == (here.f_favail, here.f_files)


@pytest.mark.needs("root")
def test_a_read_only_file_system(small: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", str(small)], check=True)
    with pytest.raises(TargetProblem, match="read-only"):
        check_directory(small)


def test_missing_file_and_another_run_s_directory(tmp_path: Path) -> None:
    with pytest.raises(TargetProblem, match="no such directory"):
        check_directory(tmp_path / "none")
    (tmp_path / "file").touch()
    with pytest.raises(TargetProblem, match="not a directory"):
        check_directory(tmp_path / "file")
    (tmp_path / "run" / "below").mkdir(parents=True)
    (tmp_path / "run" / ".venturi").touch()
    with pytest.raises(TargetProblem, match="another run"):
        check_directory(tmp_path / "run" / "below")


@pytest.mark.needs("root")
def test_another_file_system_is_another_target(tmp_path: Path) -> None:
    before = identity_of(tmp_path)
    subprocess.run(["mount", "-t", "tmpfs", "none", str(tmp_path)], check=True)
    try:
        assert identity_of(tmp_path) != before
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)
    assert identity_of(tmp_path) == before
